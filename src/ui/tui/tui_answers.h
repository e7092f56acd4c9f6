/* tui_answers.h — the user's answers to questions of the model: as JSON for the model, and as the cell that shows them.
 *
 * Owns: nothing. Loop thread only. */
#ifndef UI_TUI_ANSWERS_H
#define UI_TUI_ANSWERS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct buf;
struct json_writer;
struct tui_page;

/* Writes the answers to one question; option, note: may be empty. */
void tui_answers_write(struct json_writer *w, struct str option, struct str note);
/* Append the lines of the cell: its title, then each question. A secret note is not shown. */
void tui_answers_begin(struct buf *lines, size_t count);
void tui_answers_add(struct buf *lines, struct str question, struct str option, struct str note, bool is_secret);
/* Writes the cell of a recorded call and its output, both JSON; nothing if they have no questions or answers. */
void tui_answers_replay(struct tui_page *page, struct str arguments, struct str output);

#endif
