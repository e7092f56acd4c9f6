/* A connection reads one request, waits until its exchange has ended, and reads the next; pipelined requests wait in
 * its input. Exchange and connection are separate objects because either may end first: the client may disconnect while
 * a scripted answer sleeps, and the connection survives the answer.
 *
 * Public functions only set the connection's next state (`ending`) and defer the work, so that the bytes of a request
 * stay valid throughout on_request. */
#include "net/http_server.h"

#include <stdio.h>
#include <sys/socket.h>
#include <uv.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_server_priv.h"
#include "net/tls_server.h"

struct http_server {
	/* private */
	struct loop *loop;
	uv_tcp_t listener;
	uint16_t port;
	struct tls_server *tls; /* NULL: connections are not encrypted */
	bool accepts_http2;
	bool is_ending; /* exchanges end without a callback */
	struct http_receiver receiver;
	struct list connections;
	size_t connection_count;
	struct list exchanges; /* of HTTP/1.1 */
};

/* --- connections ------------------------------------------------------------------------------------------- */

static void connection_destroy(struct connection *connection, enum stream_end how)
{
	list_remove(&connection->link);
	connection->server->connection_count--;
	loop_deferred_finish(&connection->proceed);
	loop_timer_destroy(connection->patience);
	http2_destroy(steal(connection->http2), !connection->server->is_ending);
	connection_end_tls(connection, how);
	stream_destroy(connection->stream, how);
	http_head_finish(&connection->head);
	buf_finish(&connection->input);
	buf_finish(&connection->head_bytes);
	buf_finish(&connection->body);
	free(connection);
}

static struct http1_exchange *exchange_create(struct connection *connection)
{
	const struct http_head *head = &connection->head;
	struct http1_exchange *exchange = xnew(struct http1_exchange);
	exchange->base.ops = &http1_ops;
	exchange->base.peer = connection->peer;
	exchange->connection = connection;
	exchange->is_http_1_0 = head->is_http_1_0;
	exchange->is_head_request = str_is(head->method, "HEAD");
	exchange->must_close = head->is_http_1_0 || connection->skips_body || connection->streams_body ||
	                       http_head_has_token(head, "connection", "close");
	list_append(&connection->server->exchanges, &exchange->link);
	return exchange;
}

/* Answers with an error status and closes the connection: after a protocol error the start of the next request is
 * unknown. */
static void connection_refuse(struct connection *connection, int status)
{
	const struct http_receiver *receiver = connection->receiver;
	connection->state = ANSWERING;
	connection->skips_body = true;
	connection->exchange = exchange_create(connection);
	http_refuse(receiver, &connection->exchange->base, status);
}

static void exchange_lose(struct http1_exchange *exchange)
{
	exchange->connection = NULL;
	if (exchange->base.events && exchange->base.events->on_gone)
		exchange->base.events->on_gone(exchange->base.self);
}

/* The client has disconnected, which the receiver of its request learns. */
static void connection_lose(struct connection *connection, enum stream_end how)
{
	struct http1_exchange *exchange = connection->exchange;
	connection_destroy(connection, how);
	if (exchange)
		exchange_lose(exchange);
}

/* Passes what has arrived of a streamed body. A malformed one is refused; once an answer has begun, it only ends. */
static void pass_body(struct connection *connection)
{
	struct http1_exchange *exchange = connection->exchange;
	int status = http1_pass_body(connection);
	if (!status)
		return;
	if (exchange->is_head_sent) {
		connection_lose(connection, STREAM_FLUSH);
		return;
	}
	connection_refuse(connection, status);
	exchange_lose(exchange);
}

static void connection_dispatch(struct connection *connection)
{
	const struct http_receiver *receiver = &connection->server->receiver;
	connection->exchange = exchange_create(connection);
	receiver->on_request(&connection->exchange->base, &connection->head, buf_str(&connection->body),
	                     receiver->self);
	buf_finish(&connection->body);
	pass_body(connection);
}

