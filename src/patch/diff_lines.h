/* diff_lines.h — finds the lines of two texts that have no match in the other.
 *
 * Owns nothing: changes point into both texts. Lines are compared with their "\n", so a last line that lacks it
 * differs from one that has it. */
#ifndef PATCH_DIFF_LINES_H
#define PATCH_DIFF_LINES_H

#include <stddef.h>

#include "base/str.h"
#include "base/vec.h"

/* Old lines that are replaced by new ones; if a side is empty, its pointer gives the position. */
struct diff_change {
	size_t old_line, old_count; /* line numbers, counted from 0 */
	size_t new_line, new_count;
	struct str old_text, new_text;
};

struct diff_changes {
	VEC(struct diff_change) list; /* freed by the owner of the struct */
	/* The remaining budget for an exact comparison; at 0 the remaining lines become one change. */
	size_t steps;
};

/* Appends the changes from old_text to new_text. old_line and new_line are the numbers of their first lines. */
void diff_lines(struct str old_text, size_t old_line, struct str new_text, size_t new_line,
                struct diff_changes *changes);

size_t diff_count_lines(struct str text);

#endif
