/* Plugins of marketplaces: lists, a search, one plugin, its installation. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/config_file.h"
#include "config/toml/toml_edit.h"
#include "ui/market/market_rpc_priv.h"

/* ---- lists ---- */

/* Bytes of an answer, of which there are at most LIMIT_IMPORT_TEXT. */
enum {
	MARKET_SHARE = LIMIT_IMPORT_TEXT / 2,     /* for one marketplace */
	MARKET_SHARES = LIMIT_IMPORT_TEXT / 8 * 7 /* for all; the rest is for errors */
};

/* Adds the marketplace of the repository that has this folder. A longer path than a system call takes has none. */
static void add_repository(struct market_call *call, struct str cwd)
{
	static const char marker[] = "/.git";
	char path[PATH_MAX];
	size_t len = cwd.len;
	if (len > sizeof(path) - sizeof(marker) || !str_has_prefix(cwd, "/") || str_has_nul(cwd))
		return;
	memcpy(path, cwd.ptr, len);
	while (len > 1) {
		memcpy(path + len, marker, sizeof(marker));
		bool is_root = marker_exists(path);
		path[len] = '\0';
		if (is_root) {
			market_shelf_add(&call->shelf, path);
			return;
		}
		while (len > 1 && path[len - 1] != '/')
			len--;
		while (len > 1 && path[len - 1] == '/')
			len--;
	}
}

/* Adds the marketplace of the user's home, and those of the repositories that have these folders. */
static int open_shelf(struct market_call *call, const struct str *cwds, size_t count, struct error *err)
{
	const char *home = config_env("HOME");
	if (count > LIMIT_IMPORT_ITEMS)
		return error_set(err, ERR_limit, "cwds has %zu folders, the limit is %d", count, LIMIT_IMPORT_ITEMS);
	market_shelf_init(&call->shelf, call->config, &call->arena);
	if (home && home[0] == '/')
		market_shelf_add(&call->shelf, home);
	for (size_t i = 0; i < count; i++)
		add_repository(call, cwds[i]);
	return 0;
}

typedef bool (*wants_fn)(const struct app_plugin_summary *plugin, const void *self);

struct found {
	struct app_plugin_marketplace_entry *markets;
	size_t market_count;
	struct app_marketplace_load_error_info *errors;
	size_t error_count;
	size_t bytes; /* of the markets, as the answer has them */
};

static void add_error(struct found *found, const struct market_entry *entry, const char *why)
{
	found->errors[found->error_count++] =
		(struct app_marketplace_load_error_info){str_of(entry->market->root), str_of(why)};
}

static void list_market(struct market_call *call, const struct market_entry *entry, wants_fn wants, const void *self,
                        struct found *ret)
{
	auto_buf struct buf text;
	struct arena *arena = &call->arena;
	struct app_plugin_marketplace_entry market = {
		.name = str_of(entry->market->name),
		.plugins = arena_array(arena, struct app_plugin_summary, entry->catalog.count + 1),
		.path = str_of(arena_printf(arena, "%s/%s", entry->market->root, entry->catalog.file)),
	};
	if (entry->catalog.display_name.len) {
		market.interface = arena_new(arena, struct app_marketplace_interface);
		market.interface->display_name = entry->catalog.display_name;
	}
	struct json_writer w = json_writer(&text);
	buf_init(&text, MARKET_SHARES - ret->bytes < MARKET_SHARE ? MARKET_SHARES - ret->bytes : MARKET_SHARE);
	record_encode(&record_app_plugin_marketplace_entry, &market, &w);
	for (size_t i = 0; i < entry->catalog.count && !text.over; i++) {
		struct app_plugin_summary *to = &market.plugins[market.plugins_count];
		market_summary_fill(&call->shelf, entry, &entry->catalog.plugins[i], to);
		if (wants && !wants(to, self))
			continue;
		w = json_writer(&text);
		record_encode(&record_app_plugin_summary, to, &w);
		market.plugins_count++;
	}
	if (text.over) {
		add_error(ret, entry, "the plugins of this marketplace have more text than fits into the answer");
	} else if (market.plugins_count || !wants) {
		ret->bytes += text.len;
		ret->markets[ret->market_count++] = market;
	}
}

static void list_all(struct market_call *call, wants_fn wants, const void *self, struct found *ret)
{
	struct arena *arena = &call->arena;
	const struct market_shelf *shelf = &call->shelf;
	*ret = (struct found){
		.markets = arena_array(arena, struct app_plugin_marketplace_entry, shelf->count + 1),
		.errors = arena_array(arena, struct app_marketplace_load_error_info, shelf->count + 1),
	};
	for (size_t i = 0; i < shelf->count; i++) {
		const struct market_entry *entry = &shelf->entries[i];
		if (entry->err.text[0])
			add_error(ret, entry, entry->err.text);
		else
			list_market(call, entry, wants, self, ret);
	}
}

