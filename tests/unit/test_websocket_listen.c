/* The listener and the transport behind it, seen from raw sockets: who gets in, what is answered to those who do not,
 * and that one client's fate is nobody else's. */
#include "temp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/limits.h"
#include "loop/loop.h"
#include "loop/stream.h"
#include "net/bearer.h"
#include "transport/transport_listen.h"
#include "transport/transport_websocket.h"
#include "transport/websocket_listen.h"

enum { CLIENTS = 4 };

struct client {
	struct fixture *f;
	struct transport *transport;
	struct buf frames; /* as they came, each with a '|' */
	int ended, drained;
	char why[256];
};

struct fixture {
	struct loop *loop;
	struct websocket_listen *listen;
	struct bearer *bearer;
	struct client clients[CLIENTS];
	size_t client_count;
	bool echoes;
};

static void on_frame(struct str frame, void *self)
{
	struct client *client = self;
	buf_append_str(&client->frames, frame);
	buf_append_char(&client->frames, '|');
	if (!client->f->echoes)
		return;
	auto_free char *line = xasprintf("%.*s\n", STR_ARG(frame));
	transport_send(client->transport, str_of(line));
}

static void on_end(const struct error *err, void *self)
{
	struct client *client = self;
	client->ended++;
	snprintf(client->why, sizeof(client->why), "%s", err ? err->text : "in order");
}

static void on_drain(void *self)
{
	((struct client *)self)->drained++;
}

static const struct transport_events events = {.on_frame = on_frame, .on_end = on_end, .on_drain = on_drain};

static void on_connect(struct stream *stream, struct buf *rest, void *self)
{
	struct fixture *f = self;
	struct client *client = &f->clients[f->client_count++];
	assert_true(f->client_count <= CLIENTS);
	client->f = f;
	buf_init(&client->frames, 64 * MIB);
	client->transport = transport_websocket_create(f->loop, stream, rest, WEBSOCKET_SERVER, &events, client, NULL);
	assert_non_null(client->transport);
}

static int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);
	assert_int_equal(temp_make(state), 0);
	f->loop = loop_create(NULL);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	for (size_t i = 0; i < f->client_count; i++) {
		transport_destroy(f->clients[i].transport, false);
		buf_finish(&f->clients[i].frames);
	}
	websocket_listen_destroy(f->listen);
	bearer_destroy(f->bearer);
	loop_destroy(f->loop);
	free(f);
	return temp_remove(state);
}

static void listen_on(struct fixture *f, const char *address)
{
	struct error err = {0};
	const struct websocket_listen_options options = {f->loop, address, f->bearer, on_connect, f};
	f->listen = websocket_listen_create(&options, &err);
	if (!f->listen)
		fail_msg("%s", err.text);
}

