/* tui_sheet.h — the rows that a panel or a popup draws: at most `most`, each at most `columns` wide.
 *
 * Borrows everything. The functions count `most` down and draw nothing when it is 0. */
#ifndef UI_TUI_SHEET_H
#define UI_TUI_SHEET_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "term/term_row.h"

struct term_key;
struct term_paint;

#define SHEET_LARGER "… (rows are hidden: make the window larger)"
#define SHEET_READ "… ctrl-a shows all"

struct tui_sheet {
	struct term_paint *paint; /* NULL: the rows are only counted */
	struct term_row *row;
	size_t columns, most;
};

/* One row of a list. */
struct sheet_item {
	const char *label, *about;  /* about: NULL or a description, which is dim */
	int number;                 /* shown before the label; 0: none */
	bool is_chosen, is_wrapped; /* is_wrapped: both texts, if they are long */
	const char *mark;           /* NULL, or "[x] " */
	size_t rows;                /* set by sheet_question */
	bool is_visible;            /* set by sheet_question: wholly */
};

/* How many items of a list are not shown. */
struct sheet_rest {
	size_t above, below;
};

/* A question and the entries of which one answers it. */
struct sheet_question {
	struct str text;
	bool has_head; /* the first line only asks: without room for the others it is left out */
	struct sheet_item *items;
	size_t count, at, label_columns; /* at: the chosen one, which is always in view */
	bool keeps_last;                 /* the last one denies: it is in view, too */
	struct sheet_rest rest;          /* set by sheet_question, unless keeps_last */
};

/* Draws `row`, without a look at `most`. Returns its number. */
size_t sheet_put(struct tui_sheet *sheet);
void sheet_line(struct tui_sheet *sheet, enum term_style style, const char *text);
/* Draws a line, wrapped; all of its rows are indented. */
void sheet_hint(struct tui_sheet *sheet, const char *text);
/* Returns the number of its rows. */
size_t sheet_hint_rows(const struct tui_sheet *sheet, const char *text);
/* Draws text, wrapped, in at most `most` rows; its first line is bold. A longer text loses rows in its middle, where
 * the row `more` stands, and false is returned. */
bool sheet_text(struct tui_sheet *sheet, struct str text, const char *more, size_t most);
/* Returns the number of rows of a text. */
size_t sheet_rows(struct str text, size_t columns);
/* Draws a row of a list; the caret stands on the chosen one. label_columns: the labels' column width. Returns false if
 * rows of a wrapped item are missing. */
bool sheet_item(struct tui_sheet *sheet, const struct sheet_item *item, size_t label_columns);
/* Draws a question; its text gets the rows that the entries leave, and at least half of them. Returns false if rows of
 * the text are missing. */
bool sheet_question(struct tui_sheet *sheet, struct sheet_question *question);
/* Returns the first item of a window of `room` items that contains the chosen one. */
size_t sheet_window(size_t count, size_t chosen, size_t room);
/* Returns how many items are above and below a window of `room` items that begins at `from`. */
struct sheet_rest sheet_rest_of(size_t count, size_t from, size_t room);
/* Appends them in words, or in few columns; nothing if all items are shown. */
void sheet_add_rest(struct buf *out, struct sheet_rest rest, bool is_short);
/* Adds a title to a row, and how many items are not shown, for which a long title makes room. */
void sheet_add_title(struct term_row *row, enum term_style style, struct str title, struct sheet_rest rest);
/* Draws the last row of a list: how many items are not shown, and as many parts of the hint, from its end, as fit
 * then. hint: its parts are separated by " · ", and the last one says how the list is closed; may be NULL. */
void sheet_foot(struct tui_sheet *sheet, struct sheet_rest rest, const char *hint);
/* Moves the choice in a list, of which `page` items were shown: the arrows, Ctrl-P and Ctrl-N, which go round; PgUp,
 * PgDn, Home and End. False: another key. */
bool sheet_move(size_t *at, size_t count, size_t page, const struct term_key *key);

#endif