/* The results of two methods have these members. */
#define GIVE_FOUND(ret, found)                                              \
	do {                                                                \
		(ret)->marketplaces = (found).markets;                      \
		(ret)->marketplaces_count = (found).market_count;           \
		(ret)->marketplace_load_errors = (found).errors;            \
		(ret)->marketplace_load_errors_count = (found).error_count; \
	} while (0)

int market_on_list(struct market_call *call, const void *self, void *result, struct error *err)
{
	struct found found = {0};
	const struct app_plugin_list_params *params = self;
	struct app_plugin_list_response *ret = result;
	bool is_local = !params->marketplace_kinds;
	for (size_t i = 0; i < params->marketplace_kinds_count; i++)
		is_local |= params->marketplace_kinds[i] == app_plugin_list_marketplace_kind_local;
	if (!is_local)
		return 0;
	if (open_shelf(call, params->cwds, params->cwds_count, err) != 0)
		return -(int)err->code;
	list_all(call, NULL, NULL, &found);
	GIVE_FOUND(ret, found);
	return 0;
}

static bool is_installed_or_named(const struct app_plugin_summary *plugin, const void *self)
{
	const struct app_plugin_installed_params *params = self;
	for (size_t i = 0; i < params->install_suggestion_plugin_names_count; i++) {
		if (str_eq(params->install_suggestion_plugin_names[i], plugin->name))
			return true;
	}
	return plugin->installed;
}

int market_on_installed(struct market_call *call, const void *self, void *result, struct error *err)
{
	struct found found;
	const struct app_plugin_installed_params *params = self;
	struct app_plugin_installed_response *ret = result;
	if (open_shelf(call, params->cwds, params->cwds_count, err) != 0)
		return -(int)err->code;
	list_all(call, is_installed_or_named, params, &found);
	GIVE_FOUND(ret, found);
	return 0;
}

/* ---- search ---- */

enum { PAGE_DEFAULT = 50 };

/* Letters and digits alone, so that "My Desk!" finds my-desk. */
static struct str letters_of(struct str text, struct arena *arena)
{
	size_t len = 0;
	char *to = arena_alloc(arena, text.len + 1);
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		if (c >= 0x80 || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z'))
			to[len++] = (char)c;
	}
	return str_n(to, len);
}

struct search {
	struct str term;
	struct arena *arena;
};

static bool is_match(const struct app_plugin_summary *plugin, const void *self)
{
	const struct search *search = self;
	struct str shown = plugin->interface ? plugin->interface->display_name : STR_NONE;
	return str_contains_fold(letters_of(plugin->name, search->arena), search->term) ||
	       (shown.ptr && str_contains_fold(letters_of(shown, search->arena), search->term));
}

static void add_page(struct market_call *call, const struct found *found, size_t from, size_t most,
                     struct app_plugin_search_response *ret)
{
	size_t at = 0;
	ret->data = arena_array(&call->arena, struct app_plugin_search_result, most + 1);
	for (size_t i = 0; i < found->market_count; i++) {
		const struct app_plugin_marketplace_entry *market = &found->markets[i];
		for (size_t k = 0; k < market->plugins_count; k++, at++) {
			if (at >= from && ret->data_count < most)
				ret->data[ret->data_count++] = (struct app_plugin_search_result){
					market->name, &market->plugins[k], market->path};
		}
	}
	if (from < at && at - from > most)
		ret->next_cursor = str_of(arena_printf(&call->arena, "%zu", from + most));
}

/* The scopes of the vendor's catalogue have nothing. */
int market_on_search(struct market_call *call, const void *self, void *result, struct error *err)
{
	uint64_t from = 0;
	struct found found = {0};
	const struct app_plugin_search_params *params = self;
	const struct search search = {letters_of(params->search_term, &call->arena), &call->arena};
	size_t most = params->has_limit && params->limit > 0 && params->limit < LIMIT_MARKET_PLUGINS
	                      ? (size_t)params->limit
	                      : PAGE_DEFAULT;
	if (params->cursor.ptr && (!str_to_u64(params->cursor, &from) || from > SIZE_MAX / 2))
		return error_set(err, ERR_invalid, "invalid cursor: %.*s", STR_ARG(params->cursor));
	if (search.term.len && (!params->has_scope || params->scope == app_plugin_search_scope_personal)) {
		if (open_shelf(call, params->cwds, params->cwds_count, err) != 0)
			return -(int)err->code;
		list_all(call, is_match, &search, &found);
	}
	add_page(call, &found, (size_t)from, most, result);
	return 0;
}

