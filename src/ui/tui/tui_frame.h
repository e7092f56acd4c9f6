/* tui_frame.h — when the screen is drawn: at once after a key, otherwise at most once in 33 ms, and never without a
 * change.
 *
 * Owns: the painter. Borrows: the terminal and the loop. While the terminal has not taken the last frame, no other is
 * made. Loop thread only. */
#ifndef UI_TUI_FRAME_H
#define UI_TUI_FRAME_H

#include <stdbool.h>

#include "loop/loop.h"

struct buf;
struct term_paint;
struct term_tty;
struct tui_frame;

/* Adds the rows of a frame to the painter. */
typedef void (*tui_draw_fn)(struct term_paint *paint, void *self);

/* Appends the bytes of a frame of the alternate screen. */
typedef void (*tui_overlay_fn)(struct buf *out, void *self);

struct tui_frame *tui_frame_create(struct loop *loop, struct term_tty *tty, tui_draw_fn draw, void *self);
/* Writes pending lines and erases the live rows. */
void tui_frame_destroy(struct tui_frame *frame);

struct term_paint *tui_frame_paint(struct tui_frame *frame);
void tui_frame_change(struct tui_frame *frame);  /* something has changed: a frame follows soon */
void tui_frame_echo(struct tui_frame *frame);    /* a key has changed something: a frame follows at once */
void tui_frame_drained(struct tui_frame *frame); /* to be called from on_drained */
/* The window has another size: draws again once the user stops changing it. */
void tui_frame_resized(struct tui_frame *frame);
/* The screen was left to other programs: draws all live rows again, from the cursor on. */
void tui_frame_restart(struct tui_frame *frame);
/* Moves the rows on the screen into the scrollback, but for the live rows, and continues at its top. */
void tui_frame_clear(struct tui_frame *frame);
/* Shows the alternate screen, which `draw` draws from now on; NULL: returns to the main screen, which is as it was.
 * Finished lines wait meanwhile. */
void tui_frame_overlay(struct tui_frame *frame, tui_overlay_fn draw);
/* While another program has the terminal, no frame is made. */
void tui_frame_pause(struct tui_frame *frame, bool is_paused);
/* Erases the live rows before the terminal is left to another program or to the shell. */
void tui_frame_leave(struct tui_frame *frame);

#endif
