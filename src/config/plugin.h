/* plugin.h — plugins: folders below $CODEX_HOME/plugins with skills, hooks and MCP servers.
 *
 *	NAME/.codex-plugin/plugin.json   {"name", "version", "description"}; marks the folder as a plugin
 *	NAME/skills/                     skills
 *	NAME/hooks/hooks.json            hooks; ${CODEX_PLUGIN_ROOT} in it is the folder
 *	NAME/.mcp.json                   {"mcpServers": {…}}; likewise
 *
 * A plugin of a marketplace (market/market.h) has the name NAME@MARKETPLACE, counts if [plugins."NAME@MARKETPLACE"] is
 *in config.toml, and is in plugins/cache/MARKETPLACE/NAME/VERSION.
 *
 * Owns: nothing; results live in the arena. Any thread; blocks for small files. */
#ifndef CONFIG_PLUGIN_H
#define CONFIG_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "config/config_layer.h"

struct plugin {
	const char *name; /* of the folder, or NAME@MARKETPLACE */
	const char *root; /* the folder */
	bool is_enabled;
};

/* Lists the plugins of a CODEX_HOME, sorted by name, at most LIMIT_PLUGINS. tree: the configuration, or NULL. */
size_t plugin_list(const char *home, const struct toml *tree, struct arena *arena, const struct plugin **ret);
/* Reads a JSON file of the plugin with ${CODEX_PLUGIN_ROOT} and ${CLAUDE_PLUGIN_ROOT} replaced; *ret is NULL if the
 * plugin has no such file. */
must_check int plugin_read(const struct plugin *plugin, const char *file, struct arena *arena, const struct toml **ret,
                           struct error *err);
/* Returns the version: of a plugin of a marketplace the name of its folder, else that of plugin.json; STR_NONE if it
 * has none. */
struct str plugin_version(const struct plugin *plugin, struct arena *arena);
/* Adds the MCP servers of the enabled plugins to the tree; names that the user has taken are left as they are. A file
 * that cannot be used is a warning. */
void plugin_add_servers(struct config_layers *layers, const char *home, struct toml *tree);

/* Switches off the plugins that the administrator's table does not name. allowed: NULL: all may be used. */
void plugin_limit(struct config_layers *layers, const char *home, const struct toml *allowed, struct toml *tree);

#endif