/* ---- one plugin ---- */

static int check_choice(struct str path, struct str remote, const char *method, const char *what, struct error *err)
{
	if (!path.ptr == !remote.ptr)
		return error_set(err, ERR_invalid,
		                 "%s requires exactly one of marketplacePath or remoteMarketplaceName", method);
	return remote.ptr ? error_set(err, ERR_unsupported,
	                              "%s: chatgpt authentication required for remote plugin catalog", what)
	                  : 0;
}

/* Returns the folder of the marketplace with this manifest, or NULL. */
static const char *root_of(struct market_call *call, struct str path, struct error *err)
{
	static const char *const files[] = {"/.agents/plugins/marketplace.json", "/.claude-plugin/marketplace.json"};
	auto_free char *real = NULL;
	if (!file_exists(arena_cstr(&call->arena, path))) {
		best_effort(error_set(err, ERR_not_found, "marketplace file `%.*s` does not exist", STR_ARG(path)));
		return NULL;
	}
	for (size_t i = 0; i < countof(files); i++) {
		if (str_has_suffix(path, files[i]))
			real = realpath(arena_cstr(&call->arena, str_n(path.ptr, path.len - strlen(files[i]))), NULL);
	}
	if (!real)
		best_effort(error_set(err, ERR_invalid, "`%.*s` is not the marketplace.json of a marketplace",
		                      STR_ARG(path)));
	return real ? arena_cstr(&call->arena, str_of(real)) : NULL;
}

/* Opens the marketplace with this manifest: one of the configuration, or another one, whose name must be its own. */
static const struct market_entry *open_market(struct market_call *call, struct str path, struct error *err)
{
	const char *root = root_of(call, path, err);
	if (!root)
		return NULL;
	market_shelf_init(&call->shelf, call->config, &call->arena);
	market_shelf_add(&call->shelf, root);
	for (size_t i = 0; i < call->shelf.count; i++) {
		const struct market_entry *entry = &call->shelf.entries[i];
		auto_free char *real = realpath(entry->market->root, NULL);
		if (!real || strcmp(real, root) != 0)
			continue;
		if (!entry->err.text[0])
			return entry;
		*err = entry->err;
		return NULL;
	}
	struct market_catalog catalog;
	if (market_read(root, &call->arena, &catalog, err) == 0)
		best_effort(error_set(err, ERR_exists, "another marketplace has the name `%.*s` of %s",
		                      STR_ARG(catalog.name), root));
	return NULL;
}

static int not_found(struct str plugin, const struct market_entry *entry, struct error *err)
{
	return error_set(err, ERR_not_found, "plugin `%.*s` was not found in marketplace `%s`", STR_ARG(plugin),
	                 entry->market->name);
}

int market_on_read(struct market_call *call, const void *self, void *result, struct error *err)
{
	const struct app_plugin_read_params *params = self;
	struct app_plugin_read_response *ret = result;
	if (check_choice(params->marketplace_path, params->remote_marketplace_name, "plugin/read",
	                 "read remote plugin details", err) != 0)
		return -(int)err->code;
	const struct market_entry *entry = open_market(call, params->marketplace_path, err), *at;
	if (!entry)
		return -(int)err->code;
	const char *id = arena_printf(&call->arena, "%.*s@%s", STR_ARG(params->plugin_name), entry->market->name);
	const struct market_plugin *plugin = market_shelf_find(&call->shelf, id, &at);
	if (!plugin)
		return not_found(params->plugin_name, entry, err);
	ret->plugin = arena_new(&call->arena, struct app_plugin_detail);
	market_detail_fill(&call->shelf, at, plugin, ret->plugin);
	return 0;
}

int market_on_install(struct market_call *call, const void *self, void *result, struct error *err)
{
	int policy = 0;
	struct market_installed done;
	const struct app_plugin_install_params *params = self;
	struct app_plugin_install_response *ret = result;
	if (check_choice(params->marketplace_path, params->remote_marketplace_name, "plugin/install",
	                 "read remote plugin details before install", err) != 0)
		return -(int)err->code;
	const struct market_entry *entry = open_market(call, params->marketplace_path, err);
	if (!entry ||
	    market_install_from(call->config, entry->market, params->plugin_name, &call->arena, &done, err) != 0)
		return -(int)err->code;
	if (enum_parse(&enum_app_plugin_auth_policy, done.auth_policy, &policy))
		ret->auth_policy = (enum app_plugin_auth_policy)policy;
	return 0;
}

