/* patch_lines.h — numbers the lines of a text so that equal lines have equal numbers.
 *
 * "Equal" has four levels: exact, trailing blanks ignored, leading and trailing blanks ignored, and typographic
 * dashes, quotes and blanks equal to their ASCII forms. A level is built on first use. Owns: its tables. Borrows:
 * the text, whose every line ends with "\n" (a "\r" before that is not part of the line). Private to patch_seek. */
#ifndef PATCH_PATCH_LINES_H
#define PATCH_PATCH_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

enum { PATCH_LEVELS = 4 };

struct patch_level {
	uint32_t *ids;   /* for each line the first line that equals it; NULL: not built */
	uint32_t *slots; /* open addressing: a slot holds 1 + id; 0: free */
	size_t mask;
};

struct patch_lines {
	/* read-only */
	struct str text;
	uint32_t *starts; /* count + 1 offsets of line starts; NULL: not built */
	size_t count;
	/* private */
	uint64_t key;
	struct patch_level levels[PATCH_LEVELS];
	struct buf folded[2]; /* two lines in the form that their level compares */
};

void patch_lines_init(struct patch_lines *lines, struct str text);
void patch_lines_finish(struct patch_lines *lines);

/* Builds the index of a level; false if the text has more than LIMIT_PATCH_LINES lines. */
bool patch_lines_build(struct patch_lines *lines, int level);
/* Returns the number of the line at or after offset, which must be the start of a line or the end. */
size_t patch_lines_at(const struct patch_lines *lines, size_t offset);
/* Finds the id of `line` at a built level; false if no line equals it. */
bool patch_lines_find(struct patch_lines *lines, int level, struct str line, uint32_t *ret_id);
/* Compares two lines at a level; needs no index. */
bool patch_lines_equal(struct patch_lines *lines, int level, struct str a, struct str b);

#endif
