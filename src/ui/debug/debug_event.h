/* debug_event.h — formats an event as a line for people: its id, its type, and the members that debug_event.def
 * lists.
 *
 * Control characters are made visible, further lines of a text are indented, and long texts are truncated. Any
 * thread. */
#ifndef UI_DEBUG_EVENT_H
#define UI_DEBUG_EVENT_H

#include <stdbool.h>

#include "base/buf.h"

struct json;

/* event: {"id":…,"msg":{"type":…}}. Appends nothing for hidden events unless shows_all. */
void debug_event_append(struct buf *out, const struct json *event, bool shows_all, bool color);

#endif
