/* A plugin is copied beside its place and moved there when it is complete. One that has a repository of its own is
 * cloned first, and then copied from there as from a marketplace. */
#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/config_file.h"
#include "config/plugin_files.h"
#include "config/toml/toml_edit.h"
#include "import/import_tree.h"
#include "market/market_priv.h"

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
		return 0;
	}
	return error_set(err, ERR_not_found, "plugin `%.*s` was not found in marketplace `%s`", STR_ARG(name),
	                 market->name);
}

/* Checks the plugin's own file and returns its version. */
static int read_version(const struct import_tree *tree, const struct market_plugin *plugin, struct arena *arena,
                        const char **ret, struct error *err)
{
	const struct json *json;
	const char *path = arena_printf(arena, "%s/%s/.codex-plugin/plugin.json", tree->path, plugin->folder);
	if (market_plugin_manifest(tree, plugin, arena, &json, err) != 0)
		return -(int)err->code;
	struct str version = json_get_str(json, "version");
	*ret = version.len ? arena_cstr(arena, version) : "local";
	if (!str_eq(json_get_str(json, "name"), plugin->name))
		return error_set(err, ERR_invalid, "%s does not name the plugin `%.*s`", path, STR_ARG(plugin->name));
	return plugin_is_name(str_of(*ret))
	               ? 0
	               : error_set(err, ERR_invalid, "%s: `version` must consist of letters, digits, `-`, `_` and `.`",
	                           path);
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
                 struct market_installed *ret, struct error *err)
{
	struct error ignored;
	struct import_tree tree = {.fd = -1};
	const char *to = arena_printf(arena, "%s/plugins/cache/%s/%.*s", home, market->name, STR_ARG(plugin->name));
	const char *from = market_beside(arena_printf(arena, "%s/plugins/cache/x", home), arena);
	int status = market_make_parent(to, err) != 0 ? -(int)err->code : import_tree_open(&tree, home, false, err);
	if (status == 0)
		status = copy(market, plugin, &tree, from + strlen(home) + 1, arena, &ret->version, &ret->left, err);
	import_tree_close(&tree);
	if (status == 0)
		status = market_move_in(from, to, err);
	if (status != 0 && dir_exists(from))
		best_effort(plugin_remove_tree(from, &ignored));
	if (status == 0)
		ret->root = arena_printf(arena, "%s/%s", to, ret->version);
	return status;
}

/* ---- plugins with a repository of their own ---- */

static int refuse_source(const struct market_plugin *plugin, struct error *err)
{
	struct str package = json_get_str(plugin->source, "package");
	if (str_is(json_get_str(plugin->source, "source"), "npm"))
		return error_set(err, ERR_unsupported,
		                 "`%.*s` is the npm package `%.*s`, and packages are not installed: `codex plugin add` "
		                 "takes the URL of its repository, or a folder into which it was unpacked",
		                 STR_ARG(plugin->name), STR_ARG(package));
	return error_set(err, ERR_unsupported,
	                 "the source of `%.*s` is neither a folder of the marketplace nor a repository",
	                 STR_ARG(plugin->name));
}

static bool is_commit(const char *text)
{
	size_t len = strlen(text);
	return (len == 40 || len == 64) && strspn(text, "0123456789abcdefABCDEF") == len;
}

/* Others do not say whose files they bring, or reach into this machine from another one. */
static bool is_allowed(const struct market *repository)
{
	static const char prefixes[][9] = {"https://", "ssh://", "git@", "file://"};
	for (size_t i = 0; i < countof(prefixes) - repository->is_git; i++) {
		if (str_has_prefix(str_of(repository->source), prefixes[i]))
			return true;
	}
	return false;
}

