/* A marketplace that cannot be read is a warning in lists, and does not hide the others. */
#include "ui/market/market_command.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/plugin.h"
#include "market/market.h"
#include "ui/cli/terminal.h"
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

static void add_source(struct json_writer *w, const struct market *market)
{
	jw_key(w, "marketplaceSource");
	jw_object(w);
	jw_member_cstr(w, "sourceType", market->is_git ? "git" : "local");
	jw_member_cstr(w, "source", market->source);
	jw_object_end(w);
}

/* ---- list --available ---- */

static void add_plugin(struct json_writer *w, const struct market *market, const struct market_plugin *plugin,
                       const char *id)
{
	jw_object(w);
	jw_member_cstr(w, "pluginId", id);
	jw_member_str(w, "name", plugin->name);
	jw_member_cstr(w, "marketplaceName", market->name);
	jw_member_bool(w, "installed", false);
	jw_member_bool(w, "enabled", false);
	jw_key(w, "source");
	if (plugin->folder) {
		jw_object(w);
		jw_member_cstr(w, "source", "local");
		jw_key(w, "path");
		jw_strf(w, "%s/%s", market->root, plugin->folder);
		jw_object_end(w);
	} else {
		jw_null(w);
	}
	add_source(w, market);
	jw_member_str(w, "installPolicy", plugin->install_policy);
	jw_member_str(w, "authPolicy", plugin->auth_policy);
	jw_object_end(w);
}

static bool is_installed(const struct plugin *list, size_t count, const char *id)
{
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].name, id) == 0)
			return true;
	}
	return false;
}

static void add_catalog(struct call *call, struct json_writer *w, const struct market *market,
                        const struct plugin *list, size_t count)
{
	struct error err;
	struct market_catalog catalog;
	if (market_read(market->root, &call->arena, &catalog, &err) != 0) {
		best_effort(error_wrap(&err, "marketplace %s", market->name));
		print_message("warning", err.text);
		return;
	}
	for (size_t i = 0; i < catalog.count; i++) {
		const struct market_plugin *plugin = &catalog.plugins[i];
		const char *id = arena_printf(&call->arena, "%.*s@%s", STR_ARG(plugin->name), market->name);
		if (is_installed(list, count, id))
			continue;
		if (call->options->is_json)
			add_plugin(w, market, plugin, id);
		else
			buf_printf(&call->out, "%s\tnot installed\t%s\n", id, market->root);
	}
}

static int list_available(struct call *call, struct error *err)
{
	const struct plugin *list;
	const struct market *markets;
	const struct toml *tree = config_tree(call->config);
	struct json_writer w = json_writer(&call->out);
	size_t count = plugin_list(call->home, tree, &call->arena, &list);
	size_t market_count = market_list(call->home, tree, &call->arena, &markets);
	(void)err;
	if (call->options->is_json) {
		jw_object(&w);
		jw_key(&w, "installed");
		plugin_write_installed(list, count, &w);
		jw_key(&w, "available");
		jw_array(&w);
	}
	for (size_t i = 0; i < count && !call->options->is_json; i++)
		buf_printf(&call->out, "%s\t%s\t%s\n", list[i].name, list[i].is_enabled ? "enabled" : "disabled",
		           list[i].root);
	for (size_t i = 0; i < market_count; i++)
		add_catalog(call, &w, &markets[i], list, count);
	if (call->options->is_json) {
		jw_array_end(&w);
		jw_object_end(&w);
		buf_append_char(&call->out, '\n');
	}
	return 0;
}

/* ---- add, remove ---- */

static int add(struct call *call, struct error *err)
{
	const char *root;
	unsigned left = 0;
	if (market_install(call->config, call->argument, &call->arena, &root, &left, err) != 0)
		return -(int)err->code;
	buf_printf(&call->out, "Added plugin %s.\nInstalled plugin root: %s\n", call->argument, root);
	if (left)
		buf_printf(&call->out, "%u links or special files are left out.\n", left);
	return 0;
}

static int remove_plugin(struct call *call, struct error *err)
{
	if (market_uninstall(call->home, call->argument, err) != 0)
		return -(int)err->code;
	buf_printf(&call->out, "Removed plugin %s.\n", call->argument);
	return 0;
}

/* ---- marketplace ---- */

static int market_add_call(struct call *call, struct error *err)
{
	struct market market;
	if (market_add(call->config, call->argument, call->options->ref, &call->arena, &market, err) != 0)
		return -(int)err->code;
	buf_printf(&call->out, "Added marketplace %s from %s.\nInstalled marketplace root: %s\n", market.name,
	           market.source, market.root);
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
		add_source(&w, &list[i]);
		jw_object_end(&w);
	}
	jw_array_end(&w);
	jw_object_end(&w);
	buf_append_char(&call->out, '\n');
	return 0;
}

static int market_remove_call(struct call *call, struct error *err)
{
	if (market_remove(call->config, call->argument, err) != 0)
		return -(int)err->code;
	buf_printf(&call->out, "Removed marketplace %s. Its plugins stay.\n", call->argument);
	return 0;
}

/* A failure does not keep the others from being upgraded; the last one is reported. */
static int market_upgrade_call(struct call *call, struct error *err)
{
	int status = 0;
	const struct market *list;
	const struct toml *tree = config_tree(call->config);
	size_t count = market_list(call->home, tree, &call->arena, &list), done = 0;
	if (call->argument && !market_find(call->home, tree, str_of(call->argument), &call->arena, err))
		return -(int)err->code;
	for (size_t i = 0; i < count; i++) {
		if (call->argument ? strcmp(list[i].name, call->argument) != 0 : !list[i].is_git)
			continue;
		done++;
		if (market_upgrade(call->config, &list[i], err) != 0)
			status = error_wrap(err, "%s", list[i].name);
		else
			buf_printf(&call->out, "Upgraded marketplace %s.\n", list[i].name);
	}
	if (!done)
		buf_append_c(&call->out, "There are no marketplaces of git to upgrade.\n");
	return status;
}

/* ---- the command ---- */

static const struct {
	const char *word, *below; /* below: NULL: the word itself */
	int (*run)(struct call *call, struct error *err);
	bool needs_argument;
} rows[] = {
	{"list", NULL, list_available, false},
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
	int status = run_row(call, result, err);
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
		status = result.word ? run(&call, &result, &err)
		                     : error_set(&err, ERR_usage, "codex starts this command");
		if (status != 0 && err.code == ERR_usage)
			status = cli_print_error(&plugin_command, &err);
		else if (status != 0)
			print_message("Error", err.text);
		status = status < 0 ? EXIT_FAILED : status;
	}
	buf_finish(&call.out);
	arena_finish(&call.arena);
	cli_finish(&plugin_command, &options, &result);
	return status;
}
