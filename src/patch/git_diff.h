/* git_diff.h — the combined effect of several patches, as git prints it.
 *
 * Each file is compared before the first patch and after the last; unchanged files are omitted. Blob ids are git's,
 * with or without a repository. The output is that of `git diff --full-index` with core.quotepath=off, without two
 * things that codex 0.169 omits: the mode after the ids, and the "rename from" lines of a file that was also changed.
 * Owns: both texts of every file, up to LIMIT_GIT_DIFF_FILE each and LIMIT_GIT_DIFF together; larger files are left
 * out. An all-zero struct is a valid empty one. Any thread. */
#ifndef PATCH_GIT_DIFF_H
#define PATCH_GIT_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

struct git_diff_file;

struct git_diff {
	/* private */
	VEC(struct git_diff_file *) files;
	size_t bytes;
};

void git_diff_finish(struct git_diff *diff);

struct git_diff_change {
	const char *path, *move_path; /* absolute; move_path is the destination of a move, or NULL */
	struct str old, now;          /* its contents; STR_NONE if the file did or does not exist */
	bool is_executable;
	struct str overwritten; /* former content of move_path; STR_NONE if it did not exist */
	bool was_executable;    /* refers to the overwritten file */
};

void git_diff_note(struct git_diff *diff, const struct git_diff_change *change);
/* Appends the diff, sorted by path; paths inside cwd are relative to it. A moved file is one entry, unless its old path
 * exists again or its new path existed before. */
void git_diff_write(struct git_diff *diff, const char *cwd, struct buf *out);

#endif
