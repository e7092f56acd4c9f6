/* A plugin is used as soon as its folder is there, because only the user can write there, unless [plugins.NAME] says
 * enabled = false. Its hooks run only if they are trusted one by one, as those of a project. */
#include "config/plugin.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/mcp_server.h"
#include "config/plugin_files.h"

static bool is_plugin(const char *root)
{
	auto_free char *file = path_join(root, ".codex-plugin/plugin.json");
	return file_is_regular(file);
}

static bool is_off(const struct toml *value)
{
	return toml_is(value, TOML_bool) && !value->boolean;
}

static bool is_enabled(const struct toml *tree, const char *name)
{
	const struct toml *feature = toml_get(toml_get(tree, "features"), "plugins");
	return !is_off(feature) && !is_off(toml_get(feature, "enabled")) &&
	       !is_off(toml_get(toml_get(toml_get(tree, "plugins"), name), "enabled"));
}

/* Returns the folder of the plugin NAME@MARKETPLACE, or NULL. Of several versions the last one by name counts. */
static const char *cached_root(const char *home, struct str key, struct arena *arena)
{
	struct str name;
	const char *best = NULL;
	if (!str_next_part(&key, '@', &name) || !plugin_is_name(name) || !plugin_is_name(key))
		return NULL;
	auto_free char *folder = xasprintf("%s/plugins/cache/%.*s/%.*s", home, STR_ARG(key), STR_ARG(name));
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir)) != NULL) {
		auto_free char *root = path_join(folder, entry->d_name);
		if (entry->d_name[0] != '.' && (!best || strcmp(best, root) < 0) && is_plugin(root))
			best = arena_cstr(arena, str_of(root));
	}
	if (dir)
		closedir(dir);
	return best;
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct plugin *)a)->name, ((const struct plugin *)b)->name);
}

size_t plugin_list(const char *home, const struct toml *tree, struct arena *arena, const struct plugin **ret)
{
	size_t count = 0;
	struct plugin *list = arena_array(arena, struct plugin, LIMIT_PLUGINS);
	auto_free char *folder = path_join(home, "plugins");
	DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && count < LIMIT_PLUGINS && (entry = readdir(dir)) != NULL) {
		auto_free char *root = path_join(folder, entry->d_name);
		if (entry->d_name[0] == '.' || strcmp(entry->d_name, "cache") == 0 || !is_plugin(root))
			continue;
		const char *name = arena_cstr(arena, str_of(entry->d_name));
		list[count++] = (struct plugin){name, arena_cstr(arena, str_of(root)), is_enabled(tree, name)};
	}
	if (dir)
		closedir(dir);
	const struct toml *tables = toml_get(tree, "plugins");
	toml_for_each(it, toml_is(tables, TOML_table) ? tables : NULL) {
		const char *root = count < LIMIT_PLUGINS ? cached_root(home, it->key, arena) : NULL;
		const char *name = arena_cstr(arena, it->key);
		if (root)
			list[count++] = (struct plugin){name, root, is_enabled(tree, name)};
	}
	qsort(list, count, sizeof(*list), compare);
	*ret = list;
	return count;
}

/* Writes the root as part of a JSON string. */
static void append_root(struct buf *out, const char *root)
{
	for (; *root; root++) {
		if (*root == '"' || *root == '\\')
			buf_append_char(out, '\\');
		buf_append_char(out, *root);
	}
}

static void expand(struct buf *out, struct str text, const char *root)
{
	static const char *const names[] = {"${CODEX_PLUGIN_ROOT}", "${CLAUDE_PLUGIN_ROOT}"};
	while (text.len) {
		size_t len = 0;
		for (size_t i = 0; i < countof(names) && text.ptr[0] == '$'; i++)
			len = str_has_prefix(text, names[i]) ? strlen(names[i]) : len;
		if (len)
			append_root(out, root);
		else
			buf_append_char(out, text.ptr[0]);
		text = str_skip(text, len ? len : 1);
	}
}

int plugin_read(const struct plugin *plugin, const char *file, struct arena *arena, const struct toml **ret,
                struct error *err)
{
	auto_buf struct buf text, expanded;
	const char *path = arena_printf(arena, "%s/%s", plugin->root, file);
	buf_init(&text, LIMIT_CONFIG_FILE);
	buf_init(&expanded, 2 * LIMIT_CONFIG_FILE);
	*ret = NULL;
	if (!file_exists(path))
		return 0;
	if (file_read_regular(path, &text, err) != 0)
		return -(int)err->code;
	expand(&expanded, buf_str(&text), plugin->root);
	if (expanded.over)
		return error_set(err, ERR_limit, "%s is too large", path);
	const struct json *json = json_parse_copy(arena, buf_str(&expanded), err);
	if (!json)
		return error_wrap(err, "%s", path);
	*ret = toml_from_json(arena, json, path, err);
	return *ret ? 0 : -(int)err->code;
}

