/* tui_cell_note.h — the cells of events that need no state: warnings, plans, reviews, searches, tools, subagents.
 *
 * Events in any order, and with any member absent, are fine. Loop thread only. */
#ifndef UI_TUI_CELL_NOTE_H
#define UI_TUI_CELL_NOTE_H

#include <stdbool.h>

#include "ui/tui/tui_page.h"

struct event;

extern const struct tui_look tui_note_look, tui_error_look, tui_warning_look, tui_detail_look, tui_user_look,
	tui_agent_look, tui_plan_look;

/* Returns true if the event has a cell of this kind, so that open text has to end first. */
bool tui_cell_note_has(const struct event *event);
/* Writes the cell of such an event. */
void tui_cell_note(struct tui_page *page, const struct event *event);
/* Writes the error of a turn. */
void tui_cell_error(struct tui_page *page, struct str text);
/* Writes the row that ends a turn with an answer. ended_at: Unix seconds. */
void tui_cell_worked(struct tui_page *page, int64_t ms, int64_t ended_at);
/* Writes a note; a line that is indented keeps its indent where it is wrapped. */
void tui_cell_list(struct tui_page *page, struct str text);
/* Writes a message of the user; an image without its mark in the text gets one before it. */
void tui_cell_user(struct tui_page *page, struct str text, size_t images);

#endif
