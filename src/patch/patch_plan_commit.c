/* A commit has three steps, ordered by how hard they are to undo. First, every new content is written to a temporary
 * file: a full disk or a missing permission fails here, with nothing changed. Second, renames put the contents in
 * place. Third, removed files are renamed aside before they are unlinked, so that a failure restores them with owner
 * and links; the last one is unlinked directly, because nothing can fail after it. */
#define LOG_MODULE "patch"
#include "patch/patch_plan.h"

#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "patch/patch_error.h"
#include "patch/patch_plan_priv.h"

static bool is_removed(const struct patch_file *file)
{
	return file->was_there && !file->is_there;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_stale(const struct patch_file *file)
{
	struct stat now;
	const struct stat *then = &file->old.st;
	bool is_there = lstat(file->real, &now) == 0;
	if (!is_there || !file->was_there)
		return is_there != file->was_there;
	return now.st_dev != then->st_dev || now.st_ino != then->st_ino || now.st_size != then->st_size ||
	       !is_same_time(now.st_mtim, then->st_mtim);
}

static int check_unchanged(struct patch_plan *plan, struct patch_error *err)
{
	const struct patch_file *stale = NULL;
	vec_for_each(it, &plan->files) {
		if (is_stale(*it))
			stale = *it;
	}
	if (!stale)
		return 0;
	return patch_error_set(err, ERR_busy, "%s changed after the patch was checked; nothing was written",
	                       stale->path);
}

static int stage_file(struct patch_plan *plan, struct patch_file *file, struct patch_error *err)
{
	int status = patch_folders_make(file->real, &plan->folders, file->path, err);
	if (status != 0)
		return status;
	file->parts = xmalloc((2 * file->edits.list.count + 1) * sizeof(*file->parts));
	size_t count = edits_parts(&file->edits, file->base, file->parts);
	mode_t mode = file->origin && file->origin->was_there ? file->origin->old.st.st_mode : 0;
	status = patch_stage_write(&file->stage, file->real, file->path, file->parts, count, mode, err);
	file->is_staged = status == 0;
	return status;
}

static int stage_files(struct patch_plan *plan, struct patch_error *err)
{
	int status = 0;
	vec_for_each(it, &plan->files) {
		if (status == 0 && patch_file_is_rewritten(*it))
			status = stage_file(plan, *it, err);
	}
	return status;
}

static int write_files(struct patch_plan *plan, struct patch_error *err)
{
	int status = 0;
	vec_for_each(it, &plan->files) {
		if (status == 0 && (*it)->is_staged)
			status = patch_stage_commit(&(*it)->stage, err);
	}
	return status;
}

static int fail_removal(const struct patch_file *file, int sys, struct patch_error *err)
{
	const char *what = file->is_claimed ? "Failed to remove original" : "Failed to delete file";
	return patch_error_sys(err, sys, "%s %s", what, file->path);
}

static int set_aside(struct patch_file *file)
{
	auto_free char *aside = patch_entry_name();
	int sys = patch_entry_rename(file->entry, aside);
	if (sys == 0)
		file->aside = steal(aside);
	return sys;
}

/* Returns the path under which a removed file is kept; owned by the caller. */
static char *aside_entry(const struct patch_file *file)
{
	auto_free char *folder = str_dup(path_dir(file->entry));
	return path_join(folder, file->aside);
}

static int remove_files(struct patch_plan *plan, struct patch_error *err)
{
	const struct patch_file *last = NULL;
	int status = 0;
	vec_for_each(it, &plan->files) {
		if (is_removed(*it))
			last = *it;
	}
	vec_for_each(it, &plan->files) {
		if (status != 0 || !is_removed(*it))
			continue;
		bool is_final = *it == last && !plan->is_removal_first;
		int sys = is_final ? patch_entry_remove((*it)->entry) : set_aside(*it);
		if (sys != 0)
			status = fail_removal(*it, sys, err);
	}
	return status;
}

static int restore_content(const struct patch_file *file)
{
	struct iovec part = {.iov_base = (void *)(uintptr_t)file->old.text.ptr, .iov_len = file->old.text.len};
	struct patch_stage stage;
	int status = patch_stage_write(&stage, file->real, file->path, &part, 1, file->old.st.st_mode, NULL);
	if (status != 0)
		return status;
	status = patch_stage_commit(&stage, NULL);
	patch_stage_finish(&stage);
	return status;
}

static int restore(struct patch_file *file)
{
	if (file->aside) {
		auto_free char *aside = aside_entry(file);
		free(steal(file->aside));
		return patch_entry_rename(aside, path_name(file->entry).ptr);
	}
	if (!file->stage.is_touched)
		return 0;
	file->stage.is_touched = false;
	return file->was_there ? restore_content(file) : patch_entry_remove(file->real);
}

/* Undoes the steps in reverse order, after freeing the space of unused temporary files, and reports what it could not
 * restore. */
static void put_back(struct patch_plan *plan, struct patch_error *err)
{
	vec_for_each(it, &plan->files) {
		if ((*it)->is_staged)
			patch_stage_finish(&(*it)->stage);
		(*it)->is_staged = false;
	}
	for (size_t i = plan->files.count; i-- > 0;) {
		struct patch_file *file = plan->files.items[i];
		if (restore(file) != 0)
			patch_error_note(err, "Could not put back what was in %s before the patch.", file->path);
	}
	patch_folders_unmake(&plan->folders);
}

static int commit(struct patch_plan *plan, struct patch_error *err)
{
	int status = plan->is_removal_first ? remove_files(plan, err) : 0;
	if (status == 0)
		status = stage_files(plan, err);
	if (status == 0)
		status = write_files(plan, err);
	if (status == 0 && !plan->is_removal_first)
		status = remove_files(plan, err);
	return status;
}

int patch_plan_commit(struct patch_plan *plan, struct patch_error *err)
{
	int status = check_unchanged(plan, err);
	if (status != 0)
		return status;
	status = commit(plan, err);
	if (status != 0) {
		put_back(plan, err);
		return status;
	}
	vec_for_each(it, &plan->files) {
		if (!(*it)->aside)
			continue;
		auto_free char *aside = aside_entry(*it);
		int failure = patch_entry_remove(aside);
		if (failure) /* The patch has been applied; only a copy of the old file is left over. */
			log_debug("cannot remove %s: %s", aside, strerror(failure));
	}
	return 0;
}
