/* submission_queue.h — SQ: what UIs have submitted, strictly first in first out (seed 000).
 *
 * Owns: the submissions in it. Bounded by LIMIT_SUBMISSIONS: a full queue refuses and never blocks.
 * on_wake runs from the loop and drains with sq_pop. Loop thread only. */
#ifndef ENGINE_SUBMISSION_QUEUE_H
#define ENGINE_SUBMISSION_QUEUE_H

#include "loop/loop.h"
#include "protocol/message/submission.h"

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
int sq_push(struct submission_queue *sq, struct str id, const struct op *op, struct error *err);
/* The oldest submission, now the caller's; NULL if there is none. */
struct submission *sq_pop(struct submission_queue *sq);

#endif