static void on_proceed(void *self)
{
	struct connection *connection = self;
	if (connection->state == ENDING) {
		connection_destroy(connection, connection->ending);
		return;
	}
	stream_resume(connection->stream);
	if (connection->http2)
		return; /* see on_output */
	int verdict = http1_read_request(connection);
	if (verdict > 0)
		connection_refuse(connection, verdict);
	else if (connection->state == ANSWERING && !connection->exchange)
		connection_dispatch(connection);
	else
		pass_body(connection);
}

/* ---- a connection that turns out to be HTTP/2 ---- */

static bool on_output(struct str bytes, void *self)
{
	struct connection *connection = self;
	bool has_room = connection_send(connection, bytes);
	if (!has_room)
		stream_pause(connection->stream); /* a client that does not read its answers sends no requests */
	return has_room;
}

static void on_http2_over(void *self)
{
	struct connection *connection = self;
	connection->state = ENDING;
	connection->ending = STREAM_FLUSH;
	loop_defer(&connection->proceed);
}

static void on_answered(void *self)
{
	connection_rest(self);
}

static const struct http2_events http2_events = {on_output, on_http2_over, on_answered};

static void receive_http2(struct connection *connection, struct str bytes)
{
	http2_receive(connection->http2, bytes);
	if (http2_has_begun(connection->http2))
		connection_expect_head(connection, false);
}

/* Returns true if the connection speaks HTTP/2, or may do so and more bytes are needed to say. */
static bool take_http2(struct connection *connection)
{
	struct http_server *server = connection->server;
	struct str input = buf_str(&connection->input);
	if (!server->accepts_http2 || !http2_is_preface(input))
		return false;
	if (input.len < HTTP2_PREFACE)
		return true;
	if (http2_load(NULL) != 0)
		return false;
	connection->http2 = http2_create(server->loop, &server->receiver, &http2_events, connection);
	connection->http2->peer = connection->peer;
	receive_http2(connection, input);
	buf_finish(&connection->input);
	return true;
}

/* ---- events of the socket ---- */

/* True if bytes of an answer are not taken yet, or bytes of a body have not arrived. */
static bool has_pending(const struct connection *connection)
{
	return stream_queued(connection->stream) ||
	       (connection->http2 ? http2_has_pending(connection->http2) : connection->state == READING_BODY);
}

static void receive(struct connection *connection, struct str bytes)
{
	if (connection->stalled_ms && !has_pending(connection))
		connection->stalled_ms = 0; /* what it had stalled in is over */
	if (connection->http2) {
		receive_http2(connection, bytes);
		return;
	}
	buf_append_str(&connection->input, bytes);
	if (connection->streams_body) {
		pass_body(connection);
		return;
	}
	if (connection->state == ANSWERING || connection->state == ENDING) {
		if (connection->input.len > LIMIT_HTTP_HEAD)
			stream_pause(connection->stream);
		return;
	}
	if (connection->state != READING_HEAD || connection->head.headers.count || !take_http2(connection))
		on_proceed(connection);
}

static void receive_tls(struct connection *connection, struct str bytes)
{
	auto_buf struct buf plain, out;
	buf_init(&plain, 2 * LIMIT_STREAM_READ);
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	enum tls_state state = tls_receive(connection->tls, bytes, &plain, &out);
	if (out.len)
		stream_send(connection->stream, buf_str(&out));
	if (state != TLS_OPEN)
		connection_lose(connection, STREAM_FLUSH);
	else if (plain.len)
		receive(connection, buf_str(&plain));
}

static void on_stream_bytes(struct str bytes, void *self)
{
	struct connection *connection = self;
	if (connection->tls)
		receive_tls(connection, bytes);
	else
		receive(connection, bytes);
}

static void on_stream_writable(void *self)
{
	struct connection *connection = self;
	struct http_exchange *exchange = connection->exchange ? &connection->exchange->base : NULL;
	if (connection->http2) {
		stream_resume(connection->stream);
		http2_drained(connection->http2);
	} else if (exchange && exchange->events && exchange->events->on_writable)
		exchange->events->on_writable(exchange->self);
}

static void on_stream_end(const struct error *err, void *self)
{
	(void)err;
	connection_lose(self, STREAM_NOW);
}

