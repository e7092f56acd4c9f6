/* A repository's content is untrusted. Its settings are used only if the user's file marks the folder as trusted, and
 * even then without those that select providers and keys (USER_ONLY in config.def) or widen the user's limits for
 * commands (config_narrow.h). */
#include "config/config_project.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_narrow.h"

static const char *const user_only[] = {
#define USER_ONLY(key) #key,
#include "config/config.def"
};

/* The folders whose trust entries apply. */
struct trust {
	const struct config_layers *layers;
	const char *root;
	const char *main_root; /* the main worktree if root is a linked worktree, or NULL */
};

struct walk {
	const struct trust *trust;
	struct config_layers *layers;
	const char *codex_home;
	const struct config_project_place *place;
	struct config_allowed allowed;
	bool has_warned;
};

static bool has_marker(const char *dir, const struct toml *markers)
{
	static const struct toml git = {.kind = TOML_string, .text = {".git", 4}};
	for (const struct toml *it = markers ? markers->child : &git; it; it = it->next) {
		auto_free char *name = it->kind == TOML_string ? str_dup(it->text) : NULL;
		auto_free char *path = name && name[0] ? path_join(dir, name) : NULL;
		if (path && marker_exists(path))
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

/* Returns the trust level of the nearest entry from dir up to root, or else of the main worktree. */
static enum trust_level dir_trust(const struct trust *trust, const char *dir)
{
	for (struct str at = str_of(dir); at.len >= strlen(trust->root);) {
		enum trust_level level = entry_trust(trust->layers, at);
		ptrdiff_t slash = str_rfind_char(at, '/');
		if (level != trust_level_unset)
			return level;
		if (at.len <= 1)
			break;
		at.len = slash > 0 ? (size_t)slash : 1;
	}
	return trust->main_root ? entry_trust(trust->layers, str_of(trust->main_root)) : trust_level_unset;
}

/* Returns the first line of a small file without `prefix`, owned by the caller; NULL if it lacks the prefix. */
static char *read_pointer(const char *path, const char *prefix)
{
	struct stat st;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_GIT_POINTER);
	if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) || file_read_regular(path, &text, NULL) != 0)
		return NULL;
	struct str line = str_trim(buf_str(&text));
	bool is_text = !memchr(line.ptr, '\0', line.len) && str_find_char(line, '\n') < 0;
	return is_text && str_cut_prefix(&line, prefix) ? str_dup(line) : NULL;
}

/* A linked worktree names its repository in the file .git. That file could be forged, so the repository must name the
 * worktree too (.git/worktrees/NAME/gitdir). */
static const char *find_main_root(struct arena *arena, const char *root)
{
	auto_free char *dot_git = path_join(root, ".git");
	auto_free char *pointer = read_pointer(dot_git, "gitdir: ");
	auto_free char *joined = pointer ? path_join(root, pointer) : NULL;
	auto_free char *admin = joined ? path_normalize(joined) : NULL;
	auto_free char *back_path = admin ? path_join(admin, "gitdir") : NULL;
	auto_free char *back = back_path ? read_pointer(back_path, "") : NULL;
	auto_free char *back_joined = back ? path_join(admin, back) : NULL;
	auto_free char *back_normal = back_joined ? path_normalize(back_joined) : NULL;
	if (!back_normal || strcmp(back_normal, dot_git) != 0)
		return NULL;
	struct str worktrees = path_dir(admin);
	if (!str_has_suffix(worktrees, "/.git/worktrees"))
		return NULL;
	worktrees.len -= strlen("/.git/worktrees");
	return worktrees.len ? arena_cstr(arena, worktrees) : NULL;
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
	                  "%s is ignored because this project is not trusted; to apply it, add [projects.\"%s\"] "
	                  "with trust_level = \"trusted\" to %s/config.toml",
	                  path, walk->place->root, walk->codex_home);
}

/* The hash is computed from the bytes that were read, because the file may change at any time. */
void config_project_limit(struct config_layers *layers, const struct config_allowed *allowed,
                          const struct config_project_file *file, struct toml *root)
{
	char hash[CONFIG_HASH_SIZE];
	drop_user_only(layers, root);
	config_content_hash(file->text, hash);
	if (config_content_is_trusted(layers, file->dir, hash))
		return;
	auto_free char *remedy = xasprintf("to allow it, add trusted_hashes = [\"%s\"] to [projects.\"%s\"] in "
	                                   "%s/config.toml",
	                                   hash, file->dir, file->home);
	config_narrow(layers, allowed, root, remedy);
}

static int load_file(struct walk *walk, const char *dir, const char *path, struct error *err)
{
	struct toml *root = NULL;
	struct error failure = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONFIG_FILE);
	if (file_read_regular(path, &text, &failure) != 0)
		return failure.code == ERR_not_found ? 0 : error_set(err, failure.code, "%s", failure.text);
	if (config_layer_text(walk->layers, CONFIG_LAYER_project, buf_str(&text), path, &root, err) != 0)
		return -(int)err->code;
	struct config_project_file file = {dir, walk->codex_home, buf_str(&text)};
	config_project_limit(walk->layers, &walk->allowed, &file, root);
	return 0;
}

static int load_dir(struct walk *walk, const char *dir, struct error *err)
{
	auto_free char *folder = path_join(dir, ".codex");
	auto_free char *path = path_join(folder, "config.toml");
	if (strcmp(folder, walk->codex_home) == 0) /* the user's own config.toml, which was read before */
		return 0;
	enum trust_level trust = dir_trust(walk->trust, dir);
	if (trust == trust_level_unset)
		warn_untrusted(walk, path);
	if (trust != trust_level_trusted)
		return 0;
	vec_push(&walk->layers->folders, arena_cstr(walk->layers->arena, str_of(folder)));
	return load_file(walk, dir, path, err);
}

/* Loads the files of each folder from the root down to cwd: each folder's path ends at a slash of cwd. */
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
		return error_set(err, ERR_not_found, "the working folder %s does not exist", cwd);
	place.root = find_root(layers->arena, place.cwd, toml_is(markers, TOML_array) ? markers : NULL);
	struct trust trust = {layers, place.root, find_main_root(layers->arena, place.root)};
	place.trust = dir_trust(&trust, place.cwd);
	*ret_place = place;
	struct walk walk = {.trust = &trust, .layers = layers, .codex_home = codex_home, .place = ret_place};
	config_allowed_init(&walk.allowed, layers, place.trust);
	return load_dirs(&walk, err);
}
