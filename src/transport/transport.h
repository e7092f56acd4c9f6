/* transport.h — a connection to one peer: frames in, frames out.
 *
 * Each transport is a vtable with a create function of its own (transport_stdio.h); protocol servers see only this
 * header. Borrows: the loop. Loop thread only. No callback runs inside a call to this module.
 *
 * Backpressure works both ways. Towards the peer: transport_pause. From a slow peer: transport_send returns false when
 * more than LIMIT_STREAM_QUEUE is pending, and on_drain follows once, when half of that has been written. Frames sent
 * in between are queued, not lost, but their producer must be paused (codex_hold) until on_drain. Past
 * LIMIT_STREAM_QUEUE_HARD the connection is closed (on_end). */
#ifndef TRANSPORT_TRANSPORT_H
#define TRANSPORT_TRANSPORT_H

#include <stdbool.h>

#include "base/str.h"

struct buf;
struct error;
struct stream_source;
struct transport;

struct transport_events {
	void (*on_frame)(struct str frame, void *self); /* frame is borrowed during the call */
	/* Called for a frame over LIMIT_LINE, which was skipped. head: its first LIMIT_LINE_HEAD bytes, borrowed. */
	void (*on_long_frame)(struct str head, void *self);
	/* err is NULL when the peer sends no more frames but still receives; an error may follow. Otherwise the
	 * connection is broken: this is the last call, and it comes even while paused. */
	void (*on_end)(const struct error *err, void *self);
	/* the queue has room again after a send returned false; NULL: the owner ignores backpressure */
	void (*on_drain)(void *self);
};

struct transport_kind {
	bool (*send)(struct transport *transport, struct str frames);
	bool (*send_large)(struct transport *transport, struct str head, struct buf *body, struct str tail);
	/* NULL: the transport cannot send a frame whose length it does not know; the caller makes it and sends it */
	bool (*send_later)(struct transport *transport, struct stream_source *frame, size_t size);
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

/* Sends frames, each with its final newline. Returns false if the peer is slow; on_drain follows. */
static inline bool transport_send(struct transport *transport, struct str frames)
{
	return transport->kind->send(transport, frames);
}

/* As transport_send, for one large frame in three parts: head, body and tail, which ends with the newline. Takes the
 * memory of body, which is empty afterwards, and does not copy it. */
static inline bool transport_send_large(struct transport *transport, struct str head, struct buf *body, struct str tail)
{
	return transport->kind->send_large(transport, head, body, tail);
}

/* True if the transport can send frames that are made later. Then transport_send_later sends one frame, with its final
 * newline, of about size bytes, and makes it when it is about to be written (stream_send_later). */
static inline bool transport_sends_later(const struct transport *transport)
{
	return transport->kind->send_later != NULL;
}

static inline bool transport_send_later(struct transport *transport, struct stream_source *frame, size_t size)
{
	return transport->kind->send_later(transport, frame, size);
}

/* Delivers no frame until transport_resume, not even one that was received already. May be called in on_frame. */
static inline void transport_pause(struct transport *transport)
{
	transport->kind->pause(transport);
}

static inline void transport_resume(struct transport *transport)
{
	transport->kind->resume(transport);
}

/* Ends the connection; no callback runs after this. With flush, queued frames are sent first. NULL is fine. */
static inline void transport_destroy(struct transport *transport, bool flush)
{
	if (transport)
		transport->kind->destroy(transport, flush);
}

#endif
