/* Something new is made beside its place and moved there when it is complete; what was there before goes last. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/config_required.h"
#include "config/plugin_files.h"
#include "config/toml/toml_edit.h"
#include "import/import_tree.h"
#include "market/market.h"

/* ---- the administrator's limits ---- */

static const struct toml *required_table(const struct config *config, const char *key)
{
	const struct config_required *required = config_required(config);
	return required ? toml_get(required->root, key) : NULL;
}

static int check_plugin(const struct config *config, const char *id, struct error *err)
{
	const struct toml *table = required_table(config, "plugins");
	const struct toml *entry = toml_get(table, id), *enabled = toml_get(entry, "enabled");
	bool is_off = toml_is(enabled, TOML_bool) && !enabled->boolean;
	return !table || (entry && !is_off) ? 0
	                                    : error_set(err, ERR_denied, "%s: [plugins] does not list `%s`",
	                                                config_required(config)->path, id);
}

static bool has_text(const struct toml *table, const char *key, const char *text)
{
	const struct toml *value = toml_get(table, key);
	return toml_is(value, TOML_string) && text && str_is(value->text, text);
}

/* True if an entry of allowed_sources has this source. An entry of another form allows nothing. */
static bool allows(const struct toml *entry, const struct market *market)
{
	return has_text(entry, "source", market->is_git ? "git" : "local") &&
	       has_text(entry, market->is_git ? "url" : "path", market->source) &&
	       (!toml_get(entry, "ref") || has_text(entry, "ref", market->ref));
}

/* A marketplace names itself, so only its source can be limited. */
static int check_source(const struct config *config, const struct market *market, struct error *err)
{
	const struct toml *table = required_table(config, "marketplaces");
	const struct toml *is_limited = toml_get(table, "restrict_to_allowed_sources");
	const struct toml *list = toml_get(table, "allowed_sources");
	if (!table || (toml_is(is_limited, TOML_bool) && !is_limited->boolean))
		return 0;
	toml_for_each(it, toml_is(list, TOML_table) ? list : NULL) {
		if (allows(it, market))
			return 0;
	}
	return error_set(err, ERR_denied, "%s: [marketplaces] does not allow the source %s",
	                 config_required(config)->path, market->source);
}

/* ---- config.toml ---- */

struct change {
	const char *table, *name;
	const struct market *market; /* NULL: a plugin */
	bool removes;
};

static void add_text(struct arena *arena, struct toml *table, const char *key, const char *text)
{
	struct toml *value = toml_new(arena, TOML_string, "", 1);
	value->text = str_of(text);
	toml_add(arena, table, str_of(key), value);
}

static int apply(struct toml_edit *edit, void *self, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct change *change = self;
	const struct str path[] = {str_of(change->table), str_of(change->name)};
	struct toml *value = toml_new(&arena, TOML_table, "", 1);
	if (change->removes && !toml_get(toml_get(edit->root, change->table), change->name))
		return error_set(err, ERR_not_found, "your config.toml has no [%s.\"%s\"]", change->table,
		                 change->name);
	if (change->removes)
		return toml_edit_remove(edit, path, countof(path), err);
	if (change->market) {
		add_text(&arena, value, "source_type", change->market->is_git ? "git" : "local");
		add_text(&arena, value, "source", change->market->source);
		if (change->market->ref)
			add_text(&arena, value, "ref", change->market->ref);
		return toml_edit_set(edit, path, countof(path), value, err);
	}
	struct toml *enabled = toml_new(&arena, TOML_bool, "", 1);
	enabled->boolean = true;
	toml_add(&arena, value, STR("enabled"), enabled);
	return toml_edit_merge(edit, path, countof(path), value, err);
}

/* ---- folders ---- */

/* A new name beside the folder. */
static char *beside(const char *path, const char *kind)
{
	char id[UUID_TEXT_SIZE];
	struct str dir = path_dir(path);
	uuid_v7(id);
	return xasprintf("%.*s/.%s-%s", STR_ARG(dir), kind, id);
}

/* Moves a folder to its place; what was there is removed afterwards. The two change places at once, so that a session
 * that starts meanwhile finds one of them. */
static int move_in(const char *from, const char *to, struct error *err)
{
	struct error ignored;
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 2 /* RENAME_EXCHANGE */) == 0)
		best_effort(plugin_remove_tree(from, &ignored));
	else if (errno != ENOENT || rename(from, to) != 0)
		return error_sys(err, errno, "cannot create %s", to);
	return 0;
}

static int make_parent(const char *path, struct error *err)
{
	auto_free char *dir = str_dup(path_dir(path));
	return dir_make(dir, 0700, err);
}

/* ---- marketplaces ---- */

/* Clones to a new folder beside `place` and reads its manifest. */
static int clone_beside(const char *place, const char *url, const char *ref, struct arena *arena, char **ret_folder,
                        struct market_catalog *catalog, struct error *err)
{
	*ret_folder = beside(place, "new");
	if (make_parent(place, err) != 0 || plugin_clone(url, ref, *ret_folder, err) != 0)
		return -(int)err->code;
	return market_read(*ret_folder, arena, catalog, err);
}

