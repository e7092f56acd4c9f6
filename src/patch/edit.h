/* edit.h — a text described as changes to another one. A patch computes edits, a diff prints them.
 *
 * Edits are sorted, do not overlap, and begin and end at the start of a line of the old text (or at its
 * end). Edits borrow their texts; the new text is built only by edits_apply. */
#ifndef PATCH_EDIT_H
#define PATCH_EDIT_H

#include <stddef.h>
#include <sys/uio.h>

#include "base/str.h"
#include "base/vec.h"

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

#endif
