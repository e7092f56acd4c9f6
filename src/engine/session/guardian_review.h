/* guardian_review.h — one review: the request to the reviewer, which is tried again, and its time limit. Private to
 * engine/.
 *
 * Embedded in its owner, which ends it in a callback of ops: guardian_review_finish. It is in session->reviews
 * meanwhile. Loop thread only. */
#ifndef ENGINE_GUARDIAN_REVIEW_H
#define ENGINE_GUARDIAN_REVIEW_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "engine/session/guardian_verdict.h"

struct guardian_review;
struct loop_timer;
struct model_call;
struct session;
struct settings;
struct tool_call;

struct guardian_review_ops {
	/* Called once. Without a verdict, failed is denied or timed_out, and why says why. */
	void (*end)(struct guardian_review *review, const struct guardian_verdict *verdict, enum guardian_status failed,
	            const char *why);
	/* Called instead if the call is cancelled, or the session ends (is_closing). */
	void (*drop)(struct guardian_review *review, bool is_closing);
};

struct guardian_review {
	/* read-only */
	struct list link;
	const struct guardian_review_ops *ops;
	struct session *session;
	const struct tool_call *call; /* set by the owner; NULL: none */
	/* private */
	struct arena arena;
	struct settings *settings; /* of the action */
	struct settings *judge;    /* of the request, which borrows its model */
	struct buf item, instructions, text;
	struct str input;
	bool has_call; /* the model called a tool instead of answering */
	bool is_too_long, is_lite;
	unsigned tries;
	struct model_call *model;
	struct loop_timer *deadline, *pause;
};

/* Begins the review of an action in JSON; approved: see guardian_write_item. No callback runs inside of it. */
void guardian_review_init(struct guardian_review *review, struct session *session,
                          const struct guardian_review_ops *ops, const struct buf *action, struct str approved);
void guardian_review_finish(struct guardian_review *review);

#endif
