/* status_line.h — a line at the bottom of the terminal that shows the current activity and its duration.
 *
 * The line is drawn on stderr if that is a terminal that can erase a line; otherwise all functions are no-ops. Call
 * status_line_erase before printing on the terminal. Loop thread only. */
#ifndef UI_STATUS_LINE_H
#define UI_STATUS_LINE_H

#include <stdbool.h>

#include "base/str.h"

struct loop;
struct status_line;

struct status_line *status_line_create(struct loop *loop, bool has_color);
void status_line_destroy(struct status_line *status); /* NULL is fine */

/* Starts to count seconds; the line appears with the next tick. */
void status_line_start(struct status_line *status);
void status_line_stop(struct status_line *status);
/* Sets the activity; the first line of detail is copied. Control characters are displayed, not sent. */
void status_line_set(struct status_line *status, const char *what, struct str detail);
void status_line_erase(struct status_line *status);

#endif
