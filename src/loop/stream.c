/* Two buffers: senders append to `pending`; when the socket is full, pending becomes `inflight`, which belongs to libuv
 * until it is written, and senders continue with the other one. The first attempt is always a direct write, so a peer
 * that keeps up costs one copy and one system call per iteration of the loop.
 *
 * A read buffer exists from on_alloc to on_read only, so an idle stream holds none. */
#include "loop/stream.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"

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
	struct buf pending;
	struct buf inflight;
	uv_write_t write;
	bool is_writing; /* inflight belongs to libuv */
	bool is_reading;
	bool wants_drain;  /* a send returned false */
	bool is_destroyed; /* by its owner; exists only until it is flushed */
	int failure;       /* the libuv error that broke it; UV_EOF when the peer has closed */
	struct loop_deferred flush;
	struct loop_timer *linger; /* runs iff destroyed with STREAM_FLUSH and not yet flushed */
};

static void on_closed(uv_handle_t *handle)
{
	struct stream *stream = container_of(handle, struct stream, handle);
	buf_finish(&stream->pending);
	buf_finish(&stream->inflight);
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

/* Empties a buffer and frees the memory of a burst: there may be a thousand streams. */
static void drained(struct buf *buf)
{
	if (buf->cap > LIMIT_STREAM_KEEP)
		buf_finish(buf);
	else
		buf_clear(buf);
}

static void on_written(uv_write_t *write, int status);

static void write_rest(struct stream *stream, size_t sent)
{
	struct buf spare = stream->inflight;
	stream->inflight = stream->pending;
	stream->pending = spare;
	uv_buf_t rest = uv_buf_init(stream->inflight.data + sent, (unsigned)(stream->inflight.len - sent));
	int status = uv_write(&stream->write, &stream->uv, &rest, 1, on_written);
	stream->is_writing = status == 0;
	if (status < 0)
		stream->failure = status;
}

/* Runs no callback, so that it may be used while sending. */
static void stream_flush(struct stream *stream)
{
	if (stream->is_writing || stream->failure || stream->pending.len == 0)
		return;
	uv_buf_t all = uv_buf_init(stream->pending.data, (unsigned)stream->pending.len);
	int sent = uv_try_write(&stream->uv, &all, 1);
	if (sent == UV_EAGAIN)
		sent = 0;
	if (sent < 0)
		stream->failure = sent;
	else if ((size_t)sent == stream->pending.len)
		drained(&stream->pending);
	else
		write_rest(stream, (size_t)sent);
}

static size_t stream_queued(const struct stream *stream)
{
	return stream->pending.len + (stream->is_writing ? stream->inflight.len : 0);
}

/* Handles the result of a flush: an error, completion, or room again. A callback may destroy the stream. */
static void stream_settle(struct stream *stream)
{
	if (stream->failure) {
		stream_end(stream);
	} else if (stream->is_destroyed && stream_queued(stream) == 0) {
		stream_close(stream);
	} else if (stream->events && stream->wants_drain && stream_queued(stream) <= LIMIT_STREAM_QUEUE / 2) {
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
	drained(&stream->inflight);
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
	buf_init(&stream->pending, LIMIT_STREAM_QUEUE_HARD);
	buf_init(&stream->inflight, LIMIT_STREAM_QUEUE_HARD);
	loop_deferred_init(&stream->flush, loop, on_flush, stream);
	return stream;
}

/* Starts reading on an initialised handle; on error destroys the stream. */
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

bool stream_send(struct stream *stream, struct str bytes)
{
	if (!stream->events || stream->failure)
		return true;
	buf_append_str(&stream->pending, bytes);
	if (stream->pending.over)
		stream->failure = UV_ENOBUFS;
	else if (stream->pending.len >= LIMIT_STREAM_READ)
		stream_flush(stream);
	loop_defer(&stream->flush);
	if (stream_queued(stream) > LIMIT_STREAM_QUEUE)
		stream->wants_drain = true;
	return !stream->wants_drain;
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
	if (how == STREAM_FLUSH && !stream->failure && stream_queued(stream)) {
		stream_linger(stream);
		return;
	}
	if (how == STREAM_RESET && stream->handle.type == UV_TCP)
		uv_tcp_close_reset(&stream->tcp, on_closed);
	stream_close(stream);
}
