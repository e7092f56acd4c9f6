/* A folder of this machine is linked, so that its author sees changes at once; a repository is cloned. Marketplaces
 * are the matter of codex-fleet (ui/market). */
#include "ui/tools/plugin_command.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/plugin.h"
#include "config/plugin_files.h"
#include "config/plugin_git.h"
#include "ui/cli/terminal.h"
#include "ui/fleet/fleet_options.h"
#include "ui/tools/tools_limits.h"

enum { EXIT_FAILED = 1 };

/* The folder of the plugins of marketplaces, among those of the others. */
static const char reserved[] = "cache";

static const struct cli_option rows[] = {
	{"config", 'c', CLI_LIST, offsetof(struct plugin_options, overrides), "key=value", NULL, NULL},
	{"json", 0, CLI_FLAG, offsetof(struct plugin_options, is_json), NULL, NULL, "Print JSON"},
	{"available", 0, CLI_FLAG, offsetof(struct plugin_options, lists_available), NULL, NULL,
         "With list: also the plugins of marketplaces"},
	{"marketplace", 'm', CLI_TEXT, offsetof(struct plugin_options, market), "NAME", NULL,
         "With list: only this marketplace; with add and remove: that of the plugin"},
	{"ref", 0, CLI_TEXT, offsetof(struct plugin_options, ref), "REF", NULL, "With marketplace add: branch or tag"},
	{"sparse", 0, CLI_LIST, offsetof(struct plugin_options, sparse), "DIR", NULL,
         "With marketplace add: check out this folder; repeatable"},
	{"rpc", 0, CLI_FLAG, offsetof(struct plugin_options, is_rpc), NULL, NULL, NULL},
};

enum { WORD_add, WORD_list, WORD_show, WORD_remove, WORD_marketplace };

static const struct cli_word words[] = {
	[WORD_add] = {.word = "add", .doc = "Add a folder, a git repository, or a plugin of a marketplace"},
	[WORD_list] = {.word = "list", .doc = "List the plugins"},
	[WORD_show] = {.word = "show", .doc = "Print what a plugin brings, also before it is added"},
	[WORD_remove] = {.word = "remove", .doc = "Remove a plugin"},
	[WORD_marketplace] = {.word = "marketplace", .doc = "Add, list, upgrade and remove marketplaces"},
};

static const struct cli_argument arguments[] = {
	{"[SOURCE]",
         "With add: the folder, the URL or NAME@MARKETPLACE; with remove: the name; with show: one of both"},
};

const struct cli_command plugin_command = {
	.name = "codex plugin",
	.about = "Add, list and remove plugins: skills, hooks and MCP servers in one folder.",
	.usage = "Usage: codex plugin add <FOLDER | URL | NAME@MARKETPLACE>\n"
		 "       codex plugin list [--available] [--marketplace NAME] [--json]\n"
		 "       codex plugin show <NAME[@MARKETPLACE] | FOLDER>\n"
		 "       codex plugin remove NAME[@MARKETPLACE]\n"
		 "       codex plugin marketplace add <FOLDER | URL | OWNER/REPO> [--ref REF]\n"
		 "       codex plugin marketplace list [--json]\n"
		 "       codex plugin marketplace upgrade [NAME]\n"
		 "       codex plugin marketplace remove NAME",
	.details = "A plugin has a file .codex-plugin/plugin.json. Its skills and MCP servers are\n"
		   "used from the next session on, its hooks after `codex hooks trust`.\n"
		   "[plugins.NAME] enabled = false in config.toml switches it off.\n",
	.words = words,
	.word_count = countof(words),
	.arguments = arguments,
	.argument_count = countof(arguments),
	.options = rows,
	.option_count = countof(rows),
	.most_positionals = 2,
};

/* ---- add ---- */

