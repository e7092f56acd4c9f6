/* The server through a raw socket: accepted and refused requests, answers, hostile clients. */
#include "test.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http_head.h"
#include "net/http_server.h"

struct fixture {
	struct loop *loop;
	struct http_server *server;
	int fd;
	struct buf seen;                /* each request as "METHOD target|header|body\n" */
	struct http_exchange *exchange; /* set by on_request if `keep` */
	bool keep;
	int gone, writable;
};

static void on_request(struct http_exchange *exchange, const struct http_head *head, struct str body, void *self)
{
	struct fixture *f = self;
	struct str probe = http_head_get(head, "X-Probe");
	buf_printf(&f->seen, "%.*s %.*s|%.*s|", STR_ARG(head->method), STR_ARG(head->target), STR_ARG(probe));
	buf_append_str(&f->seen, body);
	buf_append_char(&f->seen, '\n');
	if (f->keep)
		f->exchange = exchange;
	else
		http_reply(exchange, 200, "text/plain", STR("hello"));
}

static void on_gone(void *self)
{
	((struct fixture *)self)->gone++;
}

static void on_writable(void *self)
{
	((struct fixture *)self)->writable++;
}

static const struct http_exchange_events events = {.on_gone = on_gone, .on_writable = on_writable};

static int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);
	struct error err;
	f->loop = loop_create(&err);
	f->server = http_server_create(f->loop, NULL, 0, on_request, f, &err);
	assert_non_null(f->server);
	buf_init(&f->seen, 8 * MIB);
	f->fd = -1;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	http_server_destroy(f->server);
	if (f->fd >= 0)
		close(f->fd);
	loop_destroy(f->loop);
	buf_finish(&f->seen);
	free(f);
	return 0;
}

static void client_connect(struct fixture *f)
{
	struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(http_server_port(f->server))};
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (f->fd >= 0)
		close(f->fd);
	f->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(f->fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(fcntl(f->fd, F_SETFL, O_NONBLOCK), 0);
}

