/* diff_lines.h — which lines of two texts have no partner in the other.
 *
 * Owns nothing: changes point into both texts. Lines are compared with their "\n", so a last line
 * that lacks it differs from one that has it. */
#ifndef PATCH_DIFF_LINES_H
#define PATCH_DIFF_LINES_H

#include <stddef.h>

#include "base/str.h"
#include "base/vec.h"

/* Some lines become others; either side may be empty, its pointer then says where. */
struct diff_change {
	size_t old_line, old_count; /* lines, the first is 0 */
	size_t new_line, new_count;
	struct str old_text, new_text;
};

struct diff_changes {
	VEC(struct diff_change) list; /* owned by whoever has the struct */
	/* Steps that may still be spent on small diffs; at 0 what is left is one change. */
	size_t steps;
};

/* Appends the changes that make new_text of old_text, whose first lines are old_line and new_line. */
void diff_lines(struct str old_text, size_t old_line, struct str new_text, size_t new_line,
                struct diff_changes *changes);

size_t diff_count_lines(struct str text);

#endif
