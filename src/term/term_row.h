/* term_row.h — one row of the screen, as the bytes that draw it.
 *
 * Owns: its bytes. A row is never wider than its width: what does not fit is cut, and the last column has an ellipsis
 * then. Nothing in the added text can drive
 * the terminal (term_width.h). */
#ifndef TERM_TERM_ROW_H
#define TERM_TERM_ROW_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "term/term_style.h"

struct term_row {
	struct buf text; /* begins and ends in the plain style */
	size_t columns;  /* columns in use */
	/* private */
	size_t width, last, last_column; /* last: where the cluster begins that reaches the last column */
	bool has_color, is_cut;
};

/* width: SIZE_MAX if the terminal is to wrap the row. */
void term_row_init(struct term_row *row, size_t width, bool has_color);
void term_row_finish(struct term_row *row);
void term_row_clear(struct term_row *row);
/* Appends one line of untrusted text. */
void term_row_add(struct term_row *row, enum term_style style, struct str text);
void term_row_add_c(struct term_row *row, enum term_style style, const char *text);

/* ---- wrapping ---- */

/* Cuts the next row of at most `columns` columns (at least 2) off *rest, at a blank where there is one. Blanks at the
 * break belong to no row. False when *rest is empty. */
bool term_wrap_next(struct str *rest, size_t columns, struct str *ret_row);
/* The same without regard to blanks: the row is as long as it can be, and no byte is skipped. */
bool term_cut_next(struct str *rest, size_t columns, struct str *ret_row);

#endif
