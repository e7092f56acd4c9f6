/* A manifest is read as it stands; an entry without a usable name is left out, so that one mistake does not hide the
 * rest. */
#include "market/market.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/config_layer.h"
#include "config/config_required.h"
#include "config/plugin_files.h"
#include "import/import_tree.h"
#include "market/market_limits.h"

static const char *text_of(const struct toml *table, const char *key, struct arena *arena)
{
	const struct toml *value = toml_get(table, key);
	return toml_is(value, TOML_string) ? arena_cstr(arena, value->text) : NULL;
}

static void read_sparse(const struct toml *table, struct arena *arena, struct market *market)
{
	const struct toml *list = toml_get(table, "sparse_paths");
	struct str *paths = arena_array(arena, struct str, LIMIT_MARKET_SPARSE);
	toml_for_each(it, toml_is(list, TOML_array) ? list : NULL) {
		if (it->kind == TOML_string && market->sparse_count < LIMIT_MARKET_SPARSE)
			paths[market->sparse_count++] = it->text;
	}
	market->sparse = paths;
}

size_t market_list(const char *home, const struct toml *tree, struct arena *arena, const struct market **ret)
{
	size_t count = 0;
	struct market *list = arena_array(arena, struct market, LIMIT_MARKETS);
	const struct toml *tables = toml_get(tree, "marketplaces");
	toml_for_each(it, toml_is(tables, TOML_table) ? tables : NULL) {
		const char *type = text_of(it, "source_type", arena), *source = text_of(it, "source", arena);
		if (count == LIMIT_MARKETS || !type || !source || !plugin_is_name(it->key))
			continue;
		struct market *to = &list[count++];
		*to = (struct market){.name = arena_cstr(arena, it->key),
		                      .root = source,
		                      .source = source,
		                      .ref = text_of(it, "ref", arena),
		                      .is_git = strcmp(type, "git") == 0};
		read_sparse(it, arena, to);
		if (to->is_git)
			to->root = arena_printf(arena, "%s/.tmp/marketplaces/%s", home, to->name);
	}
	*ret = list;
	return count;
}

const struct market *market_find(const char *home, const struct toml *tree, struct str name, struct arena *arena,
                                 struct error *err)
{
	const struct market *list;
	size_t count = market_list(home, tree, arena, &list);
	for (size_t i = 0; i < count; i++) {
		if (str_is(name, list[i].name))
			return &list[i];
	}
	error_set(err, ERR_not_found, "no marketplace `%.*s`: `codex plugin marketplace list` lists them",
	          STR_ARG(name));
	return NULL;
}

/* ---- the manifest ---- */

static int read_manifest(const char *root, struct arena *arena, const struct json **ret, const char **ret_file,
                         struct error *err)
{
	static const char *const names[] = {".agents/plugins/marketplace.json", ".claude-plugin/marketplace.json"};
	struct import_tree tree = {.fd = -1};
	struct import_source source = {0};
	if (import_tree_open(&tree, root, false, err) != 0)
		return -(int)err->code;
	for (size_t i = 0; i < countof(names) && !source.json; i++) {
		if (i && source.err.code != ERR_not_found)
			break;
		*ret_file = names[i];
		source = import_source_read(&tree, names[i], LIMIT_MARKET_MANIFEST, arena);
	}
	import_tree_close(&tree);
	*ret = source.json;
	if (source.json)
		return 0;
	return source.err.code == ERR_not_found
	               ? error_set(err, ERR_not_found, "%s is no marketplace: it has no %s and no %s", root, names[0],
	                           names[1])
	               : error_set(err, source.err.code, "%s", source.err.text);
}

static const char *folder_of(const struct json *entry, struct arena *arena)
{
	const struct json *source = json_get(entry, "source");
	bool is_text = source && source->type == JSON_string;
	struct str path = is_text ? json_get_str(entry, "source") : json_get_str(source, "path");
	if ((!is_text && !str_is(json_get_str(source, "source"), "local")) || !str_cut_prefix(&path, "./"))
		return NULL;
	return path.len ? arena_cstr(arena, path) : ".";
}

static struct str policy_of(const struct json *entry, const char *key, const char *fallback)
{
	struct str text = json_get_str(json_get(entry, "policy"), key);
	return text.len ? text : str_of(fallback);
}

int market_read(const char *root, struct arena *arena, struct market_catalog *ret, struct error *err)
{
	const struct json *json;
	*ret = (struct market_catalog){0};
	if (read_manifest(root, arena, &json, &ret->file, err) != 0)
		return -(int)err->code;
	const struct json *list = json_get(json, "plugins");
	ret->name = json_get_str(json, "name");
	ret->size = json->span.len;
	ret->display_name = json_get_str(json_get(json, "interface"), "displayName");
	if (!plugin_is_name(ret->name) || !list || list->type != JSON_array)
		return error_set(
			err, ERR_invalid,
			"the marketplace in %s needs a `name` of letters, digits, `-`, `_` and `.`, and `plugins`",
			root);
	if (list->count > LIMIT_MARKET_PLUGINS)
		return error_set(err, ERR_limit, "the marketplace in %s has more than %d plugins", root,
		                 LIMIT_MARKET_PLUGINS);
	ret->plugins = arena_array(arena, struct market_plugin, list->count + 1);
	json_for_each(it, list) {
		struct market_plugin plugin = {json_get_str(it, "name"),
		                               folder_of(it, arena),
		                               json_get(it, "source"),
		                               policy_of(it, "installation", "AVAILABLE"),
		                               policy_of(it, "authentication", "ON_INSTALL"),
		                               json_get_str(it, "category")};
		if (plugin_is_name(plugin.name))
			ret->plugins[ret->count++] = plugin;
	}
	return 0;
}

static int read_file(const struct import_tree *tree, const char *path, size_t most, struct arena *arena,
                     const struct json **ret, struct error *err)
{
	struct import_source source = import_source_read(tree, path, most, arena);
	*ret = source.json;
	return source.json ? 0 : error_set(err, source.err.code, "%s", source.err.text);
}

int market_plugin_file(const struct import_tree *tree, const struct market_plugin *plugin, const char *file,
                       struct arena *arena, const struct json **ret, struct error *err)
{
	const char *path = arena_printf(arena, "%s/%s", plugin->folder, file);
	return read_file(tree, path, LIMIT_CONFIG_FILE, arena, ret, err);
}

int market_plugin_manifest(const struct import_tree *tree, const struct market_plugin *plugin, struct arena *arena,
                           const struct json **ret, struct error *err)
{
	const char *path = arena_printf(arena, "%s/.codex-plugin/plugin.json", plugin->folder);
	return read_file(tree, path, LIMIT_MARKET_PLUGIN_MANIFEST, arena, ret, err);
}

/* ---- the administrator's limits ---- */

static const struct toml *required_table(const struct config *config, const char *key)
{
	const struct config_required *required = config_required(config);
	return required ? toml_get(required->root, key) : NULL;
}

int market_check_plugin(const struct config *config, const char *id, struct error *err)
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

int market_check_source(const struct config *config, const struct market *market, struct error *err)
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
