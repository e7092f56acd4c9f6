/* stream.h — a connected socket or pipe that delivers bytes and sends from a bounded queue.
 *
 * Owns: the socket and the bytes waiting to be sent. Borrows: the loop. Thread: loop only.
 * No callback runs inside a call to this module. After on_end nothing more is called; the owner destroys. */
#ifndef LOOP_STREAM_H
#define LOOP_STREAM_H

#include <stdbool.h>
#include <uv.h>

#include "base/str.h"

struct error;
struct loop;
struct stream;

struct stream_events {
	void (*on_bytes)(struct str bytes, void *self);       /* borrowed until it returns; may destroy the stream */
	void (*on_end)(const struct error *err, void *self);  /* NULL: the peer has closed; else what broke */
	void (*on_writable)(void *self);                      /* may be NULL; once after a send returned false */
};

/* Accepts a connection that waits on listener and starts reading. NULL and err if it cannot. */
struct stream *stream_create(struct loop *loop, uv_stream_t *listener, const struct stream_events *events, void *self,
			     struct error *err);
/* The same for a descriptor that is connected already: a pipe's end, a Unix or TCP socket. It is the stream's from
 * then on. Without on_bytes it is only written to. */
struct stream *stream_open(struct loop *loop, int fd, const struct stream_events *events, void *self,
			   struct error *err);

enum stream_end {
	STREAM_NOW,   /* what is queued is lost */
	STREAM_FLUSH, /* what is queued is sent first, within LIMIT_STREAM_LINGER_MS */
	STREAM_RESET, /* what fits is sent, then the peer sees "connection reset" */
};

/* Ends it; nothing is called any more. NULL is fine. */
void stream_destroy(struct stream *stream, enum stream_end how);

/* Queues a copy. What is queued within one turn of the loop leaves as one write. False when more than
 * LIMIT_STREAM_QUEUE waits: go on after on_writable. Past LIMIT_STREAM_QUEUE_HARD the stream breaks (on_end). */
bool stream_send(struct stream *stream, struct str bytes);

/* Another owner takes over: from now on these events are called. Both kinds of owner must read. */
void stream_hand_over(struct stream *stream, const struct stream_events *events, void *self);

/* Back-pressure on the peer. A paused stream does not notice that the peer has closed. */
void stream_pause(struct stream *stream);
void stream_resume(struct stream *stream);

#endif
