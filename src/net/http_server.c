/* A connection reads one request, waits until its exchange has ended, and reads the next; pipelined requests wait in
 * its input. Exchange and connection are separate objects because either may end first: the client may disconnect while
 * a scripted answer sleeps, and the connection survives the answer.
 *
 * Public functions only set the connection's next state (`ending`) and defer the work, so that the bytes of a request
 * stay valid throughout on_request. */
#include "net/http_server.h"

#include <ctype.h>
#include <stdio.h>
#include <uv.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "loop/stream.h"
#include "net/http_body.h"
#include "net/http_head.h"

struct http_server {
	/* private */
	struct loop *loop;
	uv_tcp_t listener;
	uint16_t port;
	http_request_fn on_request;
	http_wants_body_fn wants_body; /* NULL: all bodies are read */
	size_t body_max;
	void *self;
	struct list connections;
	size_t connection_count;
	struct list exchanges;
};

enum connection_state { READING_HEAD, READING_BODY, ANSWERING, ENDING };

struct connection {
	/* private */
	struct list link;
	struct http_server *server;
	struct stream *stream;
	enum connection_state state;
	enum stream_end ending;         /* how to end the stream, in state ENDING */
	struct http_exchange *exchange; /* non-NULL iff state is ANSWERING */
	struct buf input;               /* received, not yet parsed */
	size_t scanned;                 /* bytes of input known not to contain the end of a head */
	struct buf head_bytes;
	struct http_head head;
	struct http_body framing;
	struct buf body;
	bool has_said_continue; /* 100 Continue was sent for this request */
	bool skips_body;        /* the body is not read, so the connection must be closed */
	struct loop_deferred proceed;
};

struct http_exchange {
	/* private */
	struct list link;
	struct connection *connection; /* NULL after the client has disconnected */
	const struct http_exchange_events *events;
	void *self;
	bool is_http_1_0;
	bool is_head_request;
	bool is_head_sent;
	bool is_chunked;
	bool must_close;
	uint64_t left; /* bytes of the announced length not yet sent */
};

/* --- connections ------------------------------------------------------------------------------------------- */

static void connection_destroy(struct connection *connection, enum stream_end how)
{
	list_remove(&connection->link);
	connection->server->connection_count--;
	loop_deferred_finish(&connection->proceed);
	stream_destroy(connection->stream, how);
	http_head_finish(&connection->head);
	buf_finish(&connection->input);
	buf_finish(&connection->head_bytes);
	buf_finish(&connection->body);
	free(connection);
}

/* Sends an error status and closes the connection: after a protocol error the start of the next request is unknown. */
static void connection_refuse(struct connection *connection, int status)
{
	auto_buf struct buf text;
	buf_init(&text, KIB);
	const char *reason = http_status_reason(status);
	buf_printf(&text, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n", status, reason,
	           strlen(reason) + 1);
	buf_printf(&text, "Connection: close\r\n\r\n%s\n", reason);
	stream_send(connection->stream, buf_str(&text));
	connection_destroy(connection, STREAM_FLUSH);
}

static struct http_exchange *exchange_create(struct connection *connection)
{
	const struct http_head *head = &connection->head;
	struct http_exchange *exchange = xnew(struct http_exchange);
	exchange->connection = connection;
	exchange->is_http_1_0 = head->is_http_1_0;
	exchange->is_head_request = str_is(head->method, "HEAD");
	exchange->must_close =
		head->is_http_1_0 || connection->skips_body || http_head_has_token(head, "connection", "close");
	list_append(&connection->server->exchanges, &exchange->link);
	return exchange;
}

/* Returns the offset after the empty line that ends the head, 0 if the head is incomplete. */
static size_t find_head_end(struct connection *connection)
{
	struct str unseen = str_skip(buf_str(&connection->input), connection->scanned);
	ptrdiff_t at = str_find(unseen, STR("\r\n\r\n"));
	if (at >= 0)
		return connection->scanned + (size_t)at + 4;
	if (connection->input.len > 3)
		connection->scanned = connection->input.len - 3;
	return 0;
}

