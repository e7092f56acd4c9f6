/* diff.h — unified diffs, for people and for events.
 *
 * Hunks only ("@@ -1,2 +1,3 @@" and lines), no file header, applicable by patch(1) and git. Time is bounded by
 * LIMIT_DIFF_STEPS: past that the diff is coarser, never wrong. Check out->over afterwards. */
#ifndef PATCH_DIFF_H
#define PATCH_DIFF_H

#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "patch/edit.h"

/* With `context` lines around each change. Appends nothing if the texts are equal. */
void diff_unified(struct str old_text, struct str new_text, size_t context, struct buf *out);
/* The same for a text given as edits. The cost is their size plus counting the lines between them. */
void diff_edits(struct str old_text, const struct edits *edits, size_t context, struct buf *out);

#endif