static int check_new(const struct config *config, const struct market *market, struct arena *arena, struct error *err)
{
	struct error ignored;
	const struct market *old =
		market_find(config_home(config), config_tree(config), str_of(market->name), arena, &ignored);
	if (old && (old->is_git != market->is_git || strcmp(old->source, market->source) != 0))
		return error_set(
			err, ERR_exists,
			"marketplace `%s` is already added from %s: `codex plugin marketplace remove %s` removes it",
			market->name, old->source, market->name);
	return 0;
}

static int record(const struct config *config, const struct market *market, struct error *err)
{
	struct change change = {"marketplaces", market->name, market, false};
	return config_file_change(config_home(config), apply, &change, err);
}

static int add_folder(const struct config *config, struct arena *arena, struct market *market, struct error *err)
{
	struct market_catalog catalog;
	if (market_read(market->source, arena, &catalog, err) != 0)
		return -(int)err->code;
	market->name = arena_cstr(arena, catalog.name);
	market->root = market->source;
	return check_new(config, market, arena, err) == 0 ? record(config, market, err) : -(int)err->code;
}

static int add_clone(const struct config *config, struct arena *arena, struct market *market, struct error *err)
{
	struct error ignored;
	struct market_catalog catalog;
	auto_free char *folder = NULL;
	const char *parent = arena_printf(arena, "%s/.tmp/marketplaces", config_home(config));
	const char *place = arena_printf(arena, "%s/x", parent);
	int status = clone_beside(place, market->source, market->ref, arena, &folder, &catalog, err);
	if (status == 0) {
		market->name = arena_cstr(arena, catalog.name);
		market->root = arena_printf(arena, "%s/%s", parent, market->name);
		status = check_new(config, market, arena, err);
	}
	if (status == 0)
		status = move_in(folder, market->root, err);
	if (status != 0 && dir_exists(folder))
		best_effort(plugin_remove_tree(folder, &ignored));
	return status == 0 ? record(config, market, err) : status;
}

int market_add(const struct config *config, const char *source, const char *ref, struct arena *arena,
               struct market *ret, struct error *err)
{
	*ret = (struct market){.source = source, .ref = ref, .is_git = plugin_is_url(source)};
	if (ret->is_git)
		return check_source(config, ret, err) == 0 ? add_clone(config, arena, ret, err) : -(int)err->code;
	auto_free char *real = realpath(source, NULL);
	if (!real)
		return error_sys(err, errno, "cannot open %s", source);
	if (ref)
		return error_set(err, ERR_usage, "--ref is for the URL of a git repository");
	ret->source = arena_cstr(arena, str_of(real));
	return check_source(config, ret, err) == 0 ? add_folder(config, arena, ret, err) : -(int)err->code;
}

int market_remove(const struct config *config, const char *name, struct error *err)
{
	auto_arena struct arena arena = {0};
	const char *home = config_home(config);
	const struct market *market = market_find(home, config_tree(config), str_of(name), &arena, err);
	struct change change = {.table = "marketplaces", .name = name, .removes = true};
	if (!market || config_file_change(home, apply, &change, err) != 0)
		return -(int)err->code;
	return market->is_git && dir_exists(market->root) ? plugin_remove_tree(market->root, err) : 0;
}

int market_upgrade(const struct config *config, const struct market *market, struct error *err)
{
	auto_arena struct arena arena = {0};
	auto_free char *folder = NULL;
	struct market_catalog catalog;
	struct error ignored;
	if (!market->is_git)
		return error_set(err, ERR_invalid, "marketplace `%s` is a folder, which is used as it is",
		                 market->name);
	if (check_source(config, market, err) != 0)
		return -(int)err->code;
	int status = clone_beside(market->root, market->source, market->ref, &arena, &folder, &catalog, err);
	if (status == 0 && !str_is(catalog.name, market->name))
		status = error_set(err, ERR_invalid, "the repository of marketplace `%s` calls itself `%.*s` now",
		                   market->name, STR_ARG(catalog.name));
	if (status == 0)
		status = move_in(folder, market->root, err);
	if (status != 0 && dir_exists(folder))
		best_effort(plugin_remove_tree(folder, &ignored));
	return status;
}

/* ---- plugins ---- */

/* Splits NAME@MARKETPLACE. */
static int split(const char *id, struct str *name, struct str *market, struct error *err)
{
	const char *at = strchr(id, '@');
	*name = at ? str_n(id, (size_t)(at - id)) : str_of(id);
	*market = str_of(at ? at + 1 : "");
	return plugin_is_name(*name) && plugin_is_name(*market)
	               ? 0
	               : error_set(err, ERR_invalid, "`%s` is not NAME@MARKETPLACE", id);
}

