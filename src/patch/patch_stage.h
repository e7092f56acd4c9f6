/* patch_stage.h — one file's new content on its way to its place, in two steps: everything that can go
 * wrong for want of room or permission goes wrong in the first, the second puts it there.
 *
 * Owns: a temporary file beside the target, or the opened target itself. Finishing before the commit leaves the
 * tree as it was. What is at the path keeps its mode, and its owner, links and attributes if it has unusual
 * ones; a symbolic link is written through, as everybody's editor does. */
#ifndef PATCH_PATCH_STAGE_H
#define PATCH_PATCH_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/uio.h>

struct patch_error;

struct patch_stage {
	/* private */
	const char *path; /* as the caller knows it */
	char *target;     /* where it goes, links resolved */
	char *temporary;  /* holds the content until the commit; NULL: the target is overwritten */
	int fd;           /* the target, if it is overwritten; -1 */
	bool is_made;     /* the target was made empty, at the end of a link to nothing */
	const struct iovec *parts;
	size_t part_count;
	/* read-only, also after the finish */
	bool is_touched; /* what was at the path may not be there any more */
};

/* Prepares to make parts the content of path. path and parts are borrowed until the stage is finished;
 * parent folders must exist. A file that is not there gets `mode`; 0: as any new file. */
int patch_stage_write(struct patch_stage *ret, const char *path, const struct iovec *parts, size_t count, mode_t mode,
		      struct patch_error *err);
/* Puts it in place, once. */
int patch_stage_commit(struct patch_stage *stage, struct patch_error *err);
void patch_stage_finish(struct patch_stage *stage);

/* A name beside path that is not in use, for a moment; owned by the caller. */
char *patch_stage_name(const char *path);

#endif
