/* stream.h — a connected socket or pipe that delivers bytes and sends from a bounded queue.
 *
 * Owns: the socket and the bytes waiting to be sent. Borrows: the loop. Thread: loop only.
 * No callback runs inside a call to this module. After on_end nothing more is called; the owner destroys. */
#ifndef LOOP_STREAM_H
#define LOOP_STREAM_H

#include <stdbool.h>
#include <uv.h>

#include "base/error.h"
#include "base/str.h"

struct buf;
struct loop;
struct stream;

struct stream_events {
	void (*on_bytes)(struct str bytes, void *self);      /* borrowed until it returns; may destroy the stream */
	void (*on_end)(const struct error *err, void *self); /* err is NULL if the peer has closed */
	void (*on_writable)(void *self);                     /* called once after a send returned false; may be NULL */
};

/* Accepts a pending connection of listener and starts reading. NULL and err on failure. */
must_check struct stream *stream_create(struct loop *loop, uv_stream_t *listener, const struct stream_events *events,
                                        void *self, struct error *err);
/* As stream_create, for a connected descriptor: a pipe's end, a Unix or TCP socket. Takes ownership of fd. Without
 * on_bytes the stream only writes. */
must_check struct stream *stream_open(struct loop *loop, int fd, const struct stream_events *events, void *self,
                                      struct error *err);

enum stream_end {
	STREAM_NOW,   /* queued bytes are discarded */
	STREAM_FLUSH, /* queued bytes are sent first, within LIMIT_STREAM_LINGER_MS */
	STREAM_RESET, /* one write is attempted, then the connection is reset */
};

/* Ends the stream; no callback runs after this. NULL is fine. */
void stream_destroy(struct stream *stream, enum stream_end how);

/* Queues a copy. Bytes queued within one iteration of the loop are sent in one write. Returns false when more than
 * LIMIT_STREAM_QUEUE is pending: continue after on_writable. Past LIMIT_STREAM_QUEUE_HARD the stream fails (on_end). */
bool stream_send(struct stream *stream, struct str bytes);
/* As stream_send, without a copy: takes the memory of bytes, which is empty afterwards. For large messages. */
bool stream_send_owned(struct stream *stream, struct buf *bytes);

/* Bytes that are made when the stream is about to write them, so that large ones do not wait in memory. Neither
 * function may call the stream. */
struct stream_source {
	void (*write)(struct stream_source *source, struct buf *out); /* appends the bytes, or none */
	void (*destroy)(struct stream_source *source);
};

/* As stream_send, for about size bytes (not 0) that do not exist yet. Takes ownership of source, which may outlive the
 * owner of the stream (STREAM_FLUSH). Its write may run inside the call. */
bool stream_send_later(struct stream *stream, struct stream_source *source, size_t size);

/* Returns the bytes that wait to be sent. */
size_t stream_queued(const struct stream *stream);

/* Replaces the callbacks, for a new owner. Both sets must have on_bytes. */
void stream_hand_over(struct stream *stream, const struct stream_events *events, void *self);

/* Stops reading, which puts backpressure on the peer. A paused stream does not notice that the peer has closed. */
void stream_pause(struct stream *stream);
void stream_resume(struct stream *stream);

#endif
