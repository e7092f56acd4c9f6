/* Events gather while one callback runs and leave together in the next loop round: one wake-up, one
 * rollout write and one write to the client for everything a single read from the model brought. */
#include "engine/codex/event_queue.h"

void eq_init(struct event_queue *eq, struct loop *loop, loop_run_fn on_wake, void *self)
{
	eq->count = 0;
	eq->has_last = false;
	list_init(&eq->events);
	loop_deferred_init(&eq->wake, loop, on_wake, self);
}

void eq_finish(struct event_queue *eq)
{
	struct event *event;
	while ((event = eq_pop(eq)))
		event_destroy(event);
	loop_deferred_finish(&eq->wake);
}

void eq_push(struct event_queue *eq, struct str id, enum event_tag tag, const void *body)
{
	if (eq->has_last)
		return;
	struct event *event = event_create(id, tag, body);
	list_append(&eq->events, &event->link);
	eq->count++;
	loop_defer(&eq->wake);
}

void eq_push_last(struct event_queue *eq, struct str id, enum event_tag tag, const void *body)
{
	eq_push(eq, id, tag, body);
	eq->has_last = true;
}

struct event *eq_pop(struct event_queue *eq)
{
	struct event *event = list_first(&eq->events, struct event, link);
	if (!event)
		return NULL;
	list_remove(&event->link);
	eq->count--;
	return event;
}