/* A member of another type is refused: it must not count as missing. */
static int check_texts(const struct market_plugin *plugin, struct error *err)
{
	static const char names[][8] = {"url", "ref", "sha", "path"};
	for (size_t i = 0; i < countof(names); i++) {
		const struct json *it = json_get(plugin->source, names[i]);
		if (it && it->type != JSON_null && (it->type != JSON_string || str_has_nul(it->text)))
			return error_set(err, ERR_invalid, "`%s` of the source of `%.*s` must be a text", names[i],
			                 STR_ARG(plugin->name));
	}
	return 0;
}

/* Fills the source of the repository and the plugin's folder in it. */
static int read_repository(struct market_plugin *plugin, struct arena *arena, struct market *ret, struct error *err)
{
	const struct json *json = plugin->source;
	struct str word = json_get_str(json, "source"), ref = json_get_str(json, "ref"),
		   sha = json_get_str(json, "sha");
	bool is_part = str_is(word, "git-subdir");
	if (!is_part && !str_is(word, "url") && !str_is(word, "git"))
		return refuse_source(plugin, err);
	if (check_texts(plugin, err) != 0)
		return -(int)err->code;
	ret->source = arena_cstr(arena, json_get_str(json, "url"));
	ret->ref = ref.ptr ? arena_cstr(arena, ref) : NULL;
	plugin->folder = ".";
	if (is_part) {
		struct str *part = arena_array(arena, struct str, 1);
		*part = json_get_str(json, "path");
		str_cut_prefix(part, "./");
		ret->sparse = part;
		ret->sparse_count = 1;
		plugin->folder = arena_cstr(arena, *part);
	}
	if (!is_allowed(ret))
		return error_set(
			err, ERR_invalid,
			"the repository of `%.*s` must be a URL of https or ssh, or of a file if its marketplace "
			"is a folder, not `%s`",
			STR_ARG(plugin->name), ret->source);
	if (sha.ptr && !is_commit(arena_cstr(arena, sha)))
		return error_set(err, ERR_invalid, "the `sha` of `%.*s` is no commit", STR_ARG(plugin->name));
	struct error why;
	return market_source_check(ret, &why) == 0
	               ? 0
	               : error_set(err, ERR_invalid, "the repository of `%.*s`: %s", STR_ARG(plugin->name), why.text);
}

/* ---- installation ---- */

struct install {
	const struct config *config;
	const struct market *market;
	struct str name;
	struct arena *arena;
	bool renews;    /* the user has enabled it before */
	bool is_listed; /* config.toml has listed it */
	struct str known;
	const char *id;
	struct market_plugin plugin;
};

/* The user may have removed or disabled the plugin during the clone. Another layer may enable one that config.toml does
 * not list. */
static int check_enabled(struct toml_edit *edit, void *self, struct error *err)
{
	const struct install *it = self;
	const struct toml *entry = toml_get(toml_get(edit->root, "plugins"), it->id),
			  *enabled = toml_get(entry, "enabled");
	return (entry || !it->is_listed) && !(toml_is(enabled, TOML_bool) && !enabled->boolean)
	               ? 0
	               : error_set(err, ERR_cancelled, "config.toml does not enable `%s` any more", it->id);
}

static int check(struct install *it, struct error *err)
{
	bool ignored;
	return market_check_source(it->config, it->market, err) != 0 ||
	                       market_check_plugin(it->config, it->id, err) != 0 ||
	                       market_check_new(it->config, it->market, &ignored, err) != 0 ||
	                       (it->renews &&
	                        config_file_change(config_home(it->config), check_enabled, it, err) != 0) ||
	                       find_plugin(it->market, it->name, it->arena, &it->plugin, err) != 0
	               ? -(int)err->code
	               : 0;
}

static int finish(const struct install *it, const struct market *from, struct market_installed *ret, struct error *err)
{
	struct market_record change = {.table = "plugins", .name = it->id};
	const char *home = config_home(it->config);
	ret->auth_policy = it->plugin.auth_policy;
	if (place(from, &it->plugin, home, it->arena, ret, err) != 0)
		return -(int)err->code;
	return it->renews ? 0 : market_record(home, &change, err);
}

