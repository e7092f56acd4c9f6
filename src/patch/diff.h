/* diff.h — unified diffs: what a person reads of a change and what events carry.
 *
 * Hunks only ("@@ -1,2 +1,3 @@" and lines), no file header, applicable by patch(1) and git. Time is bounded by
 * LIMIT_DIFF_STEPS: past that the diff is coarser, never wrong. Look at out->over afterwards. */
#ifndef PATCH_DIFF_H
#define PATCH_DIFF_H

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "patch/edit.h"

/* With `context` lines around each change. Appends nothing if the texts are equal. */
void diff_unified(struct str old_text, struct str new_text, size_t context, struct buf *out);
/* The same for a text that is known by its edits: costs their size, and one count of the lines between. */
void diff_edits(struct str old_text, const struct edits *edits, size_t context, struct buf *out);

#endif
