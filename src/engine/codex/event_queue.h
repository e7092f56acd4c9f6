/* event_queue.h — EQ: what the engine has to tell, in order (seed 000).
 *
 * Owns: the events in it. on_wake runs from the loop after the first push since the queue was last
 * emptied; it drains with eq_pop. Loop thread only.
 * Not bounded here: what fills it (the model's stream, commands' output) stands still while a consumer holds the codex,
 * and one round of the loop brings at most LIMIT_HTTP_BURST bytes of a stream. */
#ifndef ENGINE_EVENT_QUEUE_H
#define ENGINE_EVENT_QUEUE_H

#include "loop/loop.h"
#include "protocol/message/event.h"

struct event_queue {
	/* read-only */
	size_t count;
	/* private */
	bool has_last;
	struct list events;
	struct loop_deferred wake;
};

void eq_init(struct event_queue *eq, struct loop *loop, loop_run_fn on_wake, void *self);
void eq_finish(struct event_queue *eq);
/* Copies id and body (a struct ev_<tag>, NULL for unit events). */
void eq_push(struct event_queue *eq, struct str id, enum event_tag tag, const void *body);
/* The same, and nothing is taken any more: what other threads still work at has nobody to tell. */
void eq_push_last(struct event_queue *eq, struct str id, enum event_tag tag, const void *body);
/* The oldest event, now the caller's; NULL if there is none. */
struct event *eq_pop(struct event_queue *eq);

#endif
