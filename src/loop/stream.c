/* A queue of chunks: senders append to the last one. When the socket is full, the first chunk belongs to libuv until it
 * is written, and senders continue with the next one. Large bytes that are handed over form a chunk of their own and
 * are not copied. The bytes of a source are made when their chunk is the first one, in the memory of a large chunk that
 * was written before, if there is one. The first attempt is always a direct write, so a peer that keeps up costs one
 * copy and one system call per iteration of the loop.
 *
 * A read buffer exists from on_alloc to on_read only, so an idle stream holds none. */
#include "loop/stream.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"

struct chunk {
	struct buf bytes;
	bool is_whole;                /* the bytes were handed over: nothing is appended to this chunk */
	struct stream_source *source; /* makes the bytes; NULL once they exist */
	size_t promised;              /* counted as queued until then */
};

struct stream {
	/* private */
	union {
		uv_handle_t handle;
		uv_stream_t uv;
		uv_tcp_t tcp;
		uv_pipe_t pipe;
	};
	struct loop *loop;
	const struct stream_events *events; /* NULL once ended or destroyed */
	void *self;
	VEC(struct chunk) chunks; /* oldest first */
	size_t queued;            /* bytes in all chunks, including bytes of the first chunk that libuv has written */
	uv_write_t write;
	bool is_writing; /* libuv owns the bytes of the first chunk */
	bool is_reading;
	bool wants_drain;  /* a send returned false: on_writable is due */
	bool is_destroyed; /* the owner is gone; the stream exists until it is flushed */
	int failure;       /* the libuv error that broke the connection; UV_EOF: the peer has closed */
	struct loop_deferred flush;
	struct loop_timer *linger; /* active iff destroyed with STREAM_FLUSH and not yet flushed */
};

static void chunk_finish(struct chunk *chunk)
{
	if (chunk->source)
		chunk->source->destroy(steal(chunk->source));
	buf_finish(&chunk->bytes);
}

static void on_closed(uv_handle_t *handle)
{
	struct stream *stream = container_of(handle, struct stream, handle);
	vec_for_each(it, &stream->chunks)
		chunk_finish(it);
	vec_finish(&stream->chunks);
	free(stream);
}

static void stream_close(void *self)
{
	struct stream *stream = self;
	loop_deferred_finish(&stream->flush);
	loop_timer_destroy(steal(stream->linger));
	if (!uv_is_closing(&stream->handle))
		uv_close(&stream->handle, on_closed);
}

/* Calls on_end, once. The callback may destroy the stream. */
static void stream_end(struct stream *stream)
{
	const struct stream_events *events = stream->events;
	stream_pause(stream);
	if (stream->is_destroyed)
		stream_close(stream);
	if (!events)
		return;
	stream->events = NULL;
	if (stream->failure == UV_EOF) {
		events->on_end(NULL, stream->self);
		return;
	}
	struct error err;
	error_sys(&err, -stream->failure, "the connection broke");
	err.code = ERR_transport;
	events->on_end(&err, stream->self);
}

static void on_free(void *self)
{
	free(self);
}

static void on_freed(void *self)
{
	(void)self;
}

/* Gives the memory of a written chunk to the next one of that size whose bytes do not exist yet. */
static bool pass_on(struct stream *stream, struct chunk *written)
{
	vec_for_each(it, &stream->chunks) {
		if (!it->source || it->bytes.cap || written->bytes.cap / 2 > it->promised)
			continue;
		buf_clear(&written->bytes);
		written->bytes.max = it->bytes.max;
		it->bytes = written->bytes;
		return true;
	}
	return false;
}

/* A large chunk is freed on a worker: returning hundreds of megabytes to the kernel takes tens of milliseconds. */
static void free_chunk(struct stream *stream, struct chunk *chunk)
{
	if (chunk->bytes.cap > LIMIT_STREAM_FREE && pass_on(stream, chunk))
		return;
	if (chunk->bytes.cap > LIMIT_STREAM_FREE)
		worker_run(stream->loop, on_free, on_freed, buf_take(&chunk->bytes));
	else
		buf_finish(&chunk->bytes);
}

/* Removes the first chunk, which has been written. Keeps the memory of a small chunk if no other follows; a large
 * one is freed, as there may be a thousand streams. */
static void pop_chunk(struct stream *stream)
{
	struct chunk *first = &stream->chunks.items[0];
	stream->queued -= first->bytes.len;
	if (stream->chunks.count == 1 && !first->is_whole && first->bytes.cap <= LIMIT_STREAM_KEEP) {
		buf_clear(&first->bytes);
		return;
	}
	free_chunk(stream, first);
	memmove(first, first + 1, --stream->chunks.count * sizeof(*first));
}

static void on_written(uv_write_t *write, int status);

