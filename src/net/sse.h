/* sse.h — server-sent events, as bytes arrive.
 *
 * Feed bytes in any pieces; each whole event is handed to the callback at once. The fields of an event
 * are borrowed and die when the callback returns. An event that lies whole in one feed is a slice of the
 * fed bytes (data of several lines is joined into a copy).
 *
 * Owns: what it had to keep of an unfinished event. One thread at a time. The callback must not feed or
 * finish the parser; it returns false to stop it. After a stop or an error all further bytes are ignored.
 * Errors: ERR_limit for a line over LIMIT_SSE_LINE or an event over LIMIT_SSE_EVENT.
 * Source: WHATWG HTML 9.2.6, except for the end of the stream (see sse_end). */
#ifndef NET_SSE_H
#define NET_SSE_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct sse_event {
	struct str event; /* "message" if the stream names none */
	struct str data;  /* lines joined by "\n", without one at the end */
	struct str id;    /* of this event or the last one that had an id; empty if none had */
};

typedef bool (*sse_event_fn)(const struct sse_event *event, void *self);

struct sse_field {
	/* private */
	struct str text; /* a slice of the fed bytes, the carried line, or kept; ptr is NULL while there is none */
	struct buf kept;
};

struct sse {
	/* private */
	sse_event_fn on_event;
	void *self;
	struct buf line; /* the unfinished line of earlier feeds */
	struct sse_field event, data, id;
	bool is_begun;    /* the first line, where a byte order mark may stand, is behind us */
	bool is_after_cr; /* the last feed ended with "\r": a "\n" that comes now belongs to it */
	bool is_stopped;
};

void sse_init(struct sse *sse, sse_event_fn on_event, void *self);
void sse_finish(struct sse *sse);

must_check int sse_feed(struct sse *sse, struct str bytes, struct error *err);

/* The stream is over. The standard drops an event that no blank line ended; we hand it on if it has data,
 * because servers do close right after the last byte of what matters most, the final event. Whoever
 * reads the data sees whether it is whole. */
must_check int sse_end(struct sse *sse, struct error *err);

#endif
