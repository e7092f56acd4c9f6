/* hidden_span.h — removes the spans between two tags from a streamed text.
 *
 * The model marks the sources of its memory with these tags; they are not displayed. A possible beginning of a tag is
 * held back until the next piece. A span that is never closed hides the rest of a streamed text; a caller with the
 * complete text can recover it with hidden_span_find_unclosed.
 * Owns: nothing. Any thread. */
#ifndef MODEL_HIDDEN_SPAN_H
#define MODEL_HIDDEN_SPAN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

/* Receives visible text; borrowed during the call, never empty. */
typedef void (*hidden_span_seen_fn)(struct str text, void *self);

struct hidden_span {
	/* private */
	hidden_span_seen_fn on_seen;
	void *self;
	size_t at;      /* bytes of the tag that the text ends with */
	bool is_inside; /* inside a span: the closing tag is expected */
};

void hidden_span_init(struct hidden_span *span, hidden_span_seen_fn on_seen, void *self);
void hidden_span_feed(struct hidden_span *span, struct str piece);
/* End of the text: passes on the incomplete tag that was held back. */
void hidden_span_end(struct hidden_span *span);

/* The offset of an opening tag that is never closed in a complete text, and in *ret_rest the text after it. Negative if
 * all tags are closed. */
ptrdiff_t hidden_span_find_unclosed(struct str text, struct str *ret_rest);

#endif
