/* The struct is allocated in its own arena, as in submission.c, so a delta costs one allocation. */
#include "protocol/message/event.h"

struct event *event_create(struct str id, enum event_tag tag, const void *body)
{
	struct arena arena = {0};
	struct event *event = arena_new(&arena, struct event);
	event->arena = arena;
	list_init(&event->link);
	event->id = arena_str(&event->arena, id);
	struct union_head head = {.tag = (int)tag, .body = (void *)(uintptr_t)body};
	union_copy(&union_event_msg, &head, &event->arena, &event->msg);
	return event;
}

void event_encode(const struct event *event, struct json_writer *w)
{
	jw_object(w);
	jw_member_str(w, "id", event->id);
	jw_key(w, "msg");
	union_encode(&union_event_msg, &event->msg, w);
	jw_object_end(w);
}

void event_destroy(struct event *event)
{
	if (!event)
		return;
	struct arena arena = event->arena;
	arena_finish(&arena);
}
