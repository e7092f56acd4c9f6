/* patch_plan.h — a patch worked out in full before anything is written: all of it, or nothing.
 *
 * A plan sees the files as they are and each hunk as the hunks before it leave them (core 4.7). What it
 * would do can be shown, approved, and then committed; a commit that fails halfway puts everything back.
 * Owns: all it read and computed. Borrows: the patch and its text, until it is destroyed. Blocks on the
 * disk; may be used on any one thread at a time. */
#ifndef PATCH_PATCH_PLAN_H
#define PATCH_PATCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "patch/patch_parse.h"

struct patch_error;
struct patch_file;
struct patch_plan;

/* What becomes of one file, all hunks taken together. A file that is made and removed again is none. */
struct patch_change {
	/* read-only */
	enum patch_kind kind;
	const char *path;      /* absolute, without "." and ".."; links in it are not followed */
	const char *move_path; /* PATCH_UPDATE: the same for where it goes; NULL if it stays */
	/* What is written and removed on the disk, links followed: what a permission must be asked for. */
	const char *real_path;
	const char *real_move_path; /* NULL if move_path is */
	/* private */
	struct patch_file *from, *to;
};

/* NULL and err (what the model should know) if any hunk cannot be applied. Relative names are below cwd. */
struct patch_plan *patch_plan_create(const struct patch *patch, const char *cwd, struct patch_error *err);
void patch_plan_destroy(struct patch_plan *plan);

/* In the order in which the patch first names the files. */
const struct patch_change *patch_plan_changes(const struct patch_plan *plan, size_t *ret_count);

/* The file's bytes before (STR_NONE: there was none) and after (STR_NONE: it is gone). Owned by the plan. */
struct str patch_change_old(const struct patch_change *change);
struct str patch_change_new(const struct patch_change *change);
/* What was where it moves to, STR_NONE if nothing was; whether the file, or that one, can be executed. */
struct str patch_change_overwritten(const struct patch_change *change);
bool patch_change_is_executable(const struct patch_change *change);
bool patch_change_was_executable(const struct patch_change *change);
/* Appends unified hunks from old to new; both are empty where there is no file. Made anew each time. */
void patch_change_diff(const struct patch_change *change, size_t context, struct buf *out);

/* Writes it, once. On failure nothing is changed, or err says what could not be put back. ERR_busy: a file is no
 * longer what the plan was made from; make another. Nothing but the real paths is ever written. */
int patch_plan_commit(struct patch_plan *plan, struct patch_error *err);

#endif
