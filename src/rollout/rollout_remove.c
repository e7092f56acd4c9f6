/* A session may have several files, and some of them may be in the archive. */
#include "rollout/rollout_remove.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
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

/* ---- moving ---- */

/* Moves one file into the folder; an existing file is not replaced. */
static int move_into(const char *path, const char *folder, struct error *err)
{
	auto_free char *name = str_dup(path_name(path));
	auto_free char *to = path_join(folder, name);
	int status = dir_make(folder, 0700, err);
	if (status != 0)
		return status;
	if (file_exists(to))
		return error_set(err, ERR_invalid, "%s already exists; move one of the two away first", to);
	return rename(path, to) == 0 ? 0 : error_sys(err, errno, "cannot move %s to %s", path, folder);
}

/* Returns the session folder for the date in the file's name: "2026-11-21T…" belongs to sessions/2026/11/21. */
static char *session_folder(const char *home, const char *path)
{
	struct rollout_file_name name;
	rollout_path_parse(path_name(path), &name);
	return xasprintf("%s/sessions/%.4s/%.2s/%.2s", home, name.time.ptr, name.time.ptr + 5, name.time.ptr + 8);
}

int rollout_move(const char *home, struct str thread_id, bool to_archive, struct error *err)
{
	struct session_files files = {.thread_id = thread_id};
	int status = rollout_list_walk(home, !to_archive, on_visit_own, &files, err);
	if (status == 0 && !files.paths.count)
		status = error_set(err, ERR_not_found, "no %srollout found for thread id %.*s",
		                   to_archive ? "" : "archived ", STR_ARG(thread_id));
	for (size_t i = 0; i < files.paths.count && status == 0; i++) {
		auto_free char *folder =
			to_archive ? path_join(home, "archived_sessions") : session_folder(home, files.paths.items[i]);
		status = move_into(files.paths.items[i], folder, err);
	}
	files_finish(&files);
	return status;
}
