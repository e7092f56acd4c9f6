/* A manifest is read as it stands; an entry without a usable name is left out, so that one mistake does not hide the
 * rest. */
#include "market/market.h"

#include <string.h>

#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/config_layer.h"
#include "config/plugin_files.h"
#include "import/import_tree.h"

static const char *text_of(const struct toml *table, const char *key, struct arena *arena)
{
	const struct toml *value = toml_get(table, key);
	return toml_is(value, TOML_string) ? arena_cstr(arena, value->text) : NULL;
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
		*to = (struct market){arena_cstr(arena, it->key), source, source, text_of(it, "ref", arena),
		                      strcmp(type, "git") == 0};
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

static int read_manifest(const char *root, struct arena *arena, const struct json **ret, struct error *err)
{
	static const char *const names[] = {".agents/plugins/marketplace.json", ".claude-plugin/marketplace.json"};
	struct import_tree tree = {.fd = -1};
	struct import_source source = {0};
	if (import_tree_open(&tree, root, false, err) != 0)
		return -(int)err->code;
	for (size_t i = 0; i < countof(names) && !source.json; i++) {
		if (!i || source.err.code == ERR_not_found)
			source = import_source_read(&tree, names[i], LIMIT_CONFIG_FILE, arena);
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
	if (read_manifest(root, arena, &json, err) != 0)
		return -(int)err->code;
	const struct json *list = json_get(json, "plugins");
	ret->name = json_get_str(json, "name");
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
		struct market_plugin plugin = {json_get_str(it, "name"), folder_of(it, arena),
		                               policy_of(it, "installation", "AVAILABLE"),
		                               policy_of(it, "authentication", "ON_INSTALL")};
		if (plugin_is_name(plugin.name))
			ret->plugins[ret->count++] = plugin;
	}
	return 0;
}
