/* market.h — marketplaces: folders and git repositories that list plugins.
 *
 *	.agents/plugins/marketplace.json or .claude-plugin/marketplace.json
 *	{"name", "plugins": [{"name", "source": "./FOLDER" or {"source": "local", "path": "./FOLDER"}, "policy"}]}
 *	{"source": "url", "url", "ref", "sha"} or {"source": "git-subdir", "url", "path", "ref", "sha"}: a repository
 *
 * [marketplaces.NAME] of config.toml has source_type = "local" or "git", source, and perhaps ref and sparse_paths. A
 * repository is cloned to $CODEX_HOME/.tmp/marketplaces/NAME. A plugin is copied to
 * $CODEX_HOME/plugins/cache/MARKETPLACE/NAME/VERSION and enabled as [plugins."NAME@MARKETPLACE"], which config/plugin.h
 * reads.
 *
 * The content of a marketplace is untrusted: its files are opened below its folder without links, and bounded. Owns
 * nothing; results live in the arena. All functions block, for commands. */
#ifndef MARKET_MARKET_H
#define MARKET_MARKET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/str.h"

struct config;
struct import_tree;
struct toml;

struct market {
	const char *name, *root;
	const char *source, *ref; /* of config.toml; ref: NULL: the default branch */
	const struct str *sparse; /* folders that are checked out; none: all */
	size_t sparse_count;
	bool is_git;
};

struct market_plugin {
	struct str name;
	const char *folder;        /* below the root; NULL: it is elsewhere */
	const struct json *source; /* as the manifest has it; may be NULL */
	struct str install_policy, auth_policy, category;
};

struct market_catalog {
	struct str name, display_name;
	const char *file; /* the manifest: its path below the root */
	struct market_plugin *plugins;
	size_t count;
	size_t size; /* bytes of the manifest */
};

/* Lists the marketplaces of the configuration, at most LIMIT_MARKETS; those without a source are left out. */
size_t market_list(const char *home, const struct toml *tree, struct arena *arena, const struct market **ret);
/* Returns the marketplace of this name, or NULL and an error. */
must_check const struct market *market_find(const char *home, const struct toml *tree, struct str name,
                                            struct arena *arena, struct error *err);
/* Reads the manifest of the marketplace in a folder. */
must_check int market_read(const char *root, struct arena *arena, struct market_catalog *ret, struct error *err);
/* Reads the file of a plugin in the tree of its marketplace; json is NULL if it cannot be used. */
must_check int market_plugin_file(const struct import_tree *tree, const struct market_plugin *plugin, const char *file,
                                  struct arena *arena, const struct json **ret, struct error *err);
/* The same for .codex-plugin/plugin.json, at most LIMIT_MARKET_PLUGIN_MANIFEST bytes. */
must_check int market_plugin_manifest(const struct import_tree *tree, const struct market_plugin *plugin,
                                      struct arena *arena, const struct json **ret, struct error *err);

/* ---- the administrator's limits ---- */

must_check int market_check_plugin(const struct config *config, const char *id, struct error *err);
/* A marketplace names itself, so only its source can be limited. */
must_check int market_check_source(const struct config *config, const struct market *market, struct error *err);

/* ---- changes of marketplaces: market_change.c ---- */

/* Reads OWNER/REPO of GitHub, a URL, each with a branch or tag after `#` (OWNER/REPO@REF as well), or a folder. ref
 * takes precedence; may be NULL. Sets source, ref and is_git. */
must_check int market_source_read(const char *source, const char *ref, struct arena *arena, struct market *ret,
                                  struct error *err);
/* Adds the marketplace whose source, ref and sparse are set. The rest is set. *ret_has: it was there already. */
must_check int market_add(const struct config *config, struct arena *arena, struct market *market, bool *ret_has,
                          struct error *err);
/* Removes a marketplace and its clone. Its plugins stay. */
must_check int market_remove(const struct config *config, const char *name, struct error *err);
/* Clones a marketplace again. If that fails, the present clone stays. */
must_check int market_upgrade(const struct config *config, const struct market *market, struct error *err);

/* ---- changes of plugins: market_install.c ---- */

struct market_installed {
	const char *root, *version;
	unsigned left; /* links and special files, which are left out */
	struct str auth_policy;
};

/* Copies the plugin id, NAME@MARKETPLACE, and enables it. */
must_check int market_install(const struct config *config, const char *id, struct arena *arena,
                              struct market_installed *ret, struct error *err);
/* Copies a plugin that the configuration enables; ERR_cancelled if config.toml disables it now, or has listed it
 * (is_listed) and does so no longer. known: the version that is
 * installed; if a repository has no other one, nothing changes, and ret->root is NULL. May be STR_NONE. */
must_check int market_renew(const struct config *config, const char *id, bool is_listed, struct str known,
                            struct arena *arena, struct market_installed *ret, struct error *err);
/* The same from a marketplace that is not in the configuration. Its name must not be that of another one. */
must_check int market_install_from(const struct config *config, const struct market *market, struct str name,
                                   struct arena *arena, struct market_installed *ret, struct error *err);
must_check int market_uninstall(const char *home, const char *id, struct error *err);

#endif
