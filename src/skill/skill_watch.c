/* An inotify watch covers a single folder. The roots, the folders of the skills and the parents of missing roots are
 * watched; the list that follows a change creates a new set of watches. A sandbox creates and removes an empty .codex
 * and .agents in the workspace with each command, so a change in a parent is reported only if the root exists then. */
#include "skill/skill_watch.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "loop/watch.h"

/* A root that did not exist: its path, and the folder between it and a home or a project. */
struct missing_root {
	char *path, *middle;
};

struct skill_watch {
	struct loop *loop;
	struct loop_timer *timer;
	skill_watch_change_fn on_change;
	void *self;
	VEC(struct missing_root) missing;
	VEC(char *) folders;
	VEC(struct watch *) watches; /* as many as folders */
	bool is_changed;             /* a folder of skills changed, not only the parent of a missing root */
};

static void hold(struct skill_watch *watch)
{
	if (!loop_timer_is_active(watch->timer))
		loop_timer_start(watch->timer, LIMIT_SKILL_HOLD_MS);
}

static void on_folder_change(const char *name, void *self)
{
	struct skill_watch *watch = self;
	(void)name;
	watch->is_changed = true;
	hold(watch);
}

/* Only these names matter in a home or project folder, whose other entries change all the time. */
static void on_parent_change(const char *name, void *self)
{
	static const char *const names[] = {"skills", ".codex", ".agents"};
	for (size_t i = 0; i < countof(names); i++) {
		if (name && strcmp(name, names[i]) == 0)
			hold(self);
	}
}

static void add(struct skill_watch *watch, const char *folder, watch_change_fn on_change)
{
	if (watch->watches.count >= LIMIT_SKILL_WATCHES)
		return;
	vec_for_each(it, &watch->folders) {
		if (strcmp(*it, folder) == 0)
			return;
	}
	struct watch *one = watch_create(watch->loop, folder, on_change, watch, NULL);
	if (!one)
		return;
	vec_push(&watch->watches, one);
	vec_push(&watch->folders, xstrdup(folder));
}

static void drop(struct skill_watch *watch, const char *folder)
{
	for (size_t i = 0; i < watch->folders.count; i++) {
		if (strcmp(watch->folders.items[i], folder) != 0)
			continue;
		watch_destroy(watch->watches.items[i]);
		free(watch->folders.items[i]);
		watch->watches.items[i] = watch->watches.items[--watch->watches.count];
		watch->folders.items[i] = watch->folders.items[--watch->folders.count];
		return;
	}
}

/* Follows a missing root and the folder above it, which comes and goes: a watch ends with its folder, so a new one is
 * made each time, before the root is looked for. */
static bool has_appeared(struct skill_watch *watch, const struct missing_root *root)
{
	drop(watch, root->middle);
	if (dir_exists(root->middle))
		add(watch, root->middle, on_parent_change);
	if (!dir_exists(root->path))
		return false;
	add(watch, root->path, on_folder_change);
	return true;
}

static void missing_root_finish(struct missing_root *root)
{
	free(root->path);
	free(root->middle);
}

static bool has_new_root(struct skill_watch *watch)
{
	size_t kept = 0, count = watch->missing.count;
	for (size_t i = 0; i < count; i++) {
		struct missing_root *root = &watch->missing.items[i];
		if (has_appeared(watch, root))
			missing_root_finish(root);
		else
			watch->missing.items[kept++] = *root;
	}
	watch->missing.count = kept;
	return kept < count;
}

static void on_held(void *self)
{
	struct skill_watch *watch = self;
	bool is_new = has_new_root(watch), is_changed = watch->is_changed;
	watch->is_changed = false;
	if (is_new || is_changed)
		watch->on_change(watch->self);
}

/* Watches the existing part of folder/first/skills, or of folder/skills if first is NULL. */
static void add_root(struct skill_watch *watch, const char *folder, const char *first)
{
	auto_free char *middle = first ? path_join(folder, first) : xstrdup(folder);
	auto_free char *root = path_join(middle, "skills");
	if (dir_exists(root)) {
		add(watch, root, on_folder_change);
		return;
	}
	add(watch, folder, on_parent_change);
	if (dir_exists(middle))
		add(watch, middle, on_parent_change);
	vec_push(&watch->missing, (struct missing_root){steal(root), steal(middle)});
}

static void add_file(struct skill_watch *watch, struct str file)
{
	auto_free char *path = str_dup(file);
	auto_free char *folder = str_dup(path_dir(path));
	add(watch, folder, on_folder_change);
}

static void add_all(struct skill_watch *watch, const struct skill_places *places, const struct skills_list_entry *entry)
{
	auto_arena struct arena arena = {0};
	auto_free char *cwd = str_dup(entry->cwd);
	struct skill_root *roots;
	size_t count = skill_places_roots(places, entry->cwd, &arena, &roots);
	for (size_t i = 0; i < count; i++)
		add(watch, roots[i].path, on_folder_change);
	add_root(watch, places->home, NULL);
	if (places->user_home)
		add_root(watch, places->user_home, ".agents");
	if (cwd[0] == '/') {
		add_root(watch, cwd, ".codex");
		add_root(watch, cwd, ".agents");
	}
	for (size_t i = 0; i < entry->skills_count; i++)
		add_file(watch, entry->skills[i].path);
	for (size_t i = 0; i < entry->errors_count; i++)
		add_file(watch, entry->errors[i].path);
}

struct skill_watch *skill_watch_create(struct loop *loop, const struct skill_places *places,
                                       const struct skills_list_entry *entry, skill_watch_change_fn on_change,
                                       void *self)
{
	struct skill_watch *watch = xnew(struct skill_watch);
	watch->loop = loop;
	watch->timer = loop_timer_create(loop, on_held, watch);
	watch->on_change = on_change;
	watch->self = self;
	add_all(watch, places, entry);
	return watch;
}

void skill_watch_destroy(struct skill_watch *watch)
{
	if (!watch)
		return;
	vec_for_each(it, &watch->watches)
		watch_destroy(*it);
	vec_for_each(it, &watch->folders)
		free(*it);
	vec_for_each(it, &watch->missing)
		missing_root_finish(it);
	vec_finish(&watch->missing);
	vec_finish(&watch->watches);
	vec_finish(&watch->folders);
	loop_timer_destroy(watch->timer);
	free(watch);
}
