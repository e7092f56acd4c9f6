/* proposed_plan.h — separates the plan in a message of the model, which is a block between tags, from the other
 * text.
 *
 * The last of several blocks is the plan. Hidden spans, which the model uses to mark the sources of its memory, are
 * removed from both. A possible tag is held back until the next piece. A span that is never closed hides the rest of
 * a streamed text; proposed_plan_split recovers it. Owns: text held back until the next piece. Any thread. */
#ifndef MODEL_PROPOSED_PLAN_H
#define MODEL_PROPOSED_PLAN_H

#include <stdbool.h>

#include "model/tagged_text.h"

/* Receives visible text, which is borrowed during the call and never empty. */
typedef void (*hidden_span_seen_fn)(struct str text, void *self);

struct hidden_span {
	/* private */
	hidden_span_seen_fn on_seen;
	void *self;
	size_t at;      /* number of bytes of a tag at the end of the text so far */
	bool is_inside; /* inside a span: the closing tag is expected */
};

typedef void (*proposed_plan_fn)(enum tagged_segment segment, struct str text, void *self);

/* The state of a streamed message. It must not be moved in memory: its parts point to it. */
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

/* Splits a complete message: appends its text and its plan to the buffers. False if it has no plan. */
bool proposed_plan_split(struct str message, struct buf *ret_text, struct buf *ret_plan);

#endif
