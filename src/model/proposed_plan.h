/* proposed_plan.h — separates the plan in a message of the model, a block between tags, from the text around it.
 *
 * The last of several blocks is the plan. Hidden spans are removed from both.
 * Owns: text held back until the next piece. Any thread. */
#ifndef MODEL_PROPOSED_PLAN_H
#define MODEL_PROPOSED_PLAN_H

#include "model/hidden_span.h"
#include "model/tagged_text.h"

typedef void (*proposed_plan_fn)(enum tagged_segment segment, struct str text, void *self);

/* The state of a streamed message. It must not be moved in memory. */
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
/* Ends the message. */
void proposed_plan_end(struct proposed_plan *plan);

/* Splits a complete message: appends its text and its plan. False if it has no plan. */
bool proposed_plan_split(struct str message, struct buf *ret_text, struct buf *ret_plan);

#endif
