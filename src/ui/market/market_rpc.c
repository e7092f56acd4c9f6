/* Parameters are decoded, and results encoded, by the records of the protocol, so that the app-server passes the text
 * on as it is. */
#include "ui/market/market_rpc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/plugin_files.h"
#include "ui/market/market_summary.h"

enum { COMPLAINT_MAX = 1024 };

struct call {
	const struct config *config;
	struct arena arena;
	int out, err; /* the streams of the process */
	int noise;    /* a file in their place, for git */
	struct market_shelf shelf;
};

/* ---- the output of git ---- */

static int catch_noise(struct call *call, struct error *err)
{
	call->out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	call->err = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	call->noise = memfd_create("git", MFD_CLOEXEC);
	if (call->out < 0 || call->err < 0 || call->noise < 0 || dup2(call->noise, STDOUT_FILENO) < 0 ||
	    dup2(call->noise, STDERR_FILENO) < 0)
		return error_sys(err, errno, "cannot redirect the output of git");
	return 0;
}

/* Gives the process its streams again. */
static void let_noise(struct call *call)
{
	const int fds[] = {call->out, call->err, call->noise};
	if (call->out >= 0)
		dup2(call->out, STDOUT_FILENO);
	if (call->err >= 0)
		dup2(call->err, STDERR_FILENO);
	for (size_t i = 0; i < countof(fds); i++) {
		if (fds[i] >= 0)
			close(fds[i]);
	}
}

/* Adds what git has printed since the last call to the error. */
static void add_noise(struct call *call, struct error *err)
{
	char text[COMPLAINT_MAX];
	ssize_t len = pread(call->noise, text, sizeof(text), 0);
	struct str noise = str_trim(str_n(text, len > 0 ? (size_t)len : 0));
	struct error plain = *err;
	if (noise.len)
		best_effort(error_set(err, plain.code, "%s: %.*s", plain.text, STR_ARG(noise)));
	if (ftruncate(call->noise, 0) == 0)
		lseek(call->noise, 0, SEEK_SET);
}

/* ---- marketplaces ---- */

static int on_add(struct call *call, const void *self, void *result, struct error *err)
{
	bool has;
	const struct app_marketplace_add_params *params = self;
	struct app_marketplace_add_response *ret = result;
	struct market market = {.sparse = params->sparse_paths, .sparse_count = params->sparse_paths_count};
	const char *ref = params->ref_name.len ? arena_cstr(&call->arena, params->ref_name) : NULL;
	struct str source = str_trim(params->source);
	if (!source.len || str_has_nul(source) || str_has_nul(params->ref_name))
		return error_set(err, ERR_invalid, "marketplace source must not be empty");
	if (market_source_read(arena_cstr(&call->arena, source), ref, &call->arena, &market, err) != 0 ||
	    market_add(call->config, &call->arena, &market, &has, err) != 0)
		return -(int)err->code;
	ret->marketplace_name = str_of(market.name);
	ret->installed_root = str_of(market.root);
	ret->already_added = has;
	return 0;
}

static const struct market *find_market(struct call *call, struct str name, const char *what, struct error *err)
{
	struct error ignored;
	const struct market *market =
		market_find(config_home(call->config), config_tree(call->config), name, &call->arena, &ignored);
	if (!market)
		best_effort(
			error_set(err, ERR_not_found, "marketplace `%.*s` is not configured %s", STR_ARG(name), what));
	return market;
}

static int on_remove(struct call *call, const void *self, void *result, struct error *err)
{
	const struct app_marketplace_remove_params *params = self;
	struct app_marketplace_remove_response *ret = result;
	const struct market *market = find_market(call, params->marketplace_name, "or installed", err);
	if (!market || market_remove(call->config, market->name, err) != 0)
		return -(int)err->code;
	ret->marketplace_name = params->marketplace_name;
	if (market->is_git)
		ret->installed_root = str_of(market->root);
	return 0;
}

static int on_upgrade(struct call *call, const void *self, void *result, struct error *err)
{
	const struct market *list;
	const struct app_marketplace_upgrade_params *params = self;
	struct app_marketplace_upgrade_response *ret = result;
	struct str name = params->marketplace_name;
	const struct market *one = name.ptr ? find_market(call, name, "as a Git marketplace", err) : NULL;
	size_t count = market_list(config_home(call->config), config_tree(call->config), &call->arena, &list);
	if (name.ptr && one && !one->is_git)
		best_effort(error_set(err, ERR_invalid, "marketplace `%s` is not configured as a Git marketplace",
		                      one->name));
	if (name.ptr && (!one || !one->is_git))
		return -(int)err->code;
	ret->selected_marketplaces = arena_array(&call->arena, struct str, count + 1);
	ret->upgraded_roots = arena_array(&call->arena, struct str, count + 1);
	ret->errors = arena_array(&call->arena, struct app_marketplace_upgrade_error_info, count + 1);
	for (size_t i = 0; i < count; i++) {
		if (!list[i].is_git || (one && strcmp(one->name, list[i].name) != 0))
			continue;
		ret->selected_marketplaces[ret->selected_marketplaces_count++] = str_of(list[i].name);
		if (market_upgrade(call->config, &list[i], err) == 0) {
			ret->upgraded_roots[ret->upgraded_roots_count++] = str_of(list[i].root);
			continue;
		}
		add_noise(call, err);
		ret->errors[ret->errors_count++] = (struct app_marketplace_upgrade_error_info){
			str_of(list[i].name), arena_str(&call->arena, str_of(err->text))};
	}
	return 0;
}

