/* Requests of HTTP/1.1: their heads, and their bodies as a whole or as a stream. */
#include <ctype.h>

#include "base/limits.h"
#include "net/http_server_priv.h"

void connection_expect_head(struct connection *connection, bool is_due)
{
	struct loop_timer *timer = connection->patience;
	if (timer && !is_due)
		loop_timer_stop(timer);
	else if (timer && !loop_timer_is_active(timer))
		loop_timer_start(timer, LIMIT_TOKEN_MS);
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
	return 0;
}

/* Decides how the body is passed on. Returns 0 or the status to refuse the request with. */
static int choose_body_use(struct connection *connection)
{
	const struct http_receiver *receiver = connection->receiver;
	enum http_body_use use =
		receiver->body_use ? receiver->body_use(&connection->head, receiver->self) : HTTP_BODY_WHOLE;
	connection->streams_body = use == HTTP_BODY_STREAM;
	int refused = http_body_start(&connection->framing, &connection->head,
	                              use == HTTP_BODY_WHOLE ? receiver->body_max : SIZE_MAX);
	connection->skips_body = use == HTTP_BODY_SKIP && connection->framing.state != HTTP_BODY_DONE;
	return refused;
}

/* The refusal is no answer to the request before, which may have been a HEAD. */
static int forget_head(struct connection *connection, int status)
{
	http_head_finish(&connection->head);
	connection->head = (struct http_head){0};
	return status;
}

/* Each step returns 0 to continue, -1 to wait for input, or the status to refuse the request with. */
static int read_head(struct connection *connection)
{
	size_t end = find_head_end(connection);
	if (connection->input.len && !isalpha((unsigned char)connection->input.data[0]))
		return forget_head(connection, 400); /* not HTTP: another protocol would wait for an answer forever */
	if (end > LIMIT_HTTP_HEAD || (end == 0 && connection->input.len > LIMIT_HTTP_HEAD))
		return forget_head(connection, 431);
	if (end == 0) {
		connection_expect_head(connection, connection->input.len);
		return -1;
	}
	buf_clear(&connection->head_bytes);
	buf_append(&connection->head_bytes, connection->input.data, end);
	buf_consume(&connection->input, end);
	connection->scanned = 0;
	http_head_finish(&connection->head);
	int refused = http_head_parse_request(&connection->head, buf_str(&connection->head_bytes));
	if (!refused)
		refused = check_head(connection);
	if (!refused)
		refused = choose_body_use(connection);
	connection_expect_head(connection, false);
	connection->has_said_continue = false;
	connection->untaken = 0;
	connection->state = connection->skips_body || connection->streams_body ? ANSWERING : READING_BODY;
	return refused;
}

static void say_continue(struct connection *connection)
{
	if (!connection->has_said_continue && http_head_get(&connection->head, "expect").ptr)
		connection_send(connection, STR("HTTP/1.1 100 Continue\r\n\r\n"));
	connection->has_said_continue = true;
}

static int read_body(struct connection *connection)
{
	struct str input = buf_str(&connection->input);
	int refused = http_body_feed(&connection->framing, &input, &connection->body);
	connection->moved += (int64_t)(connection->input.len - input.len);
	buf_consume(&connection->input, connection->input.len - input.len);
	if (refused)
		return refused;
	if (connection->framing.state == HTTP_BODY_DONE) {
		connection->state = ANSWERING;
		return 0;
	}
	if (connection->body.len == 0)
		say_continue(connection);
	return -1;
}

int http1_read_request(struct connection *connection)
{
	int verdict = 0;
	while (verdict == 0 && (connection->state == READING_HEAD || connection->state == READING_BODY))
		verdict = connection->state == READING_HEAD ? read_head(connection) : read_body(connection);
	return verdict;
}

/* ---- streamed bodies ---- */

static void pass(struct connection *connection, struct str bytes, bool is_end)
{
	const struct http_exchange *exchange = connection->exchange ? &connection->exchange->base : NULL;
	connection->untaken += bytes.len;
	if (exchange && exchange->events && exchange->events->on_body)
		exchange->events->on_body(bytes, is_end, exchange->self);
}

int http1_pass_body(struct connection *connection)
{
	auto_buf struct buf bytes;
	buf_init(&bytes, LIMIT_HTTP_HEAD + 2 * LIMIT_STREAM_READ);
	if (!connection->streams_body || !connection->exchange)
		return 0;
	if (connection->untaken > LIMIT_HTTP_BODY_UNTAKEN) {
		stream_pause(connection->stream);
		return 0;
	}
	struct str input = buf_str(&connection->input);
	int refused = http_body_feed(&connection->framing, &input, &bytes);
	buf_consume(&connection->input, connection->input.len - input.len);
	if (refused)
		return refused;
	if (!connection->exchange->is_head_sent)
		say_continue(connection);
	connection->streams_body = connection->framing.state != HTTP_BODY_DONE;
	pass(connection, buf_str(&bytes), !connection->streams_body);
	return 0;
}

void http1_take(struct http_exchange *base, size_t len)
{
	struct connection *connection = container_of(base, struct http1_exchange, base)->connection;
	if (!connection)
		return;
	connection->untaken -= len;
	loop_defer(&connection->proceed);
}
