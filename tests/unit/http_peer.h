/* http_peer.h — for tests of the HTTP client: a scripted peer on 127.0.0.1 and a caller that records the result of a
 * call. A test sets f->on_request and calls run(). */
#ifndef TESTS_UNIT_HTTP_PEER_H
#define TESTS_UNIT_HTTP_PEER_H

#include "test.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "loop/stream.h"
#include "net/http_client.h"
#include "net/http_head.h"

struct fixture;

/* --- the peer: accepts, collects a request, lets the test answer -------------------------------------------- */

struct peer {
	struct fixture *f;
	struct stream *stream; /* NULL after it was closed */
	struct buf input;
};

struct answer { /* The result that the caller received. */
	struct fixture *f;
	struct http_call *call;
	int status;
	int heads, pieces;
	struct buf body;
	bool is_done;
	struct error err;
};

struct fixture {
	struct loop *loop;
	struct http_client *client;
	uv_tcp_t listener;
	int port;
	VEC(struct peer *) peers;
	struct buf requests; /* the complete requests, concatenated */
	int request_count;
	void (*on_request)(struct fixture *f, struct peer *peer, int number); /* number: counted from 1 */
	void (*on_raw)(struct fixture *f, struct peer *peer); /* replaces on_request for the next bytes */
	struct answer answer;
};

static inline void peer_say(struct peer *peer, const char *text)
{
	stream_send(peer->stream, str_of(text));
}

static inline void peer_close(struct peer *peer, enum stream_end how)
{
	stream_destroy(steal(peer->stream), how);
}

/* Returns the length of the first request in input, 0 if it is incomplete. */
static inline size_t request_len(struct str input)
{
	ptrdiff_t end = str_find(input, STR("\r\n\r\n"));
	if (end < 0)
		return 0;
	struct http_head head;
	struct str bytes = str_n(input.ptr, (size_t)end + 4);
	uint64_t body = 0;
	assert_int_equal(http_head_parse_request(&head, bytes), 0);
	str_to_u64(http_head_get(&head, "content-length"), &body);
	http_head_finish(&head);
	return input.len >= bytes.len + body ? bytes.len + body : 0;
}

static inline void on_peer_bytes(struct str bytes, void *self)
{
	struct peer *peer = self;
	if (peer->f->on_raw) {
		peer->f->on_raw(peer->f, peer);
		return;
	}
	buf_append_str(&peer->input, bytes);
	size_t len = request_len(buf_str(&peer->input));
	if (!len)
		return;
	buf_append(&peer->f->requests, peer->input.data, len);
	buf_consume(&peer->input, len);
	peer->f->on_request(peer->f, peer, ++peer->f->request_count);
}

static inline void on_peer_end(const struct error *err, void *self)
{
	(void)err;
	peer_close(self, STREAM_NOW);
}

static const struct stream_events peer_events = {.on_bytes = on_peer_bytes, .on_end = on_peer_end};

static inline void on_connection(uv_stream_t *listener, int status)
{
	struct fixture *f = container_of(listener, struct fixture, listener);
	struct peer *peer = xnew(struct peer);
	assert_int_equal(status, 0);
	peer->f = f;
	buf_init(&peer->input, 64 * MIB);
	peer->stream = stream_create(f->loop, listener, &peer_events, peer, NULL);
	assert_non_null(peer->stream);
	vec_push(&f->peers, peer);
}

static inline void listen_anywhere(struct fixture *f)
{
	struct sockaddr_in address;
	int len = sizeof(address);
	uv_ip4_addr("127.0.0.1", 0, &address);
	uv_tcp_init(loop_uv(f->loop), &f->listener);
	assert_int_equal(uv_tcp_bind(&f->listener, (struct sockaddr *)&address, 0), 0);
	assert_int_equal(uv_listen((uv_stream_t *)&f->listener, 16, on_connection), 0);
	uv_tcp_getsockname(&f->listener, (struct sockaddr *)&address, &len);
	f->port = ntohs(address.sin_port);
}