/* Reads the name of the plugin in a folder. */
static int read_name(const char *root, struct arena *arena, struct str *ret, struct error *err)
{
	auto_buf struct buf text;
	auto_free char *path = path_join(root, ".codex-plugin/plugin.json");
	buf_init(&text, LIMIT_CONFIG_FILE);
	if (!file_exists(path))
		return error_set(err, ERR_not_found, "%s is not a plugin: it has no .codex-plugin/plugin.json", root);
	if (file_read_regular(path, &text, err) != 0)
		return -(int)err->code;
	const struct json *json = json_parse_copy(arena, buf_str(&text), err);
	if (!json)
		return error_wrap(err, "%s", path);
	*ret = json_get_str(json, "name");
	if (!plugin_is_name(*ret))
		return error_set(err, ERR_invalid, "%s: `name` must consist of letters, digits, `-`, `_` and `.`",
		                 path);
	return 0;
}

/* Puts the plugin in `from` under its name: by a link, or by a move of the clone. */
static int place(const char *plugins, const char *from, bool is_clone, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct str name;
	if (read_name(from, &arena, &name, err) != 0)
		return -(int)err->code;
	const char *target = arena_printf(&arena, "%s/%.*s", plugins, STR_ARG(name));
	struct stat st;
	if (str_is(name, reserved))
		return error_set(err, ERR_invalid, "a plugin cannot have the name `%s`", reserved);
	if (lstat(target, &st) == 0)
		return error_set(err, ERR_exists, "a plugin %.*s exists already: `codex plugin remove %.*s` removes it",
		                 STR_ARG(name), STR_ARG(name));
	if ((is_clone ? rename(from, target) : symlink(from, target)) != 0)
		return error_sys(err, errno, "cannot create %s", target);
	printf("Added plugin %.*s.\n", STR_ARG(name));
	return 0;
}

static int add_clone(const char *plugins, const char *url, struct error *err)
{
	struct plugin_clone clone;
	plugin_clone_sweep(plugins);
	int status = plugin_clone_open(&clone, plugins, err);
	if (status == 0)
		status = plugin_clone_fetch(&clone, url, NULL, NULL, err);
	if (status == 0)
		status = plugin_checkout(&clone, "HEAD", NULL, err);
	if (status == 0)
		status = place(plugins, clone.folder, true, err);
	plugin_clone_close(&clone);
	return status;
}

static int add(const char *home, const char *source, struct error *err)
{
	auto_free char *plugins = path_join(home, "plugins");
	auto_free char *real = plugin_is_url(source) ? NULL : realpath(source, NULL);
	if (!plugin_is_url(source) && !real)
		return error_sys(err, errno, "cannot open %s", source);
	if (dir_make(plugins, 0700, err) != 0)
		return -(int)err->code;
	return real ? place(plugins, real, false, err) : add_clone(plugins, source, err);
}

/* ---- show ---- */

/* Returns the root of an installed plugin, or the folder that the argument names by a path: a name must not mean a
 * folder of the repository in which the command runs. */
static const char *find_root(const char *home, const char *argument, struct arena *arena)
{
	const struct plugin *list;
	struct error ignored;
	const struct config_source source = {0};
	struct config *config = config_load(&source, &ignored);
	size_t count = plugin_list(home, config ? config_tree(config) : NULL, arena, &list);
	config_unref(config);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].name, argument) == 0)
			return list[i].root;
	}
	auto_free char *real = strchr(argument, '/') ? realpath(argument, NULL) : NULL;
	return real ? arena_printf(arena, "%s", real) : NULL;
}

/* On one line, and cut: a text of the plugin must not look like another row, or push others out of view. */
static void add_name(struct buf *out, const char *before, struct str name)
{
	bool is_cut = name.len > LIMIT_PLUGIN_ROW;
	buf_append_c(out, before);
	text_append_line(out, is_cut ? str_n(name.ptr, LIMIT_PLUGIN_ROW) : name);
	buf_append_c(out, is_cut ? " …" : "");
}

/* Adds a row of names, which is cut as well. */
static void add_row(struct buf *out, const char *title, const struct buf *names)
{
	if (!names->len)
		return;
	add_name(out, title, buf_str(names));
	buf_append_char(out, '\n');
}

