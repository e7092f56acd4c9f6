/* market_shelf.h — the marketplaces with what they list and what of it is installed, for the command and for the
 * app-server.
 *
 * Owns: the open folders and the catalogs; other texts live in the arena of the caller. Blocks. */
#ifndef UI_MARKET_SHELF_H
#define UI_MARKET_SHELF_H

#include "config/plugin.h"
#include "import/import_tree.h"
#include "market/market.h"

struct config;

struct market_entry {
	const struct market *market;
	struct market_catalog catalog;
	struct arena arena; /* of the catalog */
	struct import_tree tree;
	struct error err; /* why the catalog is empty, if err.text is not */
};

struct market_shelf {
	const struct config *config;
	struct arena *arena;
	struct market_entry *entries;
	size_t count;
	const struct plugin *installed;
	size_t installed_count;
	size_t added; /* bytes of the manifests of market_shelf_add */
};

/* Reads the marketplaces of the configuration. */
void market_shelf_init(struct market_shelf *shelf, const struct config *config, struct arena *arena);
/* Reads the marketplace in a folder as well, if there is one and none has its name; not beyond LIMIT_MARKETS.
 * Beyond LIMIT_MARKET_ADDED it has an error in place of its plugins. */
void market_shelf_add(struct market_shelf *shelf, const char *root);
void market_shelf_finish(struct market_shelf *shelf);

/* Returns NAME@MARKETPLACE. */
const char *market_shelf_id(const struct market_shelf *shelf, const struct market_entry *entry,
                            const struct market_plugin *plugin);
/* Returns the installed plugin of this id, or NULL. */
const struct plugin *market_shelf_installed(const struct market_shelf *shelf, const char *id);
/* Finds a plugin by its id; NULL if no marketplace lists it. */
const struct market_plugin *market_shelf_find(const struct market_shelf *shelf, const char *id,
                                              const struct market_entry **ret_entry);
/* Returns .codex-plugin/plugin.json of the plugin in its marketplace, or NULL. It is read into `arena`, which need not
 * outlive the use: the shelf's arena would keep the files of all plugins. */
const struct json *market_shelf_manifest(const struct market_entry *entry, const struct market_plugin *plugin,
                                         struct arena *arena);
/* Returns the version that it has, or STR_NONE. */
struct str market_shelf_version(const struct market_shelf *shelf, const struct market_entry *entry,
                                const struct market_plugin *plugin);
/* The places where a plugin can be. */
enum market_place { MARKET_elsewhere, MARKET_local, MARKET_git, MARKET_subdir, MARKET_npm };
struct market_origin {
	enum market_place place;
	const char *word;                /* of the manifest */
	struct str where;                /* the folder, the URL or the package */
	struct str path, ref, sha, more; /* STR_NONE: none; more: the version or the registry of a package */
};
struct market_origin market_shelf_origin(const struct market_shelf *shelf, const struct market_entry *entry,
                                         const struct market_plugin *plugin);

#endif
