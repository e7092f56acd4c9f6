/* patch_plan.h — an atomic patch: computed completely before anything is written.
 *
 * A plan reads the files, and each hunk sees the result of the hunks before it. Its changes can be shown, approved,
 * and then committed; a commit that fails halfway restores everything. Owns: all that it has read and computed.
 * Borrows: the patch and its text, until it is destroyed. Blocks on the disk; may be used on any one thread at a
 * time. */
#ifndef PATCH_PATCH_PLAN_H
#define PATCH_PATCH_PLAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/buf.h"
#include "base/str.h"
#include "patch/patch_parse.h"

struct arena;
struct patch_error;
struct patch_file;
struct patch_plan;

/* The net change of one file. A file that is added and removed again is unchanged. */
struct patch_change {
	/* read-only */
	enum patch_kind kind;
	const char *path;      /* absolute, without "." and ".."; links in it are not followed */
	const char *move_path; /* for PATCH_UPDATE: the destination of a move, or NULL */
	/* The paths that the commit writes and removes, links followed: permission is checked on these. */
	const char *real_path;
	const char *real_move_path; /* NULL if move_path is NULL */
	/* private */
	struct patch_file *from, *to;
};

/* Files of another machine, read in advance. The path is absolute, without "." and ".."; STR_NONE: no such file. */
struct patch_text {
	const char *path;
	struct str text;
};

struct patch_texts {
	VEC(struct patch_text) list; /* freed by the owner of the struct */
};

/* Lists the files that a plan needs, each once and without its text; the paths are in the arena. ERR_limit: they are
 * more than LIMIT_PATCH_TEXTS. */
must_check int patch_texts_list(struct patch_texts *ret, const struct patch *patch, const char *cwd,
                                struct arena *arena, struct patch_error *err);

/* Computes the plan. NULL and err (the text for the model) if a hunk cannot be applied. Relative names are resolved
 * below cwd. texts, which outlive the plan, take the place of the files of this machine, unless they are NULL; such a
 * plan is not committed here. */
must_check struct patch_plan *patch_plan_create(const struct patch *patch, const char *cwd,
                                                const struct patch_texts *texts, struct patch_error *err);
void patch_plan_destroy(struct patch_plan *plan);

/* Returns the changes, in the order in which the patch first names the files. */
const struct patch_change *patch_plan_changes(const struct patch_plan *plan, size_t *ret_count);

/* Return the file's content before (STR_NONE: it did not exist) and after (STR_NONE: it is removed). Owned by the
 * plan. */
struct str patch_change_old(const struct patch_change *change);
struct str patch_change_new(const struct patch_change *change);
/* Return the former content of the move's destination, STR_NONE if it did not exist; and whether the file, or the
 * destination, was executable. */
struct str patch_change_overwritten(const struct patch_change *change);
bool patch_change_is_executable(const struct patch_change *change);
bool patch_change_was_executable(const struct patch_change *change);
/* Appends unified hunks from old to new; a file that does not exist counts as empty. Not cached. */
void patch_change_diff(const struct patch_change *change, size_t context, struct buf *out);

/* Writes the changes; may be called once. On failure all changes are undone, or err lists the files that could not
 * be restored. ERR_busy: a file has changed since the plan was made; make a new plan. Only the real paths are
 * written. */
must_check int patch_plan_commit(struct patch_plan *plan, struct patch_error *err);

#endif
