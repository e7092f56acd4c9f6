/* tui_replay.h — a recorded session as cells: for a resumed conversation, and for the transcript.
 *
 * Blocks: reads the file. Owns: nothing. Loop thread only. */
#ifndef UI_TUI_REPLAY_H
#define UI_TUI_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ui/tui/tui_page.h"

enum { REPLAY_ITEMS = 1000, REPLAY_BYTES = 512 * 1024 };

/* Writes a rollout to the page. On a page that is full the reasoning is shown, too. */
must_check int tui_replay(const char *path, struct tui_page *page, struct error *err);
/* Writes the end of the first `bytes` of a rollout: the last REPLAY_ITEMS items, of a large file those in its last
 * REPLAY_BYTES. A line says that there are items before, and how many. is_over: no process runs the last turn, so that
 * one without an end was cut off, which a line says. */
must_check int tui_replay_end(const char *path, uint64_t bytes, bool is_over, struct tui_page *page, struct error *err);
/* Writes the items of the lines that begin at this byte or later. */
must_check int tui_replay_since(const char *path, uint64_t from, struct tui_page *page, struct error *err);

#endif
