/* term_table.h — a table of styled cells, laid out for the width of the window.
 *
 * Columns are as wide as their widest cell; where that does not fit, the widest ones are narrowed and their cells
 * wrapped; where even that does not fit, each cell is a line of its own, after the name of its column.
 * Owns: the cells. Loop thread only. */
#ifndef TERM_TERM_TABLE_H
#define TERM_TERM_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "term/term_text.h"

enum term_align { TERM_LEFT, TERM_CENTER, TERM_RIGHT };

struct term_cell {
	struct term_text text;
	enum term_align align;
};

struct term_table {
	/* private */
	VEC(struct term_cell) cells; /* row after row; the first row is the header */
	size_t columns;              /* cells of a row */
};

void term_table_init(struct term_table *table);
void term_table_finish(struct term_table *table);
/* Starts a table with so many columns, at least 1; forgets all cells. */
void term_table_begin(struct term_table *table, size_t columns);
/* Adds the next cell. The table takes the text, which is empty afterwards. */
void term_table_add(struct term_table *table, enum term_align align, struct term_text *text);
void term_table_write(const struct term_table *table, struct term_margin *margin, const struct term_sink *sink);

#endif
