/* git_diff.h — what several patches did to files, taken together, as git prints it.
 *
 * Each file counts from what it was before the first patch to what it is after the last; one that is as it was is not
 * told. Blob ids are git's, whether or not there is a repository.
 * Owns: both texts of every file that it knows, up to LIMIT_GIT_DIFF_FILE each and LIMIT_GIT_DIFF together; what is
 * larger is left out. An all-zero struct is a valid empty one. Any thread. Source: core 5. */
#ifndef PATCH_GIT_DIFF_H
#define PATCH_GIT_DIFF_H

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

/* One file was changed. Paths are absolute; move_path is where it went, or NULL. old, now: its bytes, STR_NONE where
 * there is no file. */
void git_diff_note(struct git_diff *diff, const char *path, const char *move_path, struct str old, struct str now);
/* Appends all, by path. Paths inside cwd are told from there. */
void git_diff_write(struct git_diff *diff, const char *cwd, struct buf *out);

#endif
