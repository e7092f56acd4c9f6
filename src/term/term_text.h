/* term_text.h — text with styles, and its rows.
 *
 * Owns: its bytes. The text is untrusted: rows show what could drive the terminal (term_width.h). Loop thread only. */
#ifndef TERM_TERM_TEXT_H
#define TERM_TERM_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"
#include "base/vec.h"
#include "term/term_row.h"

/* The text up to `end` has this style; spans are in the order of the text. */
struct term_span {
	size_t end;
	enum term_style style;
};

struct term_text {
	struct buf bytes;
	VEC(struct term_span) spans;
};

void term_text_init(struct term_text *text);
void term_text_finish(struct term_text *text);
void term_text_clear(struct term_text *text);
void term_text_add(struct term_text *text, enum term_style style, struct str bytes);
void term_text_add_c(struct term_text *text, enum term_style style, const char *bytes);
/* Keeps the first bytes. */
void term_text_cut(struct term_text *text, size_t len);
/* Appends the bytes from `from` to `to` of the text to a row, with their styles. */
void term_text_append(const struct term_text *text, size_t from, size_t to, struct term_row *row);

/* Receives a complete row, borrowed. */
typedef void (*term_row_fn)(const struct term_row *row, void *self);

/* The beginning of the first row of a block, and of its other rows. Both have the same number of columns. */
struct term_margin {
	struct term_text first, rest;
	bool is_begun; /* the first row was written */
};

void term_margin_init(struct term_margin *margin);
void term_margin_finish(struct term_margin *margin);

/* The receiver of rows. `row` is the work space; its width bounds all rows. */
struct term_sink {
	struct term_row *row;
	term_row_fn on_row;
	void *self;
};

/* Writes the lines of a text as rows: wrapped at blanks, or, if it is code, at the last column that fits. An empty text
 * is one empty row. */
void term_text_write(const struct term_text *text, bool is_code, struct term_margin *margin,
                     const struct term_sink *sink);

#endif
