/* pty.h — a pair of terminal ends: one for a command that wants a terminal, one for who plays the screen.
 *
 * Owns nothing: both descriptors are the caller's, and close on exec. Thread: any. A process that takes the command's
 * end as its controlling terminal says so in its spawn_plan. Source: app-server-wire 16. */
#ifndef PROCESS_PTY_H
#define PROCESS_PTY_H

#include <stdint.h>

struct error;

/* In character cells. */
struct pty_size {
	uint16_t rows, cols;
};

enum { PTY_ROWS = 24, PTY_COLS = 80 }; /* where nobody says */

/* *ret_screen: what is written there the command reads as typed, what it prints is read there; hangs up when closed.
 * *ret_line: the command's 0, 1 and 2. Never below 3. */
int pty_open(const struct pty_size *size, int *ret_screen, int *ret_line, struct error *err);
/* The command gets SIGWINCH. */
int pty_resize(int screen, const struct pty_size *size, struct error *err);

#endif
