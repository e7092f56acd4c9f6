/* queues.h — the two queues of a Codex: submissions in, events out, each first in, first out.
 *
 * Each owns its entries. on_wake runs from the loop after the first push to an empty queue, and drains it with pop.
 * The submission queue is bounded by LIMIT_SUBMISSIONS: a full queue refuses and never blocks. The event queue has no
 * limit of its own: its producers (the model's stream, commands' output) stop while a consumer holds the Codex, and one
 * iteration of the loop reads at most LIMIT_HTTP_BURST bytes of a stream.
 * Loop thread only. */
#ifndef ENGINE_QUEUES_H
#define ENGINE_QUEUES_H

#include "base/error.h"
#include "loop/loop.h"
#include "protocol/message/message.h"

struct submission_queue {
	/* read-only */
	size_t count;
	/* private */
	struct list submissions;
	struct loop_deferred wake;
};

void sq_init(struct submission_queue *sq, struct loop *loop, loop_run_fn on_wake, void *self);
void sq_finish(struct submission_queue *sq);
/* Copies. ERR_limit when full. */
must_check int sq_push(struct submission_queue *sq, struct str id, const struct op *op, struct error *err);
/* The oldest submission, now the caller's; NULL: the queue is empty. */
struct submission *sq_pop(struct submission_queue *sq);

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
/* The same, as the last event: later pushes are discarded. */
void eq_push_last(struct event_queue *eq, struct str id, enum event_tag tag, const void *body);
/* The oldest event, now the caller's; NULL: the queue is empty. */
struct event *eq_pop(struct event_queue *eq);

#endif
