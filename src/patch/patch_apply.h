/* patch_apply.h — applies a patch hunk by hunk, for the apply_patch program.
 *
 * Hunks applied before a failure stay applied; patch_plan.h is the atomic alternative. Blocks on the disk. */
#ifndef PATCH_PATCH_APPLY_H
#define PATCH_PATCH_APPLY_H

#include "base/error.h"
#include "base/buf.h"
#include "patch/patch_parse.h"

struct patch_error;

/* Applies the patch. Relative names are resolved below cwd, an absolute path. A patch without hunks is an error. */
must_check int patch_apply(const struct patch *patch, const char *cwd, struct patch_error *err);

/* Appends "Success. Updated the following files:\nA new\nM changed\nD gone\n", with the names that the patch uses. */
void patch_summary(const struct patch *patch, struct buf *out);

#endif
