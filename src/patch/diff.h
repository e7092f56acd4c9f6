/* diff.h — edits of a text, and unified diffs, for people and for events.
 *
 * A diff has hunks only ("@@ -1,2 +1,3 @@" and lines), no file header; it is applicable by patch(1) and git. Time is
 * bounded by LIMIT_DIFF_STEPS: past that the diff is coarser, never wrong. Check out->over afterwards. */
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

/* old[at, at + len) becomes text. */
struct edit {
	size_t at, len;
	struct str text;
};

struct edits {
	VEC(struct edit) list; /* owned by the struct's owner */
};

/* Size in bytes of the edited text. */
size_t edits_new_len(const struct edits *edits, struct str old);
/* Writes that many bytes to out. */
void edits_apply(const struct edits *edits, struct str old, char *out);
/* The same as slices of old and of the edits: fills at most 2 * edits + 1 parts and returns how many. */
size_t edits_parts(const struct edits *edits, struct str old, struct iovec *parts);

/* ---- diffs ---- */

/* With `context` lines around each change. Appends nothing if the texts are equal. */
void diff_unified(struct str old_text, struct str new_text, size_t context, struct buf *out);
/* The same for a text given as edits. The cost is their size plus counting the lines between them. */
void diff_edits(struct str old_text, const struct edits *edits, size_t context, struct buf *out);

#endif
