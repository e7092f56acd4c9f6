/* The client with scripted peers: valid, invalid, fragmented, delayed and missing answers. */
#include "http_peer.h"

/* --- requests ------------------------------------------------------------------------------------------ */

static void test_get(void **state)
{
	struct fixture *f = *state;
	const struct str headers[] = {STR("X-One: 1"), STR("X-Empty:"), STR("accept: text/event-stream")};
	run(f, (struct http_request){.url = url(f, "/p?q=1"), .headers = headers, .header_count = countof(headers)});
	assert_ok(f, "hello");
	assert_int_equal(f->answer.heads, 1);
	assert_true(str_has_prefix(buf_str(&f->requests), "GET /p?q=1 HTTP/1.1\r\nHost: 127.0.0.1:"));
	assert_true(requests_have(f, "\r\nX-One: 1\r\n"));
	assert_true(requests_have(f, "\r\nX-Empty:\r\n"));
	assert_true(requests_have(f, "\r\naccept: text/event-stream\r\n"));
	assert_false(requests_have(f, "Accept-Encoding"));
	assert_false(requests_have(f, "*/*"));
}

static void test_post_in_segments(void **state)
{
	struct fixture *f = *state;
	const struct str headers[] = {STR("Content-Type: application/json")};
	const struct str body[] = {STR("{\"a\":"), STR(""), STR("[1,2]"), STR("}")};
	run(f, (struct http_request){
		       .method = "POST", .headers = headers, .header_count = 1, .body = body, .body_count = 4});
	assert_ok(f, "hello");
	assert_true(str_has_prefix(buf_str(&f->requests), "POST / HTTP/1.1\r\n"));
	assert_true(requests_have(f, "\r\nContent-Length: 11\r\n"));
	assert_true(requests_have(f, "\r\nContent-Type: application/json\r\n"));
	assert_false(requests_have(f, "Expect"));
	assert_false(requests_have(f, "urlencoded"));
	assert_true(str_has_suffix(buf_str(&f->requests), "\r\n\r\n{\"a\":[1,2]}"));
}

static void test_methods_and_bodies(void **state)
{
	struct fixture *f = *state;
	const struct str body[] = {STR("x")};
	run(f, (struct http_request){.method = "POST"});
	assert_ok(f, "hello");
	assert_true(requests_have(f, "\r\nContent-Length: 0\r\n"));
	run(f, (struct http_request){.method = "PUT", .body = body, .body_count = 1});
	assert_ok(f, "hello");
	assert_true(requests_have(f, "PUT / HTTP/1.1\r\n"));
	assert_true(requests_have(f, "\r\nContent-Length: 1\r\n"));
	run(f, (struct http_request){.method = "DELETE"});
	assert_ok(f, "hello");
	assert_true(requests_have(f, "DELETE / HTTP/1.1\r\n"));
	run(f, (struct http_request){.method = "HEAD"});
	assert_ok(f, "");
	assert_true(requests_have(f, "HEAD / HTTP/1.1\r\n"));
}

enum { BIG_SEGMENTS = 500, BIG_SEGMENT = 10007 };

static struct str *big_body(char **ret_bytes)
{
	char *bytes = xmalloc((size_t)BIG_SEGMENTS * BIG_SEGMENT);
	struct str *body = xcalloc(BIG_SEGMENTS, sizeof(*body));
	for (size_t i = 0; i < (size_t)BIG_SEGMENTS * BIG_SEGMENT; i++)
		bytes[i] = (char)('a' + i % 23);
	for (size_t i = 0; i < BIG_SEGMENTS; i++)
		body[i] = str_n(bytes + i * BIG_SEGMENT, BIG_SEGMENT);
	*ret_bytes = bytes;
	return body;
}

static void assert_big_body_arrived(struct fixture *f, const char *bytes)
{
	size_t size = (size_t)BIG_SEGMENTS * BIG_SEGMENT;
	assert_true(f->requests.len > size);
	assert_memory_equal(f->requests.data + f->requests.len - size, bytes, size);
}