static const struct stream_events stream_events = {
	.on_bytes = on_stream_bytes,
	.on_end = on_stream_end,
	.on_writable = on_stream_writable,
};

/* ---- room for further connections ---- */

void connection_rest(struct connection *connection)
{
	list_remove(&connection->link);
	list_append(&connection->server->connections, &connection->link);
}

static bool is_busy(const struct connection *connection)
{
	bool is_reading = connection->state == READING_HEAD || connection->state == READING_BODY;
	return connection->http2 ? http2_is_busy(connection->http2) : !is_reading;
}

/* True if fewer than LIMIT_STREAM_QUEUE further bytes of answers and of bodies were taken for LIMIT_HTTP_STALL_MS, so a
 * client that moves one byte now and then has stalled, too. Other bytes, such as PING, do not count. The time counts
 * from the first call: only a full server asks. */
static bool is_stalled(struct connection *connection)
{
	uint64_t now = clock_now_ms();
	int64_t moved = connection->http2 ? connection->http2->moved : connection->moved;
	moved -= (int64_t)stream_queued(connection->stream);
	if (!connection->stalled_ms || moved >= connection->stalled_at + LIMIT_STREAM_QUEUE) {
		connection->stalled_ms = now;
		connection->stalled_at = moved;
	}
	return now - connection->stalled_ms >= LIMIT_HTTP_STALL_MS;
}

/* Returns the connection that has been idle longest; if none is, one that has stalled in an answer or a body. */
static struct connection *find_idle(struct http_server *server)
{
	struct connection *connection, *stalled = NULL;
	list_for_each(connection, &server->connections, link) {
		if (is_busy(connection))
			continue;
		if (!has_pending(connection))
			return connection;
		if (is_stalled(connection) && !stalled)
			stalled = connection;
	}
	return stalled;
}

/* Evicts a connection when the limit is reached, so that idle clients cannot block others. The newcomer is refused
 * rather than a client that reads its answer slowly. */
static bool make_room(struct http_server *server)
{
	if (server->connection_count < LIMIT_HTTP_CONNECTIONS)
		return true;
	struct connection *idle = find_idle(server);
	if (idle)
		connection_destroy(idle, STREAM_NOW);
	return idle;
}

/* A complete head did not arrive in time. */
static void on_silence(void *self)
{
	connection_destroy(self, STREAM_NOW);
}

static struct connection *connection_create(struct http_server *server, struct stream *stream)
{
	struct connection *connection = xnew(struct connection);
	connection->stream = stream;
	stream_hand_over(stream, &stream_events, connection);
	connection->server = server;
	connection->receiver = &server->receiver;
	if (server->tls)
		connection->tls = tls_create(server->tls);
	buf_init(&connection->input, LIMIT_HTTP_HEAD + 2 * LIMIT_STREAM_READ);
	buf_init(&connection->head_bytes, LIMIT_HTTP_HEAD);
	buf_init(&connection->body, server->receiver.body_max);
	loop_deferred_init(&connection->proceed, server->loop, on_proceed, connection);
	if (server->receiver.body_use)
		connection->patience = loop_timer_create(server->loop, on_silence, connection);
	connection_expect_head(connection, true);
	list_append(&server->connections, &connection->link);
	server->connection_count++;
	return connection;
}

static struct connection *serve(struct http_server *server, struct stream *stream)
{
	if (stream && make_room(server))
		return connection_create(server, stream);
	stream_destroy(stream, STREAM_NOW);
	return NULL;
}

static void name_peer(struct connection *connection, const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET)
		uv_ip4_name((const struct sockaddr_in *)address, connection->peer, sizeof(connection->peer));
	else if (address->ss_family == AF_INET6)
		uv_ip6_name((const struct sockaddr_in6 *)address, connection->peer, sizeof(connection->peer));
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct http_server *server = container_of(listener, struct http_server, listener);
	if (status == 0)
		serve(server, stream_create(server->loop, listener, &stream_events, NULL, NULL));
}

