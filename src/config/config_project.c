/* A checked-out repository is somebody else's text. Its settings count only where the user wrote down
 * that he trusts the folder, and even then not those that say who is spoken to with which key
 * (USER_ONLY in config.def). */
#include "config/config_project.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

static const char *const user_only[] = {
#define USER_ONLY(key) #key,
#include "config/config.def"
};

struct walk {
	struct config_layers *layers;
	const char *codex_home;
	const struct config_project_place *place;
	bool has_warned;
};

static bool has_marker(const char *dir, const struct toml *markers)
{
	static const struct toml git = {.kind = TOML_string, .text = {".git", 4}};
	for (const struct toml *it = markers ? markers->child : &git; it; it = it->next) {
		auto_free char *name = it->kind == TOML_string ? str_dup(it->text) : NULL;
		auto_free char *path = name && name[0] ? path_join(dir, name) : NULL;
		if (path && file_exists(path))
			return true;
	}
	return false;
}

static const char *find_root(struct arena *arena, const char *cwd, const struct toml *markers)
{
	auto_free char *dir = xstrdup(cwd);
	for (;;) {
		if (has_marker(dir, markers))
			return arena_cstr(arena, str_of(dir));
		if (!dir[1])
			return cwd;
		dir[path_dir(dir).len] = '\0';
	}
}

static enum trust_level entry_trust(const struct config_layers *layers, struct str dir)
{
	for (size_t i = layers->items.count; i-- > 0;) {
		const struct toml *projects = toml_get(layers->items.items[i].root, "projects");
		const struct toml *level = toml_get(toml_find(projects, dir), "trust_level");
		int value;
		if (toml_is(level, TOML_string) && enum_parse(&enum_trust_level, level->text, &value))
			return (enum trust_level)value;
	}
	return trust_level_unset;
}

/* What the nearest entry from dir up to root says. */
static enum trust_level dir_trust(const struct config_layers *layers, const char *root, const char *dir)
{
	for (struct str at = str_of(dir); at.len >= strlen(root);) {
		enum trust_level level = entry_trust(layers, at);
		ptrdiff_t slash = str_rfind_char(at, '/');
		if (level != trust_level_unset || at.len <= 1)
			return level;
		at.len = slash > 0 ? (size_t)slash : 1;
	}
	return trust_level_unset;
}

static void drop_user_only(struct config_layers *layers, struct toml *root)
{
	for (size_t i = 0; i < countof(user_only); i++) {
		const struct toml *dropped = toml_remove(root, str_of(user_only[i]));
		if (dropped)
			config_layer_warn(layers,
			                  "%s:%u: `%s` is ignored: a project may not set it, only your own config.toml",
			                  dropped->source, dropped->line, user_only[i]);
	}
}

static void warn_untrusted(struct walk *walk, const char *path)
{
	if (walk->has_warned || !file_exists(path))
		return;
	walk->has_warned = true;
	config_layer_warn(walk->layers,
	                  "%s is ignored because this project is not trusted; to let it count, add [projects.\"%s\"] "
	                  "with trust_level = \"trusted\" to %s/config.toml",
	                  path, walk->place->root, walk->codex_home);
}

static int load_dir(struct walk *walk, const char *dir, struct error *err)
{
	auto_free char *folder = path_join(dir, ".codex");
	auto_free char *path = path_join(folder, "config.toml");
	struct toml *root = NULL;
	if (strcmp(folder, walk->codex_home) == 0) /* the user's own file, already read */
		return 0;
	enum trust_level trust = dir_trust(walk->layers, walk->place->root, dir);
	if (trust == trust_level_unset)
		warn_untrusted(walk, path);
	if (trust != trust_level_trusted)
		return 0;
	int status = config_layer_read(walk->layers, CONFIG_LAYER_project, path, &root, err);
	if (root)
		drop_user_only(walk->layers, root);
	return status;
}

/* From the root down: the end of the text of each folder is a slash of cwd. */
static int load_dirs(struct walk *walk, struct error *err)
{
	auto_free char *dir = xstrdup(walk->place->cwd);
	size_t len = strlen(walk->place->root), total = strlen(dir);
	for (;;) {
		char cut = dir[len];
		dir[len] = '\0';
		int status = load_dir(walk, dir, err);
		dir[len] = cut;
		if (status != 0 || len >= total)
			return status;
		len++;
		while (len < total && dir[len] != '/')
			len++;
	}
}

int config_project_load(struct config_layers *layers, const char *codex_home, const char *cwd,
                        struct config_project_place *ret_place, struct error *err)
{
	auto_free char *real = realpath(cwd, NULL);
	const struct toml *markers = config_layer_top(layers, "project_root_markers");
	struct config_project_place place = {.cwd = arena_cstr(layers->arena, str_of(real ? real : cwd))};
	if (place.cwd[0] != '/')
		return error_set(err, ERR_not_found, "there is no folder %s to work in", cwd);
	place.root = find_root(layers->arena, place.cwd, toml_is(markers, TOML_array) ? markers : NULL);
	place.trust = dir_trust(layers, place.root, place.cwd);
	*ret_place = place;
	struct walk walk = {.layers = layers, .codex_home = codex_home, .place = ret_place};
	return load_dirs(&walk, err);
}
