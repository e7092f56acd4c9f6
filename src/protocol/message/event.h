/* event.h — an event of the engine: the id of the submission that caused it, and an EventMsg.
 * Owns: everything in it, in one arena. */
#ifndef PROTOCOL_EVENT_H
#define PROTOCOL_EVENT_H

#include "base/arena.h"
#include "base/list.h"
#include "protocol/record/types.h"

struct event {
	struct str id; /* sub_id; "" if no submission caused the event */
	struct event_msg msg;
	/* private */
	struct list link; /* in an event queue */
	struct arena arena;
};

/* A deep copy of id and body (a struct ev_<tag>, or NULL for a unit event). */
struct event *event_create(struct str id, enum event_tag tag, const void *body);
/* {"id":…,"msg":{"type":…,…}} */
void event_encode(const struct event *event, struct json_writer *w);
void event_destroy(struct event *event);

#endif