void http_server_serve(struct http_server *server, int fd)
{
	struct sockaddr_storage address = {0};
	socklen_t len = sizeof(address);
	bool has_peer = getpeername(fd, (struct sockaddr *)&address, &len) == 0;
	struct connection *connection = serve(server, stream_open(server->loop, fd, &stream_events, NULL, NULL));
	if (connection && has_peer)
		name_peer(connection, &address);
}

/* --- the server -------------------------------------------------------------------------------------------- */

static int parse_address(const char *host, uint16_t port, struct sockaddr_storage *ret_address, struct error *err)
{
	if (uv_ip4_addr(host, port, (struct sockaddr_in *)ret_address) == 0 ||
	    uv_ip6_addr(host, port, (struct sockaddr_in6 *)ret_address) == 0)
		return 0;
	return error_set(err, ERR_invalid, "cannot listen on \"%s\": a numeric address such as 127.0.0.1 is needed",
	                 host);
}

static int server_listen(struct http_server *server, const char *host, uint16_t port, struct error *err)
{
	struct sockaddr_storage address;
	int refused = parse_address(host, port, &address, err);
	if (refused)
		return refused;
	int status = uv_tcp_bind(&server->listener, (struct sockaddr *)&address, 0);
	if (status == 0)
		status = uv_listen((uv_stream_t *)&server->listener, 128, on_connection);
	int len = sizeof(address);
	if (status == 0)
		status = uv_tcp_getsockname(&server->listener, (struct sockaddr *)&address, &len);
	if (status < 0)
		return error_sys(err, -status, "cannot listen on %s:%u", host, port);
	server->port = ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
	                                                   : ((struct sockaddr_in *)&address)->sin_port);
	return 0;
}

struct http_server *http_server_create_silent(struct loop *loop, http_request_fn on_request, void *self)
{
	struct http_server *server = xnew(struct http_server);
	server->loop = loop;
	server->receiver =
		(struct http_receiver){.on_request = on_request, .body_max = LIMIT_HTTP_SERVER_BODY, .self = self};
	list_init(&server->connections);
	list_init(&server->exchanges);
	uv_tcp_init(loop_uv(loop), &server->listener);
	return server;
}

struct http_server *http_server_create(struct loop *loop, const char *host, uint16_t port, http_request_fn on_request,
                                       void *self, struct error *err)
{
	struct http_server *server = http_server_create_silent(loop, on_request, self);
	if (server_listen(server, host ? host : "127.0.0.1", port, err) == 0)
		return server;
	http_server_destroy(server);
	return NULL;
}

void http_server_limit_bodies(struct http_server *server, size_t max, http_body_use_fn body_use)
{
	server->receiver.body_max = max;
	server->receiver.body_use = body_use;
}

void http_server_answer_refusals(struct http_server *server, http_refusal_fn on_refusal)
{
	server->receiver.on_refusal = on_refusal;
}

void http_server_use_tls(struct http_server *server, struct tls_server *tls)
{
	server->tls = tls;
}

void http_server_add_headers(struct http_server *server, const struct str *headers, size_t count)
{
	server->receiver.headers = headers;
	server->receiver.header_count = count;
}

void http_server_accept_http2(struct http_server *server)
{
	server->accepts_http2 = true;
}

void http_server_drain(struct http_server *server)
{
	struct connection *connection;
	list_for_each(connection, &server->connections, link) {
		if (connection->http2)
			http2_go_away(connection->http2);
	}
}

uint16_t http_server_port(const struct http_server *server)
{
	return server->port;
}

static void on_listener_closed(uv_handle_t *handle)
{
	free(container_of(handle, struct http_server, listener));
}

void http_server_destroy(struct http_server *server)
{
	if (!server)
		return;
	struct connection *connection;
	server->is_ending = true;
	list_for_each(connection, &server->connections, link)
		connection_destroy(connection, connection->exchange ? STREAM_NOW : STREAM_FLUSH);
	struct http1_exchange *exchange;
	list_for_each(exchange, &server->exchanges, link)
		free(exchange);
	tls_server_destroy(server->tls);
	uv_close((uv_handle_t *)&server->listener, on_listener_closed);
}
