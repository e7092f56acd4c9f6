/* tui_picker.h — the list of recorded sessions on the alternate screen: a search, filters, and the rows.
 *
 * Owns: the rows that it was given. The user of this module reads the sessions and acts on the answers. Loop thread
 * only. */
#ifndef UI_TUI_PICKER_H
#define UI_TUI_PICKER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct buf;
struct session_rows;
struct term_key;
struct tui_picker;

/* Which sessions are listed. */
struct picker_filter {
	bool all;      /* of all folders */
	bool archived; /* those in the archive */
	bool by_start; /* the last started first, not the last changed */
};

enum picker_answer {
	PICKER_STAYS,
	PICKER_TAKES, /* the chosen one */
	PICKER_ESCAPES,
	PICKER_QUITS,
	PICKER_RELOADS,  /* the filter has changed */
	PICKER_PREVIEWS, /* shows the chosen one */
	PICKER_MOVES,    /* moves the chosen one to the archive, or back */
};

/* title, escape: constant texts; the second one says what Esc does. */
struct tui_picker *tui_picker_create(const char *title, const char *escape, bool has_color,
                                     struct picker_filter filter);
void tui_picker_destroy(struct tui_picker *picker); /* NULL is fine */
struct picker_filter tui_picker_filter(const struct tui_picker *picker);
/* Replaces the rows, whose content is taken over. */
void tui_picker_fill(struct tui_picker *picker, struct session_rows *rows);
/* Returns the path of the chosen session, borrowed, or NULL. */
const char *tui_picker_path(const struct tui_picker *picker);
enum picker_answer tui_picker_key(struct tui_picker *picker, const struct term_key *key);
/* Appends the bytes that draw the whole screen. */
void tui_picker_draw(struct tui_picker *picker, size_t rows, size_t columns, struct buf *out);

#endif
