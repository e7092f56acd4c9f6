/* The listener and its transport through raw sockets: admission, refusals, and isolation of clients. */
#include "temp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "base/limits.h"
#include "loop/loop.h"
#include "net/bearer.h"
#include "net/http_url.h"
#include "transport/pending_clients.h"
#include "transport/transport_listen.h"
#include "transport/transport_websocket.h"
#include "transport/websocket_listen.h"

enum { CLIENTS = 4 };

struct client {
	struct fixture *f;
	struct transport *transport;
	struct buf frames; /* in the order of arrival, each followed by '|' */
	struct pending_client *pending;
	int ended, drained, evicted;
	char why[256];
};

struct fixture {
	struct loop *loop;
	struct websocket_listen *listen;
	struct bearer *bearer;
	struct client clients[CLIENTS];
	size_t client_count;
	bool echoes;
	size_t limit;
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

static void on_evict(void *self)
{
	struct client *client = self;
	transport_destroy(steal(client->transport), false);
	pending_client_destroy(steal(client->pending));
	client->evicted++;
}

static void on_connect(int fd, struct pending_client *pending, void *self)
{
	struct fixture *f = self;
	struct client *client = &f->clients[f->client_count++];
	assert_true(f->client_count <= CLIENTS);
	client->f = f;
	buf_init(&client->frames, 64 * MIB);
	client->transport = transport_websocket_open(f->loop, fd, STR_NONE, WEBSOCKET_SERVER, &events, client, NULL);
	assert_non_null(client->transport);
	client->pending = pending;
	pending_client_hand_over(pending, on_evict, client);
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
		pending_client_destroy(f->clients[i].pending);
		buf_finish(&f->clients[i].frames);
	}
	websocket_listen_destroy(f->listen);
	bearer_destroy(f->bearer);
	loop_destroy(f->loop);
	free(f);
	return temp_remove(state);
}

static struct websocket_listen_options listen_options(struct fixture *f, const char *address)
{
	static const char *const names[] = {"devbox.example"};
	return (struct websocket_listen_options){
		.loop = f->loop,
		.address = address,
		.bearer = f->bearer,
		.hosts = names,
		.host_count = 1,
		.limit = f->limit ? f->limit : 1024,
		.on_connect = on_connect,
		.self = f,
	};
}