static void test_big_post(void **state)
{
	struct fixture *f = *state;
	auto_free char *bytes = NULL;
	auto_free struct str *body = big_body(&bytes);
	run(f, (struct http_request){.method = "POST", .body = body, .body_count = BIG_SEGMENTS});
	assert_ok(f, "hello");
	assert_big_body_arrived(f, bytes);
}

static void test_requests_that_cannot_be_sent(void **state)
{
	struct fixture *f = *state;
	const struct str bad[] = {STR("X-Key: secret\r\nX-Injected: 1")};
	run(f, (struct http_request){.headers = bad, .header_count = 1});
	assert_err(f, ERR_invalid, "the header \"X-Key\" cannot be sent");
	assert_null(strstr(f->answer.err.text, "secret"));
	run(f, (struct http_request){.url = "ftp://example.com/"});
	assert_err(f, ERR_invalid, "http://");
	run(f, (struct http_request){.url = "not a url"});
	assert_err(f, ERR_invalid, "http://");
	run(f, (struct http_request){.url = "http://127.0.0.1:99999/?secret"});
	assert_err(f, ERR_invalid, "127.0.0.1:99999");
	assert_null(strstr(f->answer.err.text, "secret"));
}

/* --- connections ------------------------------------------------------------------------------------------- */

static void test_connection_is_reused_and_sleeps(void **state)
{
	struct fixture *f = *state;
	run(f, (struct http_request){0});
	assert_ok(f, "hello");
	const struct str body[] = {STR("x")};
	run(f, (struct http_request){.method = "POST", .body = body, .body_count = 1});
	assert_ok(f, "hello");
	assert_int_equal(f->peers.count, 1);
	/* Without the peer's handles, nothing may wake the loop, even though the connection is kept. */
	turn(f);
	uv_unref((uv_handle_t *)&f->listener);
	stream_pause(f->peers.items[0]->stream);
	assert_false(uv_loop_alive(loop_uv(f->loop)));
	loop_run(f->loop);
}

static void test_connection_closed_while_idle_is_replaced(void **state)
{
	struct fixture *f = *state;
	const struct str body[] = {STR("x")};
	run(f, (struct http_request){0});
	peer_close(f->peers.items[0], STREAM_NOW);
	turn(f);
	run(f, (struct http_request){.method = "POST", .body = body, .body_count = 1});
	assert_ok(f, "hello");
	assert_int_equal(f->peers.count, 2);
	assert_int_equal(f->request_count, 2);
}

static void answer_once_then_hang_up(struct fixture *f, struct peer *peer, int number)
{
	if (number == 2)
		peer_close(peer, STREAM_NOW);
	else
		answer_hello(f, peer, number);
}

static void test_post_survives_a_stale_connection(void **state)
{
	struct fixture *f = *state;
	auto_free char *bytes = NULL;
	auto_free struct str *body = big_body(&bytes);
	f->on_request = answer_once_then_hang_up;
	run(f, (struct http_request){0});
	run(f, (struct http_request){.method = "POST", .body = body, .body_count = BIG_SEGMENTS});
	assert_ok(f, "hello");
	assert_int_equal(f->peers.count, 2);
	assert_int_equal(f->request_count, 3);
	assert_big_body_arrived(f, bytes);
}

static void reset_once(struct fixture *f, struct peer *peer)
{
	f->on_raw = NULL;
	peer_close(peer, STREAM_RESET);
}

/* The server resets the kept connection while the next body is being sent. */
static void answer_and_prepare_reset(struct fixture *f, struct peer *peer, int number)
{
	answer_hello(f, peer, number);
	if (number == 1)
		f->on_raw = reset_once;
}

static void test_post_survives_a_reset_mid_body(void **state)
{
	struct fixture *f = *state;
	auto_free char *bytes = NULL;
	auto_free struct str *body = big_body(&bytes);
	f->on_request = answer_and_prepare_reset;
	run(f, (struct http_request){0});
	run(f, (struct http_request){.method = "POST", .body = body, .body_count = BIG_SEGMENTS});
	assert_ok(f, "hello");
	assert_int_equal(f->peers.count, 2);
	assert_big_body_arrived(f, bytes);
}

