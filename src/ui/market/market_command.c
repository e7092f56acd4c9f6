/* A marketplace that cannot be read is a warning in lists, and does not hide the others. */
#include "ui/market/market_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "market/market.h"
#include "ui/cli/terminal.h"
#include "ui/market/market_rpc.h"
#include "ui/market/market_shelf.h"
#include "ui/tools/plugin_command.h"

enum { EXIT_FAILED = 1 };

struct call {
	const struct plugin_options *options;
	const struct config *config;
	const char *home, *argument; /* NULL: none */
	struct arena arena;
	struct buf out;
};

/* Messages quote the text of manifests. */
static void print_message(const char *kind, const char *text)
{
	auto_buf struct buf shown;
	buf_init(&shown, LIMIT_LINE);
	terminal_text_append(&shown, str_of(text));
	fprintf(stderr, "%s: %.*s\n", kind, STR_ARG(buf_str(&shown)));
}

static void add_market_source(struct json_writer *w, const struct market *market)
{
	jw_key(w, "marketplaceSource");
	if (!market) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_member_cstr(w, "sourceType", market->is_git ? "git" : "local");
	jw_member_cstr(w, "source", market->source);
	jw_object_end(w);
}

/* Prints the JSON with a newline. */
static void end_json(struct call *call, struct json_writer *w)
{
	jw_object_end(w);
	buf_append_char(&call->out, '\n');
}

/* ---- list ---- */

static void add_some(struct json_writer *w, const char *key, struct str text)
{
	if (text.len)
		jw_member_str(w, key, text);
}

static void add_origin(const struct market_shelf *shelf, const struct market_entry *entry,
                       const struct market_plugin *plugin, struct json_writer *w)
{
	static const char *const keys[] = {
		[MARKET_local] = "path", [MARKET_git] = "url", [MARKET_subdir] = "url", [MARKET_npm] = "package"};
	const struct market_origin origin = market_shelf_origin(shelf, entry, plugin);
	jw_key(w, "source");
	if (origin.place == MARKET_elsewhere) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_member_cstr(w, "source", origin.word);
	jw_member_str(w, keys[origin.place], origin.where);
	add_some(w, "path", origin.path);
	add_some(w, "ref", origin.ref);
	add_some(w, "sha", origin.sha);
	add_some(w, "version", origin.more);
	jw_object_end(w);
}

static void begin_plugin(struct json_writer *w, const char *id)
{
	struct str market = str_of(id), name = market;
	str_next_part(&market, '@', &name);
	jw_object(w);
	jw_member_cstr(w, "pluginId", id);
	jw_member_str(w, "name", name);
	jw_member_str(w, "marketplaceName", market);
}

/* plugin: NULL: no marketplace lists it; installed: NULL: it is not installed. */
static void add_plugin(const struct market_shelf *shelf, const struct market_entry *entry,
                       const struct market_plugin *plugin, const struct plugin *installed, struct json_writer *w)
{
	const char *id = installed ? installed->name : market_shelf_id(shelf, entry, plugin);
	if (!strchr(id, '@')) {
		plugin_write_linked(installed, shelf->arena, w);
		return;
	}
	begin_plugin(w, id);
	jw_member_str(w, "version",
	              installed ? plugin_version(installed, shelf->arena) : market_shelf_version(shelf, entry, plugin));
	jw_member_bool(w, "installed", installed);
	jw_member_bool(w, "enabled", installed && installed->is_enabled);
	if (plugin) {
		add_origin(shelf, entry, plugin, w);
		add_market_source(w, entry->market);
		jw_member_str(w, "installPolicy", plugin->install_policy);
		jw_member_str(w, "authPolicy", plugin->auth_policy);
	}
	if (installed)
		jw_member_cstr(w, "path", installed->root);
	jw_object_end(w);
}

/* True if the option --marketplace does not exclude it. */
static bool is_wanted(const struct call *call, const char *id)
{
	const char *at = strchr(id, '@'), *market = call->options->market;
	return !market || (at && strcmp(at + 1, market) == 0);
}

