/* A full submission queue refuses instead of blocking: the thread that would block is the one that drains it. Events
 * of one callback are delivered together in the next iteration of the loop: one wake-up, one rollout write and one
 * write to the client for all events of a single read from the model.
 *
 * Events leave the queue only after their lines are in the rollout; a full disk stalls it. The kernel does not notify
 * of free space on a disk, so a timer retries, and only during a stall. The events about a stall bypass the queue: they
 * have no rollout line, and the queue is held back. */
#include "engine/codex/queues.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "engine/session/session.h"
#include "loop/loop.h"
#include "rollout/rollout_writer.h"

/* ---- submissions ---- */

void sq_init(struct submission_queue *sq, struct loop *loop, loop_run_fn on_wake, loop_run_fn on_room, void *self)
{
	sq->count = 0;
	sq->has_refused = false;
	list_init(&sq->submissions);
	loop_deferred_init(&sq->wake, loop, on_wake, self);
	loop_deferred_init(&sq->room, loop, on_room, self);
}

void sq_finish(struct submission_queue *sq)
{
	struct submission *submission;
	while ((submission = sq_pop(sq)))
		submission_destroy(submission);
	loop_deferred_finish(&sq->wake);
	loop_deferred_finish(&sq->room);
}

int sq_push(struct submission_queue *sq, struct str id, const struct op *op, struct error *err)
{
	if (sq->count >= LIMIT_SUBMISSIONS) {
		sq->has_refused = true;
		return error_set(err, ERR_limit,
		                 "the submission queue is full (%d waiting); wait for events and submit again",
		                 LIMIT_SUBMISSIONS);
	}
	struct submission *submission = submission_create(id, op);
	list_append(&sq->submissions, &submission->link);
	sq->count++;
	loop_defer(&sq->wake);
	return 0;
}

bool sq_has_interrupt(const struct submission_queue *sq)
{
	const struct submission *it;
	list_for_each(it, &sq->submissions, link)
		if (it->op.tag == OP_interrupt)
			return true;
	return false;
}

struct submission *sq_pop(struct submission_queue *sq)
{
	struct submission *submission = list_first(&sq->submissions, struct submission, link);
	if (!submission)
		return NULL;
	list_remove(&submission->link);
	sq->count--;
	if (sq->has_refused) {
		sq->has_refused = false;
		loop_defer(&sq->room);
	}
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

void eq_push(struct event_queue *eq, struct str id, enum event_tag tag, const void *body, struct shared_text *held)
{
	if (eq->has_last)
		return;
	struct event *event = event_create_held(id, tag, body, held);
	list_append(&eq->events, &event->link);
	eq->count++;
	loop_defer(&eq->wake);
}

void eq_push_last(struct event_queue *eq, struct str id, enum event_tag tag, const void *body)
{
	eq_push(eq, id, tag, body, NULL);
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

/* ---- the stall of the rollout ---- */

enum { RETRY_MS = 500 };

void rollout_stall_init(struct rollout_stall *stall, struct loop *loop, const struct rollout_stall_ops *ops, void *self)
{
	*stall = (struct rollout_stall){.ops = ops, .self = self, .loop = loop};
}

static void warn(struct rollout_stall *stall, const char *text)
{
	stall->ops->emit(stall->self, EV_warning, &(struct ev_warning){.message = str_of(text)});
}

/* Warns once per failure, because each event would fail for the same reason. */
static void warn_of_failure(struct rollout_stall *stall, const struct error *err)
{
	char text[ERROR_TEXT_MAX + 128];
	if (stall->is_failing)
		return;
	stall->is_failing = true;
	snprintf(
		text, sizeof(text),
		"This session cannot be recorded: %s. Work continues; the missing lines are written as soon as that is "
		"possible.",
		err->text);
	warn(stall, text);
}

/* Warns of a rescue. The writer restores a deleted file, so the warning says how to delete it for good. */
static void warn_of_rescue(struct rollout_stall *stall, const struct session *session)
{
	char text[ERROR_TEXT_MAX];
	struct rollout_writer *rollout = session ? session->rollout : NULL;
	enum rollout_rescue_kind rescued = rollout ? rollout_writer_take_rescue(rollout) : ROLLOUT_UNTOUCHED;
	if (rescued == ROLLOUT_UNTOUCHED)
		return;
	snprintf(text, sizeof(text),
	         rescued == ROLLOUT_DELETED
	                 ? "The file of this session was deleted while the session was open. It has been written "
	                   "again: %s. To delete it, end the session first."
	                 : "The file of this session was replaced by another one while the session was open. That "
	                   "one is unchanged; the session has been written again and continues in %s.",
	         rollout_writer_path(rollout));
	warn(stall, text);
}

static void on_timer(void *self)
{
	struct rollout_stall *stall = self;
	stall->ops->retry(stall->self);
	loop_timer_start(stall->timer, RETRY_MS);
}

static void begin(struct rollout_stall *stall, const struct error *err)
{
	char text[ERROR_TEXT_MAX + 256];
	if (stall->is_stalled)
		return;
	stall->is_stalled = true;
	stall->ops->hold(stall->self, true);
	if (!stall->timer)
		stall->timer = loop_timer_create(stall->loop, on_timer, stall);
	loop_timer_start(stall->timer, RETRY_MS);
	snprintf(text, sizeof(text),
	         "The disk is full: %s. The session is paused until space is free, then continues automatically; "
	         "interrupt "
	         "it to continue without a record.",
	         err->text);
	stall->ops->emit(stall->self, EV_stream_error, &(struct ev_stream_error){.message = str_of(text)});
}

static void end(struct rollout_stall *stall)
{
	if (!stall->is_stalled)
		return;
	stall->is_stalled = false;
	loop_timer_stop(stall->timer);
	stall->ops->hold(stall->self, false);
}

static void on_written(struct rollout_stall *stall, const struct session *session)
{
	if (stall->is_stalled)
		stall->ops->emit(stall->self, EV_background_event,
		                 &(struct ev_background_event){.message = STR("The disk has free space again.")});
	end(stall);
	stall->is_failing = stall->is_overridden = false;
	warn_of_rescue(stall, session);
}

bool rollout_stall_pass(struct rollout_stall *stall, struct session *session)
{
	struct error err;
	if (!session || session_flush_rollout(session, &err) == 0) {
		on_written(stall, session);
		return true;
	}
	if (err.code == ERR_no_space && !stall->is_overridden) {
		begin(stall, &err);
		return false;
	}
	end(stall);
	warn_of_failure(stall, &err);
	return true;
}

void rollout_stall_override(struct rollout_stall *stall)
{
	stall->is_overridden = true;
	if (stall->is_stalled)
		stall->ops->retry(stall->self);
}

void rollout_stall_finish(struct rollout_stall *stall)
{
	loop_timer_destroy(stall->timer);
}