/* ---- lists ---- */

/* Adds the marketplace of the user's home, and those of the repositories that have these folders. */
static void open_shelf(struct call *call, const struct str *cwds, size_t count)
{
	const char *home = config_env("HOME");
	market_shelf_init(&call->shelf, call->config, &call->arena);
	if (home && home[0] == '/')
		market_shelf_add(&call->shelf, home);
	for (size_t i = 0; i < count; i++) {
		for (struct str at = cwds[i]; at.len > 1; at = path_dir(arena_cstr(&call->arena, at))) {
			const char *folder = arena_cstr(&call->arena, at);
			if (!marker_exists(arena_printf(&call->arena, "%s/.git", folder)))
				continue;
			market_shelf_add(&call->shelf, folder);
			break;
		}
	}
}

typedef bool (*wants_fn)(const struct app_plugin_summary *plugin, const void *self);

struct found {
	struct app_plugin_marketplace_entry *markets;
	size_t market_count;
	struct app_marketplace_load_error_info *errors;
	size_t error_count;
};

static void list_market(struct call *call, const struct market_entry *entry, wants_fn wants, const void *self,
                        struct found *ret)
{
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
	for (size_t i = 0; i < entry->catalog.count; i++) {
		struct app_plugin_summary *to = &market.plugins[market.plugins_count];
		market_summary_fill(&call->shelf, entry, &entry->catalog.plugins[i], to);
		market.plugins_count += !wants || wants(to, self);
	}
	if (market.plugins_count || !wants)
		ret->markets[ret->market_count++] = market;
}

static void list_all(struct call *call, wants_fn wants, const void *self, struct found *ret)
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
			ret->errors[ret->error_count++] = (struct app_marketplace_load_error_info){
				str_of(entry->market->root), str_of(entry->err.text)};
		else
			list_market(call, entry, wants, self, ret);
	}
}