static void write_rest(struct stream *stream, size_t sent)
{
	const struct buf *first = &stream->chunks.items[0].bytes;
	uv_buf_t rest = uv_buf_init(first->data + sent, (unsigned)(first->len - sent));
	int status = uv_write(&stream->write, &stream->uv, &rest, 1, on_written);
	stream->is_writing = status == 0;
	if (status < 0)
		stream->failure = status;
}

static void make_first(struct stream *stream)
{
	struct chunk *first = &stream->chunks.items[0];
	if (!first->source)
		return;
	first->source->write(first->source, &first->bytes);
	first->source->destroy(steal(first->source));
	stream->queued += first->bytes.len;
	stream->queued -= first->promised;
}

static bool write_first(struct stream *stream)
{
	make_first(stream);
	const struct buf *first = &stream->chunks.items[0].bytes;
	uv_buf_t all = uv_buf_init(first->data, (unsigned)first->len);
	int sent = first->len ? uv_try_write(&stream->uv, &all, 1) : 0;
	if (sent == UV_EAGAIN)
		sent = 0;
	if (sent < 0)
		stream->failure = sent;
	else if ((size_t)sent < first->len)
		write_rest(stream, (size_t)sent);
	else
		pop_chunk(stream);
	return !stream->is_writing && !stream->failure;
}

/* Writes as much as the socket takes. Runs no callback, so that it can be used while sending. */
static void stream_flush(struct stream *stream)
{
	if (stream->is_writing || stream->failure)
		return;
	while (stream->queued && write_first(stream))
		;
}

/* Handles the result of a flush: an error, completion, or free space in the queue. A callback may destroy the
 * stream. */
static void stream_settle(struct stream *stream)
{
	if (stream->failure) {
		stream_end(stream);
	} else if (stream->is_destroyed && stream->queued == 0) {
		stream_close(stream);
	} else if (stream->events && stream->wants_drain && stream->queued <= LIMIT_STREAM_QUEUE / 2) {
		stream->wants_drain = false;
		if (stream->events->on_writable)
			stream->events->on_writable(stream->self);
	}
}

static void on_flush(void *self)
{
	struct stream *stream = self;
	stream_flush(stream);
	stream_settle(stream);
}

static void on_written(uv_write_t *write, int status)
{
	struct stream *stream = container_of(write, struct stream, write);
	if (uv_is_closing(&stream->handle))
		return;
	stream->is_writing = false;
	pop_chunk(stream);
	if (status < 0)
		stream->failure = status;
	on_flush(stream);
}

static void on_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *ret_buf)
{
	(void)handle, (void)suggested;
	*ret_buf = uv_buf_init(xmalloc(LIMIT_STREAM_READ), LIMIT_STREAM_READ);
}

static void on_read(uv_stream_t *uv, ssize_t count, const uv_buf_t *bytes)
{
	struct stream *stream = container_of(uv, struct stream, uv);
	if (count > 0 && stream->events) {
		stream->events->on_bytes(str_n(bytes->base, (size_t)count), stream->self);
	} else if (count < 0) {
		stream->failure = (int)count;
		stream_end(stream);
	}
	free(bytes->base);
}

void stream_resume(struct stream *stream)
{
	if (stream->is_reading || stream->failure)
		return;
	stream->is_reading = uv_read_start(&stream->uv, on_alloc, on_read) == 0;
}

void stream_pause(struct stream *stream)
{
	if (stream->is_reading)
		uv_read_stop(&stream->uv);
	stream->is_reading = false;
}

static struct stream *stream_alloc(struct loop *loop, const struct stream_events *events, void *self)
{
	struct stream *stream = xnew(struct stream);
	stream->loop = loop;
	stream->events = events;
	stream->self = self;
	loop_deferred_init(&stream->flush, loop, on_flush, stream);
	return stream;
}

/* Starts reading on an initialised handle; on an error it destroys the stream. */
static struct stream *stream_begin(struct stream *stream, int status, const char *what, struct error *err)
{
	if (status < 0) {
		error_sys(err, -status, "cannot %s", what);
		stream_close(stream);
		return NULL;
	}
	if (stream->handle.type == UV_TCP)
		uv_tcp_nodelay(&stream->tcp, 1);
	if (stream->events->on_bytes)
		stream_resume(stream);
	return stream;
}

struct stream *stream_create(struct loop *loop, uv_stream_t *listener, const struct stream_events *events, void *self,
                             struct error *err)
{
	struct stream *stream = stream_alloc(loop, events, self);
	if (listener->type == UV_NAMED_PIPE)
		uv_pipe_init(loop_uv(loop), &stream->pipe, 0);
	else
		uv_tcp_init(loop_uv(loop), &stream->tcp);
	return stream_begin(stream, uv_accept(listener, &stream->uv), "accept a connection", err);
}

