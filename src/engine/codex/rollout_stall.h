/* rollout_stall.h — stops a Codex while its rollout cannot be written. Private to engine/codex/.
 *
 * No event leaves a Codex before its lines are in the rollout. On a full disk the owner is held: the model's stream and
 * the output of commands stop, the client is informed at once, and work continues when there is room. An interrupt or a
 * shutdown overrides the stall: events leave, and the missing lines are written when that becomes possible. For any
 * other error (a read-only home, a broken disk) waiting is useless: the client gets one warning and work continues.
 *
 * Owns: the timer that retries while events are held back. Loop thread only. Source: docs/rollouts.md. */
#ifndef ENGINE_ROLLOUT_STALL_H
#define ENGINE_ROLLOUT_STALL_H

#include <stdbool.h>

#include "protocol/message/message.h"

struct loop;
struct loop_timer;
struct session;

struct rollout_stall_ops {
	/* Emits an event at once, past the event queue, which may be held back. */
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
	bool is_overridden; /* until the next successful write */
	bool is_failing;    /* the client was warned of this failure */
};

void rollout_stall_init(struct rollout_stall *stall, struct loop *loop, const struct rollout_stall_ops *ops,
                        void *self);
/* Writes the pending lines of a Session (NULL before configure_session). True: events may leave now. False: ops.retry
 * is called until they may. */
bool rollout_stall_pass(struct rollout_stall *stall, struct session *session);
/* Lets events leave although the disk is full, until a write succeeds again. */
void rollout_stall_override(struct rollout_stall *stall);
void rollout_stall_finish(struct rollout_stall *stall);

#endif
