/* A marketplace that cannot be read keeps its error and hides no other one. */
#include "ui/market/market_shelf.h"

#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "config/config.h"
#include "market/market_limits.h"

/* Adds the marketplace to the entries, whose next one has its catalog. */
static void add_entry(struct market_shelf *shelf, const struct market *market)
{
	struct market_entry *entry = &shelf->entries[shelf->count++];
	entry->market = market;
	if (entry->err.text[0] || import_tree_open(&entry->tree, market->root, false, &entry->err) != 0)
		entry->catalog.count = 0;
}

/* Reads a catalog into the next entry. */
static struct market_entry *read_entry(struct market_shelf *shelf, const char *root)
{
	struct market_entry *entry = &shelf->entries[shelf->count];
	*entry = (struct market_entry){.tree.fd = -1};
	best_effort(market_read(root, &entry->arena, &entry->catalog, &entry->err));
	return entry;
}

void market_shelf_init(struct market_shelf *shelf, const struct config *config, struct arena *arena)
{
	const struct market *list;
	const struct toml *tree = config_tree(config);
	size_t count = market_list(config_home(config), tree, arena, &list);
	*shelf = (struct market_shelf){.config = config, .arena = arena};
	shelf->entries = arena_array(arena, struct market_entry, LIMIT_MARKETS);
	shelf->installed_count = plugin_list(config_home(config), tree, arena, &shelf->installed);
	for (size_t i = 0; i < count; i++) {
		read_entry(shelf, list[i].root);
		add_entry(shelf, &list[i]);
	}
}

static bool has_root(const struct market_shelf *shelf, const char *root)
{
	for (size_t i = 0; i < shelf->count; i++) {
		if (strcmp(shelf->entries[i].market->root, root) == 0)
			return true;
	}
	return false;
}

static bool has_name(const struct market_shelf *shelf, struct str name)
{
	for (size_t i = 0; i < shelf->count; i++) {
		if (str_is(name, shelf->entries[i].market->name))
			return true;
	}
	return false;
}

/* The file is read once: it may be another one a moment later. */
void market_shelf_add(struct market_shelf *shelf, const char *root)
{
	if (shelf->count == LIMIT_MARKETS || has_root(shelf, root))
		return;
	struct market_entry *entry = read_entry(shelf, root);
	bool is_over = entry->catalog.size > LIMIT_MARKET_ADDED - shelf->added;
	if (entry->err.text[0] || has_name(shelf, entry->catalog.name)) {
		arena_finish(&entry->arena);
		return;
	}
	struct market *market = arena_new(shelf->arena, struct market);
	market->name = arena_cstr(shelf->arena, entry->catalog.name);
	market->root = market->source = arena_cstr(shelf->arena, str_of(root));
	if (is_over) {
		arena_finish(&entry->arena);
		*entry = (struct market_entry){.tree.fd = -1};
		best_effort(error_set(&entry->err, ERR_limit,
		                      "the marketplaces of these folders have more than %d MiB: ask for fewer at once",
		                      LIMIT_MARKET_ADDED / MIB));
	}
	shelf->added += entry->catalog.size;
	add_entry(shelf, market);
}

void market_shelf_finish(struct market_shelf *shelf)
{
	for (size_t i = 0; i < shelf->count; i++) {
		import_tree_close(&shelf->entries[i].tree);
		arena_finish(&shelf->entries[i].arena);
	}
	shelf->count = 0;
}

const char *market_shelf_id(const struct market_shelf *shelf, const struct market_entry *entry,
                            const struct market_plugin *plugin)
{
	return arena_printf(shelf->arena, "%.*s@%s", STR_ARG(plugin->name), entry->market->name);
}

const struct plugin *market_shelf_installed(const struct market_shelf *shelf, const char *id)
{
	for (size_t i = 0; i < shelf->installed_count; i++) {
		if (strcmp(shelf->installed[i].name, id) == 0)
			return &shelf->installed[i];
	}
	return NULL;
}

const struct market_plugin *market_shelf_find(const struct market_shelf *shelf, const char *id,
                                              const struct market_entry **ret_entry)
{
	struct str market = str_of(id), name;
	if (!str_next_part(&market, '@', &name))
		return NULL;
	for (size_t i = 0; i < shelf->count; i++) {
		*ret_entry = &shelf->entries[i];
		const struct market_catalog *catalog = &shelf->entries[i].catalog;
		for (size_t k = 0; str_is(market, shelf->entries[i].market->name) && k < catalog->count; k++) {
			if (str_eq(catalog->plugins[k].name, name))
				return &catalog->plugins[k];
		}
	}
	return NULL;
}

const struct json *market_shelf_manifest(const struct market_entry *entry, const struct market_plugin *plugin,
                                         struct arena *arena)
{
	struct error ignored;
	const struct json *json = NULL;
	if (plugin->folder)
		best_effort(market_plugin_manifest(&entry->tree, plugin, arena, &json, &ignored));
	return json;
}

struct str market_shelf_version(const struct market_shelf *shelf, const struct market_entry *entry,
                                const struct market_plugin *plugin)
{
	auto_arena struct arena read = {0};
	return arena_str(shelf->arena, json_get_str(market_shelf_manifest(entry, plugin, &read), "version"));
}

/* ---- origins ---- */

static const struct {
	const char *word;
	enum market_place place;
	const char *where; /* the member that has it */
} places[] = {
	{"url", MARKET_git, "url"},
	{"git", MARKET_git, "url"},
	{"git-subdir", MARKET_subdir, "url"},
	{"npm", MARKET_npm, "package"},
};

struct market_origin market_shelf_origin(const struct market_shelf *shelf, const struct market_entry *entry,
                                         const struct market_plugin *plugin)
{
	const struct json *json = plugin->source;
	struct market_origin origin = {.word = "local"};
	struct str word = json_get_str(json, "source");
	if (plugin->folder) {
		bool is_root = strcmp(plugin->folder, ".") == 0;
		origin.place = MARKET_local;
		origin.where = str_of(arena_printf(shelf->arena, "%s%s%s", entry->market->root, is_root ? "" : "/",
		                                   is_root ? "" : plugin->folder));
		return origin;
	}
	for (size_t i = 0; i < countof(places); i++) {
		if (!str_is(word, places[i].word) || !json_get_str(json, places[i].where).ptr)
			continue;
		origin.place = places[i].place;
		origin.where = json_get_str(json, places[i].where);
		origin.word = origin.place == MARKET_git ? "git" : places[i].word;
	}
	origin.path = json_get_str(json, "path");
	origin.ref = json_get_str(json, "ref");
	origin.sha = json_get_str(json, "sha");
	origin.more = json_get_str(json, "version");
	return origin;
}