struct stream *stream_open(struct loop *loop, int fd, const struct stream_events *events, void *self, struct error *err)
{
	struct stream *stream = stream_alloc(loop, events, self);
	int status;
	if (uv_guess_handle(fd) == UV_TCP) {
		uv_tcp_init(loop_uv(loop), &stream->tcp);
		status = uv_tcp_open(&stream->tcp, fd);
	} else {
		uv_pipe_init(loop_uv(loop), &stream->pipe, 0);
		status = uv_pipe_open(&stream->pipe, fd);
	}
	return stream_begin(stream, status, "use the descriptor", err);
}

void stream_hand_over(struct stream *stream, const struct stream_events *events, void *self)
{
	if (!stream->events)
		return; /* on_end has run */
	stream->events = events;
	stream->self = self;
}

/* True if extra more bytes would exceed the limit, which does not count the chunk being written. */
static bool is_over(const struct stream *stream, size_t extra)
{
	size_t pending = stream->queued - (stream->is_writing ? stream->chunks.items[0].bytes.len : 0);
	return pending + extra > LIMIT_STREAM_QUEUE_HARD;
}

/* Returns the chunk that senders append to. */
static struct buf *last_chunk(struct stream *stream)
{
	size_t count = stream->chunks.count;
	bool is_taken = count && (stream->chunks.items[count - 1].is_whole || (count == 1 && stream->is_writing));
	if (!count || is_taken) {
		vec_push(&stream->chunks, (struct chunk){0});
		buf_init(&stream->chunks.items[count++].bytes, LIMIT_STREAM_QUEUE_HARD);
	}
	return &stream->chunks.items[count - 1].bytes;
}

/* Called after bytes were queued; returns the result of the send. */
static bool send_queued(struct stream *stream)
{
	if (stream->queued >= LIMIT_STREAM_READ)
		stream_flush(stream);
	loop_defer(&stream->flush);
	if (stream->queued > LIMIT_STREAM_QUEUE)
		stream->wants_drain = true;
	return !stream->wants_drain;
}

bool stream_send(struct stream *stream, struct str bytes)
{
	if (!stream->events || stream->failure)
		return true;
	if (is_over(stream, bytes.len)) {
		stream->failure = UV_ENOBUFS;
	} else if (bytes.len) {
		buf_append_str(last_chunk(stream), bytes);
		stream->queued += bytes.len;
	}
	return send_queued(stream);
}

/* Queues a chunk of its own; false if the stream has ended or has no room. */
static bool push_whole(struct stream *stream, const struct chunk *chunk, size_t size)
{
	if (!stream->events || stream->failure)
		return false;
	if (is_over(stream, size)) {
		stream->failure = UV_ENOBUFS;
		return false;
	}
	if (!stream->queued && stream->chunks.count)
		/* keep the memory for the next chunk */
		buf_finish(&stream->chunks.items[--stream->chunks.count].bytes);
	stream->queued += size;
	vec_push(&stream->chunks, *chunk);
	return true;
}

bool stream_send_owned(struct stream *stream, struct buf *bytes)
{
	bool has_ended = !stream->events || stream->failure;
	const struct chunk chunk = {.bytes = *bytes, .is_whole = true};
	if (bytes->len && push_whole(stream, &chunk, bytes->len))
		buf_init(bytes, bytes->max);
	else
		buf_finish(bytes);
	return has_ended || send_queued(stream);
}

bool stream_send_later(struct stream *stream, struct stream_source *source, size_t size)
{
	bool has_ended = !stream->events || stream->failure;
	struct chunk chunk = {.is_whole = true, .source = source, .promised = size};
	buf_init(&chunk.bytes, LIMIT_STREAM_QUEUE_HARD);
	if (!push_whole(stream, &chunk, size))
		chunk_finish(&chunk);
	return has_ended || send_queued(stream);
}

size_t stream_queued(const struct stream *stream)
{
	return stream->queued;
}

static void stream_linger(struct stream *stream)
{
	stream->linger = loop_timer_create(stream->loop, stream_close, stream);
	loop_timer_start(stream->linger, LIMIT_STREAM_LINGER_MS);
}

void stream_destroy(struct stream *stream, enum stream_end how)
{
	if (!stream)
		return;
	stream->events = NULL;
	stream->is_destroyed = true;
	stream_pause(stream);
	if (how != STREAM_NOW)
		stream_flush(stream);
	if (how == STREAM_FLUSH && !stream->failure && stream->queued) {
		stream_linger(stream);
		return;
	}
	if (how == STREAM_RESET && stream->handle.type == UV_TCP)
		uv_tcp_close_reset(&stream->tcp, on_closed);
	stream_close(stream);
}
