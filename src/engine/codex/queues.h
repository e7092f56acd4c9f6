/* queues.h — the two queues of a Codex: submissions in, events out, each first in, first out.
 *
 * Each owns its entries. on_wake runs from the loop after the first push to an empty queue, and drains it with pop.
 * on_room runs from the loop after the first pop that follows a refusal.
 * The submission queue is bounded by LIMIT_SUBMISSIONS: a full queue refuses and never blocks. The event queue has no
 * limit of its own: its producers (the model's stream, commands' output) stop while a consumer holds the Codex, and one
 * iteration of the loop reads at most LIMIT_HTTP_BURST bytes of a stream.
 *
 * No event leaves a Codex before its lines are in the rollout (struct rollout_stall). On a full disk the owner is held:
 * the model's stream and the output of commands stop, the client is informed at once, and work continues when there is
 * room. An interrupt or a shutdown overrides the stall: events leave, and the missing lines are written when that
 * becomes possible. For any other error (a read-only home, a broken disk) waiting is useless: the client gets one
 * warning and work continues. See docs/rollouts.md.
 * Private to engine/codex/. Loop thread only. */
#ifndef ENGINE_QUEUES_H
#define ENGINE_QUEUES_H

#include <stdbool.h>

#include "base/error.h"
#include "loop/loop.h"
#include "protocol/message/message.h"

struct loop_timer;
struct session;

struct submission_queue {
	/* read-only */
	size_t count;
	/* private */
	bool has_refused; /* since on_room was called */
	struct list submissions;
	struct loop_deferred wake, room;
};

void sq_init(struct submission_queue *sq, struct loop *loop, loop_run_fn on_wake, loop_run_fn on_room, void *self);
void sq_finish(struct submission_queue *sq);
/* Copies the submission. ERR_limit if the queue is full. */
must_check int sq_push(struct submission_queue *sq, struct str id, const struct op *op, struct error *err);
/* Returns the oldest submission, to be freed by the caller; NULL if the queue is empty. */
struct submission *sq_pop(struct submission_queue *sq);
bool sq_has_interrupt(const struct submission_queue *sq);

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
/* Copies id and body (a struct ev_<tag>, NULL for unit events), except parts of the held text (NULL: none). */
void eq_push(struct event_queue *eq, struct str id, enum event_tag tag, const void *body, struct shared_text *held);
/* As eq_push, for the last event: later pushes are discarded. */
void eq_push_last(struct event_queue *eq, struct str id, enum event_tag tag, const void *body);
/* Returns the oldest event, to be freed by the caller; NULL if the queue is empty. */
struct event *eq_pop(struct event_queue *eq);

/* ---- the stall of the rollout; owns the timer that retries while events are held back ---- */

struct rollout_stall_ops {
	/* Emits an event at once, bypassing the event queue, which may be held back. */
	void (*emit)(void *self, enum event_tag tag, const void *body);
	/* Holds or releases the sources of events. */
	void (*hold)(void *self, bool is_held);
	/* Schedules another rollout_stall_pass, outside the current callback. */
	void (*retry)(void *self);
};

struct rollout_stall {
	/* private */
	const struct rollout_stall_ops *ops;
	void *self;
	struct loop *loop;
	struct loop_timer *timer; /* NULL until the disk is full for the first time */
	bool is_stalled;
	bool is_overridden; /* set until the next successful write */
	bool is_failing;    /* the client was warned of this failure */
};

void rollout_stall_init(struct rollout_stall *stall, struct loop *loop, const struct rollout_stall_ops *ops,
                        void *self);
/* Writes the pending lines of a session (NULL before configure_session). True if events may leave now; if false,
 * ops.retry is called until they may. */
bool rollout_stall_pass(struct rollout_stall *stall, struct session *session);
/* Lets events leave although the disk is full, until a write succeeds again. */
void rollout_stall_override(struct rollout_stall *stall);
void rollout_stall_finish(struct rollout_stall *stall);

#endif
