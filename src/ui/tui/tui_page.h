/* tui_page.h — a page of rows: text goes in as paragraphs with a look, and comes out as rows of the page's width.
 *
 * The rows go to the scrollback, or to a list that a pager shows; the page does not know which. Owns: the work space.
 * Loop thread only. */
#ifndef UI_TUI_PAGE_H
#define UI_TUI_PAGE_H

#include <stdbool.h>

#include "term/term_sgr.h"
#include "term/term_text.h"

/* The look of a paragraph: its first row begins with the mark, the others with as many blanks. */
struct tui_look {
	const char *mark; /* ASCII, or one character and a blank */
	enum term_style mark_style;
	enum term_style style;
};

struct tui_page {
	struct term_sink sink;
	struct term_row row;
	const char *cwd;     /* borrowed; paths in it are shown relative to it; NULL: none */
	bool is_full;        /* nothing is shortened: for a pager */
	bool hides_thoughts; /* the model's reasoning is left out */
	bool is_raw;         /* text is written as it came, and the terminal wraps it */
	bool has_rows;       /* so the next cell follows an empty row */
};

void tui_page_init(struct tui_page *page, bool has_color, term_row_fn on_row, void *self);
void tui_page_finish(struct tui_page *page);
void tui_page_resize(struct tui_page *page, size_t columns);

/* Begins a cell: writes an empty row after the one before. */
void tui_page_begin(struct tui_page *page);
/* Writes lines. Of a line with carriage returns the part after the last one; tabs are expanded to 8 columns. */
void tui_page_write(struct tui_page *page, const struct tui_look *look, struct str text);
/* The same for one line that need not be shown whole: on a page that is not full at most `most` rows, then "…". sgr:
 * the colours of a program's output, which the line has and may change; NULL: it has none. */
void tui_page_write_line(struct tui_page *page, const struct tui_look *look, struct str line, size_t most,
                         struct term_sgr *sgr);
/* Writes styled lines. */
void tui_page_write_text(struct tui_page *page, const struct tui_look *look, const struct term_text *text);
/* Writes a line as it came. */
void tui_page_write_raw(struct tui_page *page, struct str line);
/* Begins a cell with complete text. */
void tui_page_cell(struct tui_page *page, const struct tui_look *look, struct str text);

#endif