/* Checks the conditions on a request beyond its grammar. Returns 0 or the status to refuse it with. */
static int check_head(struct connection *connection)
{
	const struct http_head *head = &connection->head;
	unsigned hosts = 0;
	vec_for_each(header, &head->headers)
		hosts += str_equal_fold(header->name, STR("host"));
	if (hosts > 1 || (hosts == 0 && !head->is_http_1_0))
		return 400;
	struct str expect = http_head_get(head, "expect");
	if (expect.ptr && !str_equal_fold(expect, STR("100-continue")))
		return 417;
	return http_body_start(&connection->framing, head, connection->server->body_max);
}

static bool is_body_wanted(struct connection *connection)
{
	const struct http_server *server = connection->server;
	if (connection->framing.state == HTTP_BODY_DONE || !server->wants_body)
		return true;
	return server->wants_body(&connection->head, server->self);
}

/* Each step returns 0 to continue, -1 to wait for input, or the status to refuse the request with. */
static int read_head(struct connection *connection)
{
	size_t end = find_head_end(connection);
	if (connection->input.len && !isalpha((unsigned char)connection->input.data[0]))
		return 400; /* not HTTP: a client of another protocol would wait for an answer forever */
	if (end > LIMIT_HTTP_HEAD || (end == 0 && connection->input.len > LIMIT_HTTP_HEAD))
		return 431;
	if (end == 0)
		return -1;
	buf_clear(&connection->head_bytes);
	buf_append(&connection->head_bytes, connection->input.data, end);
	buf_consume(&connection->input, end);
	connection->scanned = 0;
	http_head_finish(&connection->head);
	int refused = http_head_parse_request(&connection->head, buf_str(&connection->head_bytes));
	if (!refused)
		refused = check_head(connection);
	connection->has_said_continue = false;
	connection->skips_body = !refused && !is_body_wanted(connection);
	connection->state = connection->skips_body ? ANSWERING : READING_BODY;
	return refused;
}

static int read_body(struct connection *connection)
{
	struct str input = buf_str(&connection->input);
	int refused = http_body_feed(&connection->framing, &input, &connection->body);
	buf_consume(&connection->input, connection->input.len - input.len);
	if (refused)
		return refused;
	if (connection->framing.state == HTTP_BODY_DONE) {
		connection->state = ANSWERING;
		return 0;
	}
	if (!connection->has_said_continue && connection->body.len == 0 &&
	    http_head_get(&connection->head, "expect").ptr)
		stream_send(connection->stream, STR("HTTP/1.1 100 Continue\r\n\r\n"));
	connection->has_said_continue = true;
	return -1;
}

static void connection_dispatch(struct connection *connection)
{
	struct http_server *server = connection->server;
	connection->exchange = exchange_create(connection);
	server->on_request(connection->exchange, &connection->head, buf_str(&connection->body), server->self);
	buf_finish(&connection->body);
}

static void on_proceed(void *self)
{
	struct connection *connection = self;
	if (connection->state == ENDING) {
		connection_destroy(connection, connection->ending);
		return;
	}
	stream_resume(connection->stream);
	int verdict = 0;
	while (verdict == 0 && connection->state != ANSWERING)
		verdict = connection->state == READING_HEAD ? read_head(connection) : read_body(connection);
	if (verdict > 0)
		connection_refuse(connection, verdict);
	else if (connection->state == ANSWERING && !connection->exchange)
		connection_dispatch(connection);
}

static void on_stream_bytes(struct str bytes, void *self)
{
	struct connection *connection = self;
	buf_append_str(&connection->input, bytes);
	if (connection->state == ANSWERING || connection->state == ENDING) {
		if (connection->input.len > LIMIT_HTTP_HEAD)
			stream_pause(connection->stream);
		return;
	}
	on_proceed(connection);
}

