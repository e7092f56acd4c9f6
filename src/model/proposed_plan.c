/* Two filters: the first removes hidden spans, the second finds the plan in the remaining text. A complete message
 * takes the same path as a streamed one, so that the deltas and the final item agree, except that text after an
 * unclosed tag is part of the final item. */
#include "model/proposed_plan.h"

/* ---- hidden spans ---- */

/* The model marks the sources of its memory with these tags. The first character of each occurs in it only once. After
 * a mismatch a new tag can therefore begin only at the mismatching character, so pending input is always a prefix of
 * the tag and needs no buffer. */
static const struct str open_tag = {"<oai-mem-citation>", 18}, close_tag = {"</oai-mem-citation>", 19};

static void hidden_span_init(struct hidden_span *span, hidden_span_seen_fn on_seen, void *self)
{
	*span = (struct hidden_span){.on_seen = on_seen, .self = self};
}

static void see(struct hidden_span *span, struct str text)
{
	if (text.len && !span->is_inside)
		span->on_seen(text, span->self);
}

/* Called when a tag is complete; it begins at `start` of the piece. */
static void turn_over(struct hidden_span *span, struct str piece, size_t from, size_t start)
{
	see(span, str_n(piece.ptr + from, start - from));
	span->is_inside = !span->is_inside;
	span->at = 0;
}

static void hidden_span_feed(struct hidden_span *span, struct str piece)
{
	size_t from = 0, at = 0;   /* first byte that was not emitted; current position */
	size_t start = 0;          /* where a possible tag starts */
	size_t carried = span->at; /* bytes of the tag in earlier pieces */
	while (at < piece.len) {
		const struct str *tag = span->is_inside ? &close_tag : &open_tag;
		if (span->at == 0) {
			const char *next = memchr(piece.ptr + at, '<', piece.len - at);
			start = at = next ? (size_t)(next - piece.ptr) : piece.len;
			carried = 0;
		}
		if (at < piece.len && piece.ptr[at] == tag->ptr[span->at]) {
			at++;
			if (++span->at == tag->len) {
				turn_over(span, piece, from, start);
				from = at;
			}
		} else {
			see(span, str_n(tag->ptr, carried));
			span->at = carried = 0;
		}
	}
	see(span, str_n(piece.ptr + from, (span->at ? start : piece.len) - from));
}

/* Called at the end of the text: emits the incomplete tag that was held back. */
static void hidden_span_end(struct hidden_span *span)
{
	see(span, str_n(open_tag.ptr, span->at));
	span->at = 0;
	span->is_inside = false;
}

/* Returns the offset of an opening tag that is never closed in a complete text, and the text after it in *ret_rest.
 * Negative if all tags are closed. */
static ptrdiff_t hidden_span_find_unclosed(struct str text, struct str *ret_rest)
{
	size_t at = 0;
	for (;;) {
		ptrdiff_t start = str_find(str_skip(text, at), open_tag);
		if (start < 0)
			return -1;
		at += (size_t)start + open_tag.len;
		ptrdiff_t end = str_find(str_skip(text, at), close_tag);
		if (end < 0) {
			*ret_rest = str_skip(text, at);
			return (ptrdiff_t)(at - open_tag.len);
		}
		at += (size_t)end + close_tag.len;
	}
}

/* ---- plans ---- */

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