/* Places the plugin of a clone, unless it has the known version. */
static int finish_clone(struct install *it, const struct market *from, struct market_installed *ret, struct error *err)
{
	struct import_tree tree = {.fd = -1};
	int status = plugin_remove_tree(arena_printf(it->arena, "%s/.git", from->root), err);
	if (status == 0)
		status = import_tree_open(&tree, from->root, false, err);
	if (status == 0)
		status = read_version(&tree, &it->plugin, it->arena, &ret->version, err);
	import_tree_close(&tree);
	return status == 0 && !str_is(it->known, ret->version) ? finish(it, from, ret, err) : status;
}

static int install_clone(struct install *it, int *lock, struct market_installed *ret, struct error *err)
{
	struct plugin_clone clone;
	struct market_plugin plugin = it->plugin;
	const char *home = config_home(it->config);
	const char *parent = arena_printf(it->arena, "%s/plugins/cache", home);
	struct str sha = json_get_str(plugin.source, "sha");
	struct market from = {.name = it->market->name, .is_git = it->market->is_git};
	if (read_repository(&plugin, it->arena, &from, err) != 0 || dir_make(parent, 0700, err) != 0)
		return -(int)err->code;
	int status = market_clone(home, parent, &from, sha.ptr ? arena_cstr(it->arena, sha) : NULL, &clone, lock, err);
	if (status == 0)
		status = check(it, err);
	if (status == 0 && (it->plugin.folder || !str_eq(it->plugin.source->span, plugin.source->span)))
		status = error_set(err, ERR_busy, "the marketplace names another source for `%s` now: try again",
		                   it->id);
	it->plugin.folder = plugin.folder;
	from.root = clone.folder;
	if (status == 0)
		status = finish_clone(it, &from, ret, err);
	plugin_clone_close(&clone);
	return status;
}

static int install(struct install *it, struct market_installed *ret, struct error *err)
{
	auto_close int lock = market_lock(config_home(it->config), NULL, err);
	*ret = (struct market_installed){0};
	it->id = arena_printf(it->arena, "%.*s@%s", STR_ARG(it->name), it->market->name);
	if (lock < 0 || check(it, err) != 0)
		return -(int)err->code;
	return it->plugin.folder ? finish(it, it->market, ret, err) : install_clone(it, &lock, ret, err);
}

int market_install_from(const struct config *config, const struct market *market, struct str name, struct arena *arena,
                        struct market_installed *ret, struct error *err)
{
	struct install it = {config, market, name, arena};
	return install(&it, ret, err);
}

static int install_id(struct install *it, const char *id, struct market_installed *ret, struct error *err)
{
	struct str from;
	if (split(id, &it->name, &from, err) != 0)
		return -(int)err->code;
	it->market = market_find(config_home(it->config), config_tree(it->config), from, it->arena, err);
	return it->market ? install(it, ret, err) : -(int)err->code;
}

int market_install(const struct config *config, const char *id, struct arena *arena, struct market_installed *ret,
                   struct error *err)
{
	struct install it = {.config = config, .arena = arena};
	return install_id(&it, id, ret, err);
}

int market_renew(const struct config *config, const char *id, bool is_listed, struct str known, struct arena *arena,
                 struct market_installed *ret, struct error *err)
{
	struct install it = {.config = config, .arena = arena, .renews = true, .is_listed = is_listed, .known = known};
	return install_id(&it, id, ret, err);
}

int market_uninstall(const char *home, const char *id, struct error *err)
{
	struct str name, market;
	struct market_record change = {.table = "plugins", .name = id, .removes = true};
	if (split(id, &name, &market, err) != 0)
		return -(int)err->code;
	auto_free char *path = xasprintf("%s/plugins/cache/%.*s/%.*s", home, STR_ARG(market), STR_ARG(name));
	auto_close int lock = market_lock(home, NULL, err);
	if (lock < 0 || market_record(home, &change, err) != 0)
		return -(int)err->code;
	return dir_exists(path) ? plugin_remove_tree(path, err) : 0;
}
