/* patch_stage.h — replaces a file in two steps: the first fails for lack of space or permission, the second renames.
 *
 * Owns: a temporary file beside the target. Finishing before the commit leaves the tree unchanged. An existing file
 * keeps its mode, and unusual owners, links and attributes. Holds no descriptor between calls. */
#ifndef PATCH_PATCH_STAGE_H
#define PATCH_PATCH_STAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "base/error.h"

struct patch_error;

struct patch_stage {
	/* private */
	const char *real, *path;
	char *temporary; /* name of the temporary file; NULL: the target is overwritten */
	const struct iovec *parts;
	size_t part_count;
	/* read-only, also after the finish */
	bool is_touched; /* the former content may be lost */
};

/* Prepares to replace the content of the file at `real` (patch_tree.h) by `parts`; errors name it `path`. All three are
 * borrowed until the stage is finished; the folder must exist. A new file gets `mode`; 0: the default mode. */
must_check int patch_stage_write(struct patch_stage *ret, const char *real, const char *path, const struct iovec *parts,
                                 size_t count, mode_t mode, struct patch_error *err);
/* Puts the content in place; may be called once. */
must_check int patch_stage_commit(struct patch_stage *stage, struct patch_error *err);
void patch_stage_finish(struct patch_stage *stage);

#endif