static void answer_first_only(struct fixture *f, struct peer *peer, int number)
{
	if (number == 1)
		answer_hello(f, peer, number);
	else
		peer_close(peer, STREAM_RESET);
}

#define EVIL "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
#define SIZED "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
#define CHUNKED "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"

#define EMPTY "HTTP/1.1 204 No Content\r\n\r\n"

static const char *first_words;

static void answer_and_more(struct fixture *f, struct peer *peer, int number)
{
	if (number == 1)
		peer_say(peer, first_words);
	else
		answer_hello(f, peer, number);
}

static void answer_with_two_lengths(struct fixture *f, struct peer *peer, int number)
{
	(void)f;
	peer_say(peer, number == 1 ? "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello"
	                           : "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 3\r\n\r\nhello");
}

static void test_a_connection_that_ended_costs_no_request(void **state)
{
	struct fixture *f = *state;
	const struct str body[] = {STR("x")};
	for (size_t i = 0; i < 5; i++) { /* libcurl detects the end only sometimes */
		run(f, (struct http_request){.method = "POST", .body = body, .body_count = 1});
		assert_ok(f, "hello");
		peer_close(f->peers.items[f->peers.count - 1], i % 2 ? STREAM_RESET : STREAM_NOW);
	}
	assert_int_equal(f->peers.count, 5);
	assert_int_equal(f->request_count, 5);
}

static void test_two_lengths_that_differ_are_refused(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_with_two_lengths;
	run(f, (struct http_request){0});
	assert_ok(f, "hello");
	run(f, (struct http_request){0});
	assert_err(f, ERR_transport, "two Content-Length headers that differ");
	assert_int_equal(f->answer.heads, 0);
}

/* Bytes that follow an answer are not the answer to the next request, and their connection is not used again. */
static void test_bytes_after_an_answer_are_no_answer(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *first, *later;
	} cases[] = {
		{SIZED EVIL, NULL},
		{CHUNKED EVIL, NULL},
		{EMPTY EVIL, NULL},
		{SIZED, EVIL},
		{CHUNKED, EVIL},
		{EMPTY, EVIL},
		{SIZED "HTTP/1.1 2", "00 OK\r\nContent-Length: 4\r\n\r\nevil"},
		{CHUNKED "HTTP/1.1 2", "00 OK\r\nContent-Length: 4\r\n\r\nevil"},
		{EMPTY "HTTP/1.1 2", "00 OK\r\nContent-Length: 4\r\n\r\nevil"},
		{SIZED "\r\n", EVIL},
		{SIZED "x", NULL},
		{CHUNKED "x", NULL},
		{EMPTY "x", NULL},
	};
	const struct str body[] = {STR("x")};
	f->on_request = answer_and_more;
	for (size_t i = 0; i < countof(cases); i++) {
		size_t peers = f->peers.count;
		first_words = cases[i].first;
		f->request_count = 0;
		run(f, (struct http_request){0});
		assert_int_equal(f->answer.err.code, ERR_none);
		if (cases[i].later)
			peer_say(f->peers.items[f->peers.count - 1], cases[i].later);
		turn(f);
		run(f, (struct http_request){.method = "POST", .body = body, .body_count = 1});
		assert_ok(f, "hello");
		assert_int_equal(f->peers.count, peers + 2);
		http_client_destroy(f->client);
		f->client = http_client_create(f->loop, NULL);
	}
}

static void test_stale_connection_is_retried_once(void **state)
{
	struct fixture *f = *state;
	const struct str body[] = {STR("x")};
	f->on_request = answer_first_only;
	run(f, (struct http_request){0});
	run(f, (struct http_request){.method = "POST", .body = body, .body_count = 1});
	assert_err(f, ERR_transport, "the connection to 127.0.0.1:");
	assert_int_equal(f->request_count, 3);
}

/* The connection ends after the server has read the whole request: whether it was carried out is unknown. */
static void test_a_request_with_is_once_is_not_sent_twice(void **state)
{
	struct fixture *f = *state;
	const struct str body[] = {STR("x")};
	f->on_request = answer_first_only;
	run(f, (struct http_request){0});
	run(f, (struct http_request){.method = "POST", .body = body, .body_count = 1, .is_once = true});
	assert_err(f, ERR_transport, "the connection to 127.0.0.1:");
	assert_int_equal(f->request_count, 2);
}