static void listen_on(struct fixture *f, const char *address)
{
	struct error err = {0};
	const struct websocket_listen_options options = listen_options(f, address);
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

/* Reads until the input ends with `until` (true) or the connection is closed. */
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

#define UPGRADE                                                                                 \
	"GET /any HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" \
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"

/* ends: how the input must end; NULL accepts any input up to the close */
static void expect_answer(struct fixture *f, const char *request, const char *begins, const char *ends)
{
	auto_buf struct buf answer;
	auto_close int fd = dial_tcp(f);
	buf_init(&answer, MIB);
	send_all(f, fd, str_of(request));
	receive(f, fd, &answer, str_of(ends));
	ptrdiff_t at = ends ? str_find(buf_str(&answer), str_of(ends)) : 0;
	if (!str_has_prefix(buf_str(&answer), begins) || at < 0)
		fail_msg("%s: got \"%s\"", request, answer.data);
}

static void test_plain_http_requests_are_answered(void **state)
{
	struct fixture *f = *state;
	listen_on(f, "ws://127.0.0.1:0");
	expect_answer(f, "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
	              "HTTP/1.1 200 OK\r\nServer: codex/" CODEX_VERSION "\r\nContent-Length: 0\r\n", "\r\n\r\n");
	expect_answer(f, "HEAD /healthz?a HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 200 OK\r\n", "\r\n\r\n");
	expect_answer(f, "POST /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
	              "HTTP/1.1 405 Method Not Allowed\r\nServer: codex/" CODEX_VERSION "\r\nAllow: GET,HEAD\r\n",
	              "\r\n\r\n");
	expect_answer(f, "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: http://evil.example\r\n\r\n",
	              "HTTP/1.1 403 ", "\r\n\r\n");
	expect_answer(f, UPGRADE "Origin: \r\n\r\n", "HTTP/1.1 403 ", "\r\n\r\n");
	expect_answer(f, "GET /nope HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 400 Bad Request\r\n",
	              "Connection header did not include 'upgrade'");
	expect_answer(f, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 405 ", "Request method must be `GET`");
	expect_answer(f, "{\"id\":1,\"method\":\"initialize\"}\n", "HTTP/1.1 400 Bad Request\r\n", "Bad Request\n");
	assert_int_equal(f->client_count, 0);
}

static void test_a_token(void **state)
{
	struct fixture *f = *state;
	const struct bearer_options options = {.mode = "capability-token", .token_file = temp_put("t", STR("sekret"))};
	assert_int_equal(bearer_create(&options, &f->bearer, NULL), 0);
	listen_on(f, "ws://127.0.0.1:0");
	expect_answer(f, "GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", "HTTP/1.1 200 ", "\r\n\r\n");
	expect_answer(f, UPGRADE "\r\n", "HTTP/1.1 401 ", "missing websocket bearer token");
	expect_answer(f, UPGRADE "Authorization: Bearer x\r\n\r\n", "HTTP/1.1 401 ", "invalid websocket bearer token");
	expect_answer(f, UPGRADE "Authorization: Bearer sekret\r\n\r\n",
	              "HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\n"
	              "sec-websocket-accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n",
	              "\r\n\r\n");
	assert_int_equal(f->client_count, 1);
}

static void test_other_machines_need_a_token(void **state)
{
	struct fixture *f = *state;
	struct error err;
	const struct websocket_listen_options options = listen_options(f, "ws://0.0.0.0:0");
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
	/* clang-format off */
	static const char *const bad[] = {
		"ws://localhost:1", "ws://127.0.0.1", "ws://127.0.0.1:", "ws://127.0.0.1:65536",
		"ws://127.0.0.1:0/path", "ws://:1", "ws://[::1]", "ws://::1:1", "http://x", "", "unix://",
		"ws://127.0.0.1:+1",
	};
	/* clang-format on */
	struct fixture *f = *state;
	for (size_t i = 0; i < countof(bad); i++) {
		struct error err = {0};
		struct websocket_listen_options options = listen_options(f, bad[i]);
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
	receive(f, fd, &text,
	        more.len ? STR("\x81\x01"
	                       "a")
	                 : STR("\r\n\r\n"));
	assert_true(str_has_prefix(buf_str(&text), "HTTP/1.1 101 "));
	return fd;
}

/* A frame that arrives together with the handshake, several messages, and one of many lines. */
static void test_echo(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf got;
	buf_init(&got, MIB);
	f->echoes = true;
	listen_on(f, "ws://127.0.0.1:0");
	auto_close int fd = open_client(f, dial_tcp(f), STR("\x81\x81\0\0\0\0a"));
	send_all(f, fd, STR("\x81\x81\0\0\0\0b\x82\x81\0\0\0\0?\x89\x81\0\0\0\0p\x81\x81\0\0\0\0c"));
	receive(f, fd, &got,
	        STR("\x81\x01"
	            "c"));
	assert_str(buf_str(&got), "\x81\x01"
	                          "b\x8a\x01p\x81\x01"
	                          "c");
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
		{STR("\x81\x01x"), STR("unmasked frame"), "the WebSocket was closed with code 1002: an unmasked frame"},
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

/* A disconnected client is detected and does not disturb the others; an evicted one gets the reason (1001). */
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

/* One unfragmented message, whose parts were sent without being put together. */
static void test_a_large_message(void **state)
{
	struct fixture *f = *state;
	enum { BODY = 300 * KIB, MESSAGE = 2 + BODY + 1 };
	auto_buf struct buf got, body;
	uint64_t len = 0;
	buf_init(&got, MIB);
	buf_init(&body, MIB);
	memset(buf_reserve(&body, BODY), 'x', BODY);
	body.len = BODY;
	listen_on(f, "ws://127.0.0.1:0");
	auto_close int fd = open_client(f, dial_tcp(f), STR_NONE);
	transport_send(f->clients[0].transport, STR("a\n"));
	transport_send_large(f->clients[0].transport, STR("[\""), &body, STR("]\n"));
	transport_send(f->clients[0].transport, STR("z\n"));
	receive(f, fd, &got, STR("\x81\x01z"));
	assert_int_equal(got.len, 3 + 10 + MESSAGE + 3);
	assert_memory_equal(got.data,
	                    "\x81\x01"
	                    "a\x81\x7f",
	                    5);
	for (int i = 0; i < 8; i++)
		len = len << 8 | (uint8_t)got.data[5 + i];
	assert_int_equal(len, MESSAGE);
	assert_memory_equal(got.data + 13, "[\"xxx", 5);
	assert_memory_equal(got.data + 13 + MESSAGE - 2, "x]", 2);
	body.len = 0;
	buf_append_c(&body, "short");
	transport_send_large(f->clients[0].transport, STR("<"), &body, STR(">\n"));
	buf_clear(&got);
	receive(f, fd, &got, STR(">"));
	assert_str(buf_str(&got), "\x81\x07<short>");
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
	const struct websocket_listen_options options = listen_options(f, address);
	assert_null(websocket_listen_create(&options, &err)); /* the address is in use */
	websocket_listen_destroy(steal(f->listen));
	assert_int_not_equal(stat(temp_path("s"), &st), 0);
	auto_buf struct buf got;
	buf_init(&got, MIB);
	send_all(f, fd, STR("\x81\x81\0\0\0\0b")); /* admitted clients stay */
	receive(f, fd, &got, STR("b"));
}

/* The umask of the process has no effect and does not change; a socket that another server has bound there since is
 * kept. */
static void test_the_file_of_a_socket(void **state)
{
	struct fixture *f = *state;
	struct stat st;
	auto_free char *address = xasprintf("unix://%s", temp_path("s"));
	mode_t mask = umask(0);
	listen_on(f, address);
	mode_t after = umask(mask);
	assert_int_equal(after, 0);
	assert_int_equal(stat(temp_path("s"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(rename(temp_path("s"), temp_path("moved")), 0);
	struct websocket_listen_options options = listen_options(f, address);
	struct websocket_listen *second = websocket_listen_create(&options, NULL);
	assert_non_null(second);
	websocket_listen_destroy(steal(f->listen));
	auto_close int fd = dial_unix(temp_path("s"));
	assert_true(fd >= 0);
	websocket_listen_destroy(second);
	assert_int_not_equal(stat(temp_path("s"), &st), 0);
}

/* Without free descriptors clients are rejected, so that they do not wake the loop forever; later ones are admitted. */
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

/* DNS rebinding: a web page uses a name that resolves to this machine. */
static void test_hosts(void **state)
{
	static const struct {
		const char *host, *begins;
	} rows[] = {
		{"127.0.0.1:99", "HTTP/1.1 200 "},
		{"127.8.8.8", "HTTP/1.1 200 "},
		{"[::1]:4", "HTTP/1.1 200 "},
		{"[0:0:0::1]", "HTTP/1.1 200 "},
		{"localhost", "HTTP/1.1 200 "},
		{"LocalHost:7", "HTTP/1.1 200 "},
		{"devbox.example", "HTTP/1.1 200 "},
		{"DevBox.example:1", "HTTP/1.1 200 "},
		{"evil.example", "HTTP/1.1 403 "},
		{"evil.example:7", "HTTP/1.1 403 "},
		{"10.0.0.1", "HTTP/1.1 403 "},
		{"[fe80::1]", "HTTP/1.1 403 "},
		{"127.0.0.1.evil.example", "HTTP/1.1 403 "},
		{"localhost.evil.example", "HTTP/1.1 403 "},
		{"127.0.0.1:x", "HTTP/1.1 403 "},
		{"", "HTTP/1.1 403 "},
		{":80", "HTTP/1.1 403 "},
		{"127.0.0.1\r\nHost: 127.0.0.1", "HTTP/1.1 400 "},
	};
	struct fixture *f = *state;
	listen_on(f, "ws://127.0.0.1:0");
	for (size_t i = 0; i < countof(rows); i++) {
		auto_free char *request = xasprintf("GET /readyz HTTP/1.1\r\nHost: %s\r\n\r\n", rows[i].host);
		expect_answer(f, request, rows[i].begins, NULL);
	}
	expect_answer(f, "GET /readyz HTTP/1.1\r\n\r\n", "HTTP/1.1 400 ", NULL);
	expect_answer(f, "GET /readyz HTTP/1.0\r\n\r\n", "HTTP/1.1 200 ", NULL);
}

/* The address that a client connects to names the server, even if it listens on all addresses. */
static void test_the_bound_address_is_a_host(void **state)
{
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} local = {.v4 = {.sin_family = AF_INET}};
	inet_pton(AF_INET, "10.1.2.3", &local.v4.sin_addr);
	assert_true(http_host_is_allowed(STR("10.1.2.3:80"), &local.any, NULL, 0));
	assert_false(http_host_is_allowed(STR("10.1.2.4:80"), &local.any, NULL, 0));
	assert_false(http_host_is_allowed(STR("devbox"), &local.any, NULL, 0));
	local.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6};
	inet_pton(AF_INET6, "::ffff:10.1.2.3", &local.v6.sin6_addr);
	assert_true(http_host_is_allowed(STR("10.1.2.3"), &local.any, NULL, 0));
	inet_pton(AF_INET6, "2001:db8::7", &local.v6.sin6_addr);
	assert_true(http_host_is_allowed(STR("[2001:db8:0::7]:80"), &local.any, NULL, 0));
	assert_false(http_host_is_allowed(STR("2001:db8::7"), &local.any, NULL, 0));
	(void)state;
}

#define UPGRADE_WITHOUT_KEY                                                                  \
	"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" \
	"Sec-WebSocket-Version: 13\r\n"

static void test_a_key_is_16_bytes_once(void **state)
{
	static const char *const bad[] = {
		"Sec-WebSocket-Key: \r\n",
		"Sec-WebSocket-Key: x\r\n",
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25j\r\n",     /* a key of 15 bytes */
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZSE=\r\n", /* a key of 17 bytes */
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ!=\r\n",
		"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n",
	};
	struct fixture *f = *state;
	listen_on(f, "ws://127.0.0.1:0");
	expect_answer(f, UPGRADE_WITHOUT_KEY "\r\n", "HTTP/1.1 400 ", "`Sec-WebSocket-Key` header missing");
	for (size_t i = 0; i < countof(bad); i++) {
		auto_free char *request = xasprintf("%s%s\r\n", UPGRADE_WITHOUT_KEY, bad[i]);
		expect_answer(f, request, "HTTP/1.1 400 ", "must be given once, as base64 of 16 bytes");
	}
	assert_int_equal(f->client_count, 0);
}

/* A request is answered after its head; a body is neither awaited nor requested nor kept. */
static void test_no_body_is_read(void **state)
{
	struct fixture *f = *state;
	const struct bearer_options options = {.mode = "capability-token",
	                                       .token_sha256 = "ba7816bf8f01cfea414140de5dae"
	                                                       "2223b00361a396177a9cb410ff61f20015ad"};
	assert_int_equal(bearer_create(&options, &f->bearer, NULL), 0);
	listen_on(f, "ws://127.0.0.1:0");
	expect_answer(f, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9999999\r\n\r\n{\"id\"",
	              "HTTP/1.1 401 ", "missing websocket bearer token");
	expect_answer(f, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n",
	              "HTTP/1.1 401 ", "missing websocket bearer token");
	expect_answer(f, "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\nOrigin: x\r\n\r\n1\r\n",
	              "HTTP/1.1 403 ", "\r\n\r\n");
	expect_answer(f, UPGRADE "Authorization: Bearer abc\r\nContent-Length: 4\r\n\r\nbody", "HTTP/1.1 400 ",
	              "must not have a body");
	expect_answer(f, UPGRADE "Authorization: Bearer abc\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 400 ",
	              "must not have a body");
	assert_int_equal(f->client_count, 0);
}

static void test_a_head_has_a_limit(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf request;
	listen_on(f, "ws://127.0.0.1:0");
	for (int is_whole = 0; is_whole < 2; is_whole++) {
		buf_init(&request, MIB);
		buf_append_c(&request, "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ");
		while (request.len < LIMIT_UPGRADE_HEAD)
			buf_append_char(&request, 'x');
		buf_append_c(&request, is_whole ? "\r\n\r\n" : "");
		if (!is_whole) {
			auto_close int fd = dial_tcp(f);
			send_all(f, fd, buf_str(&request)); /* exactly the limit */
			send_all(f, fd, STR("x"));
			buf_clear(&request);
			receive(f, fd, &request, STR_NONE);
			assert_true(str_has_prefix(buf_str(&request), "HTTP/1.1 431 "));
		} else {
			expect_answer(f, request.data, "HTTP/1.1 431 ", NULL);
		}
		buf_finish(&request);
	}
}

static bool is_closed(struct fixture *f, int fd)
{
	char byte;
	for (int i = 0; i < 5; i++)
		turn(f);
	ssize_t count = recv(fd, &byte, 1, MSG_PEEK);
	return count == 0 || (count < 0 && errno != EAGAIN);
}

/* Idle, inside a request, refused but still connected, or upgraded without initialize: all are evicted in the order of
 * their age. */
static void test_the_longest_waiting_makes_room(void **state)
{
	struct fixture *f = *state;
	f->limit = 4;
	f->echoes = true;
	listen_on(f, "ws://127.0.0.1:0");
	auto_close int served = open_client(f, dial_tcp(f), STR_NONE);
	pending_client_admit(f->clients[0].pending);
	auto_close int silent = dial_tcp(f);
	turn(f);
	auto_close int nameless = open_client(f, dial_tcp(f), STR_NONE);
	auto_close int half = dial_tcp(f);
	send_all(f, half, STR("GET / HT"));
	assert_false(is_closed(f, silent));
	auto_close int fifth = dial_tcp(f);
	assert_true(is_closed(f, silent));
	auto_close int sixth = dial_tcp(f);
	assert_false(is_closed(f, half));
	assert_true(is_closed(f, nameless));
	assert_int_equal(f->clients[1].evicted, 1);
	auto_close int seventh = open_client(f, dial_tcp(f), STR("\x81\x81\0\0\0\0a"));
	assert_true(is_closed(f, half));
	assert_false(is_closed(f, fifth));
	auto_buf struct buf got;
	buf_init(&got, MIB);
	send_all(f, served, STR("\x81\x81\0\0\0\0b"));
	receive(f, served, &got, STR("b"));
	assert_str(buf_str(&f->clients[0].frames), "b|");
	assert_int_equal(f->clients[0].evicted, 0);
	assert_true(sixth >= 0 && seventh >= 0);
}

/* Admitted clients are not evicted; the new connection is closed instead. */
static void test_the_admitted_stay(void **state)
{
	struct fixture *f = *state;
	f->limit = 2;
	listen_on(f, "ws://127.0.0.1:0");
	auto_close int first = open_client(f, dial_tcp(f), STR_NONE);
	auto_close int second = open_client(f, dial_tcp(f), STR_NONE);
	pending_client_admit(f->clients[0].pending);
	pending_client_admit(f->clients[1].pending);
	auto_close int third = dial_tcp(f);
	assert_true(is_closed(f, third));
	assert_false(is_closed(f, first));
	transport_destroy(steal(f->clients[1].transport), false);
	pending_client_destroy(steal(f->clients[1].pending));
	auto_close int fourth = open_client(f, dial_tcp(f), STR_NONE);
	assert_true(second >= 0 && fourth >= 0);
}

/* Connections leave some descriptors free, and the oldest one is still evicted for a new one. */
static void test_descriptors_are_kept_in_reserve(void **state)
{
	enum { DIALS = 60, OURS = 300 }; /* the test's own descriptors have higher numbers */
	struct fixture *f = *state;
	struct rlimit old, few;
	int fds[DIALS];
	listen_on(f, "ws://127.0.0.1:0");
	int lowest = dup(0);
	close(lowest);
	getrlimit(RLIMIT_NOFILE, &old);
	few = old;
	few.rlim_cur = (rlim_t)(lowest + 40) * 4 / 3; /* minus the reserve of a quarter: 40 */
	for (int i = 0; i < DIALS; i++) {
		int fd = dial_tcp(f);
		fds[i] = fcntl(fd, F_DUPFD_CLOEXEC, OURS);
		close(fd);
		setrlimit(RLIMIT_NOFILE, &few);
		turn(f);
		turn(f);
		setrlimit(RLIMIT_NOFILE, &old);
	}
	int next = dup(0);
	close(next);
	assert_true(next <= lowest + 40);
	for (int i = 0; i < DIALS; i++) {
		assert_int_equal(is_closed(f, fds[i]), i < DIALS - 40);
		close(fds[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_plain_http_requests_are_answered, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_token, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_machines_need_a_token, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_addresses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_echo, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_closes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many_clients, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_slow_reader, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_large_message, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_unix_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_file_of_a_socket, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hosts, setup, teardown),
		cmocka_unit_test(test_the_bound_address_is_a_host),
		cmocka_unit_test_setup_teardown(test_a_key_is_16_bytes_once, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_body_is_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_head_has_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_longest_waiting_makes_room, setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_admitted_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_descriptors_are_kept_in_reserve, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
