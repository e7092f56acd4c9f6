/* market.h — marketplaces: folders and git repositories that list plugins.
 *
 *	.agents/plugins/marketplace.json or .claude-plugin/marketplace.json
 *	{"name", "plugins": [{"name", "source": "./FOLDER" or {"source": "local", "path": "./FOLDER"}, "policy"}]}
 *
 * [marketplaces.NAME] of config.toml has source_type = "local" or "git", source, and perhaps ref. A repository is
 *cloned to $CODEX_HOME/.tmp/marketplaces/NAME. A plugin is copied to $CODEX_HOME/plugins/cache/MARKETPLACE/NAME/VERSION
 * and enabled as [plugins."NAME@MARKETPLACE"], which config/plugin.h reads.
 *
 * The content of a marketplace is untrusted: its files are opened below its folder without links, and bounded. Owns
 * nothing; results live in the arena. All functions block, for commands. */
#ifndef MARKET_MARKET_H
#define MARKET_MARKET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct config;
struct toml;

struct market {
	const char *name, *root;
	const char *source, *ref; /* of config.toml; ref: NULL: the default branch */
	bool is_git;
};

struct market_plugin {
	struct str name;
	const char *folder; /* below the root; NULL: it is elsewhere */
	struct str install_policy, auth_policy;
};

struct market_catalog {
	struct str name;
	struct market_plugin *plugins;
	size_t count;
};

/* Lists the marketplaces of the configuration, at most LIMIT_MARKETS; those without a source are left out. */
size_t market_list(const char *home, const struct toml *tree, struct arena *arena, const struct market **ret);
/* Returns the marketplace of this name, or NULL and an error. */
must_check const struct market *market_find(const char *home, const struct toml *tree, struct str name,
                                            struct arena *arena, struct error *err);
/* Reads the manifest of the marketplace in a folder. */
must_check int market_read(const char *root, struct arena *arena, struct market_catalog *ret, struct error *err);

/* ---- changes: market_change.c ---- */

/* Adds the marketplace at a URL (ref may be NULL) or in a folder. *ret has what was added. */
must_check int market_add(const struct config *config, const char *source, const char *ref, struct arena *arena,
                          struct market *ret, struct error *err);
/* Removes a marketplace and its clone. Its plugins stay. */
must_check int market_remove(const struct config *config, const char *name, struct error *err);
/* Clones a marketplace again. If that fails, the present clone stays. */
must_check int market_upgrade(const struct config *config, const struct market *market, struct error *err);
/* Copies the plugin id, NAME@MARKETPLACE, and enables it. *ret is its folder, *ret_left the number of links and special
 * files that are left out. */
must_check int market_install(const struct config *config, const char *id, struct arena *arena, const char **ret,
                              unsigned *ret_left, struct error *err);
must_check int market_uninstall(const char *home, const char *id, struct error *err);

#endif
