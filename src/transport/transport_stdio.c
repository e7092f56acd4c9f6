/* Pipes and sockets go through the loop. Files and devices never block, and epoll rejects them: they are read in
 * pieces, one per iteration of the loop, and written directly. */
#include "transport/transport_stdio.h"

#include <errno.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/watch.h"
#include "loop/loop.h"
#include "loop/stream.h"
#include "transport/frame_lines.h"

struct stdio {
	struct transport transport;
	struct frame_lines lines;
	struct stream *in, *out; /* NULL for a file */
	int in_file, out_file;   /* -1 for a stream */
	struct hangup *hangup;   /* detects the end of the output's reader; NULL for a file */
	struct loop_deferred deliver;
	bool is_paused;
	bool has_ended;       /* the input has ended */
	bool is_end_reported; /* on_end was called for the end of the input */
	bool is_over;         /* on_end was called for a broken connection */
	struct error failure; /* ERR_none unless the connection is broken */
};

static struct stdio *stdio_of(struct transport *transport)
{
	return container_of(transport, struct stdio, transport);
}

/* ---- in ---- */

static void end_input(struct stdio *stdio, const struct error *err)
{
	if (err && !stdio->failure.code)
		stdio->failure = *err;
	if (!stdio->has_ended)
		frame_lines_end(&stdio->lines);
	stdio->has_ended = true;
	loop_defer(&stdio->deliver);
}

static void on_bytes(struct str bytes, void *self)
{
	struct stdio *stdio = self;
	frame_lines_add(&stdio->lines, bytes);
	/* Backpressure: the frames are delivered before the loop polls again. A full read would be followed by another
	 * one at once. */
	if (bytes.len == LIMIT_STREAM_READ || stdio->is_paused)
		stream_pause(stdio->in);
	loop_defer(&stdio->deliver);
}

static void on_in_end(const struct error *err, void *self)
{
	end_input(self, err);
}

static void read_file(struct stdio *stdio)
{
	char bytes[LIMIT_STREAM_READ];
	struct error err;
	ssize_t count = read(stdio->in_file, bytes, sizeof(bytes));
	if (count < 0 && errno == EINTR)
		count = 0;
	else if (count < 0)
		error_sys(&err, errno, "cannot read standard input");
	if (count > 0) {
		frame_lines_add(&stdio->lines, str_n(bytes, (size_t)count));
		loop_defer(&stdio->deliver);
	} else {
		end_input(stdio, count < 0 ? &err : NULL);
	}
}

static void report_end(struct stdio *stdio)
{
	bool is_new = !stdio->is_end_reported || stdio->failure.code;
	stdio->is_end_reported = true;
	stdio->is_over = stdio->failure.code != ERR_none;
	if (stdio->is_over && stdio->in) /* nothing takes the frames any more */
		stream_pause(stdio->in);
	if (is_new)
		stdio->transport.events->on_end(stdio->is_over ? &stdio->failure : NULL, stdio->transport.self);
}

static void read_on(struct stdio *stdio)
{
	if (stdio->has_ended) {
		report_end(stdio);
	} else if (stdio->in) {
		stream_resume(stdio->in);
	} else {
		read_file(stdio);
	}
}

static void on_deliver(void *self)
{
	struct stdio *stdio = self;
	const struct transport_events *events = stdio->transport.events;
	struct str line;
	enum frame frame = FRAME_LINE;
	if (stdio->is_over)
		return;
	while (!stdio->is_paused && (frame = frame_lines_next(&stdio->lines, &line)) != FRAME_NONE) {
		if (frame == FRAME_LINE)
			events->on_frame(line, stdio->transport.self);
		else
			events->on_long_frame(line, stdio->transport.self);
	}
	if (!stdio->is_paused || stdio->failure.code)
		read_on(stdio);
}

static void stdio_pause(struct transport *transport)
{
	struct stdio *stdio = stdio_of(transport);
	stdio->is_paused = true;
	if (stdio->in)
		stream_pause(stdio->in);
}

static void stdio_resume(struct transport *transport)
{
	struct stdio *stdio = stdio_of(transport);
	stdio->is_paused = false;
	loop_defer(&stdio->deliver);
}

/* ---- out ---- */