static void turn(struct fixture *f)
{
	uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

static void client_send(struct fixture *f, struct str bytes)
{
	while (bytes.len) {
		ssize_t sent = send(f->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN)
			return;
		if (sent > 0)
			bytes = str_skip(bytes, (size_t)sent);
		turn(f);
	}
}

/* Reads until the connection is closed (true, or an errno in *ret_error) or the answer ends with `until`. */
static bool client_read(struct fixture *f, struct buf *out, const char *until, int *ret_error)
{
	for (;;) {
		char bytes[16384];
		turn(f);
		ssize_t got = recv(f->fd, bytes, sizeof(bytes), 0);
		if (got == 0)
			return true;
		if (got < 0 && errno != EAGAIN) {
			if (ret_error)
				*ret_error = errno;
			return true;
		}
		if (got > 0)
			buf_append(out, bytes, (size_t)got);
		if (until && str_has_suffix(buf_str(out), until))
			return false;
	}
}

/* Sends a request on a new connection and checks the start of the answer; reads until `until` or the close. */
static void expect_answer(struct fixture *f, struct str request, const char *begins, const char *until)
{
	auto_buf struct buf answer;
	buf_init(&answer, 8 * MIB);
	client_connect(f);
	client_send(f, request);
	bool is_closed = client_read(f, &answer, until, NULL);
	if (!str_has_prefix(buf_str(&answer), begins))
		fail_msg("got \"%s\", want \"%s\"", answer.data ? answer.data : "", begins);
	assert_int_equal(is_closed, until == NULL);
}

static void test_get(void **state)
{
	struct fixture *f = *state;
	expect_answer(f, STR("GET /a?b=1 HTTP/1.1\r\nHost: x\r\nx-probe:  yes \r\n\r\n"),
	              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello", "hello");
	assert_str(buf_str(&f->seen), "GET /a?b=1|yes|\n");
}

static void test_body_by_length_in_single_bytes(void **state)
{
	struct fixture *f = *state;
	struct str request = STR("POST /r HTTP/1.1\r\nHost: x\r\nContent-Length: 6\r\n\r\nab\ncd\n");
	client_connect(f);
	for (size_t i = 0; i < request.len; i++)
		client_send(f, str_n(request.ptr + i, 1));
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	assert_false(client_read(f, &answer, "hello", NULL));
	assert_str(buf_str(&f->seen), "POST /r||ab\ncd\n\n");
}

static void test_body_in_chunks(void **state)
{
	struct fixture *f = *state;
	struct str request = STR("POST /r HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
	                         "3;name=value\r\nabc\r\n0A\r\n0123456789\r\n0\r\nTrailer: x\r\n\r\n");
	expect_answer(f, request, "HTTP/1.1 200 OK", "hello");
	client_connect(f);
	for (size_t i = 0; i < request.len; i++)
		client_send(f, str_n(request.ptr + i, 1));
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	assert_false(client_read(f, &answer, "hello", NULL));
	assert_str(buf_str(&f->seen), "POST /r||abc0123456789\nPOST /r||abc0123456789\n");
}

static void test_big_body(void **state)
{
	struct fixture *f = *state;
	size_t size = 3 * MIB;
	auto_free char *body = xmalloc(size);
	memset(body, 'x', size);
	client_connect(f);
	client_send(f, STR("POST /r HTTP/1.1\r\nHost: x\r\nContent-Length: 3145728\r\n\r\n"));
	client_send(f, str_n(body, size));
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	assert_false(client_read(f, &answer, "hello", NULL));
	assert_int_equal(f->seen.len, strlen("POST /r||\n") + size);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *request;
		const char *answer;
	} cases[] = {
		{"\r\n\r\n", "HTTP/1.1 400 "},
		{"GET /\r\n\r\n", "HTTP/1.1 400 "},
		{"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 "},
		{"GET / HTTP/1.1 \r\nHost: x\r\n\r\n", "HTTP/1.1 505 "},
		{"GET / HTTP/2.0\r\nHost: x\r\n\r\n", "HTTP/1.1 505 "},
		{"GET / SPDY/1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 "},
		{"G@T / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 "},
		{"GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400 "},
		{"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", "HTTP/1.1 400 "},
		{"GET / HTTP/1.1\nHost: x\r\n\r\n", "HTTP/1.1 400 "},
		{"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", "HTTP/1.1 400 "},
		{"GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n", "HTTP/1.1 400 "},
		{"GET / HTTP/1.1\r\nHost : x\r\n\r\n", "HTTP/1.1 400 "},
		{"GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n", "HTTP/1.1 400 "},
		{"GET / HTTP/1.1\r\nHost: x\r\nno colon\r\n\r\n", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9999999999\r\n\r\n", "HTTP/1.1 413 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip\r\n\r\n", "HTTP/1.1 501 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
	         "HTTP/1.1 400 "},
		{"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n10000000000000001\r\na\r\n0\r\n\r\n",
	         "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\nab", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", "HTTP/1.1 400 "},
		{"POST / HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nContent-Length: 1\r\n\r\n", "HTTP/1.1 417 "},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < countof(cases); i++) {
		expect_answer(f, str_of(cases[i].request), cases[i].answer, NULL);
	}
	assert_int_equal(f->seen.len, 0);
}

static void test_head_limit(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf request;
	buf_init(&request, MIB);
	buf_append_c(&request, "GET / HTTP/1.1\r\nHost: x\r\nA: ");
	while (request.len < LIMIT_HTTP_HEAD + 1000)
		buf_append_c(&request, "aaaaaaaaaaaaaaaa");
	expect_answer(f, buf_str(&request), "HTTP/1.1 431 ", NULL);
	buf_append_c(&request, "\r\n\r\n");
	expect_answer(f, buf_str(&request), "HTTP/1.1 431 ", NULL);
}

/* Each line is short; together they exceed the limit of a head. */
static void test_endless_trailer(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf request;
	buf_init(&request, MIB);
	buf_append_c(&request, "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"
	                       "Transfer-Encoding: chunked\r\n\r\n0\r\n");
	while (request.len < LIMIT_HTTP_HEAD + 1 * KIB)
		buf_append_c(&request, "X-More: and more\r\n");
	buf_append_c(&request, "\r\n");
	expect_answer(f, buf_str(&request), "HTTP/1.1 400 ", NULL);
}

static void test_endless_chunk_line(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf request;
	buf_init(&request, MIB);
	buf_append_c(&request, "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1;");
	while (request.len < 4 * KIB)
		buf_append_c(&request, "aaaaaaaaaaaaaaaa");
	expect_answer(f, buf_str(&request), "HTTP/1.1 400 ", NULL);
}

static void test_keep_alive_and_pipelining(void **state)
{
	struct fixture *f = *state;
	client_connect(f);
	client_send(f, STR("GET /1 HTTP/1.1\r\nHost: x\r\n\r\nGET /2 HTTP/1.1\r\nHost: x\r\n\r\n"
	                   "GET /3 HTTP/1.1\r\nHost: x\r\nConnection: te, Close\r\n\r\n"));
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	assert_true(client_read(f, &answer, NULL, NULL));
	assert_str(buf_str(&f->seen), "GET /1||\nGET /2||\nGET /3||\n");
	assert_true(str_has_suffix(buf_str(&answer), "Connection: close\r\n\r\nhello"));
}

static void test_http_1_0_closes(void **state)
{
	expect_answer(*state, STR("GET / HTTP/1.0\r\n\r\n"), "HTTP/1.1 200 OK\r\n", NULL);
}

static void test_head_request_has_no_body(void **state)
{
	expect_answer(*state, STR("HEAD / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"),
	              "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\nConnection: close\r\n\r\n",
	              NULL);
}

static void test_expect_continue(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	client_connect(f);
	client_send(f, STR("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n"));
	assert_false(client_read(f, &answer, "\r\n\r\n", NULL));
	assert_str(buf_str(&answer), "HTTP/1.1 100 Continue\r\n\r\n");
	client_send(f, STR("ok"));
	assert_false(client_read(f, &answer, "hello", NULL));
	assert_str(buf_str(&f->seen), "POST /||ok\n");
}

/* Checked for any number of pieces of the body. */
static void test_one_continue_a_request(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	client_connect(f);
	for (int i = 0; i < 2; i++) {
		client_send(f, STR("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nTransfer-Encoding: "
		                   "chunked\r\n\r\n"));
		assert_false(client_read(f, &answer, "\r\n\r\n", NULL));
		client_send(f, STR("0"));
		for (int round = 0; round < 3; round++)
			turn(f);
		client_send(f, STR("00"));
		for (int round = 0; round < 3; round++)
			turn(f);
		client_send(f, STR("2\r\nok\r\n0\r\n\r\n"));
		assert_false(client_read(f, &answer, "hello", NULL));
		assert_true(str_has_prefix(buf_str(&answer), "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 "));
		buf_clear(&answer);
	}
}

/* Sends a request; its exchange is f->exchange. */
static void start_exchange(struct fixture *f, struct str request)
{
	f->keep = true;
	f->exchange = NULL;
	client_connect(f);
	client_send(f, request);
	while (!f->exchange)
		turn(f);
	http_exchange_watch(f->exchange, &events, f);
}

static void test_chunked_answer_over_time(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	const struct str headers[] = {STR("X-One: 1"), STR("Bad: a\r\nInjected: 1"), STR("X-Two: 2")};
	http_reply_head(f->exchange, 418, headers, countof(headers), HTTP_CHUNKED);
	assert_true(http_reply_data(f->exchange, STR("hello ")));
	assert_false(client_read(f, &answer, "hello \r\n", NULL));
	assert_true(http_reply_data(f->exchange, STR("")));
	assert_true(http_reply_data(f->exchange, STR("0123456789abcdef")));
	http_reply_end(f->exchange);
	assert_false(client_read(f, &answer, "0\r\n\r\n", NULL));
	assert_str(buf_str(&answer),
	           "HTTP/1.1 418 Unknown\r\nX-One: 1\r\nX-Two: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
	           "6\r\nhello \r\n10\r\n0123456789abcdef\r\n0\r\n\r\n");
	f->keep = false;
	client_send(f, STR("GET /next HTTP/1.1\r\nHost: x\r\n\r\n"));
	assert_false(client_read(f, &answer, "hello", NULL));
}

static void test_unsized_answer_to_http_1_0(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	start_exchange(f, STR("GET / HTTP/1.0\r\n\r\n"));
	http_reply_head(f->exchange, 200, NULL, 0, HTTP_CHUNKED);
	http_reply_data(f->exchange, STR("plain"));
	http_reply_end(f->exchange);
	assert_true(client_read(f, &answer, NULL, NULL));
	assert_str(buf_str(&answer), "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nplain");
}

static void test_length_is_kept(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	http_reply_head(f->exchange, 200, NULL, 0, 4);
	http_reply_data(f->exchange, STR("123456"));
	http_reply_end(f->exchange);
	assert_false(client_read(f, &answer, "1234", NULL));
	/* an incomplete answer ends with the close */
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	http_reply_head(f->exchange, 200, NULL, 0, 4);
	http_reply_data(f->exchange, STR("12"));
	http_reply_end(f->exchange);
	assert_true(client_read(f, &answer, NULL, NULL));
	assert_true(str_has_suffix(buf_str(&answer), "\r\n\r\n12"));
}

static void test_raw_and_aborted_answers(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	http_reply_raw(f->exchange, STR("garbage"));
	http_reply_end(f->exchange);
	assert_true(client_read(f, &answer, NULL, NULL));
	assert_str(buf_str(&answer), "garbage");

	buf_clear(&answer);
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	http_reply_head(f->exchange, 200, NULL, 0, HTTP_CHUNKED);
	http_reply_data(f->exchange, STR("half"));
	http_exchange_abort(f->exchange, HTTP_ABORT_CLOSE);
	int error = 0;
	assert_true(client_read(f, &answer, NULL, &error));
	assert_int_equal(error, 0);
	assert_true(str_has_suffix(buf_str(&answer), "4\r\nhalf\r\n"));

	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	http_exchange_abort(f->exchange, HTTP_ABORT_RESET);
	assert_true(client_read(f, &answer, NULL, &error));
	assert_int_equal(error, ECONNRESET);
	assert_int_equal(f->gone, 0);
}

static void test_client_vanishes(void **state)
{
	struct fixture *f = *state;
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	http_reply_head(f->exchange, 200, NULL, 0, HTTP_CHUNKED);
	close(steal_fd(&f->fd));
	while (!f->gone)
		turn(f);
	assert_true(http_reply_data(f->exchange, STR("nobody listens")));
	http_reply_end(f->exchange);
	turn(f);
	assert_int_equal(f->gone, 1);
}

static void test_high_water_mark(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf answer;
	buf_init(&answer, 64 * MIB);
	auto_free char *block = xcalloc(1, 64 * KIB);
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));
	http_reply_head(f->exchange, 200, NULL, 0, HTTP_CHUNKED);
	size_t sent = 0;
	while (http_reply_data(f->exchange, str_n(block, 64 * KIB)))
		sent++;
	turn(f);
	assert_int_equal(f->writable, 0);
	while (!f->writable) {
		char bytes[16384];
		ssize_t got = recv(f->fd, bytes, sizeof(bytes), 0);
		if (got > 0)
			buf_append(&answer, bytes, (size_t)got);
		turn(f);
	}
	http_reply_end(f->exchange);
	assert_true(client_read(f, &answer, NULL, NULL));
	assert_true(answer.len > (sent + 1) * 64 * KIB);
	assert_int_equal(f->writable, 1);
}

