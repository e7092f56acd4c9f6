/* transport.h — one peer at the other end of some bytes: frames in, frames out.
 *
 * A kind of transport is a vtable and a create function of its own (transport_stdio.h); who serves a protocol sees
 * only this. Borrows: the loop. Loop thread only. No callback runs inside a call to this module.
 *
 * Back-pressure works both ways. Towards the peer: transport_pause. From a peer that reads slowly: transport_send says
 * false when more than LIMIT_STREAM_QUEUE waits, and on_drain follows once, when half of that is gone. Nothing that is
 * sent meanwhile is lost, so what is already on its way may still be sent; but whatever makes more of it is to be held
 * (codex_hold) until on_drain. Past LIMIT_STREAM_QUEUE_HARD the connection is given up (on_end). */
#ifndef TRANSPORT_TRANSPORT_H
#define TRANSPORT_TRANSPORT_H

#include <stdbool.h>

#include "base/str.h"

struct error;
struct transport;

struct transport_events {
	void (*on_frame)(struct str frame, void *self);      /* borrowed until it returns */
	/* One beyond LIMIT_LINE was passed over; head: its first LIMIT_LINE_HEAD bytes, borrowed. */
	void (*on_long_frame)(struct str head, void *self);
	/* NULL: no more frames will come, but some may be sent, and it may break later. Else it is broken: the last
	 * call, also while paused. */
	void (*on_end)(const struct error *err, void *self);
	void (*on_drain)(void *self); /* room again, after a send said false; NULL: the owner never holds */
};

struct transport_kind {
	bool (*send)(struct transport *transport, struct str frames);
	void (*pause)(struct transport *transport);
	void (*resume)(struct transport *transport);
	void (*destroy)(struct transport *transport, bool flush);
};

struct transport {
	/* private */
	const struct transport_kind *kind;
	const struct transport_events *events;
	void *self;
};

/* Sends frames, each with the newline that ends it. False: the peer reads too slowly, on_drain will say when it has
 * caught up. */
bool transport_send(struct transport *transport, struct str frames);
/* No frame is delivered until it is resumed, not even one that is there already. May be called in on_frame. */
void transport_pause(struct transport *transport);
void transport_resume(struct transport *transport);
/* Ends it; nothing is called any more. flush: what is queued is sent first. NULL is fine. */
void transport_destroy(struct transport *transport, bool flush);

#endif
