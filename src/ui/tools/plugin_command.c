/* A folder of this machine is linked, so that its author sees changes at once; a repository is cloned. Nothing of a
 * plugin runs meanwhile: git gets no hooks and no submodules. */
#include "ui/tools/plugin_command.h"

#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/plugin.h"
#include "ui/cli/terminal.h"

extern char **environ;

enum { EXIT_FAILED = 1, OPEN_FILES = 16 };

struct plugin_options {
	struct cli_list overrides;
	bool is_json;
};

static const struct cli_option rows[] = {
	{"config", 'c', CLI_LIST, offsetof(struct plugin_options, overrides), "key=value", NULL, NULL},
	{"json", 0, CLI_FLAG, offsetof(struct plugin_options, is_json), NULL, NULL, "With list: print JSON"},
};

enum { WORD_add, WORD_list, WORD_remove, WORD_marketplace };

static const struct cli_word words[] = {
	[WORD_add] = {.word = "add", .doc = "Add a folder of this machine, or a git repository by its URL"},
	[WORD_list] = {.word = "list", .doc = "List the plugins"},
	[WORD_remove] = {.word = "remove", .doc = "Remove a plugin"},
	[WORD_marketplace] = {.word = "marketplace", .doc = NULL},
};

static const struct cli_argument arguments[] = {
	{"[SOURCE]", "With add: the folder or the URL; with remove: the name"},
};

const struct cli_command plugin_command = {
	.name = "codex plugin",
	.about = "Add, list and remove plugins: skills, hooks and MCP servers in one folder.",
	.usage = "Usage: codex plugin add <FOLDER | URL>\n"
		 "       codex plugin list [--json]\n"
		 "       codex plugin remove NAME",
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

/* ---- names ---- */

static bool is_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool is_fine = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		               (i && strchr("-_.", c));
		if (!is_fine)
			return false;
	}
	return name.len > 0 && name.len <= LIMIT_PLUGIN_NAME;
}

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
	if (!is_name(*ret))
		return error_set(err, ERR_invalid, "%s: `name` must consist of letters, digits, `-`, `_` and `.`",
		                 path);
	return 0;
}

/* ---- add ---- */

static bool is_url(const char *source)
{
	return strstr(source, "://") || strncmp(source, "git@", 4) == 0;
}

static int clone_repository(const char *url, const char *folder, struct error *err)
{
	pid_t pid;
	int status;
	const char *const argv[] = {"git",
	                            "-c",
	                            "core.hooksPath=/dev/null",
	                            "-c",
	                            "protocol.ext.allow=never",
	                            "clone",
	                            "--quiet",
	                            "--depth",
	                            "1",
	                            "--no-recurse-submodules",
	                            "--",
	                            url,
	                            folder,
	                            NULL};
	int failure = posix_spawnp(&pid, "git", NULL, NULL, (char *const *)(uintptr_t)argv, environ);
	if (failure)
		return error_sys(err, failure, "cannot run git");
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return error_sys(err, errno, "git");
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0
	               ? 0
	               : error_set(err, ERR_io, "`git clone` failed; its message is above");
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static int remove_tree(const char *path, struct error *err)
{
	return nftw(path, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS) == 0
	               ? 0
	               : error_sys(err, errno, "cannot remove %s", path);
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
	char id[UUID_TEXT_SIZE];
	struct error ignored;
	uuid_v7(id);
	auto_free char *folder = xasprintf("%s/.new-%s", plugins, id);
	int status = clone_repository(url, folder, err);
	if (status == 0)
		status = place(plugins, folder, true, err);
	if (status != 0 && dir_exists(folder))
		best_effort(remove_tree(folder, &ignored));
	return status;
}

static int add(const char *home, const char *source, struct error *err)
{
	auto_free char *plugins = path_join(home, "plugins");
	auto_free char *real = is_url(source) ? NULL : realpath(source, NULL);
	if (!is_url(source) && !real)
		return error_sys(err, errno, "cannot open %s", source);
	if (dir_make(plugins, 0700, err) != 0)
		return -(int)err->code;
	return real ? place(plugins, real, false, err) : add_clone(plugins, source, err);
}

/* ---- remove, list ---- */

static int remove_plugin(const char *home, const char *name, struct error *err)
{
	struct stat st;
	auto_free char *path = xasprintf("%s/plugins/%s", home, name);
	if (!is_name(str_of(name)) || lstat(path, &st) != 0)
		return error_set(err, ERR_not_found, "no plugin named `%s`", name);
	if (S_ISLNK(st.st_mode) ? unlink(path) != 0 : remove_tree(path, err) != 0)
		return S_ISLNK(st.st_mode) ? error_sys(err, errno, "cannot remove %s", path) : -(int)err->code;
	printf("Removed plugin %s.\n", name);
	return 0;
}

static void write_list(const struct plugin *list, size_t count, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_key(&w, "installed");
	jw_array(&w);
	for (size_t i = 0; i < count; i++) {
		jw_object(&w);
		jw_member_cstr(&w, "name", list[i].name);
		jw_member_bool(&w, "enabled", list[i].is_enabled);
		jw_member_cstr(&w, "path", list[i].root);
		jw_object_end(&w);
	}
	jw_array_end(&w);
	jw_key(&w, "available");
	jw_array(&w);
	jw_array_end(&w);
	jw_object_end(&w);
	buf_append_char(out, '\n');
}

static int list_plugins(const char *home, bool is_json, struct error *err)
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
	if (is_json)
		write_list(list, count, &out);
	for (size_t i = 0; i < count && !is_json; i++)
		buf_printf(&out, "%s\t%s\t%s\n", list[i].name, list[i].is_enabled ? "enabled" : "disabled",
		           list[i].root);
	config_unref(config);
	terminal_text_append(&shown, buf_str(&out));
	return fd_write_all(STDOUT_FILENO, shown.data, shown.len, err);
}

/* ---- the command ---- */

static int run(const struct plugin_options *options, const struct cli_result *result, struct error *err)
{
	const char *argument = result->positionals.count ? result->positionals.items[0] : NULL;
	auto_free char *home = config_env_home(err);
	if (!home)
		return -(int)err->code;
	if (result->word == &words[WORD_marketplace])
		return error_set(
			err, ERR_unsupported,
			"this version has no marketplaces: `codex plugin add` takes a folder or the URL of a git "
			"repository");
	if (!result->word)
		return error_set(err, ERR_usage, "a command is required: add, list or remove");
	if (result->word == &words[WORD_list])
		return list_plugins(home, options->is_json, err);
	if (!argument)
		return error_set(err, ERR_usage, "%s needs an argument", result->word->word);
	return result->word == &words[WORD_add] ? add(home, argument, err) : remove_plugin(home, argument, err);
}

int plugin_main(int argc, char **argv)
{
	struct plugin_options options = {0};
	struct cli_result result;
	struct error err = {0};
	int status = cli_read(&plugin_command, argc, argv, &options, &result);
	if (status < 0) {
		status = run(&options, &result, &err);
		if (status != 0 && err.code == ERR_usage)
			status = cli_print_error(&plugin_command, &err);
		else if (status != 0)
			fprintf(stderr, "Error: %s\n", err.text);
		status = status < 0 ? EXIT_FAILED : status;
	}
	cli_finish(&plugin_command, &options, &result);
	return status;
}
