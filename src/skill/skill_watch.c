/* An inotify watch covers a single folder. The roots, the folders of the skills and the parents of missing roots are
 * watched; the list that follows a change creates a new set of watches. */
#include "skill/skill_watch.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "loop/watch.h"

struct skill_watch {
	struct loop *loop;
	struct loop_timer *timer;
	skill_watch_change_fn on_change;
	void *self;
	VEC(char *) folders;
	VEC(struct watch *) watches;
};

static void on_held(void *self)
{
	struct skill_watch *watch = self;
	watch->on_change(watch->self);
}

static void on_folder_change(const char *name, void *self)
{
	struct skill_watch *watch = self;
	(void)name;
	if (!loop_timer_is_active(watch->timer))
		loop_timer_start(watch->timer, LIMIT_SKILL_HOLD_MS);
}

/* Only these names matter in a home or project folder, whose other entries change all the time. */
static void on_parent_change(const char *name, void *self)
{
	static const char *const names[] = {"skills", ".codex", ".agents"};
	for (size_t i = 0; i < countof(names); i++) {
		if (name && strcmp(name, names[i]) == 0)
			on_folder_change(name, self);
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

/* Watches the existing part of folder/first/skills. */
static void add_root(struct skill_watch *watch, const char *folder, const char *first)
{
	auto_free char *middle = path_join(folder, first);
	auto_free char *root = path_join(middle, "skills");
	if (dir_exists(root))
		add(watch, root, on_folder_change);
	else if (dir_exists(middle))
		add(watch, middle, on_parent_change);
	else
		add(watch, folder, on_parent_change);
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
	add_root(watch, places->home, "");
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
	vec_finish(&watch->watches);
	vec_finish(&watch->folders);
	loop_timer_destroy(watch->timer);
	free(watch);
}