/* --- the caller -------------------------------------------------------------------------------------------- */

static inline bool on_head(int status, const struct http_head *head, void *self)
{
	struct answer *answer = self;
	assert_int_equal(status, head->status);
	answer->status = status;
	answer->heads++;
	return true;
}

static inline void on_data(struct str bytes, void *self)
{
	struct answer *answer = self;
	buf_append_str(&answer->body, bytes);
	answer->pieces++;
}

static inline void on_done(const struct error *err, void *self)
{
	struct answer *answer = self;
	assert_false(answer->is_done);
	answer->is_done = true;
	answer->call = NULL;
	answer->err = err ? *err : (struct error){0};
}

static const struct http_handler handler = {.on_head = on_head, .on_data = on_data, .on_done = on_done};

static inline void answer_reset(struct fixture *f)
{
	buf_finish(&f->answer.body);
	f->answer = (struct answer){.f = f};
	buf_init(&f->answer.body, 64 * MIB);
}

static const char *url(struct fixture *f, const char *rest)
{
	static char text[256];
	snprintf(text, sizeof(text), "http://127.0.0.1:%d%s", f->port, rest);
	return text;
}

static inline void start(struct fixture *f, struct http_request request, const struct http_handler *with)
{
	answer_reset(f);
	if (!request.method)
		request.method = "GET";
	if (!request.url)
		request.url = url(f, "/");
	f->answer.call = http_call_start(f->client, &request, with, &f->answer);
}

static inline void turn(struct fixture *f)
{
	uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

static inline void finish(struct fixture *f)
{
	while (!f->answer.is_done)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
}

static inline void run(struct fixture *f, struct http_request request)
{
	start(f, request, &handler);
	assert_false(f->answer.is_done);
	finish(f);
}

static inline void assert_err(struct fixture *f, enum error_code code, const char *part)
{
	assert_true(f->answer.is_done);
	if (f->answer.err.code != code || !strstr(f->answer.err.text, part))
		fail_msg("got %d \"%s\", want %d \"%s\"", (int)f->answer.err.code, f->answer.err.text, (int)code, part);
}

static inline void assert_ok(struct fixture *f, const char *body)
{
	if (f->answer.err.code)
		fail_msg("got %d \"%s\"", (int)f->answer.err.code, f->answer.err.text);
	assert_int_equal(f->answer.status, 200);
	assert_true(str_is(buf_str(&f->answer.body), body));
}

static inline bool requests_have(struct fixture *f, const char *part)
{
	return str_find(buf_str(&f->requests), str_of(part)) >= 0;
}

static inline void answer_hello(struct fixture *f, struct peer *peer, int number)
{
	(void)f, (void)number;
	peer_say(peer, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
}

static inline int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);
	f->loop = loop_create(NULL);
	f->client = http_client_create(f->loop, NULL);
	f->on_request = answer_hello;
	buf_init(&f->requests, 64 * MIB);
	listen_anywhere(f);
	answer_reset(f);
	*state = f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;
	http_client_destroy(f->client);
	vec_for_each(peer, &f->peers) {
		peer_close(*peer, STREAM_NOW);
		buf_finish(&(*peer)->input);
		free(*peer);
	}
	vec_finish(&f->peers);
	uv_close((uv_handle_t *)&f->listener, NULL);
	loop_destroy(f->loop);
	buf_finish(&f->requests);
	buf_finish(&f->answer.body);
	free(f);
	return 0;
}

/* The tests must not use the proxies of the environment. */
static inline void forget_proxies(void)
{
	static const char *const names[] = {"http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy",
	                                    "ALL_PROXY",  "no_proxy",    "NO_PROXY"};
	for (size_t i = 0; i < countof(names); i++)
		unsetenv(names[i]);
}

#define CLIENT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

#endif
