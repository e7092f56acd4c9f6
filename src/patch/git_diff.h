/* git_diff.h — what several patches did to files, taken together, as git prints it.
 *
 * Each file counts from what it was before the first patch to what it is after the last; one that is as it was is not
 * told. Blob ids are git's, whether or not there is a repository. It is what `git diff --full-index` prints, with
 * names as core.quotepath=off has them, but for two things that 0.169.0 leaves out: the mode behind the ids, and the
 * lines "rename from" of a file that was also changed.
 * Owns: both texts of every file that it knows, up to LIMIT_GIT_DIFF_FILE each and LIMIT_GIT_DIFF together; what is
 * larger is left out. An all-zero struct is a valid empty one. Any thread. Source: core 5. */
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
	const char *path, *move_path; /* absolute; move_path is where it went, or NULL */
	struct str old, now;          /* its bytes, STR_NONE where there is no file */
	bool is_executable;
	struct str overwritten;       /* what was at move_path before, STR_NONE if nothing was */
	bool was_executable;          /* that */
};

void git_diff_note(struct git_diff *diff, const struct git_diff_change *change);
/* Appends all, by path. Paths inside cwd are told from there. A file that moved is one entry, unless there is something
 * at its old place again, or was at its new one. */
void git_diff_write(struct git_diff *diff, const char *cwd, struct buf *out);

#endif