static void test_a_request_with_is_once_that_was_not_sent_is_sent(void **state)
{
	struct fixture *f = *state;
	const struct str body[] = {STR("x")};
	run(f, (struct http_request){0});
	peer_say(f->peers.items[0], "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"); /* unsolicited */
	turn(f);
	run(f, (struct http_request){.method = "POST", .body = body, .body_count = 1, .is_once = true});
	assert_ok(f, "hello");
	assert_int_equal(f->peers.count, 2);
	assert_int_equal(f->request_count, 2);
}

static void hang_up(struct fixture *f, struct peer *peer, int number)
{
	(void)f, (void)number;
	peer_close(peer, STREAM_NOW);
}

static void test_fresh_connection_is_not_retried(void **state)
{
	struct fixture *f = *state;
	f->on_request = hang_up;
	run(f, (struct http_request){.url = url(f, "/path?secret")});
	assert_err(f, ERR_transport, "the connection to 127.0.0.1:");
	assert_null(strstr(f->answer.err.text, "secret"));
	assert_int_equal(f->request_count, 1);
}

static void test_refused_connection(void **state)
{
	struct fixture *f = *state;
	run(f, (struct http_request){.url = "http://user:secret@127.0.0.1:1/?secret"});
	assert_err(f, ERR_connect, "cannot connect to 127.0.0.1:1: Connection refused");
	assert_null(strstr(f->answer.err.text, "secret"));
	setenv("http_proxy", "http://user:secret@localhost:1", 1);
	run(f, (struct http_request){0});
	unsetenv("http_proxy");
	assert_err(f, ERR_connect, "Failed to connect to localhost port 1");
	assert_non_null(strstr(f->answer.err.text, "Connection refused; check the proxy"));
	assert_null(strstr(f->answer.err.text, "secret"));
}

/* --- answers ----------------------------------------------------------------------------------------------- */

static bool on_looked_up_head(int status, const struct http_head *head, void *self)
{
	assert_str(head->reason, "Too Many Requests");
	assert_str(http_head_get(head, "retry-after"), "7");
	assert_str(http_head_get(head, "X-Blank"), "");
	assert_null(http_head_get(head, "absent").ptr);
	assert_null(http_head_get(head, "X-Trailer").ptr);
	return on_head(status, head, self);
}

static void answer_with_interim_and_trailer(struct fixture *f, struct peer *peer, int number)
{
	(void)f, (void)number;
	peer_say(peer,
	         "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nRetry-After: 1\r\n\r\n"
	         "HTTP/1.1 429 Too Many Requests\r\nRETRY-After:  7 \r\nX-Blank:\r\nTransfer-Encoding: chunked\r\n\r\n"
	         "4\r\nslow\r\n0\r\nX-Trailer: 1\r\n\r\n");
}

static void test_heads(void **state)
{
	static const struct http_handler looking = {on_looked_up_head, on_data, on_done};
	struct fixture *f = *state;
	f->on_request = answer_with_interim_and_trailer;
	start(f, (struct http_request){0}, &looking);
	finish(f);
	assert_int_equal(f->answer.err.code, ERR_none);
	assert_int_equal(f->answer.status, 429);
	assert_int_equal(f->answer.heads, 1);
	assert_str(buf_str(&f->answer.body), "slow");
}

struct crumbs {
	struct loop_deferred next;
	struct peer *peer;
	struct str rest;
	size_t size;
};
static struct crumbs crumbs;

static void send_crumb(void *self)
{
	(void)self;
	size_t size = crumbs.rest.len < crumbs.size ? crumbs.rest.len : crumbs.size;
	stream_send(crumbs.peer->stream, str_n(crumbs.rest.ptr, size));
	crumbs.rest = str_skip(crumbs.rest, size);
	if (crumbs.rest.len)
		loop_defer(&crumbs.next);
}

