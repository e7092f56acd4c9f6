/* proposed_plan.h — the plan in a message of the model: a block between tags, and what is said around it.
 *
 * Of several blocks the last is the plan. Spans that are not for the user are left out of both.
 * Owns: what waits for the next piece. Any thread. Source: seed 004, plan-skills-questions 2. */
#ifndef MODEL_PROPOSED_PLAN_H
#define MODEL_PROPOSED_PLAN_H

#include "model/hidden_span.h"
#include "model/tagged_text.h"

typedef void (*proposed_plan_fn)(enum tagged_segment segment, struct str text, void *self);

/* A message that comes in pieces. It must not move. */
struct proposed_plan {
	/* private */
	struct tagged_text blocks;
	struct hidden_span span;
	proposed_plan_fn on_segment;
	void *self;
};

void proposed_plan_init(struct proposed_plan *plan, proposed_plan_fn on_segment, void *self);
void proposed_plan_finish(struct proposed_plan *plan);
void proposed_plan_feed(struct proposed_plan *plan, struct str piece);
/* The message is whole. */
void proposed_plan_end(struct proposed_plan *plan);

/* A whole message: what it says to the user, and its plan, each appended. False if it proposes none. */
bool proposed_plan_split(struct str message, struct buf *ret_text, struct buf *ret_plan);

#endif