/* As codex 0.169, a plugin that is not installed is no error. */
int market_on_uninstall(struct market_call *call, const void *self, void *result, struct error *err)
{
	const struct app_plugin_uninstall_params *params = self;
	const char *id = arena_cstr(&call->arena, params->plugin_id);
	(void)result;
	if (!strchr(id, '@'))
		return error_set(err, ERR_unsupported,
		                 "resolve remote plugin before uninstall: chatgpt authentication required for remote "
		                 "plugin catalog");
	int status = market_uninstall(config_home(call->config), id, err);
	return status != 0 && err->code == ERR_not_found ? 0 : status;
}

/* ---- reconciliation ---- */

/* *ret_known: the version that is installed, or STR_NONE. A repository has to be cloned for its own. */
static bool needs_install(const struct market_call *call, const char *id, struct str *ret_known)
{
	const struct market_entry *entry;
	const struct market_plugin *plugin = market_shelf_find(&call->shelf, id, &entry);
	const struct plugin *installed = market_shelf_installed(&call->shelf, id);
	*ret_known = installed ? plugin_version(installed, call->shelf.arena) : STR_NONE;
	if (!plugin || (installed && !installed->is_enabled))
		return false;
	if (!installed || !plugin->folder)
		return true;
	struct str version = market_shelf_version(&call->shelf, entry, plugin);
	return version.len && !str_eq(version, *ret_known);
}

/* Describes what the plugin brings, by the folder of its installation. */
static struct app_plugin_reconcile_changed_plugin changed(struct market_call *call, const char *id, const char *root)
{
	struct error ignored;
	struct app_plugin_detail detail;
	const struct market_entry *entry;
	struct market_plugin plugin = *market_shelf_find(&call->shelf, id, &entry);
	struct market_entry here = *entry;
	here.tree.fd = -1;
	plugin.folder = ".";
	best_effort(import_tree_open(&here.tree, root, false, &ignored));
	market_detail_fill(&call->shelf, &here, &plugin, &detail);
	import_tree_close(&here.tree);
	return (struct app_plugin_reconcile_changed_plugin){
		.has_hooks = detail.hooks_count,
		.has_mcps = detail.mcp_servers_count,
		.has_skills = detail.skills_count,
		.id = str_of(id),
	};
}

static void reconcile(struct market_call *call, const char *id, bool is_listed, struct str known,
                      struct app_plugin_reconcile_response *ret)
{
	struct error err = {0};
	struct market_installed done = {0};
	int status = clock_now_ms() > call->end_ms
	                     ? -1
	                     : market_renew(call->config, id, is_listed, known, &call->arena, &done, &err);
	if (status != 0 && err.code != ERR_cancelled)
		ret->failed_materialization_remote_plugin_ids[ret->failed_materialization_remote_plugin_ids_count++] =
			str_of(id);
	else if (done.root)
		ret->changed_plugins[ret->changed_plugins_count++] = changed(call, id, done.root);
}

struct listed {
	const struct toml *tables;
	bool *has; /* of each: config.toml lists it; another layer may */
};

static int note_listed(struct toml_edit *edit, void *self, struct error *err)
{
	struct listed *listed = self;
	size_t at = 0;
	(void)err;
	toml_for_each(it, listed->tables)
		listed->has[at++] = toml_find(toml_get(edit->root, "plugins"), it->key) != NULL;
	return 0;
}

/* Installs the plugins of the configuration that are missing, or have another version in their marketplace or
 * repository. */
int market_on_reconcile(struct market_call *call, const void *self, void *result, struct error *err)
{
	struct app_plugin_reconcile_response *ret = result;
	const struct toml *tables = toml_get(config_tree(call->config), "plugins");
	size_t count = toml_is(tables, TOML_table) ? tables->count : 0;
	(void)self;
	market_shelf_init(&call->shelf, call->config, &call->arena);
	ret->changed_plugins = arena_array(&call->arena, struct app_plugin_reconcile_changed_plugin, count + 1);
	ret->failed_materialization_remote_plugin_ids = arena_array(&call->arena, struct str, count + 1);
	struct listed listed = {count ? tables : NULL, arena_array(&call->arena, bool, count + 1)};
	if (config_file_change(config_home(call->config), note_listed, &listed, err) != 0)
		return -(int)err->code;
	size_t at = 0;
	toml_for_each(it, listed.tables) {
		struct str known;
		const struct toml *enabled = toml_get(it, "enabled");
		const char *id = arena_cstr(&call->arena, it->key);
		if ((!toml_is(enabled, TOML_bool) || enabled->boolean) && needs_install(call, id, &known))
			reconcile(call, id, listed.has[at], known, ret);
		at++;
	}
	return 0;
}