struct str plugin_version(const struct plugin *plugin, struct arena *arena)
{
	struct error ignored;
	const struct toml *root = NULL;
	if (strchr(plugin->name, '@'))
		return path_name(plugin->root);
	best_effort(plugin_read(plugin, ".codex-plugin/plugin.json", arena, &root, &ignored));
	const struct toml *version = toml_get(root, "version");
	return toml_is(version, TOML_string) ? version->text : STR_NONE;
}

/* ---- MCP servers ---- */

static struct toml *servers_of(struct config_layers *layers, struct toml *tree)
{
	struct toml *servers = toml_get(tree, "mcp_servers");
	if (!servers) {
		servers = toml_new(layers->arena, TOML_table, "", 1);
		toml_add(layers->arena, tree, STR("mcp_servers"), servers);
	}
	return servers->kind == TOML_table ? servers : NULL;
}

/* True if the table describes a server. A mistake of a plugin must not stop the program. */
static bool is_server(struct arena *arena, struct str name, const struct toml *table, struct error *err)
{
	struct config_binder binder = {.arena = arena, .cwd = "/", .is_quiet = true};
	struct config_mcp_server keys;
	struct toml *alone = toml_new(arena, TOML_table, table->source, table->line);
	struct toml *copy = toml_new(arena, TOML_table, table->source, table->line);
	toml_merge(arena, copy, table);
	toml_add(arena, alone, name, copy);
	return config_bind(&binder, &config_mcp_server_keys, table, "mcpServers", &keys, err) == 0 &&
	       mcp_servers_check(alone, err) == 0;
}

static void add_servers(struct config_layers *layers, const struct plugin *plugin, struct toml *tree)
{
	struct error err;
	const struct toml *root;
	if (plugin_read(plugin, ".mcp.json", layers->arena, &root, &err) != 0) {
		config_layer_warn(layers, "the MCP servers of plugin %s are not used: %s", plugin->name, err.text);
		return;
	}
	const struct toml *list = toml_get(root, "mcpServers");
	struct toml *servers = toml_is(list, TOML_table) && list->child ? servers_of(layers, tree) : NULL;
	toml_for_each(it, servers ? list : NULL) {
		struct toml *copy = toml_new(layers->arena, TOML_table, it->source, it->line);
		toml_merge(layers->arena, copy, it);
		if (toml_find(servers, it->key))
			continue;
		if (!is_server(layers->arena, it->key, copy, &err))
			config_layer_warn(layers, "an MCP server of plugin %s is not used: %s", plugin->name, err.text);
		else
			toml_add(layers->arena, servers, it->key, copy);
	}
}

void plugin_add_servers(struct config_layers *layers, const char *home, struct toml *tree)
{
	const struct plugin *list;
	size_t count = plugin_list(home, tree, layers->arena, &list);
	for (size_t i = 0; i < count; i++) {
		if (list[i].is_enabled)
			add_servers(layers, &list[i], tree);
	}
}

/* ---- the administrator's list ---- */

/* Returns a table of the tree, which is made if it is not there. */
static struct toml *table_of(struct arena *arena, struct toml *parent, struct str key)
{
	struct toml *table = toml_find(parent, key);
	if (toml_is(table, TOML_table))
		return table;
	if (table)
		toml_remove(parent, key);
	table = toml_new(arena, TOML_table, "", 1);
	toml_add(arena, parent, key, table);
	return table;
}

void plugin_limit(struct config_layers *layers, const char *home, const struct toml *allowed, struct toml *tree)
{
	const struct plugin *list;
	size_t count = allowed ? plugin_list(home, tree, layers->arena, &list) : 0;
	for (size_t i = 0; i < count; i++) {
		const struct toml *entry = toml_get(allowed, list[i].name), *enabled = toml_get(entry, "enabled");
		if (!list[i].is_enabled || (entry && (!toml_is(enabled, TOML_bool) || enabled->boolean)))
			continue;
		struct toml *own =
			table_of(layers->arena, table_of(layers->arena, tree, STR("plugins")), str_of(list[i].name));
		struct toml *off = toml_new(layers->arena, TOML_bool, "", 1);
		toml_remove(own, STR("enabled"));
		toml_add(layers->arena, own, STR("enabled"), off);
		config_layer_warn(layers, "plugin %s is not used: the administrator's requirements do not list it",
		                  list[i].name);
	}
}