/* The peer has closed its reading side, which ends the connection. */
static void on_out_end(const struct error *err, void *self)
{
	struct stdio *stdio = self;
	struct error gone;
	if (!err) {
		error_set(&gone, ERR_transport, "stdout has been closed by its reader");
		err = &gone;
	}
	end_input(stdio, err);
}

/* The peer closed its end; called even while nothing is being written. */
static void on_hangup(void *self)
{
	on_out_end(NULL, self);
}

static bool stdio_send(struct transport *transport, struct str frames)
{
	struct stdio *stdio = stdio_of(transport);
	struct error err;
	if (stdio->out)
		return stream_send(stdio->out, frames);
	if (fd_write_all(stdio->out_file, frames.ptr, frames.len, &err) != 0)
		end_input(stdio, &err);
	return true; /* A file causes no backpressure. */
}

static bool stdio_send_large(struct transport *transport, struct str head, struct buf *body, struct str tail)
{
	const struct stdio *stdio = stdio_of(transport);
	stdio_send(transport, head);
	if (stdio->out) {
		stream_send_owned(stdio->out, body);
	} else {
		stdio_send(transport, buf_str(body));
		buf_finish(body);
	}
	return stdio_send(transport, tail);
}

static bool stdio_send_later(struct transport *transport, struct stream_source *frame, size_t size)
{
	const struct stdio *stdio = stdio_of(transport);
	if (stdio->out)
		return stream_send_later(stdio->out, frame, size);
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	frame->write(frame, &out);
	frame->destroy(frame);
	return stdio_send(transport, buf_str(&out));
}

static void on_out_writable(void *self)
{
	struct stdio *stdio = self;
	if (stdio->transport.events->on_drain)
		stdio->transport.events->on_drain(stdio->transport.self);
}

/* ---- both ---- */

static void stdio_destroy(struct transport *transport, bool flush)
{
	struct stdio *stdio = stdio_of(transport);
	loop_deferred_finish(&stdio->deliver);
	hangup_destroy(stdio->hangup);
	stream_destroy(stdio->in, STREAM_NOW);
	stream_destroy(stdio->out, flush ? STREAM_FLUSH : STREAM_NOW);
	frame_lines_finish(&stdio->lines);
	free(stdio);
}

static const struct transport_kind stdio_kind = {
	.send = stdio_send,
	.send_large = stdio_send_large,
	.send_later = stdio_send_later,
	.pause = stdio_pause,
	.resume = stdio_resume,
	.destroy = stdio_destroy,
};

static bool is_stream(int fd)
{
	uv_handle_type type = uv_guess_handle(fd);
	return type == UV_NAMED_PIPE || type == UV_TCP;
}

static int open_both(struct stdio *stdio, struct loop *loop, int in, int out, struct error *err)
{
	static const struct stream_events in_events = {.on_bytes = on_bytes, .on_end = on_in_end};
	static const struct stream_events out_events = {.on_end = on_out_end, .on_writable = on_out_writable};
	stdio->in_file = is_stream(in) ? -1 : in;
	stdio->out_file = is_stream(out) ? -1 : out;
	if (stdio->in_file < 0 && !(stdio->in = stream_open(loop, in, &in_events, stdio, err)))
		return error_wrap(err, "standard input");
	if (stdio->out_file >= 0)
		return 0;
	stdio->hangup = hangup_watch(loop, out, on_hangup, stdio, err);
	stdio->out = stdio->hangup ? stream_open(loop, out, &out_events, stdio, err) : NULL;
	return stdio->out ? 0 : error_wrap(err, "standard output");
}

struct transport *transport_stdio_create(struct loop *loop, int in, int out, const struct transport_events *events,
                                         void *self, struct error *err)
{
	struct stdio *stdio = xnew(struct stdio);
	stdio->transport = (struct transport){&stdio_kind, events, self};
	frame_lines_init(&stdio->lines, LIMIT_LINE);
	loop_deferred_init(&stdio->deliver, loop, on_deliver, stdio);
	if (open_both(stdio, loop, in, out, err) != 0) {
		stdio_destroy(&stdio->transport, false);
		return NULL;
	}
	loop_defer(&stdio->deliver);
	return &stdio->transport;
}