static void test_flood_while_answering(void **state)
{
	struct fixture *f = *state;
	auto_free char *flood = xcalloc(1, 512 * KIB);
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	for (int i = 0; i < 64; i++) {
		send(f->fd, flood, 512 * KIB, MSG_NOSIGNAL);
		turn(f);
	}
	assert_int_equal(f->gone, 0); /* the queue of a client that does not read is limited */
	http_reply(f->exchange, 200, NULL, STR("done"));
	auto_buf struct buf answer;
	buf_init(&answer, KIB);
	client_read(f, &answer, "done", NULL);
	assert_true(str_has_prefix(buf_str(&answer), "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone"));
}

static void test_destroy_with_open_exchanges(void **state)
{
	struct fixture *f = *state;
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	http_reply_head(f->exchange, 200, NULL, 0, HTTP_CHUNKED);
	close(steal_fd(&f->fd));
	while (!f->gone)
		turn(f);
	start_exchange(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	http_reply_data(f->exchange, STR("queued"));
	http_server_destroy(steal(f->server));
	turn(f);
	assert_int_equal(f->gone, 1);
}

/* ---- a full server ---- */

static int open_client(struct fixture *f)
{
	f->fd = -1;
	client_connect(f);
	return f->fd;
}

/* Sends one request on a connection and reads the whole answer, or returns false if the connection was closed. */
static bool ask(struct fixture *f, int fd)
{
	auto_buf struct buf answer;
	buf_init(&answer, MIB);
	f->fd = fd;
	client_send(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	client_read(f, &answer, "hello", NULL);
	return str_has_prefix(buf_str(&answer), "HTTP/1.1 200 ");
}

/* Neither a client that has not read its answer yet nor one whose last request is recent makes room for a newcomer. */
static void test_eviction_order(void **state)
{
	struct fixture *f = *state;
	static int clients[LIMIT_HTTP_CONNECTIONS];
	struct rlimit limit;
	auto_buf struct buf body, answer;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = limit.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (limit.rlim_cur < 2 * LIMIT_HTTP_CONNECTIONS + 100) {
		print_message("skipped: %d descriptors are needed, and `ulimit -Hn` allows %llu\n",
		              2 * LIMIT_HTTP_CONNECTIONS + 100, (unsigned long long)limit.rlim_cur);
		skip();
	}
	buf_init(&body, 32 * MIB);
	buf_init(&answer, 33 * MIB);
	while (body.len < 16 * MIB)
		buf_append_c(&body, "0123456789abcdef");
	int slow = open_client(f);
	f->keep = true;
	client_send(f, STR("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
	while (!f->exchange)
		turn(f);
	http_reply(steal(f->exchange), 200, NULL, buf_str(&body));
	f->keep = false;
	for (size_t i = 1; i < countof(clients); i++) {
		clients[i] = open_client(f);
		assert_true(ask(f, clients[i]));
	}
	assert_true(ask(f, clients[1]));
	int newcomer = open_client(f);
	assert_true(ask(f, newcomer));
	assert_false(ask(f, clients[2]));
	for (size_t i = 1; i < countof(clients); i += i == 1 ? 2 : 1)
		assert_true(ask(f, clients[i]));
	f->fd = slow;
	while (answer.len < body.len)
		assert_false(client_read(f, &answer, "f", NULL));
	for (size_t i = 1; i < countof(clients); i++)
		close(clients[i]);
	close(newcomer);
}

static void test_listen_errors(void **state)
{
	struct fixture *f = *state;
	struct error err;
	assert_null(http_server_create(f->loop, "localhost", 0, on_request, f, &err));
	assert_int_equal(err.code, ERR_invalid);
	assert_null(http_server_create(f->loop, "127.0.0.1", http_server_port(f->server), on_request, f, &err));
	assert_non_null(strstr(err.text, "cannot listen on 127.0.0.1:"));
	turn(f);
}

#define SERVER_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		SERVER_TEST(test_get),
		SERVER_TEST(test_body_by_length_in_single_bytes),
		SERVER_TEST(test_body_in_chunks),
		SERVER_TEST(test_big_body),
		SERVER_TEST(test_refusals),
		SERVER_TEST(test_head_limit),
		SERVER_TEST(test_endless_trailer),
		SERVER_TEST(test_endless_chunk_line),
		SERVER_TEST(test_keep_alive_and_pipelining),
		SERVER_TEST(test_http_1_0_closes),
		SERVER_TEST(test_head_request_has_no_body),
		SERVER_TEST(test_expect_continue),
		SERVER_TEST(test_one_continue_a_request),
		SERVER_TEST(test_chunked_answer_over_time),
		SERVER_TEST(test_unsized_answer_to_http_1_0),
		SERVER_TEST(test_length_is_kept),
		SERVER_TEST(test_raw_and_aborted_answers),
		SERVER_TEST(test_client_vanishes),
		SERVER_TEST(test_high_water_mark),
		SERVER_TEST(test_flood_while_answering),
		SERVER_TEST(test_destroy_with_open_exchanges),
		SERVER_TEST(test_eviction_order),
		SERVER_TEST(test_listen_errors),
	};
	return cmocka_run_group_tests_name("http_server", tests, NULL, NULL);
}
