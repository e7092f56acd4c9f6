/* sse.h — a parser of server-sent events for streams.
 *
 * Accepts bytes in pieces of any size and passes each complete event to the callback at once. The fields of an event
 * are borrowed during the callback; if an event lies within one feed, they are slices of the fed bytes (except data of
 * several lines, which is joined in a copy).
 *
 * Owns: the incomplete event. One thread at a time. The callback must not feed or finish the parser; it returns false
 * to stop it. After a stop or an error all further bytes are ignored. Errors: ERR_limit for a line over LIMIT_SSE_LINE
 * or an event over LIMIT_SSE_EVENT. Source: WHATWG HTML 9.2.6, except for the end of the stream (see sse_end). */
#ifndef MODEL_SSE_H
#define MODEL_SSE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct sse_event {
	struct str event; /* "message" if absent */
	struct str data;  /* lines joined by "\n", without a trailing one */
	struct str id;    /* id of this event, or of the last one that had an id; empty if there was none */
};

typedef bool (*sse_event_fn)(const struct sse_event *event, void *self);

struct sse_field {
	/* private */
	struct str
		/* a slice of the fed bytes, of the carried line, or of kept; ptr is NULL while the field is absent */
		text;
	struct buf kept;
};

struct sse {
	/* read-only: the pause before the stream is continued, as the server requests; -1: it does not */
	int64_t retry_ms;
	/* private */
	sse_event_fn on_event;
	void *self;
	struct buf line; /* the incomplete line of earlier feeds */
	struct sse_field event, data, id;
	bool is_begun;    /* set when a byte order mark can no longer occur */
	bool is_after_cr; /* the last feed ended with "\r": a following "\n" belongs to it */
	bool is_stopped;
};

void sse_init(struct sse *sse, sse_event_fn on_event, void *self);
void sse_finish(struct sse *sse);

must_check int sse_feed(struct sse *sse, struct str bytes, struct error *err);

/* Ends the stream. The standard discards an event without a final blank line; here it is emitted if it has data,
 * because servers close right after the last byte of the final event. The consumer of the data detects whether it is
 * complete. */
must_check int sse_end(struct sse *sse, struct error *err);

#endif