static void add_to_row(struct buf *names, struct str name)
{
	if (names->len <= LIMIT_PLUGIN_ROW)
		buf_printf(names, "%s%.*s", names->len ? ", " : "", STR_ARG(name));
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void add_skills(const char *root, struct buf *out)
{
	auto_free char *folder = path_join(root, "skills");
	auto_buf struct buf names;
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_shown, alphasort);
	buf_init(&names, LIMIT_LINE);
	for (int i = 0; i < count; i++) {
		auto_free char *file = xasprintf("%s/%s/SKILL.md", folder, entries[i]->d_name);
		if (names.len <= LIMIT_PLUGIN_ROW && file_exists(file))
			add_to_row(&names, str_of(entries[i]->d_name));
		free(entries[i]);
	}
	free(entries);
	add_row(out, "Skills: ", &names);
}

/* Adds the names in a table of one of its files; a file that cannot be read is named with the reason. */
static void add_names(const struct plugin *plugin, const char *file, const char *table, const char *title,
                      struct arena *arena, struct buf *out)
{
	const struct toml *root;
	struct error err;
	auto_buf struct buf names;
	buf_init(&names, LIMIT_LINE);
	if (plugin_read(plugin, file, arena, &root, &err) != 0)
		buf_append_c(&names, err.text);
	toml_for_each(it, toml_get(root, table))
		add_to_row(&names, it->key);
	add_row(out, title, &names);
}

static int show(const char *home, const char *argument, struct error *err)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out, shown;
	struct plugin plugin = {.root = find_root(home, argument, &arena)};
	const struct toml *manifest;
	struct str name;
	buf_init(&out, LIMIT_LINE);
	buf_init(&shown, 2 * LIMIT_LINE);
	if (!plugin.root)
		return error_set(err, ERR_not_found,
		                 "no plugin named `%s` is installed, nor is it the path of a folder, such as ./NAME",
		                 argument);
	if (read_name(plugin.root, &arena, &name, err) != 0 ||
	    plugin_read(&plugin, ".codex-plugin/plugin.json", &arena, &manifest, err) != 0)
		return -(int)err->code;
	const struct toml *version = toml_get(manifest, "version"), *about = toml_get(manifest, "description");
	buf_append_str(&out, name);
	if (toml_is(version, TOML_string))
		add_name(&out, " ", version->text);
	buf_append_char(&out, '\n');
	add_names(&plugin, "hooks/hooks.json", "hooks", "Hooks: ", &arena, &out);
	add_names(&plugin, ".mcp.json", "mcpServers", "MCP servers: ", &arena, &out);
	add_skills(plugin.root, &out);
	add_name(&out, "Folder: ", str_of(plugin.root));
	if (toml_is(about, TOML_string))
		add_name(&out, "\n", about->text);
	buf_append_char(&out, '\n');
	terminal_text_append(&shown, buf_str(&out));
	return fd_write_all(STDOUT_FILENO, shown.data, shown.len, err);
}

/* ---- remove, list ---- */

static int remove_plugin(const char *home, const char *name, struct error *err)
{
	struct stat st;
	auto_free char *path = xasprintf("%s/plugins/%s", home, name);
	if (!plugin_is_name(str_of(name)) || strcmp(name, reserved) == 0 || lstat(path, &st) != 0)
		return error_set(err, ERR_not_found, "no plugin named `%s`", name);
	if (S_ISLNK(st.st_mode) ? unlink(path) != 0 : plugin_remove_tree(path, err) != 0)
		return S_ISLNK(st.st_mode) ? error_sys(err, errno, "cannot remove %s", path) : -(int)err->code;
	printf("Removed plugin %s.\n", name);
	return 0;
}

void plugin_write_linked(const struct plugin *plugin, struct arena *arena, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "name", plugin->name);
	jw_member_str(w, "version", plugin_version(plugin, arena));
	jw_member_bool(w, "installed", true);
	jw_member_bool(w, "enabled", plugin->is_enabled);
	jw_member_cstr(w, "path", plugin->root);
	jw_object_end(w);
}