static void answer_in_crumbs(struct fixture *f, struct peer *peer, int number)
{
	(void)number;
	crumbs.peer = peer;
	crumbs.rest = STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: text/event-stream\r\n\r\n"
	                  "6\r\ndata: \r\nb\r\nhello world\r\n2\r\n\n\n\r\n0\r\n\r\n");
	loop_deferred_init(&crumbs.next, f->loop, send_crumb, NULL);
	loop_defer(&crumbs.next);
}

static void test_stream_in_any_split(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_in_crumbs;
	for (crumbs.size = 1; crumbs.size < 8; crumbs.size++) {
		run(f, (struct http_request){0});
		assert_ok(f, "data: hello world\n\n");
	}
	assert_int_equal(f->peers.count, 1);
}

static void answer_cut_short(struct fixture *f, struct peer *peer, int number)
{
	static const char *const answers[] = {
		"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\npart",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\nnot hex\r\n",
	};
	(void)f;
	peer_say(peer, answers[number - 1]);
	peer_close(peer, STREAM_FLUSH);
}

static void test_answer_cut_short(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_cut_short;
	for (int i = 0; i < 4; i++) {
		run(f, (struct http_request){0});
		assert_err(f, ERR_transport, "the connection to 127.0.0.1:");
		assert_str(buf_str(&f->answer.body), "part");
	}
}

static void answer_until_close(struct fixture *f, struct peer *peer, int number)
{
	(void)f, (void)number;
	peer_say(peer, "HTTP/1.1 200\r\n\r\nall of it");
	peer_close(peer, STREAM_FLUSH);
}

static void test_answer_ended_by_close(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_until_close;
	run(f, (struct http_request){0});
	assert_ok(f, "all of it");
}

static void answer_nonsense(struct fixture *f, struct peer *peer, int number)
{
	(void)f, (void)number;
	peer_say(peer, "SSH-2.0-OpenSSH_9.2\r\n");
	peer_close(peer, STREAM_FLUSH);
}

static void test_peer_that_is_no_http_server(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_nonsense;
	run(f, (struct http_request){0});
	assert_err(f, ERR_transport, "127.0.0.1:");
	assert_int_equal(f->answer.heads, 0);
}

static void answer_endless_head(struct fixture *f, struct peer *peer, int number)
{
	(void)f, (void)number;
	peer_say(peer, "HTTP/1.1 200 OK\r\n");
	for (int i = 0; i < 20000; i++)
		peer_say(peer, "X-Filler: filler\r\n");
}

static void answer_endless_interims(struct fixture *f, struct peer *peer, int number)
{
	(void)f, (void)number;
	for (int i = 0; i < 20000; i++)
		peer_say(peer, "HTTP/1.1 102 Processing\r\n\r\n");
}

static void test_head_limit(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_endless_head;
	run(f, (struct http_request){0});
	assert_err(f, ERR_limit, "has more than 65536 bytes of headers");
	f->on_request = answer_endless_interims;
	run(f, (struct http_request){0});
	assert_err(f, ERR_limit, "has more than 65536 bytes of headers");
	assert_int_equal(f->answer.heads, 0);
}

static void answer_never(struct fixture *f, struct peer *peer, int number)
{
	(void)f, (void)peer, (void)number;
}

static void answer_head_only(struct fixture *f, struct peer *peer, int number)
{
	(void)f, (void)number;
	peer_say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhe");
}

static void test_idle_timeout(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_never;
	run(f, (struct http_request){.idle_timeout_ms = 20});
	assert_err(f, ERR_timeout, "for 0.02 s");
	f->on_request = answer_head_only;
	run(f, (struct http_request){.idle_timeout_ms = 250});
	assert_err(f, ERR_timeout, "no data from 127.0.0.1:");
	assert_str(buf_str(&f->answer.body), "he");
}

/* --- cancel and pause -------------------------------------------------------------------------------------- */

static bool on_head_cancel(int status, const struct http_head *head, void *self)
{
	struct answer *answer = self;
	http_call_cancel(answer->call);
	return on_head(status, head, self);
}

static void on_data_cancel(struct str bytes, void *self)
{
	struct answer *answer = self;
	on_data(bytes, self);
	http_call_cancel(answer->call);
}

