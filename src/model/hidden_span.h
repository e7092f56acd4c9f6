/* hidden_span.h — leaves out what stands between two tags anywhere in a text that comes in pieces.
 *
 * The model marks sources for its memory this way; they are not for the user's eyes. What may be the beginning of a
 * tag waits for the next piece. A span that is never closed hides the rest of what comes in pieces; who has the whole
 * text asks hidden_span_find_unclosed, and need not lose it.
 * Owns: nothing. Any thread. Source: plan-skills-questions 2 (0.169). */
#ifndef MODEL_HIDDEN_SPAN_H
#define MODEL_HIDDEN_SPAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* A part of what is seen; borrowed during the call, never empty. */
typedef void (*hidden_span_seen_fn)(struct str text, void *self);

struct hidden_span {
	/* private */
	hidden_span_seen_fn on_seen;
	void *self;
	size_t at;      /* bytes of the tag that the text ends with */
	bool is_inside; /* the closing tag is looked for */
};

void hidden_span_init(struct hidden_span *span, hidden_span_seen_fn on_seen, void *self);
void hidden_span_feed(struct hidden_span *span, struct str piece);
/* The text is whole: what waited is no tag. */
void hidden_span_end(struct hidden_span *span);

/* Of a whole text: where a tag begins that is never closed, and, into *ret_rest, what stands behind that tag.
 * Negative if there is none. */
ptrdiff_t hidden_span_find_unclosed(struct str text, struct str *ret_rest);

#endif