static void on_stream_writable(void *self)
{
	struct connection *connection = self;
	struct http_exchange *exchange = connection->exchange;
	if (exchange && exchange->events && exchange->events->on_writable)
		exchange->events->on_writable(exchange->self);
}

static void on_stream_end(const struct error *err, void *self)
{
	struct connection *connection = self;
	struct http_exchange *exchange = connection->exchange;
	(void)err;
	connection_destroy(connection, STREAM_NOW);
	if (!exchange)
		return;
	exchange->connection = NULL;
	if (exchange->events && exchange->events->on_gone)
		exchange->events->on_gone(exchange->self);
}

static const struct stream_events stream_events = {
	.on_bytes = on_stream_bytes,
	.on_end = on_stream_end,
	.on_writable = on_stream_writable,
};

/* Evicts the connection that has been idle longest when the limit is reached, so that idle clients cannot block
 * others. */
static bool make_room(struct http_server *server)
{
	if (server->connection_count < LIMIT_HTTP_CONNECTIONS)
		return true;
	struct connection *connection;
	list_for_each(connection, &server->connections, link) {
		if (connection->state == READING_HEAD) {
			connection_destroy(connection, STREAM_NOW);
			return true;
		}
	}
	return false;
}

static void connection_create(struct http_server *server, struct stream *stream)
{
	struct connection *connection = xnew(struct connection);
	connection->stream = stream;
	stream_hand_over(stream, &stream_events, connection);
	connection->server = server;
	buf_init(&connection->input, LIMIT_HTTP_HEAD + 2 * LIMIT_STREAM_READ);
	buf_init(&connection->head_bytes, LIMIT_HTTP_HEAD);
	buf_init(&connection->body, server->body_max);
	loop_deferred_init(&connection->proceed, server->loop, on_proceed, connection);
	list_append(&server->connections, &connection->link);
	server->connection_count++;
}

static void on_connection(uv_stream_t *listener, int status)
{
	struct http_server *server = container_of(listener, struct http_server, listener);
	if (status < 0)
		return;
	struct stream *stream = stream_create(server->loop, listener, &stream_events, NULL, NULL);
	if (stream && make_room(server))
		connection_create(server, stream);
	else
		stream_destroy(stream, STREAM_NOW);
}

/* --- answers ----------------------------------------------------------------------------------------------- */

void http_exchange_watch(struct http_exchange *exchange, const struct http_exchange_events *events, void *self)
{
	exchange->events = events;
	exchange->self = self;
}

static bool exchange_send(struct http_exchange *exchange, struct str bytes)
{
	return !exchange->connection || stream_send(exchange->connection->stream, bytes);
}

static void exchange_end(struct http_exchange *exchange, bool must_close, enum stream_end how)
{
	struct connection *connection = exchange->connection;
	list_remove(&exchange->link);
	free(exchange);
	if (!connection)
		return;
	connection->exchange = NULL;
	connection->state = must_close ? ENDING : READING_HEAD;
	connection->ending = how;
	loop_defer(&connection->proceed);
}

/* Appends the headers that frame the body, and chooses how its end is marked. */
static void append_framing(struct http_exchange *exchange, struct buf *out, int status, int64_t length)
{
	bool has_body = status >= 200 && status != 204 && status != 304;
	if (has_body && length >= 0)
		buf_printf(out, "Content-Length: %lld\r\n", (long long)length);
	else if (has_body && exchange->is_http_1_0)
		exchange->must_close = true;
	else if (has_body)
		buf_append_c(out, "Transfer-Encoding: chunked\r\n");
	if (exchange->is_head_request)
		has_body = false;
	exchange->is_chunked = has_body && length < 0 && !exchange->is_http_1_0;
	exchange->left = !has_body ? 0 : length < 0 ? UINT64_MAX : (uint64_t)length;
}