static int on_list(struct call *call, const void *self, void *result, struct error *err)
{
	struct found found = {0};
	const struct app_plugin_list_params *params = self;
	struct app_plugin_list_response *ret = result;
	bool is_local = !params->marketplace_kinds;
	(void)err;
	for (size_t i = 0; i < params->marketplace_kinds_count; i++)
		is_local |= params->marketplace_kinds[i] == app_plugin_list_marketplace_kind_local;
	if (!is_local)
		return 0;
	open_shelf(call, params->cwds, params->cwds_count);
	list_all(call, NULL, NULL, &found);
	ret->marketplaces = found.markets;
	ret->marketplaces_count = found.market_count;
	ret->marketplace_load_errors = found.errors;
	ret->marketplace_load_errors_count = found.error_count;
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

static int on_installed(struct call *call, const void *self, void *result, struct error *err)
{
	struct found found;
	const struct app_plugin_installed_params *params = self;
	struct app_plugin_installed_response *ret = result;
	(void)err;
	open_shelf(call, params->cwds, params->cwds_count);
	list_all(call, is_installed_or_named, params, &found);
	ret->marketplaces = found.markets;
	ret->marketplaces_count = found.market_count;
	ret->marketplace_load_errors = found.errors;
	ret->marketplace_load_errors_count = found.error_count;
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

static void add_page(struct call *call, const struct found *found, size_t from, size_t most,
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
static int on_search(struct call *call, const void *self, void *result, struct error *err)
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
		open_shelf(call, params->cwds, params->cwds_count);
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
static const char *root_of(struct call *call, struct str path, struct error *err)
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
static const struct market_entry *open_market(struct call *call, struct str path, struct error *err)
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

static int on_read(struct call *call, const void *self, void *result, struct error *err)
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

static int on_install(struct call *call, const void *self, void *result, struct error *err)
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
static int on_uninstall(struct call *call, const void *self, void *result, struct error *err)
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

static bool needs_install(const struct call *call, const char *id)
{
	const struct market_entry *entry;
	const struct market_plugin *plugin = market_shelf_find(&call->shelf, id, &entry);
	const struct plugin *installed = market_shelf_installed(&call->shelf, id);
	if (!plugin || !plugin->folder)
		return false;
	if (!installed)
		return true;
	struct str version = json_get_str(market_shelf_manifest(&call->shelf, entry, plugin), "version");
	return installed->is_enabled && version.len && !str_eq(version, plugin_version(installed, call->shelf.arena));
}

static struct app_plugin_reconcile_changed_plugin changed(struct call *call, const char *id)
{
	struct app_plugin_detail detail;
	const struct market_entry *entry;
	const struct market_plugin *plugin = market_shelf_find(&call->shelf, id, &entry);
	market_detail_fill(&call->shelf, entry, plugin, &detail);
	return (struct app_plugin_reconcile_changed_plugin){
		.has_hooks = detail.hooks_count,
		.has_mcps = detail.mcp_servers_count,
		.has_skills = detail.skills_count,
		.id = str_of(id),
	};
}

/* Installs the plugins of the configuration that are missing, or have another version in their marketplace. */
static int on_reconcile(struct call *call, const void *self, void *result, struct error *err)
{
	struct app_plugin_reconcile_response *ret = result;
	const struct toml *tables = toml_get(config_tree(call->config), "plugins");
	size_t count = toml_is(tables, TOML_table) ? tables->count : 0;
	(void)self;
	market_shelf_init(&call->shelf, call->config, &call->arena);
	ret->changed_plugins = arena_array(&call->arena, struct app_plugin_reconcile_changed_plugin, count + 1);
	ret->failed_materialization_remote_plugin_ids = arena_array(&call->arena, struct str, count + 1);
	toml_for_each(it, count ? tables : NULL) {
		struct market_installed done;
		const struct toml *enabled = toml_get(it, "enabled");
		const char *id = arena_cstr(&call->arena, it->key);
		if ((toml_is(enabled, TOML_bool) && !enabled->boolean) || !needs_install(call, id))
			continue;
		if (market_install(call->config, id, &call->arena, &done, err) == 0)
			ret->changed_plugins[ret->changed_plugins_count++] = changed(call, id);
		else
			ret->failed_materialization_remote_plugin_ids
				[ret->failed_materialization_remote_plugin_ids_count++] = str_of(id);
	}
	return 0;
}

/* ---- the request ---- */

static const struct {
	enum app_method_tag method;
	int (*run)(struct call *call, const void *params, void *result, struct error *err);
} rows[] = {
	{METHOD_marketplace_add, on_add},
	{METHOD_marketplace_remove, on_remove},
	{METHOD_marketplace_upgrade, on_upgrade},
	{METHOD_plugin_list, on_list},
	{METHOD_plugin_installed, on_installed},
	{METHOD_plugin_search, on_search},
	{METHOD_plugin_read, on_read},
	{METHOD_plugin_install, on_install},
	{METHOD_plugin_uninstall, on_uninstall},
	{METHOD_plugin_reconcile, on_reconcile},
};

static int answer(struct call *call, const struct json *request, struct buf *out, struct error *err)
{
	const struct app_method *method = app_method_find(json_get_str(request, "method"));
	size_t i = 0;
	while (i < countof(rows) && &app_methods[rows[i].method] != method)
		i++;
	if (i == countof(rows))
		return error_set(err, ERR_invalid, "the request has no known method");
	void *params = arena_alloc(&call->arena, method->params->size);
	void *result = arena_alloc(&call->arena, method->result->size + 1);
	const struct json *json = json_get(request, "params");
	if (record_decode(method->params, json, &call->arena, params, err) != 0 ||
	    rows[i].run(call, params, result, err) != 0)
		return -(int)err->code;
	struct json_writer w = json_writer(out);
	record_encode(method->result, result, &w);
	return out->over ? error_set(err, ERR_limit, "the answer is larger than %d MiB", (int)(LIMIT_MARKET_TEXT / MIB))
	                 : 0;
}

int market_rpc_serve(const struct config *config, struct error *err)
{
	auto_buf struct buf text, out;
	struct call call = {.config = config, .out = -1, .err = -1, .noise = -1};
	buf_init(&text, LIMIT_MARKET_TEXT);
	buf_init(&out, LIMIT_MARKET_TEXT);
	int status = fd_read_all(STDIN_FILENO, &text, "the request", err);
	const struct json *request = status == 0 ? json_parse(&call.arena, buf_str(&text), err) : NULL;
	status = request ? catch_noise(&call, err) : -(int)err->code;
	if (status == 0) {
		status = answer(&call, request, &out, err);
		if (status != 0)
			add_noise(&call, err);
	}
	let_noise(&call);
	if (status == 0)
		status = fd_write_all(STDOUT_FILENO, out.data, out.len, err);
	market_shelf_finish(&call.shelf);
	arena_finish(&call.arena);
	return status;
}
