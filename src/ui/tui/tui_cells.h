/* tui_cells.h — the conversation: events become finished lines, what runs becomes live rows.
 *
 * Owns: texts of open items. Borrows: the painter. Unknown events, and events in any order, are fine. Loop thread
 * only. */
#ifndef UI_TUI_CELLS_H
#define UI_TUI_CELLS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct event;
struct term_paint;
struct tui_ask;
struct tui_cells;
struct tui_page;

/* cwd: the working folder, borrowed. */
struct tui_cells *tui_cells_create(struct term_paint *paint, bool has_color, const char *cwd);
void tui_cells_destroy(struct tui_cells *cells); /* NULL is fine */

/* Sets the folder to which paths are relative; borrowed. */
void tui_cells_set_folder(struct tui_cells *cells, const char *cwd);
/* The rows are at most this wide from now on. */
void tui_cells_resize(struct tui_cells *cells, size_t columns);
/* Finished lines are not wrapped, and messages are shown as they came. */
void tui_cells_set_raw(struct tui_cells *cells, bool is_raw);
/* The model's thoughts have no heading from now on. */
void tui_cells_hide_thoughts(struct tui_cells *cells);
/* Adds what the event says to the conversation. */
void tui_cells_event(struct tui_cells *cells, const struct event *event);
/* Adds the live rows, at most `most` (at least 1): the end of a message that arrives, and running calls, except those
 * that wait for an approval in `ask`. has_gap: an empty row comes before what runs. */
void tui_cells_draw(struct tui_cells *cells, const struct tui_ask *ask, size_t most, bool has_gap);
/* Returns the page, for cells that follow. Text that arrives continues below them. */
struct tui_page *tui_cells_begin(struct tui_cells *cells);
bool tui_cells_is_streaming(const struct tui_cells *cells); /* text arrives */
bool tui_cells_is_calling(const struct tui_cells *cells);   /* the turn waits for a call */
/* Before the event of an interrupted turn: whether another turn reads what joined it. */
void tui_cells_expect(struct tui_cells *cells, bool is_followed);
/* Ends the text that arrives and forgets what runs: the turn is about to end. */
void tui_cells_end_turn(struct tui_cells *cells);
/* Ends all that is open, because another thread takes the place of this one. */
void tui_cells_leave(struct tui_cells *cells);
/* Adds a line of the program itself. */
void tui_cells_note(struct tui_cells *cells, struct str text);
void tui_cells_fail(struct tui_cells *cells, struct str text);
/* Returns the heading of the model's latest thought, or an empty text. */
struct str tui_cells_thought(const struct tui_cells *cells);
/* Returns the last complete message of the agent, as Markdown. */
struct str tui_cells_answer(const struct tui_cells *cells);

#endif