static void turn(struct fixture *f)
{
	uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

static int dial_tcp(struct fixture *f)
{
	const char *address = websocket_listen_address(f->listen);
	struct sockaddr_in to = {.sin_family = AF_INET};
	to.sin_port = htons((uint16_t)atoi(strrchr(address, ':') + 1));
	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	return fd;
}

static int dial_unix(const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
	return fd;
}

static void send_all(struct fixture *f, int fd, struct str bytes)
{
	while (bytes.len) {
		ssize_t sent = send(fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);
		if (sent < 0 && errno != EAGAIN)
			return;
		if (sent > 0)
			bytes = str_skip(bytes, (size_t)sent);
		turn(f);
	}
}

/* Reads until `until` is the end of what came, or the close: then true. */
static bool receive(struct fixture *f, int fd, struct buf *out, struct str until)
{
	char bytes[16 * KIB];
	for (;;) {
		turn(f);
		ssize_t got = recv(fd, bytes, sizeof(bytes), 0);
		if (got == 0 || (got < 0 && errno != EAGAIN))
			return true;
		if (got > 0)
			buf_append(out, bytes, (size_t)got);
		if (until.len && out->len >= until.len &&
		    memcmp(out->data + out->len - until.len, until.ptr, until.len) == 0)
			return false;
	}
}

#define UPGRADE                                                                       \
	"GET /any HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" \
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

static void expect_answer(struct fixture *f, const char *request, const char *begins, const char *ends)
{
	auto_buf struct buf answer;
	auto_close int fd = dial_tcp(f);
	buf_init(&answer, MIB);
	send_all(f, fd, str_of(request));
	receive(f, fd, &answer, str_of(ends));
	if (!str_has_prefix(buf_str(&answer), begins))
		fail_msg("%s: got \"%s\"", request, answer.data);
}

static void test_what_is_answered_without_a_websocket(void **state)
{
	struct fixture *f = *state;
	listen_on(f, "ws://127.0.0.1:0");
	expect_answer(f, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n",
	              "HTTP/1.1 200 OK\r\nServer: codex/" CODEX_VERSION "\r\nContent-Length: 0\r\n",
	              "\r\n\r\n");
	expect_answer(f, "HEAD /healthz?a HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 OK\r\n", "\r\n\r\n");
	expect_answer(f, "POST /healthz HTTP/1.1\r\nHost: x\r\n\r\n",
	              "HTTP/1.1 405 Method Not Allowed\r\nServer: codex/" CODEX_VERSION "\r\nAllow: GET,HEAD\r\n",
	              "\r\n\r\n");
	expect_answer(f, "GET /readyz HTTP/1.1\r\nHost: x\r\nOrigin: http://evil.example\r\n\r\n", "HTTP/1.1 403 ",
	              "\r\n\r\n");
	expect_answer(f, UPGRADE "Origin: \r\n\r\n", "HTTP/1.1 403 ", "\r\n\r\n");
	expect_answer(f, "GET /nope HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n",
	              "Connection header did not include 'upgrade'");
	expect_answer(f, "POST / HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 405 ", "Request method must be `GET`");
	expect_answer(f, "{\"id\":1,\"method\":\"initialize\"}\n", "HTTP/1.1 400 Bad Request\r\n", "Bad Request\n");
	assert_int_equal(f->client_count, 0);
}

static void test_a_token(void **state)
{
	struct fixture *f = *state;
	const struct bearer_options options = {.mode = "capability-token", .token_file = temp_put("t", STR("sekret"))};
	assert_int_equal(bearer_create(&options, &f->bearer, NULL), 0);
	listen_on(f, "ws://127.0.0.1:0");
	expect_answer(f, "GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n", "HTTP/1.1 200 ", "\r\n\r\n");
	expect_answer(f, UPGRADE "\r\n", "HTTP/1.1 401 ", "missing websocket bearer token");
	expect_answer(f, UPGRADE "Authorization: Bearer x\r\n\r\n", "HTTP/1.1 401 ", "invalid websocket bearer token");
	expect_answer(f, UPGRADE "Authorization: Bearer sekret\r\n\r\n",
	              "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
	              "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n", "\r\n\r\n");
	assert_int_equal(f->client_count, 1);
}

static void test_other_machines_need_a_token(void **state)
{
	struct fixture *f = *state;
	struct error err;
	const struct websocket_listen_options options = {f->loop, "ws://0.0.0.0:0", NULL, on_connect, f};
	assert_null(websocket_listen_create(&options, &err));
	assert_int_equal(err.code, ERR_denied);
	assert_string_equal(err.text, "refusing to start non-loopback websocket listener 0.0.0.0:0 without auth; "
	                              "configure `--ws-auth capability-token` or `--ws-auth signed-bearer-token`");
	assert_true(transport_listener_is_local("ws://[::1]:1"));
	assert_true(transport_listener_is_local("unix:///x"));
	assert_false(transport_listener_is_local("ws://[::]:1"));
	assert_false(transport_listener_is_local("ws://localhost:1"));
}

static void test_bad_addresses(void **state)
{
	static const char *const bad[] = {
		"ws://localhost:1", "ws://127.0.0.1", "ws://127.0.0.1:", "ws://127.0.0.1:65536",
		"ws://127.0.0.1:0/path", "ws://:1", "ws://[::1]", "ws://::1:1", "http://x", "", "unix://",
		"ws://127.0.0.1:+1",
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < countof(bad); i++) {
		struct error err = {0};
		struct websocket_listen_options options = {f->loop, bad[i], NULL, on_connect, f};
		assert_null(websocket_listen_create(&options, &err));
		assert_true(err.code == ERR_usage || err.code == ERR_denied);
	}
}

static int open_client(struct fixture *f, int fd, struct str more)
{
	auto_buf struct buf text;
	buf_init(&text, MIB);
	buf_append_c(&text, UPGRADE "\r\n");
	buf_append_str(&text, more);
	send_all(f, fd, buf_str(&text));
	buf_clear(&text);
	receive(f, fd, &text, more.len ? STR("\x81\x01" "a") : STR("\r\n\r\n"));
	assert_true(str_has_prefix(buf_str(&text), "HTTP/1.1 101 "));
	return fd;
}

/* A frame that came in one piece with the handshake is not lost; several messages, one of them with many lines. */
static void test_echo(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf got;
	buf_init(&got, MIB);
	f->echoes = true;
	listen_on(f, "ws://127.0.0.1:0");
	auto_close int fd = open_client(f, dial_tcp(f), STR("\x81\x81\0\0\0\0a"));
	send_all(f, fd, STR("\x81\x81\0\0\0\0b\x82\x81\0\0\0\0?\x89\x81\0\0\0\0p\x81\x81\0\0\0\0c"));
	receive(f, fd, &got, STR("\x81\x01" "c"));
	assert_str(buf_str(&got), "\x81\x01" "b\x8a\x01p\x81\x01" "c");
	assert_str(buf_str(&f->clients[0].frames), "a|b|c|");
	buf_clear(&got);
	transport_send(f->clients[0].transport, STR("one\ntwo\n"));
	receive(f, fd, &got, STR("two"));
	assert_str(buf_str(&got), "\x81\x03one\x81\x03two");
}

static void test_pause(void **state)
{
	struct fixture *f = *state;
	listen_on(f, "ws://127.0.0.1:0");
	auto_close int fd = open_client(f, dial_tcp(f), STR_NONE);
	transport_pause(f->clients[0].transport);
	send_all(f, fd, STR("\x81\x81\0\0\0\0a\x81\x81\0\0\0\0b"));
	for (int i = 0; i < 5; i++)
		turn(f);
	assert_int_equal(f->clients[0].frames.len, 0);
	transport_resume(f->clients[0].transport);
	for (int i = 0; i < 5; i++)
		turn(f);
	assert_str(buf_str(&f->clients[0].frames), "a|b|");
}

static void test_closes(void **state)
{
	static const struct {
		struct str bytes, answer;
		const char *why;
	} rows[] = {
		{STR("\x88\x82\0\0\0\0\x03\xe8"), STR("\x88\x02\x03\xe8"), "in order"},
		{STR("\x88\x80\0\0\0\0"), STR("\x88\0"), "in order"},
		{STR("\x81\x01x"), STR("a mask"), "the WebSocket was closed with code 1002: a frame without a mask"},
	};
	struct fixture *f = *state;
	listen_on(f, "ws://127.0.0.1:0");
	for (size_t i = 0; i < countof(rows); i++) {
		auto_buf struct buf got;
		buf_init(&got, MIB);
		auto_close int fd = open_client(f, dial_tcp(f), STR_NONE);
		send_all(f, fd, rows[i].bytes);
		assert_false(receive(f, fd, &got, rows[i].answer));
		assert_int_equal(f->clients[i].ended, 1);
		assert_string_equal(f->clients[i].why, rows[i].why);
		transport_destroy(steal(f->clients[i].transport), true);
		assert_true(receive(f, fd, &got, STR_NONE));
	}
}

/* Whoever vanishes is noticed, and the others are not disturbed; whoever is dropped is told why (1001). */
static void test_many_clients(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf got;
	buf_init(&got, MIB);
	f->echoes = true;
	listen_on(f, "ws://127.0.0.1:0");
	int first = open_client(f, dial_tcp(f), STR_NONE);
	auto_close int second = open_client(f, dial_tcp(f), STR_NONE);
	close(first);
	while (!f->clients[0].ended)
		turn(f);
	assert_string_equal(f->clients[0].why, "in order");
	send_all(f, second, STR("\x81\x81\0\0\0\0x"));
	receive(f, second, &got, STR("x"));
	transport_destroy(steal(f->clients[1].transport), true);
	assert_true(receive(f, second, &got, STR_NONE));
	assert_str(buf_str(&got), "\x81\x01x\x88\x02\x03\xe9");
}

static void test_a_slow_reader(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf got, line;
	size_t sent = 0, len = 64 * KIB;
	buf_init(&got, 64 * MIB);
	buf_init(&line, MIB);
	memset(buf_reserve(&line, len), 'x', len);
	line.len = len;
	buf_append_char(&line, '\n');
	listen_on(f, "ws://127.0.0.1:0");
	auto_close int fd = open_client(f, dial_tcp(f), STR_NONE);
	while (transport_send(f->clients[0].transport, buf_str(&line)))
		sent++;
	assert_true(sent * len <= 16 * MIB);
	for (int i = 0; i < 5; i++)
		turn(f);
	assert_int_equal(f->clients[0].drained, 0);
	while (!f->clients[0].drained) {
		char bytes[64 * KIB];
		turn(f);
		ssize_t count = recv(fd, bytes, sizeof(bytes), 0);
		assert_true(count > 0 || errno == EAGAIN);
	}
	assert_true(transport_send(f->clients[0].transport, STR("on\n")));
}

static void test_a_unix_socket(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	auto_free char *address = xasprintf("unix://%s", temp_path("s"));
	f->echoes = true;
	listen_on(f, address);
	assert_int_equal(stat(temp_path("s"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	auto_close int fd = open_client(f, dial_unix(temp_path("s")), STR("\x81\x81\0\0\0\0a"));
	struct error err;
	const struct websocket_listen_options options = {f->loop, address, NULL, on_connect, f};
	assert_null(websocket_listen_create(&options, &err)); /* somebody listens there */
	websocket_listen_destroy(steal(f->listen));
	assert_int_not_equal(stat(temp_path("s"), &st), 0);
	auto_buf struct buf got;
	buf_init(&got, MIB);
	send_all(f, fd, STR("\x81\x81\0\0\0\0b")); /* who is in stays */
	receive(f, fd, &got, STR("b"));
}

/* Without descriptors clients are turned away instead of waking the loop for ever; with some again they come in. */
static void test_no_descriptors(void **state)
{
	struct fixture *f = *state;
	struct rlimit old, few;
	auto_buf struct buf got;
	buf_init(&got, MIB);
	f->echoes = true;
	listen_on(f, "ws://127.0.0.1:0");
	int fd = dial_tcp(f);
	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = (rlim_t)fd + 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	bool is_closed = receive(f, fd, &got, STR_NONE);
	setrlimit(RLIMIT_NOFILE, &old);
	assert_true(is_closed);
	close(fd);
	auto_close int other = open_client(f, dial_tcp(f), STR("\x81\x81\0\0\0\0a"));
	assert_true(other >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_what_is_answered_without_a_websocket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_token, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_machines_need_a_token, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_echo, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_closes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_clients, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_slow_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_unix_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_descriptors, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
