/* Two filters: the first removes hidden spans, the second finds the plan in the remaining text. A complete message
 * takes the same path as a streamed one, so that the deltas and the final item agree, except that text after an
 * unclosed tag is part of the final item. */
#include "model/proposed_plan.h"

static const struct tagged_block plan_block = {{"<proposed_plan>", 15}, {"</proposed_plan>", 16}};

static void on_seen(struct str text, void *self)
{
	struct proposed_plan *plan = self;
	tagged_text_feed(&plan->blocks, text);
}

static void on_block(enum tagged_segment segment, const struct tagged_block *block, struct str text, void *self)
{
	struct proposed_plan *plan = self;
	(void)block;
	plan->on_segment(segment, text, plan->self);
}

void proposed_plan_init(struct proposed_plan *plan, proposed_plan_fn on_segment, void *self)
{
	plan->on_segment = on_segment;
	plan->self = self;
	hidden_span_init(&plan->span, on_seen, plan);
	tagged_text_init(&plan->blocks, &plan_block, 1, on_block, plan);
}

void proposed_plan_finish(struct proposed_plan *plan)
{
	tagged_text_finish(&plan->blocks);
}

void proposed_plan_feed(struct proposed_plan *plan, struct str piece)
{
	hidden_span_feed(&plan->span, piece);
}

void proposed_plan_end(struct proposed_plan *plan)
{
	hidden_span_end(&plan->span);
	tagged_text_end(&plan->blocks);
}

/* ---- a whole message ---- */

struct split {
	struct buf *text, *plan;
	bool has_plan;
};

static void on_split(enum tagged_segment segment, struct str text, void *self)
{
	struct split *split = self;
	if (segment == TAGGED_START) {
		split->has_plan = true;
		buf_clear(split->plan);
	} else if (segment == TAGGED_INNER) {
		buf_append_str(split->plan, text);
	} else if (segment == TAGGED_TEXT) {
		buf_append_str(split->text, text);
	}
}

bool proposed_plan_split(struct str message, struct buf *ret_text, struct buf *ret_plan)
{
	struct proposed_plan plan;
	struct split split = {.text = ret_text, .plan = ret_plan};
	proposed_plan_init(&plan, on_split, &split);
	struct str rest = STR("");
	ptrdiff_t unclosed = hidden_span_find_unclosed(message, &rest);
	proposed_plan_feed(&plan, unclosed < 0 ? message : str_n(message.ptr, (size_t)unclosed));
	hidden_span_end(&plan.span);
	on_seen(rest, &plan);
	proposed_plan_end(&plan);
	proposed_plan_finish(&plan);
	return split.has_plan;
}
