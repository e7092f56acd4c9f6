/* Messages are pulled: the next bytes are read only after all messages of the previous read were delivered, and a
 * paused connection is not read, which puts backpressure on the peer. Outgoing bytes go to the stream, which writes
 * once per iteration of the loop. */
#include "transport/transport_websocket.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "loop/stream.h"

struct socket {
	struct transport transport;
	struct websocket *websocket;
	struct stream *stream;
	struct loop_deferred deliver;
	bool is_paused;
	bool is_end_reported; /* on_end was called */
	bool is_gone;         /* the peer has closed the connection, or it broke */
	struct error *why;    /* the reason; NULL if the peer closed */
};

static struct socket *socket_of(struct transport *transport)
{
	return container_of(transport, struct socket, transport);
}

/* ---- in ---- */

static void end(struct socket *socket, const struct error *err)
{
	if (socket->is_end_reported)
		return;
	socket->is_end_reported = true;
	socket->transport.events->on_end(err, socket->transport.self);
}

static void read_on(struct socket *socket)
{
	if (socket->is_gone)
		end(socket, socket->why);
	else
		stream_resume(socket->stream);
}

static void on_deliver(void *self)
{
	struct socket *socket = self;
	struct str message;
	while (!socket->is_paused && !socket->is_end_reported) {
		switch (websocket_next(socket->websocket, &message)) {
		case WEBSOCKET_WAIT:
			read_on(socket);
			return;
		case WEBSOCKET_TEXT:
			socket->transport.events->on_frame(message, socket->transport.self);
			break;
		case WEBSOCKET_BINARY:
			break;
		case WEBSOCKET_CLOSED:
			end(socket, websocket_error(socket->websocket));
			return;
		}
	}
}

static void on_bytes(struct str bytes, void *self)
{
	struct socket *socket = self;
	websocket_receive(socket->websocket, bytes);
	stream_pause(socket->stream);
	loop_defer(&socket->deliver);
}

static void on_stream_end(const struct error *err, void *self)
{
	struct socket *socket = self;
	socket->is_gone = true;
	if (err) {
		socket->why = xnew(struct error);
		*socket->why = *err;
	}
	loop_defer(&socket->deliver);
}

static void socket_pause(struct transport *transport)
{
	socket_of(transport)->is_paused = true;
}

static void socket_resume(struct transport *transport)
{
	struct socket *socket = socket_of(transport);
	socket->is_paused = false;
	loop_defer(&socket->deliver);
}

/* ---- out ---- */

static bool on_output(struct str bytes, void *self)
{
	struct socket *socket = self;
	return stream_send(socket->stream, bytes);
}

/* Each newline-terminated frame becomes one message. */
static bool socket_send(struct transport *transport, struct str frames)
{
	struct socket *socket = socket_of(transport);
	struct str frame;
	bool has_room = true;
	while (str_next_line(&frames, &frame))
		if (frame.len)
			has_room = websocket_send(socket->websocket, frame);
	return has_room;
}

/* Copies and masks the frame: a client must mask what it sends. */
static bool send_copy(struct transport *transport, struct str head, struct buf *body, struct str tail)
{
	auto_buf struct buf frame;
	buf_init(&frame, LIMIT_STREAM_QUEUE_HARD);
	buf_append_str(&frame, head);
	buf_append_str(&frame, buf_str(body));
	buf_append_str(&frame, tail);
	buf_finish(body);
	return socket_send(transport, buf_str(&frame));
}

static bool socket_send_large(struct transport *transport, struct str head, struct buf *body, struct str tail)
{
	struct socket *socket = socket_of(transport);
	struct str end = str_trim(tail); /* a WebSocket message has no newline */
	if (!websocket_send_head(socket->websocket, head.len + body->len + end.len))
		return send_copy(transport, head, body, tail);
	websocket_send_rest(socket->websocket, head);
	stream_send_owned(socket->stream, body);
	return websocket_send_rest(socket->websocket, end);
}

static void on_writable(void *self)
{
	struct socket *socket = self;
	websocket_drained(socket->websocket);
	if (socket->transport.events->on_drain)
		socket->transport.events->on_drain(socket->transport.self);
}

/* ---- both ---- */

static void socket_destroy(struct transport *transport, bool flush)
{
	struct socket *socket = socket_of(transport);
	loop_deferred_finish(&socket->deliver);
	if (socket->websocket && flush)
		websocket_close(socket->websocket, WEBSOCKET_CODE_GOING_AWAY, "");
	websocket_destroy(socket->websocket);
	stream_destroy(socket->stream, flush ? STREAM_FLUSH : STREAM_NOW);
	free(socket->why);
	free(socket);
}

static const struct transport_kind socket_kind = {
	.send = socket_send,
	.send_large = socket_send_large,
	.pause = socket_pause,
	.resume = socket_resume,
	.destroy = socket_destroy,
};
static const struct stream_events stream_events = {
	.on_bytes = on_bytes,
	.on_end = on_stream_end,
	.on_writable = on_writable,
};

/* Takes ownership of the stream. */
static struct transport *create(struct loop *loop, struct stream *stream, struct str rest, enum websocket_role role,
                                const struct transport_events *events, void *self, struct error *err)
{
	struct socket *socket = xnew(struct socket);
	socket->transport = (struct transport){&socket_kind, events, self};
	socket->stream = stream;
	loop_deferred_init(&socket->deliver, loop, on_deliver, socket);
	socket->websocket = websocket_create(role, on_output, socket, err);
	if (!socket->websocket) {
		socket_destroy(&socket->transport, false);
		return NULL;
	}
	stream_hand_over(stream, &stream_events, socket);
	websocket_receive(socket->websocket, rest);
	loop_defer(&socket->deliver);
	return &socket->transport;
}

struct transport *transport_websocket_open(struct loop *loop, int fd, struct str rest, enum websocket_role role,
                                           const struct transport_events *events, void *self, struct error *err)
{
	struct stream *stream = stream_open(loop, fd, &stream_events, NULL, err);
	if (stream)
		return create(loop, stream, rest, role, events, self, err);
	close(fd);
	return NULL;
}