static void write_lists(struct call *call, const struct market_shelf *shelf)
{
	struct json_writer w = json_writer(&call->out);
	jw_object(&w);
	jw_key(&w, "installed");
	jw_array(&w);
	for (size_t i = 0; i < shelf->installed_count; i++) {
		const struct market_entry *entry = NULL;
		const struct plugin *plugin = &shelf->installed[i];
		if (is_wanted(call, plugin->name))
			add_plugin(shelf, entry, market_shelf_find(shelf, plugin->name, &entry), plugin, &w);
	}
	jw_array_end(&w);
	jw_key(&w, "available");
	jw_array(&w);
	for (size_t i = 0; i < shelf->count && call->options->lists_available; i++) {
		const struct market_entry *entry = &shelf->entries[i];
		for (size_t k = 0; k < entry->catalog.count; k++) {
			const struct market_plugin *plugin = &entry->catalog.plugins[k];
			const char *id = market_shelf_id(shelf, entry, plugin);
			if (is_wanted(call, id) && !market_shelf_installed(shelf, id))
				add_plugin(shelf, entry, plugin, NULL, &w);
		}
	}
	jw_array_end(&w);
	end_json(call, &w);
}

static void print_lists(struct call *call, const struct market_shelf *shelf)
{
	for (size_t i = 0; i < shelf->installed_count; i++) {
		const struct plugin *plugin = &shelf->installed[i];
		if (is_wanted(call, plugin->name))
			buf_printf(&call->out, "%s\t%s\t%s\n", plugin->name,
			           plugin->is_enabled ? "enabled" : "disabled", plugin->root);
	}
	for (size_t i = 0; i < shelf->count && call->options->lists_available; i++) {
		const struct market_entry *entry = &shelf->entries[i];
		for (size_t k = 0; k < entry->catalog.count; k++) {
			const char *id = market_shelf_id(shelf, entry, &entry->catalog.plugins[k]);
			if (is_wanted(call, id) && !market_shelf_installed(shelf, id))
				buf_printf(&call->out, "%s\tnot installed\t%s\n", id, entry->market->root);
		}
	}
}

static int list_plugins(struct call *call, struct error *err)
{
	struct market_shelf shelf;
	(void)err;
	market_shelf_init(&shelf, call->config, &call->arena);
	for (size_t i = 0; i < shelf.count; i++) {
		struct error *failure = &shelf.entries[i].err;
		if (!failure->text[0])
			continue;
		best_effort(error_wrap(failure, "marketplace %s", shelf.entries[i].market->name));
		print_message("warning", failure->text);
	}
	if (call->options->is_json)
		write_lists(call, &shelf);
	else
		print_lists(call, &shelf);
	market_shelf_finish(&shelf);
	return 0;
}

/* ---- add, remove ---- */

/* The id of the plugin: the argument, or the argument and --marketplace. */
static const char *plugin_id(struct call *call)
{
	return call->options->market ? arena_printf(&call->arena, "%s@%s", call->argument, call->options->market)
	                             : call->argument;
}

static int add(struct call *call, struct error *err)
{
	struct market_installed done;
	const char *id = plugin_id(call);
	struct json_writer w = json_writer(&call->out);
	if (market_install(call->config, id, &call->arena, &done, err) != 0)
		return -(int)err->code;
	if (call->options->is_json) {
		begin_plugin(&w, id);
		jw_member_cstr(&w, "version", done.version);
		jw_member_cstr(&w, "installedPath", done.root);
		jw_member_str(&w, "authPolicy", done.auth_policy);
		end_json(call, &w);
		return 0;
	}
	buf_printf(&call->out, "Added plugin %s.\nInstalled plugin root: %s\n", id, done.root);
	if (done.left)
		buf_printf(&call->out, "%u links or special files are left out.\n", done.left);
	return 0;
}

static int remove_plugin(struct call *call, struct error *err)
{
	const char *id = plugin_id(call);
	struct json_writer w = json_writer(&call->out);
	if (market_uninstall(call->home, id, err) != 0)
		return -(int)err->code;
	if (!call->options->is_json) {
		buf_printf(&call->out, "Removed plugin %s.\n", id);
		return 0;
	}
	begin_plugin(&w, id);
	end_json(call, &w);
	return 0;
}

/* ---- marketplace ---- */

