/* The bound is upstream's (protocol-v1 section 7); what upstream blocks on, we refuse, because the
 * thread that would block is the one that drains. */
#include "engine/codex/submission_queue.h"

#include "base/error.h"
#include "base/limits.h"

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
