/* patch_stage.h — one file's new content on its way to its place, in two steps: everything that can go
 * wrong for want of room or permission goes wrong in the first, the second puts it there.
 *
 * Owns: a temporary file beside the target. Finishing before the commit leaves the tree as it was. What is there
 * keeps its mode, and its owner, links and attributes if it has unusual ones. Holds no descriptor between calls. */
#ifndef PATCH_PATCH_STAGE_H
#define PATCH_PATCH_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/uio.h>

struct patch_error;

struct patch_stage {
	/* private */
	const char *real, *path;
	char *temporary; /* name of the file that holds the content until the commit; NULL: the target is overwritten */
	const struct iovec *parts;
	size_t part_count;
	/* read-only, also after the finish */
	bool is_touched; /* what was there may not be there any more */
};

/* Prepares to make parts the content of the file at real (patch_tree.h), which errors call path. All three are
 * borrowed until the stage is finished; the folder must exist. A file that is not there gets `mode`; 0: as any. */
int patch_stage_write(struct patch_stage *ret, const char *real, const char *path, const struct iovec *parts,
                      size_t count, mode_t mode, struct patch_error *err);
/* Puts it in place, once. */
int patch_stage_commit(struct patch_stage *stage, struct patch_error *err);
void patch_stage_finish(struct patch_stage *stage);

#endif