static int market_add_call(struct call *call, struct error *err)
{
	bool has;
	const struct cli_list *sparse = &call->options->sparse;
	struct json_writer w = json_writer(&call->out);
	struct str *paths = arena_array(&call->arena, struct str, sparse->count + 1);
	struct market market = {.sparse = paths, .sparse_count = sparse->count};
	for (size_t i = 0; i < sparse->count; i++)
		paths[i] = str_of(sparse->items[i]);
	if (market_source_read(call->argument, call->options->ref, &call->arena, &market, err) != 0 ||
	    market_add(call->config, &call->arena, &market, &has, err) != 0)
		return -(int)err->code;
	if (!call->options->is_json) {
		buf_printf(&call->out,
		           has ? "Marketplace %s is already added from %s.\n" : "Added marketplace %s from %s.\n",
		           market.name, market.source);
		buf_printf(&call->out, "Installed marketplace root: %s\n", market.root);
		return 0;
	}
	jw_object(&w);
	jw_member_cstr(&w, "marketplaceName", market.name);
	jw_member_cstr(&w, "installedRoot", market.root);
	jw_member_bool(&w, "alreadyAdded", has);
	end_json(call, &w);
	return 0;
}

static int market_list_call(struct call *call, struct error *err)
{
	const struct market *list;
	struct json_writer w = json_writer(&call->out);
	size_t count = market_list(call->home, config_tree(call->config), &call->arena, &list);
	(void)err;
	if (!call->options->is_json) {
		for (size_t i = 0; i < count; i++)
			buf_printf(&call->out, "%s\t%s\t%s\n", list[i].name, list[i].root, list[i].source);
		return 0;
	}
	jw_object(&w);
	jw_key(&w, "marketplaces");
	jw_array(&w);
	for (size_t i = 0; i < count; i++) {
		jw_object(&w);
		jw_member_cstr(&w, "name", list[i].name);
		jw_member_cstr(&w, "root", list[i].root);
		add_market_source(&w, &list[i]);
		jw_object_end(&w);
	}
	jw_array_end(&w);
	end_json(call, &w);
	return 0;
}

static int market_remove_call(struct call *call, struct error *err)
{
	struct json_writer w = json_writer(&call->out);
	const struct market *market =
		market_find(call->home, config_tree(call->config), str_of(call->argument), &call->arena, err);
	if (!market || market_remove(call->config, call->argument, err) != 0)
		return -(int)err->code;
	if (!call->options->is_json) {
		buf_printf(&call->out, "Removed marketplace %s. Its plugins stay.\n", call->argument);
		return 0;
	}
	jw_object(&w);
	jw_member_cstr(&w, "marketplaceName", market->name);
	jw_member_cstr(&w, "installedRoot", market->is_git ? market->root : NULL);
	end_json(call, &w);
	return 0;
}

struct upgrade {
	VEC(const struct market *) selected, done;
	VEC(struct error) errors; /* of those that are not done, in their order */
};

static void write_upgrade(struct call *call, const struct upgrade *upgrade)
{
	size_t failed = 0;
	struct json_writer w = json_writer(&call->out);
	jw_object(&w);
	jw_key(&w, "selectedMarketplaces");
	jw_array(&w);
	for (size_t i = 0; i < upgrade->selected.count; i++)
		jw_cstr(&w, upgrade->selected.items[i]->name);
	jw_array_end(&w);
	jw_key(&w, "upgradedRoots");
	jw_array(&w);
	for (size_t i = 0; i < upgrade->done.count; i++)
		jw_cstr(&w, upgrade->done.items[i]->root);
	jw_array_end(&w);
	jw_key(&w, "errors");
	jw_array(&w);
	for (size_t i = 0, k = 0; i < upgrade->selected.count; i++) {
		if (k < upgrade->done.count && upgrade->done.items[k] == upgrade->selected.items[i]) {
			k++;
			continue;
		}
		jw_object(&w);
		jw_member_cstr(&w, "marketplaceName", upgrade->selected.items[i]->name);
		jw_member_cstr(&w, "message", upgrade->errors.items[failed++].text);
		jw_object_end(&w);
	}
	jw_array_end(&w);
	end_json(call, &w);
}