static void write_list(const struct plugin *list, size_t count, struct arena *arena, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_key(&w, "installed");
	jw_array(&w);
	for (size_t i = 0; i < count; i++)
		plugin_write_linked(&list[i], arena, &w);
	jw_array_end(&w);
	jw_member_raw(&w, "available", STR("[]"));
	jw_object_end(&w);
	buf_append_char(out, '\n');
}

/* *ret_needs_market: the JSON describes plugins of marketplaces, too; nothing was printed. */
static int list_plugins(const char *home, bool is_json, bool *ret_needs_market, struct error *err)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out, shown;
	const struct plugin *list;
	const struct config_source source = {0};
	struct config *config = config_load(&source, err);
	buf_init(&out, LIMIT_LINE);
	buf_init(&shown, 2 * LIMIT_LINE);
	if (!config)
		return -(int)err->code;
	size_t count = plugin_list(home, config_tree(config), &arena, &list);
	for (size_t i = 0; i < count && is_json; i++)
		*ret_needs_market |= strchr(list[i].name, '@') != NULL;
	if (is_json && !*ret_needs_market)
		write_list(list, count, &arena, &out);
	for (size_t i = 0; i < count && !is_json; i++)
		buf_printf(&out, "%s\t%s\t%s\n", list[i].name, list[i].is_enabled ? "enabled" : "disabled",
		           list[i].root);
	config_unref(config);
	terminal_text_append(&shown, buf_str(&out));
	return fd_write_all(STDOUT_FILENO, shown.data, shown.len, err);
}

/* ---- the command ---- */

static int run(const struct plugin_options *options, const struct cli_result *result, bool *ret_needs_market,
               struct error *err)
{
	const char *argument = result->positionals.count ? result->positionals.items[0] : NULL;
	auto_free char *home = config_env_home(err);
	if (!home)
		return -(int)err->code;
	if (!result->word)
		return error_set(err, ERR_usage, "a command is required: add, list, show, remove or marketplace");
	if (result->word == &words[WORD_list])
		return list_plugins(home, options->is_json, ret_needs_market, err);
	if (!argument)
		return error_set(err, ERR_usage, "%s needs an argument", result->word->word);
	if (result->word == &words[WORD_show])
		return show(home, argument, err);
	if (options->is_json)
		return error_set(err, ERR_usage, "--json is for lists and for plugins of marketplaces");
	return result->word == &words[WORD_add] ? add(home, argument, err) : remove_plugin(home, argument, err);
}

/* True if a marketplace is concerned. A folder may have an `@` in its path. */
static bool is_of_market(const struct plugin_options *options, const struct cli_result *result)
{
	const char *argument = result->positionals.count ? result->positionals.items[0] : "";
	if (result->word == &words[WORD_show])
		return false;
	if (!result->word || result->word == &words[WORD_list])
		return options->is_rpc || (result->word && (options->lists_available || options->market));
	return options->market || result->word == &words[WORD_marketplace] ||
	       (strchr(argument, '@') && !strchr(argument, '/') && !plugin_is_url(argument));
}

int plugin_main(int argc, char **argv)
{
	struct plugin_options options = {0};
	struct cli_result result;
	struct error err = {0};
	int status = cli_read(&plugin_command, argc, argv, &options, &result);
	bool needs_market = status < 0 && is_of_market(&options, &result);
	if (status < 0 && !needs_market) {
		status = run(&options, &result, &needs_market, &err);
		if (status != 0 && err.code == ERR_usage)
			status = cli_print_error(&plugin_command, &err);
		else if (status != 0)
			fprintf(stderr, "Error: %s\n", err.text);
		status = status < 0 ? EXIT_FAILED : status;
	}
	if (needs_market)
		status = fleet_exec(&plugin_command, argc, argv);
	cli_finish(&plugin_command, &options, &result);
	return status;
}