static void append_header(struct http_exchange *exchange, struct buf *out, struct str line)
{
	struct http_header header;
	if (!http_header_parse(line, &header))
		return;
	if (str_equal_fold(header.name, STR("connection")) && http_list_has(header.value, "close")) {
		exchange->must_close = true;
		return;
	}
	buf_append_str(out, line);
	buf_append_c(out, "\r\n");
}

void http_reply_head(struct http_exchange *exchange, int status, const struct str *headers, size_t header_count,
                     int64_t length)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_HTTP_SERVER_BODY);
	buf_printf(&out, "HTTP/1.1 %03d %s\r\n", status, http_status_reason(status));
	for (size_t i = 0; i < header_count; i++)
		append_header(exchange, &out, headers[i]);
	append_framing(exchange, &out, status, length);
	buf_append_c(&out, exchange->must_close ? "Connection: close\r\n\r\n" : "\r\n");
	exchange->is_head_sent = true;
	exchange_send(exchange, buf_str(&out));
}

static bool reply_chunk(struct http_exchange *exchange, struct str bytes)
{
	char line[24];
	snprintf(line, sizeof(line), "%zx\r\n", bytes.len);
	exchange_send(exchange, str_of(line));
	exchange_send(exchange, bytes);
	return exchange_send(exchange, STR("\r\n"));
}

bool http_reply_data(struct http_exchange *exchange, struct str bytes)
{
	if (exchange->left < bytes.len)
		bytes.len = (size_t)exchange->left;
	if (bytes.len == 0)
		return true;
	if (exchange->is_chunked)
		return reply_chunk(exchange, bytes);
	if (exchange->left != UINT64_MAX)
		exchange->left -= bytes.len;
	return exchange_send(exchange, bytes);
}

void http_reply_end(struct http_exchange *exchange)
{
	bool must_close = exchange->must_close || !exchange->is_head_sent;
	if (exchange->is_chunked)
		exchange_send(exchange, STR("0\r\n\r\n"));
	else if (exchange->left)
		must_close = true;
	exchange_end(exchange, must_close, STREAM_FLUSH);
}

void http_reply(struct http_exchange *exchange, int status, const char *content_type, struct str body)
{
	char line[256];
	snprintf(line, sizeof(line), "Content-Type: %s", content_type ? content_type : "");
	struct str header = str_of(line);
	http_reply_head(exchange, status, &header, content_type ? 1 : 0, (int64_t)body.len);
	http_reply_data(exchange, body);
	http_reply_end(exchange);
}

bool http_reply_raw(struct http_exchange *exchange, struct str bytes)
{
	exchange->must_close = true;
	return exchange_send(exchange, bytes);
}

void http_exchange_abort(struct http_exchange *exchange, enum http_abort how)
{
	exchange_end(exchange, true, how == HTTP_ABORT_RESET ? STREAM_RESET : STREAM_FLUSH);
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

struct http_server *http_server_create(struct loop *loop, const char *host, uint16_t port, http_request_fn on_request,
                                       void *self, struct error *err)
{
	struct http_server *server = xnew(struct http_server);
	server->loop = loop;
	server->on_request = on_request;
	server->self = self;
	server->body_max = LIMIT_HTTP_SERVER_BODY;
	list_init(&server->connections);
	list_init(&server->exchanges);
	uv_tcp_init(loop_uv(loop), &server->listener);
	if (server_listen(server, host ? host : "127.0.0.1", port, err) == 0)
		return server;
	http_server_destroy(server);
	return NULL;
}

void http_server_limit_bodies(struct http_server *server, size_t max, http_wants_body_fn wants_body)
{
	server->body_max = max;
	server->wants_body = wants_body;
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
	list_for_each(connection, &server->connections, link)
		connection_destroy(connection, connection->exchange ? STREAM_NOW : STREAM_FLUSH);
	struct http_exchange *exchange;
	list_for_each(exchange, &server->exchanges, link)
		free(exchange);
	uv_close((uv_handle_t *)&server->listener, on_listener_closed);
}