static int find_plugin(const struct market *market, struct str name, struct arena *arena, struct market_plugin *ret,
                       struct error *err)
{
	struct market_catalog catalog;
	if (market_read(market->root, arena, &catalog, err) != 0)
		return -(int)err->code;
	for (size_t i = 0; i < catalog.count; i++) {
		*ret = catalog.plugins[i];
		if (!str_eq(ret->name, name))
			continue;
		if (str_is(ret->install_policy, "NOT_AVAILABLE"))
			return error_set(err, ERR_denied, "marketplace `%s` says that `%.*s` is not available",
			                 market->name, STR_ARG(name));
		return ret->folder
		               ? 0
		               : error_set(err, ERR_unsupported,
		                           "`%.*s` is not in the folder of marketplace `%s`: `codex plugin add URL` "
		                           "adds a repository",
		                           STR_ARG(name), market->name);
	}
	return error_set(err, ERR_not_found, "plugin `%.*s` was not found in marketplace `%s`", STR_ARG(name),
	                 market->name);
}

/* Checks the plugin's own file and returns its version. */
static int read_version(const struct import_tree *tree, const struct market_plugin *plugin, struct arena *arena,
                        const char **ret, struct error *err)
{
	const char *file = arena_printf(arena, "%s/.codex-plugin/plugin.json", plugin->folder);
	struct import_source source = import_source_read(tree, file, LIMIT_CONFIG_FILE, arena);
	if (!source.json)
		return error_set(err, source.err.code, "%s", source.err.text);
	struct str version = json_get_str(source.json, "version");
	*ret = version.len ? arena_cstr(arena, version) : "local";
	if (!str_eq(json_get_str(source.json, "name"), plugin->name))
		return error_set(err, ERR_invalid, "%s/%s does not name the plugin `%.*s`", tree->path, file,
		                 STR_ARG(plugin->name));
	return plugin_is_name(str_of(*ret))
	               ? 0
	               : error_set(err, ERR_invalid,
	                           "%s/%s: `version` must consist of letters, digits, `-`, `_` and `.`", tree->path,
	                           file);
}

/* Copies the plugin to `fresh`/VERSION, a folder below the home. */
static int copy(const struct market *market, const struct market_plugin *plugin, const struct import_tree *home,
                const char *fresh, struct arena *arena, const char **ret_version, unsigned *ret_left, struct error *err)
{
	struct import_tree tree = {.fd = -1};
	int status = import_tree_open(&tree, market->root, false, err);
	if (status == 0)
		status = read_version(&tree, plugin, arena, ret_version, err);
	if (status == 0) {
		const struct import_file target = {fresh, *ret_version, 0600, false};
		status = import_tree_copy(&tree, plugin->folder, home, &target, ret_left, err);
	}
	import_tree_close(&tree);
	return status;
}

static int place(const struct market *market, const struct market_plugin *plugin, const char *home, struct arena *arena,
                 const char **ret, unsigned *ret_left, struct error *err)
{
	char id[UUID_TEXT_SIZE];
	struct error ignored;
	const char *version = NULL;
	struct import_tree tree = {.fd = -1};
	uuid_v7(id);
	const char *fresh = arena_printf(arena, "plugins/cache/.new-%s", id);
	const char *from = arena_printf(arena, "%s/%s", home, fresh);
	const char *to = arena_printf(arena, "%s/plugins/cache/%s/%.*s", home, market->name, STR_ARG(plugin->name));
	int status = make_parent(to, err) != 0 ? -(int)err->code : import_tree_open(&tree, home, false, err);
	if (status == 0)
		status = copy(market, plugin, &tree, fresh, arena, &version, ret_left, err);
	import_tree_close(&tree);
	if (status == 0)
		status = move_in(from, to, err);
	if (status != 0 && dir_exists(from))
		best_effort(plugin_remove_tree(from, &ignored));
	if (status == 0)
		*ret = arena_printf(arena, "%s/%s", to, version);
	return status;
}

int market_install(const struct config *config, const char *id, struct arena *arena, const char **ret,
                   unsigned *ret_left, struct error *err)
{
	struct str name, from;
	struct market_plugin plugin = {0};
	const char *home = config_home(config);
	struct change change = {.table = "plugins", .name = id};
	if (split(id, &name, &from, err) != 0)
		return -(int)err->code;
	const struct market *market = market_find(home, config_tree(config), from, arena, err);
	if (!market || check_source(config, market, err) != 0 || check_plugin(config, id, err) != 0 ||
	    find_plugin(market, name, arena, &plugin, err) != 0 ||
	    place(market, &plugin, home, arena, ret, ret_left, err) != 0)
		return -(int)err->code;
	return config_file_change(home, apply, &change, err);
}

int market_uninstall(const char *home, const char *id, struct error *err)
{
	struct str name, market;
	struct change change = {.table = "plugins", .name = id, .removes = true};
	if (split(id, &name, &market, err) != 0)
		return -(int)err->code;
	auto_free char *path = xasprintf("%s/plugins/cache/%.*s/%.*s", home, STR_ARG(market), STR_ARG(name));
	if (config_file_change(home, apply, &change, err) != 0)
		return -(int)err->code;
	return dir_exists(path) ? plugin_remove_tree(path, err) : 0;
}