static bool on_head_refuse(int status, const struct http_head *head, void *self)
{
	on_head(status, head, self);
	return false;
}

static void run_cancelled(struct fixture *f, const struct http_handler *cancelling)
{
	start(f, (struct http_request){0}, cancelling);
	uv_unref((uv_handle_t *)&f->listener);
	loop_run(f->loop); /* ends with the call, which closes the peer's connection */
	assert_false(f->answer.is_done);
	assert_int_equal(f->answer.heads, 1);
	assert_null(f->peers.items[0]->stream);
}

static void test_cancel_in_on_head(void **state)
{
	static const struct http_handler cancelling = {on_head_cancel, on_data, on_done};
	struct fixture *f = *state;
	run_cancelled(f, &cancelling);
	assert_int_equal(f->answer.pieces, 0);
}

static void test_cancel_in_on_data(void **state)
{
	static const struct http_handler cancelling = {on_head, on_data_cancel, on_done};
	struct fixture *f = *state;
	f->on_request = answer_head_only;
	run_cancelled(f, &cancelling);
	assert_int_equal(f->answer.pieces, 1);
}

static void test_head_refused_by_caller(void **state)
{
	static const struct http_handler refusing = {on_head_refuse, on_data, on_done};
	struct fixture *f = *state;
	start(f, (struct http_request){0}, &refusing);
	finish(f);
	assert_err(f, ERR_cancelled, "");
	assert_int_equal(f->answer.pieces, 0);
}

static void test_cancel_from_outside(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_never;
	start(f, (struct http_request){0}, &handler);
	http_call_cancel(f->answer.call); /* cancelled before libcurl is loaded */
	turn(f);
	start(f, (struct http_request){0}, &handler);
	while (!f->request_count)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	http_call_cancel(f->answer.call);
	while (f->peers.items[0]->stream)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	assert_false(f->answer.is_done);
}

/* A listener whose queue is full, so that further connects to its port hang. */
struct full {
	int listener, port;
	int fillers[4];
};

static int connect_to(int port)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	assert_true(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS);
	return fd;
}

static void fill(struct full *full)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t len = sizeof(address);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	full->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(full->listener, (struct sockaddr *)&address, len), 0);
	assert_int_equal(listen(full->listener, 0), 0);
	assert_int_equal(getsockname(full->listener, (struct sockaddr *)&address, &len), 0);
	full->port = ntohs(address.sin_port);
	for (size_t i = 0; i < countof(full->fillers); i++)
		full->fillers[i] = connect_to(full->port);
}

static void count_open(uv_handle_t *handle, void *self)
{
	int *count = self;
	*count += handle->type == UV_POLL && !uv_is_closing(handle);
}

static void count_active(uv_handle_t *handle, void *self)
{
	int *count = self;
	*count += handle->type == UV_POLL && uv_is_active(handle);
}

static int count_polls(struct fixture *f, uv_walk_cb which)
{
	int count = 0;
	uv_walk(loop_uv(f->loop), which, &count);
	return count;
}

static void cancel_while_connecting(struct fixture *f, int port)
{
	char text[64];
	snprintf(text, sizeof(text), "http://127.0.0.1:%d/", port);
	start(f, (struct http_request){.url = text}, &handler);
	while (!count_polls(f, count_active))
		turn(f);
	http_call_cancel(f->answer.call);
	for (int i = 0; i < 4; i++)
		turn(f);
}

/* libcurl 7.88 does not report that it closes the socket of an abandoned connect. The next owner of its descriptor gets
 * a watch of its own, and the end of the client leaves none. */
static void test_cancel_while_connecting(void **state)
{
	struct fixture *f = *state;
	struct full full;
	run(f, (struct http_request){0}); /* libcurl is loaded then */
	int kept = count_polls(f, count_open);
	fill(&full);
	for (int i = 0; i < 3; i++)
		cancel_while_connecting(f, full.port);
	assert_true(count_polls(f, count_open) <= kept + 1);
	run(f, (struct http_request){0});
	assert_ok(f, "hello");
	http_client_destroy(steal(f->client));
	turn(f);
	assert_int_equal(count_polls(f, count_open), 0);
	for (size_t i = 0; i < countof(full.fillers); i++)
		close(full.fillers[i]);
	close(full.listener);
}

