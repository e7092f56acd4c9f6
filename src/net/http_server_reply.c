/* Answers: the calls of receivers, and how HTTP/1.1 frames what they send. HTTP/2 is in http_server_http2.c. */
#include <stdio.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/http_server_priv.h"
#include "net/tls_server.h"

/* ---- the socket ---- */

bool connection_send(struct connection *connection, struct str bytes)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	connection->moved += (int64_t)bytes.len;
	if (!connection->tls)
		return stream_send(connection->stream, bytes);
	tls_send(connection->tls, bytes, &out);
	return stream_send(connection->stream, buf_str(&out));
}

void connection_end_tls(struct connection *connection, enum stream_end how)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	if (connection->tls && how == STREAM_FLUSH) {
		tls_close(connection->tls, &out);
		stream_send(connection->stream, buf_str(&out));
	}
	tls_destroy(connection->tls);
}

/* ---- HTTP/1.1 ---- */

static struct http1_exchange *http1(struct http_exchange *base)
{
	return container_of(base, struct http1_exchange, base);
}

static bool exchange_send(struct http1_exchange *exchange, struct str bytes)
{
	return !exchange->connection || connection_send(exchange->connection, bytes);
}

static void exchange_end(struct http1_exchange *exchange, bool must_close, enum stream_end how)
{
	struct connection *connection = exchange->connection;
	list_remove(&exchange->link);
	free(exchange);
	if (!connection)
		return;
	connection->exchange = NULL;
	connection->streams_body = false;
	connection->state = must_close ? ENDING : READING_HEAD;
	connection->ending = how;
	connection_rest(connection);
	loop_defer(&connection->proceed);
}

/* Appends the headers that frame the body, and chooses how its end is marked. */
static void append_framing(struct http1_exchange *exchange, struct buf *out, int status, int64_t length)
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

static void append_header(struct http1_exchange *exchange, struct buf *out, struct str line)
{
	struct http_header header;
	if (!http_header_parse(line, &header) || http_receiver_has(exchange->connection->receiver, header.name))
		return;
	if (str_equal_fold(header.name, STR("connection")) && http_list_has(header.value, "close")) {
		exchange->must_close = true;
		return;
	}
	buf_append_str(out, line);
	buf_append_c(out, "\r\n");
}

static void on_http1_head(struct http_exchange *base, int status, const struct str *headers, size_t header_count,
                          int64_t length)
{
	auto_buf struct buf out;
	struct http1_exchange *exchange = http1(base);
	buf_init(&out, LIMIT_HTTP_SERVER_BODY);
	exchange->is_head_sent = true;
	if (!exchange->connection)
		return;
	const struct http_receiver *receiver = exchange->connection->receiver;
	buf_printf(&out, "HTTP/1.1 %03d %s\r\n", status, http_status_reason(status));
	for (size_t i = 0; i < header_count; i++)
		append_header(exchange, &out, headers[i]);
	for (size_t i = 0; i < receiver->header_count; i++) {
		buf_append_str(&out, receiver->headers[i]);
		buf_append_c(&out, "\r\n");
	}
	append_framing(exchange, &out, status, length);
	buf_append_c(&out, exchange->must_close ? "Connection: close\r\n\r\n" : "\r\n");
	exchange->is_head_sent = true;
	exchange_send(exchange, buf_str(&out));
}

static bool reply_chunk(struct http1_exchange *exchange, struct str bytes)
{
	char line[24];
	snprintf(line, sizeof(line), "%zx\r\n", bytes.len);
	exchange_send(exchange, str_of(line));
	exchange_send(exchange, bytes);
	return exchange_send(exchange, STR("\r\n"));
}

static bool on_http1_data(struct http_exchange *base, struct str bytes)
{
	struct http1_exchange *exchange = http1(base);
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

/* Trailers are omitted: nothing that HTTP/1.1 serves has any. */
static void on_http1_end(struct http_exchange *base, const struct str *trailers, size_t count)
{
	struct http1_exchange *exchange = http1(base);
	bool must_close = exchange->must_close || !exchange->is_head_sent;
	(void)trailers;
	(void)count;
	if (exchange->is_chunked)
		exchange_send(exchange, STR("0\r\n\r\n"));
	else if (exchange->left)
		must_close = true;
	exchange_end(exchange, must_close, STREAM_FLUSH);
}

static bool on_http1_raw(struct http_exchange *base, struct str bytes)
{
	http1(base)->must_close = true;
	return exchange_send(http1(base), bytes);
}

static void on_http1_abort(struct http_exchange *base, enum http_abort how)
{
	exchange_end(http1(base), true, how == HTTP_ABORT_RESET ? STREAM_RESET : STREAM_FLUSH);
}

const struct http_exchange_ops http1_ops = {
	.head = on_http1_head,
	.data = on_http1_data,
	.end = on_http1_end,
	.abort = on_http1_abort,
	.raw = on_http1_raw,
	.take = http1_take,
};

/* ---- either version ---- */

void http_exchange_watch(struct http_exchange *exchange, const struct http_exchange_events *events, void *self)
{
	exchange->events = events;
	exchange->self = self;
}

const char *http_exchange_peer(const struct http_exchange *exchange)
{
	return exchange->peer ? exchange->peer : "";
}

bool http_receiver_has(const struct http_receiver *receiver, struct str name)
{
	for (size_t i = 0; i < receiver->header_count; i++) {
		struct http_header header;
		if (http_header_parse(receiver->headers[i], &header) && str_equal_fold(header.name, name))
			return true;
	}
	return false;
}

bool http_exchange_is_http2(const struct http_exchange *exchange)
{
	return exchange->ops != &http1_ops;
}

void http_exchange_take(struct http_exchange *exchange, size_t len)
{
	if (exchange->ops->take)
		exchange->ops->take(exchange, len);
}

bool http_exchange_store(struct http_exchange *exchange, size_t len)
{
	return !exchange->ops->store || exchange->ops->store(exchange, len);
}

void http_reply_head(struct http_exchange *exchange, int status, const struct str *headers, size_t header_count,
                     int64_t length)
{
	exchange->ops->head(exchange, status, headers, header_count, length);
}

bool http_reply_data(struct http_exchange *exchange, struct str bytes)
{
	return exchange->ops->data(exchange, bytes);
}

void http_reply_end(struct http_exchange *exchange)
{
	exchange->ops->end(exchange, NULL, 0);
}

void http_reply_end_with(struct http_exchange *exchange, const struct str *trailers, size_t trailer_count)
{
	exchange->ops->end(exchange, trailers, trailer_count);
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

void http_refuse(const struct http_receiver *receiver, struct http_exchange *exchange, int status)
{
	char text[64];
	snprintf(text, sizeof(text), "%s\n", http_status_reason(status));
	if (receiver->on_refusal)
		receiver->on_refusal(exchange, status, receiver->self);
	else
		http_reply(exchange, status, "text/plain", str_of(text));
}

bool http_reply_raw(struct http_exchange *exchange, struct str bytes)
{
	return exchange->ops->raw && exchange->ops->raw(exchange, bytes);
}

void http_exchange_abort(struct http_exchange *exchange, enum http_abort how)
{
	exchange->ops->abort(exchange, how);
}
