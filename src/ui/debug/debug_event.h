/* debug_event.h — an event as a line for people: its id, its type, and what debug_event.def says matters.
 *
 * Nothing of it is obeyed by a terminal; further lines of a text are indented; what is long is cut. Any thread. */
#ifndef UI_DEBUG_EVENT_H
#define UI_DEBUG_EVENT_H

#include <stdbool.h>

#include "base/buf.h"

struct json;

/* event: {"id":…,"msg":{"type":…}}; appends nothing for what is hidden unless shows_all. */
void debug_event_append(struct buf *out, const struct json *event, bool shows_all, bool color);

#endif