/* The callbacks of this call cancel another one. */
static void on_data_cancel_other(struct str bytes, void *self)
{
	struct http_call **other = self;
	(void)bytes;
	http_call_cancel(steal(*other));
}

static void on_done_ignore(const struct error *err, void *self)
{
	(void)err, (void)self;
}

static void answer_first_never(struct fixture *f, struct peer *peer, int number)
{
	if (number > 1)
		answer_hello(f, peer, number);
}

static void test_cancel_of_another_call(void **state)
{
	static const struct http_handler killer = {NULL, on_data_cancel_other, on_done_ignore};
	struct fixture *f = *state;
	f->on_request = answer_first_never;
	start(f, (struct http_request){0}, &handler);
	while (!f->request_count)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	struct http_request request = {.method = "GET", .url = url(f, "/")};
	http_call_start(f->client, &request, &killer, &f->answer.call);
	while (f->peers.items[0]->stream)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	assert_null(f->answer.call);
	assert_false(f->answer.is_done);
}

enum { FLOOD = 8 * MIB };

static void answer_flood(struct fixture *f, struct peer *peer, int number)
{
	auto_free char *flood = xmalloc(FLOOD);
	(void)f, (void)number;
	memset(flood, 'x', FLOOD);
	peer_say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 8388608\r\n\r\n");
	stream_send(peer->stream, str_n(flood, FLOOD));
}

static void on_data_pause(struct str bytes, void *self)
{
	struct answer *answer = self;
	on_data(bytes, self);
	http_call_pause(answer->call);
}

/* The first calls wait until libcurl is loaded. */
static void test_pause_and_resume_before_the_start(void **state)
{
	static const struct http_handler plain = {on_head, on_data, on_done};
	struct fixture *f = *state;
	f->on_request = answer_flood;
	start(f, (struct http_request){.idle_timeout_ms = 60000}, &plain);
	http_call_pause(f->answer.call);
	http_call_resume(f->answer.call);
	while (!f->answer.is_done)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	assert_int_equal(f->answer.body.len, FLOOD);
}

static void test_pause_and_resume(void **state)
{
	static const struct http_handler pausing = {on_head, on_data_pause, on_done};
	struct fixture *f = *state;
	f->on_request = answer_flood;
	start(f, (struct http_request){.idle_timeout_ms = 60000}, &pausing);
	http_call_pause(f->answer.call); /* paused from the start */
	while (!f->answer.heads)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	for (int round = 0; round < 20; round++) {
		int pieces = f->answer.pieces;
		for (int i = 0; i < 50; i++)
			turn(f);
		assert_int_equal(f->answer.pieces, pieces); /* no data while paused */
		http_call_resume(f->answer.call);
		assert_int_equal(f->answer.pieces, pieces); /* nothing during the call */
		while (f->answer.pieces == pieces)
			uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	}
	assert_true(f->answer.body.len < FLOOD / 2);
	while (!f->answer.is_done) {
		http_call_resume(f->answer.call);
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	}
	assert_int_equal(f->answer.err.code, ERR_none);
	assert_int_equal(f->answer.body.len, FLOOD);
}

static void on_later(void *self)
{
	*(bool *)self = true;
}

/* The idle timeout excludes pauses and restarts after them. */
static void test_silence_does_not_count_while_paused(void **state)
{
	struct fixture *f = *state;
	bool is_later = false;
	f->on_request = answer_never;
	start(f, (struct http_request){.idle_timeout_ms = 20}, &handler);
	http_call_pause(f->answer.call);
	struct loop_timer *timer = loop_timer_create(f->loop, on_later, &is_later);
	loop_timer_start(timer, 200);
	while (!is_later && !f->answer.is_done)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	loop_timer_destroy(timer);
	assert_false(f->answer.is_done);
	http_call_resume(f->answer.call);
	while (!f->answer.is_done)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	assert_err(f, ERR_timeout, "for 0.02 s");
}

