/* A session may have several files, and some of them may be in the archive. */
#include "rollout/rollout_remove.h"

#include <errno.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/vec.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_path.h"

struct session_files {
	struct arena arena;
	struct str thread_id;
	VEC(const char *) paths;
	VEC(struct str) rollout_ids;
};

static bool on_visit_own(const char *path, const struct rollout_file_name *name, void *self)
{
	struct session_files *files = self;
	if (str_equal_fold(name->thread_id, files->thread_id)) {
		vec_push(&files->paths, arena_cstr(&files->arena, str_of(path)));
		vec_push(&files->rollout_ids, arena_str(&files->arena, name->rollout_id));
	}
	return false;
}

static void files_finish(struct session_files *files)
{
	vec_finish(&files->paths);
	vec_finish(&files->rollout_ids);
	arena_finish(&files->arena);
}

struct reference_search {
	const struct session_files *files;
	bool is_found;
};

/* Finds a file of another session that refers to one of these. */
static bool on_visit_other(const char *path, const struct rollout_file_name *name, void *self)
{
	struct reference_search *search = self;
	auto_arena struct arena arena = {0};
	struct rollout_meta meta;
	if (str_equal_fold(name->thread_id, search->files->thread_id) ||
	    rollout_list_read_head(path, &arena, &meta, NULL) != 0)
		return false;
	for (size_t i = 0; i < search->files->rollout_ids.count && meta.base_rollout_id.ptr; i++)
		search->is_found |= str_equal_fold(search->files->rollout_ids.items[i], meta.base_rollout_id);
	return search->is_found;
}

static int check_references(const char *home, const struct session_files *files, struct error *err)
{
	struct reference_search search = {.files = files};
	int status = rollout_list_walk(home, false, on_visit_other, &search, err);
	if (status == 0 && !search.is_found)
		status = rollout_list_walk(home, true, on_visit_other, &search, err);
	if (search.is_found)
		return error_set(err, ERR_invalid, "cannot delete thread %.*s: forked history still references it",
		                 STR_ARG(files->thread_id));
	return status;
}

int rollout_remove(const char *home, struct str thread_id, struct error *err)
{
	struct session_files files = {.thread_id = thread_id};
	int status = rollout_list_walk(home, false, on_visit_own, &files, err);
	if (status == 0)
		status = rollout_list_walk(home, true, on_visit_own, &files, err);
	if (status == 0 && !files.paths.count)
		status = error_set(err, ERR_not_found, "no rollout found for thread id %.*s", STR_ARG(thread_id));
	if (status == 0)
		status = check_references(home, &files, err);
	for (size_t i = 0; i < files.paths.count && status == 0; i++) {
		if (unlink(files.paths.items[i]) != 0 && errno != ENOENT)
			status = error_sys(err, errno, "cannot remove %s", files.paths.items[i]);
	}
	files_finish(&files);
	return status;
}
