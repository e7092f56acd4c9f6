/* Expands notify.def into the dispatch table of handlers. */
#include "app_server/threads/notify.h"

typedef void (*event_fn)(struct thread *thread, const struct event *event);

static const event_fn handlers[EV_count] = {
#define TELLS(tag) [EV_##tag] = on_event_##tag,
#define SILENT(tag, why) [EV_##tag] = NULL,
#include "app_server/threads/notify.def"
#undef TELLS
#undef SILENT
};

enum {
	ROWS = 0
#define TELLS(tag) +1
#define SILENT(tag, why) +1
#include "app_server/threads/notify.def"
#undef TELLS
#undef SILENT
};
_Static_assert((int)ROWS == (int)EV_count, "notify.def has a row for every event");

void notify_event(struct thread *thread, const struct event *event)
{
	event_fn handler = handlers[event->msg.tag];
	if (handler)
		handler(thread, event);
}
