/* A full submission queue refuses instead of blocking: the thread that would block is the one that drains it. Events
 * of one callback are delivered together in the next iteration of the loop: one wake-up, one rollout write and one
 * write to the client for all events of a single read from the model. */
#include "engine/codex/queues.h"

#include "base/error.h"
#include "base/limits.h"

/* ---- submissions ---- */

void sq_init(struct submission_queue *sq, struct loop *loop, loop_run_fn on_wake, void *self)
{
	sq->count = 0;
	list_init(&sq->submissions);
	loop_deferred_init(&sq->wake, loop, on_wake, self);
}

void sq_finish(struct submission_queue *sq)
{
	struct submission *submission;
	while ((submission = sq_pop(sq)))
		submission_destroy(submission);
	loop_deferred_finish(&sq->wake);
}

int sq_push(struct submission_queue *sq, struct str id, const struct op *op, struct error *err)
{
	if (sq->count >= LIMIT_SUBMISSIONS)
		return error_set(err, ERR_limit,
		                 "the submission queue is full (%d waiting); wait for events and submit again",
		                 LIMIT_SUBMISSIONS);
	struct submission *submission = submission_create(id, op);
	list_append(&sq->submissions, &submission->link);
	sq->count++;
	loop_defer(&sq->wake);
	return 0;
}

struct submission *sq_pop(struct submission_queue *sq)
{
	struct submission *submission = list_first(&sq->submissions, struct submission, link);
	if (!submission)
		return NULL;
	list_remove(&submission->link);
	sq->count--;
	return submission;
}

/* ---- events ---- */

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
