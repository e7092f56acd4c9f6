/* tui_replay.h — a recorded session as cells: for a resumed conversation, and for the transcript.
 *
 * Blocks: reads the whole file. Owns: nothing. Loop thread only. */
#ifndef UI_TUI_REPLAY_H
#define UI_TUI_REPLAY_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "ui/tui/tui_page.h"

/* Writes the last `most` items of a rollout to the page; a line says how many there are before. On a page that is full
 * the reasoning is shown, too. */
must_check int tui_replay(const char *path, struct tui_page *page, size_t most, struct error *err);
/* As tui_replay, for the first `bytes` of the file. */
must_check int tui_replay_part(const char *path, uint64_t bytes, struct tui_page *page, size_t most, struct error *err);

#endif