static void test_a_flood_is_read_in_bursts(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_flood;
	start(f, (struct http_request){.idle_timeout_ms = 60000}, &handler);
	while (!f->answer.is_done) {
		size_t before = f->answer.body.len;
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
		assert_true(f->answer.body.len - before <= 3 * LIMIT_HTTP_BURST);
	}
	assert_int_equal(f->answer.err.code, ERR_none);
	assert_int_equal(f->answer.body.len, FLOOD);
}

/* --- lifetimes --------------------------------------------------------------------------------------------- */

static void test_destroy_at_any_time(void **state)
{
	struct fixture *f = *state;
	f->on_request = answer_never;
	struct http_client *unused = http_client_create(f->loop, NULL);
	http_client_destroy(unused);
	struct http_client *loading = http_client_create(f->loop, NULL);
	http_client_preload(loading);
	http_client_preload(loading);
	struct http_request request = {.method = "GET", .url = url(f, "/")};
	http_call_start(loading, &request, &handler, &f->answer);
	http_client_destroy(loading);
	start(f, (struct http_request){0}, &handler);
	while (!f->request_count)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	http_client_destroy(steal(f->client));
	assert_false(f->answer.is_done);
}

static void on_done_start_next(const struct error *err, void *self)
{
	struct answer *answer = self;
	struct fixture *f = answer->f;
	assert_null(err);
	start(f, (struct http_request){0}, &handler);
}

static void test_next_request_from_on_done(void **state)
{
	static const struct http_handler chaining = {on_head, on_data, on_done_start_next};
	struct fixture *f = *state;
	start(f, (struct http_request){0}, &chaining);
	finish(f);
	assert_ok(f, "hello");
	assert_int_equal(f->request_count, 2);
	assert_int_equal(f->peers.count, 1);
}

int main(void)
{
	forget_proxies();
	const struct CMUnitTest tests[] = {
		CLIENT_TEST(test_get),
		CLIENT_TEST(test_post_in_segments),
		CLIENT_TEST(test_methods_and_bodies),
		CLIENT_TEST(test_big_post),
		CLIENT_TEST(test_requests_that_cannot_be_sent),
		CLIENT_TEST(test_connection_is_reused_and_sleeps),
		CLIENT_TEST(test_connection_closed_while_idle_is_replaced),
		CLIENT_TEST(test_post_survives_a_stale_connection),
		CLIENT_TEST(test_post_survives_a_reset_mid_body),
		CLIENT_TEST(test_a_connection_that_ended_costs_no_request),
		CLIENT_TEST(test_two_lengths_that_differ_are_refused),
		CLIENT_TEST(test_bytes_after_an_answer_are_no_answer),
		CLIENT_TEST(test_stale_connection_is_retried_once),
		CLIENT_TEST(test_a_request_with_is_once_is_not_sent_twice),
		CLIENT_TEST(test_a_request_with_is_once_that_was_not_sent_is_sent),
		CLIENT_TEST(test_fresh_connection_is_not_retried),
		CLIENT_TEST(test_refused_connection),
		CLIENT_TEST(test_heads),
		CLIENT_TEST(test_stream_in_any_split),
		CLIENT_TEST(test_answer_cut_short),
		CLIENT_TEST(test_answer_ended_by_close),
		CLIENT_TEST(test_peer_that_is_no_http_server),
		CLIENT_TEST(test_head_limit),
		CLIENT_TEST(test_idle_timeout),
		CLIENT_TEST(test_cancel_in_on_head),
		CLIENT_TEST(test_cancel_in_on_data),
		CLIENT_TEST(test_head_refused_by_caller),
		CLIENT_TEST(test_cancel_from_outside),
		CLIENT_TEST(test_cancel_while_connecting),
		CLIENT_TEST(test_cancel_of_another_call),
		CLIENT_TEST(test_pause_and_resume),
		CLIENT_TEST(test_silence_does_not_count_while_paused),
		CLIENT_TEST(test_pause_and_resume_before_the_start),
		CLIENT_TEST(test_a_flood_is_read_in_bursts),
		CLIENT_TEST(test_destroy_at_any_time),
		CLIENT_TEST(test_next_request_from_on_done),
	};
	return cmocka_run_group_tests_name("http_client", tests, NULL, NULL);
}
