/* diff.h — edits of a text, and unified diffs, for people and for events.
 *
 * A diff consists of hunks ("@@ -1,2 +1,3 @@" and lines) without a file header; patch(1) and git can apply it.
 * LIMIT_DIFF_STEPS bounds the time: beyond it the diff is coarser, never wrong. Check out->over afterwards. */
#ifndef PATCH_DIFF_H
#define PATCH_DIFF_H

#include <stddef.h>
#include <sys/uio.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"

/* ---- edits: a text described as changes to another one ---- */

/* A patch computes edits, a diff prints them. They are sorted, do not overlap, and begin and end at the start of a line
 * of the old text, or at its end. Edits borrow their texts; the new text is built only by edits_apply. */

/* Replaces old[at, at + len) by text. */
struct edit {
	size_t at, len;
	struct str text;
};

struct edits {
	VEC(struct edit) list; /* freed by the owner of the struct */
};

/* Returns the size of the edited text in bytes. */
size_t edits_new_len(const struct edits *edits, struct str old);
/* Writes the edited text to out, edits_new_len bytes. */
void edits_apply(const struct edits *edits, struct str old, char *out);
/* Lists the edited text as slices of old and of the edits: fills at most 2 * edits + 1 parts and returns their
 * number. */
size_t edits_parts(const struct edits *edits, struct str old, struct iovec *parts);

/* ---- diffs ---- */

/* Appends a diff with `context` lines around each change; nothing if the texts are equal. */
void diff_unified(struct str old_text, struct str new_text, size_t context, struct buf *out);
/* As diff_unified, for a new text given as edits. The cost is the size of the edits plus counting the lines between
 * them. */
void diff_edits(struct str old_text, const struct edits *edits, size_t context, struct buf *out);

#endif