/* A failure does not keep the others from being upgraded; the last one is reported. */
static int market_upgrade_call(struct call *call, struct error *err)
{
	int status = 0;
	const struct market *list;
	struct upgrade upgrade = {0};
	const struct toml *tree = config_tree(call->config);
	size_t count = market_list(call->home, tree, &call->arena, &list);
	if (call->argument && !market_find(call->home, tree, str_of(call->argument), &call->arena, err))
		return -(int)err->code;
	for (size_t i = 0; i < count; i++) {
		if (call->argument ? strcmp(list[i].name, call->argument) != 0 : !list[i].is_git)
			continue;
		vec_push(&upgrade.selected, &list[i]);
		if (market_upgrade(call->config, &list[i], err) == 0) {
			vec_push(&upgrade.done, &list[i]);
			continue;
		}
		vec_push(&upgrade.errors, *err);
		status = error_wrap(err, "%s", list[i].name);
	}
	if (call->options->is_json)
		write_upgrade(call, &upgrade);
	for (size_t i = 0; i < upgrade.done.count && !call->options->is_json; i++)
		buf_printf(&call->out, "Upgraded marketplace %s.\n", upgrade.done.items[i]->name);
	if (!upgrade.selected.count && !call->options->is_json)
		buf_append_c(&call->out, "There are no marketplaces of git to upgrade.\n");
	vec_finish(&upgrade.selected);
	vec_finish(&upgrade.done);
	vec_finish(&upgrade.errors);
	return status;
}

/* ---- the command ---- */

static const struct {
	const char *word, *below; /* below: NULL: the word itself */
	int (*run)(struct call *call, struct error *err);
	bool needs_argument;
} rows[] = {
	{"list", NULL, list_plugins, false},
	{"add", NULL, add, true},
	{"remove", NULL, remove_plugin, true},
	{"marketplace", "add", market_add_call, true},
	{"marketplace", "list", market_list_call, false},
	{"marketplace", "remove", market_remove_call, true},
	{"marketplace", "upgrade", market_upgrade_call, false},
};

static int run_row(struct call *call, const struct cli_result *result, struct error *err)
{
	const struct cli_list *words = &result->positionals;
	bool is_below = strcmp(result->word->word, "marketplace") == 0;
	const char *below = is_below && words->count ? words->items[0] : NULL;
	call->argument = words->count > is_below ? words->items[is_below] : NULL;
	for (size_t i = 0; i < countof(rows); i++) {
		if (strcmp(rows[i].word, result->word->word) != 0 ||
		    (is_below && (!below || strcmp(rows[i].below, below) != 0)))
			continue;
		if (rows[i].needs_argument && !call->argument)
			return error_set(err, ERR_usage, "%s needs an argument", is_below ? below : rows[i].word);
		return rows[i].run(call, err);
	}
	return error_set(err, ERR_usage, "marketplace needs a command: add, list, remove or upgrade");
}

static int run(struct call *call, const struct cli_result *result, struct error *err)
{
	struct error ignored;
	auto_buf struct buf shown;
	const struct config_source source = {0};
	struct config *config = config_load(&source, err);
	buf_init(&shown, 2 * LIMIT_LINE);
	buf_init(&call->out, LIMIT_LINE);
	if (!config)
		return -(int)err->code;
	call->config = config;
	call->home = config_home(config);
	int status = call->options->is_rpc ? market_rpc_serve(config, err) : run_row(call, result, err);
	terminal_text_append(&shown, buf_str(&call->out));
	if (status == 0)
		status = fd_write_all(STDOUT_FILENO, shown.data, shown.len, err);
	else
		best_effort(fd_write_all(STDOUT_FILENO, shown.data, shown.len, &ignored));
	config_unref(config);
	return status;
}

int market_main(int argc, char **argv)
{
	struct plugin_options options = {0};
	struct cli_result result;
	struct error err = {0};
	struct call call = {.options = &options};
	int status = cli_read(&plugin_command, argc, argv, &options, &result);
	if (status < 0) {
		status = result.word || options.is_rpc ? run(&call, &result, &err)
		                                       : error_set(&err, ERR_usage, "codex starts this command");
		if (status != 0 && err.code == ERR_usage && !options.is_rpc)
			status = cli_print_error(&plugin_command, &err);
		else if (status != 0 && options.is_rpc)
			fprintf(stderr, "%s\n", err.text);
		else if (status != 0)
			print_message("Error", err.text);
		status = status < 0 ? EXIT_FAILED : status;
	}
	buf_finish(&call.out);
	arena_finish(&call.arena);
	cli_finish(&plugin_command, &options, &result);
	return status;
}
