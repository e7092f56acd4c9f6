/* status_line.h — one line at the bottom of the terminal that says that work is being done, and for how long.
 *
 * Drawn on stderr, and only where that is a terminal that can take back a line; else nothing here shows.
 * Whoever prints on the terminal calls status_line_erase before. Loop thread only. */
#ifndef UI_STATUS_LINE_H
#define UI_STATUS_LINE_H

#include <stdbool.h>

#include "base/str.h"

struct loop;
struct status_line;

struct status_line *status_line_create(struct loop *loop, bool has_color);
void status_line_destroy(struct status_line *status); /* NULL is fine */

/* Counts seconds from now; the line appears with the next tick. */
void status_line_start(struct status_line *status);
void status_line_stop(struct status_line *status);
/* What is being done; copied up to its first line's end. Control characters are shown, not sent. */
void status_line_set(struct status_line *status, const char *what, struct str detail);
void status_line_erase(struct status_line *status);

#endif
