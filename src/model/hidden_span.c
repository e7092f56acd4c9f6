/* The first character of each tag occurs in it only once. After a mismatch a new tag can therefore begin only at the
 * mismatching character, so pending input is always a prefix of the tag and needs no buffer. */
#include "model/hidden_span.h"

static const struct str open_tag = {"<oai-mem-citation>", 18}, close_tag = {"</oai-mem-citation>", 19};

void hidden_span_init(struct hidden_span *span, hidden_span_seen_fn on_seen, void *self)
{
	*span = (struct hidden_span){.on_seen = on_seen, .self = self};
}

static void see(struct hidden_span *span, struct str text)
{
	if (text.len && !span->is_inside)
		span->on_seen(text, span->self);
}

/* A tag is complete; it begins at `start` of the piece. */
static void turn_over(struct hidden_span *span, struct str piece, size_t from, size_t start)
{
	see(span, str_n(piece.ptr + from, start - from));
	span->is_inside = !span->is_inside;
	span->at = 0;
}

void hidden_span_feed(struct hidden_span *span, struct str piece)
{
	size_t from = 0, at = 0;   /* first byte not passed on; current position */
	size_t start = 0;          /* of a possible tag */
	size_t carried = span->at; /* bytes of it in earlier pieces */
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

void hidden_span_end(struct hidden_span *span)
{
	see(span, str_n(open_tag.ptr, span->at));
	span->at = 0;
	span->is_inside = false;
}

ptrdiff_t hidden_span_find_unclosed(struct str text, struct str *ret_rest)
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
