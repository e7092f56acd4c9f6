/* term_tty.h — the terminal of the process: raw mode, bytes in and out, size, signals.
 *
 * Owns: a descriptor of its own, so that the shell's stays blocking, and the terminal's modes from open to close. The
 * modes are restored by term_tty_close, while the process is stopped, and by a handler if it crashes. Output waits in a
 * bounded queue while the terminal is slow; nothing blocks the loop. Loop thread only; one at a time. */
#ifndef TERM_TERM_TTY_H
#define TERM_TERM_TTY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct loop;
struct term_tty;

/* No callback runs inside a call of this module. */
struct term_tty_events {
	void (*on_bytes)(struct str bytes, void *self); /* borrowed */
	void (*on_drained)(void *self);                 /* all output was written */
	void (*on_resize)(void *self);                  /* the size may have changed */
	void (*on_continued)(void *self);               /* the process was stopped: all has to be drawn again */
	void (*on_signal)(int number, void *self); /* SIGTERM, SIGINT, SIGQUIT; SIGHUP also if the terminal is gone */
};

must_check struct term_tty *term_tty_open(struct loop *loop, const struct term_tty_events *events, void *self,
                                          struct error *err);
/* Restores the modes. NULL is fine. */
void term_tty_close(struct term_tty *tty);

/* Queues a copy of bytes. A terminal that does not read loses what exceeds the queue. */
void term_tty_write(struct term_tty *tty, struct str bytes);
bool term_tty_is_drained(const struct term_tty *tty);
void term_tty_size(const struct term_tty *tty, size_t *ret_rows, size_t *ret_columns);
/* Sets a text, of at most 256 bytes, that is written after the modes were restored if the program crashes. */
void term_tty_note_crash(struct str note);
/* Switches to the alternate screen or back; the main screen stays as it was. */
void term_tty_alternate(struct term_tty *tty, bool is_alternate);
/* Leaves the terminal, with its modes restored, to another program, until term_tty_reclaim; on_continued follows then.
 * Output waits meanwhile, and SIGINT is the other program's. */
void term_tty_lend(struct term_tty *tty);
void term_tty_reclaim(struct term_tty *tty);
/* Stops the process as Ctrl-Z does; on_continued follows. */
void term_tty_suspend(struct term_tty *tty);

#endif
