/* Raw bytes are copied by two threads with blocking reads and writes, one for each direction. Lines are relayed
 * between two transports on a loop. */
#include "app_server/app_server_proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "app_server/rpc/rpc.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "net/websocket_upgrade.h"
#include "transport/transport_connect.h"
#include "transport/transport_listen.h"
#include "transport/transport_stdio.h"
#include "transport/transport_websocket.h"
#include "transport/unix_socket.h"

/* Reads, and waits even if the descriptor is non-blocking; 0 at the end. */
static ssize_t read_some(int fd, char *bytes, size_t size)
{
	for (;;) {
		ssize_t count = read(fd, bytes, size);
		if (count >= 0 || (errno != EAGAIN && errno != EINTR))
			return count;
		struct pollfd wait = {.fd = fd, .events = POLLIN};
		poll(&wait, 1, -1);
	}
}

/* ---- raw bytes ---- */

struct pump {
	int from, to;
};

static void pump_run(const struct pump *pump)
{
	char bytes[LIMIT_STREAM_READ];
	ssize_t count;
	while ((count = read_some(pump->from, bytes, sizeof(bytes))) > 0)
		if (fd_write_all(pump->to, bytes, (size_t)count, NULL) != 0)
			return;
}

static void *on_thread(void *self)
{
	const struct pump *pump = self;
	pump_run(pump);
	shutdown(pump->to, SHUT_WR); /* the server then closes the connection, which ends the proxy */
	return NULL;
}

static int pass_bytes(int fd, struct error *err)
{
	static struct pump up; /* static, because its thread may read until the process exits */
	pthread_t thread;
	up = (struct pump){STDIN_FILENO, fd};
	int failure = pthread_create(&thread, NULL, on_thread, &up);
	if (failure)
		return error_sys(err, failure, "cannot start a thread");
	pthread_detach(thread);
	pump_run(&(struct pump){fd, STDOUT_FILENO});
	return 0;
}

/* ---- lines ---- */

struct relay {
	struct loop *loop;
	struct transport *client, *server;
	struct buf line;
	struct error failure;
	size_t unanswered; /* number of requests of the client */
	bool has_client_ended;
};

/* A line break inside a JSON text is whitespace and becomes a space. */
static bool relay_send(struct relay *relay, struct transport *to, struct str frame)
{
	buf_reuse(&relay->line);
	buf_append_str(&relay->line, frame);
	for (size_t i = 0; i < relay->line.len; i++)
		if (relay->line.data[i] == '\n')
			relay->line.data[i] = ' ';
	buf_append_char(&relay->line, '\n');
	return transport_send(to, buf_str(&relay->line));
}

static bool read_kind(struct str frame, enum rpc_kind *ret)
{
	auto_arena struct arena arena = {0};
	struct rpc_message message;
	if (rpc_read(frame, &arena, &message, NULL) != 0)
		return false;
	*ret = message.kind;
	return true;
}

/* Most messages of a server are notifications, which the prefix identifies without parsing. */
static bool is_answer(struct str frame)
{
	enum rpc_kind kind;
	if (str_has_prefix(frame, "{\"method\":"))
		return false;
	return read_kind(frame, &kind) && (kind == RPC_RESULT || kind == RPC_ERROR);
}

static void on_client_frame(struct str frame, void *self)
{
	struct relay *relay = self;
	enum rpc_kind kind;
	relay->unanswered += read_kind(frame, &kind) && kind == RPC_REQUEST;
	if (!relay_send(relay, relay->server, frame))
		transport_pause(relay->client);
}

static void on_server_frame(struct str frame, void *self)
{
	struct relay *relay = self;
	if (!relay_send(relay, relay->client, frame))
		transport_pause(relay->server);
	if (is_answer(frame) && relay->unanswered)
		relay->unanswered--;
	if (relay->has_client_ended && !relay->unanswered)
		loop_stop(relay->loop);
}

static void on_client_drain(void *self)
{
	transport_resume(((struct relay *)self)->server);
}

static void on_server_drain(void *self)
{
	transport_resume(((struct relay *)self)->client);
}

static void on_long_client_frame(struct str head, void *self)
{
	struct relay *relay = self;
	auto_buf struct buf out;
	buf_init(&out, LIMIT_RPC_ERROR);
	rpc_write_too_long(&out, head);
	transport_send(relay->client, buf_str(&out));
}

static void on_long_frame(struct str head, void *self)
{
	(void)head, (void)self;
	fprintf(stderr, "codex app-server proxy: a line is longer than %d MiB and was discarded\n", LIMIT_LINE / MIB);
}

/* After the end of the client's input the pending responses are still delivered. */
static void on_client_end(const struct error *err, void *self)
{
	struct relay *relay = self;
	relay->has_client_ended = true;
	if (err || !relay->unanswered)
		loop_stop(relay->loop);
}

static void on_server_end(const struct error *err, void *self)
{
	struct relay *relay = self;
	if (err)
		relay->failure = *err;
	loop_stop(relay->loop);
}

static const struct transport_events client_events = {on_client_frame, on_long_client_frame, on_client_end,
                                                      on_client_drain};
static const struct transport_events server_events = {on_server_frame, on_long_frame, on_server_end, on_server_drain};

/* False if nothing can be read before the deadline. */
static bool has_bytes(int fd, uint64_t deadline_ns)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	int count = -1;
	errno = EINTR;
	for (uint64_t now; count < 0 && errno == EINTR && (now = clock_now_ns()) < deadline_ns;)
		count = poll(&wait, 1, (int)((deadline_ns - now) / 1000000) + 1);
	return count > 0;
}

/* *rest receives the bytes after the response's head. */
static int shake_hands(int fd, const char *extra, struct buf *rest, struct error *err)
{
	uint64_t deadline_ns = clock_now_ns() + (uint64_t)LIMIT_CONNECT_MS * 1000000;
	auto_buf struct buf request;
	char key[WEBSOCKET_KEY_SIZE], bytes[4 * KIB];
	ptrdiff_t end;
	buf_init(&request, LIMIT_HTTP_HEAD);
	buf_init(rest, LIMIT_HTTP_HEAD + sizeof(bytes));
	websocket_upgrade_request(&request, "localhost", "/", extra, key);
	if (request.over)
		return error_set(err, ERR_limit, "the token is too long");
	if (fd_write_all(fd, request.data, request.len, err) != 0)
		return -(int)err->code;
	while ((end = str_find(buf_str(rest), STR("\r\n\r\n"))) < 0) {
		if (!has_bytes(fd, deadline_ns))
			return error_set(err, ERR_timeout, "the server does not answer the handshake");
		ssize_t count = rest->len < LIMIT_HTTP_HEAD ? read_some(fd, bytes, sizeof(bytes)) : 0;
		if (count <= 0)
			return error_set(err, ERR_transport, "the server closed the connection during the handshake");
		buf_append(rest, bytes, (size_t)count);
	}
	int status = websocket_upgrade_answer(str_n(rest->data, (size_t)end + 4), key, err);
	buf_consume(rest, (size_t)end + 4);
	return status;
}

static int open_relay(struct relay *relay, int fd, struct str rest, struct error *err)
{
	relay->server = transport_websocket_open(relay->loop, fd, rest, WEBSOCKET_CLIENT, &server_events, relay, err);
	if (relay->server)
		relay->client =
			transport_stdio_create(relay->loop, STDIN_FILENO, STDOUT_FILENO, &client_events, relay, err);
	return relay->client ? 0 : -(int)err->code;
}

static int run_relay(struct relay *relay, int fd, struct str rest, struct error *err)
{
	int status = open_relay(relay, fd, rest, err);
	if (status == 0)
		loop_run(relay->loop);
	transport_destroy(relay->client, true);
	transport_destroy(relay->server, true);
	if (relay->has_client_ended)
		loop_hurry(relay->loop);
	if (status == 0 && relay->failure.code) {
		*err = relay->failure;
		status = -(int)err->code;
	}
	return status;
}

static int pass_lines(int *fd, struct error *err)
{
	struct relay relay = {0};
	struct buf rest;
	int status = shake_hands(*fd, "", &rest, err);
	if (status == 0 && !(relay.loop = loop_create(err)))
		status = -(int)err->code;
	if (status == 0) {
		buf_init(&relay.line, LIMIT_WEBSOCKET_MESSAGE + 1);
		status = run_relay(&relay, steal_fd(fd), buf_str(&rest), err);
	}
	buf_finish(&rest);
	loop_destroy(relay.loop);
	buf_finish(&relay.line);
	return status;
}

/* ---- choice of the mode ---- */

static ssize_t peek_pipe(int fd, char *ret)
{
	int ends[2];
	if (host_pipe(ends) != 0)
		return -1;
	ssize_t count = tee(fd, ends[1], 1, 0);
	if (count == 1)
		count = read(ends[0], ret, 1);
	close(ends[0]);
	close(ends[1]);
	return count;
}

/* Returns the first byte of input without consuming it; a byte that starts no HTTP request if it cannot be peeked. */
static char peek(int fd)
{
	struct stat st;
	char first = '\0';
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	while (poll(&wait, 1, -1) < 0 && errno == EINTR)
		;
	if (fstat(fd, &st) != 0)
		return '\0';
	ssize_t count = 0;
	if (S_ISSOCK(st.st_mode))
		count = recv(fd, &first, 1, MSG_PEEK);
	else if (S_ISFIFO(st.st_mode))
		count = peek_pipe(fd, &first);
	else if (S_ISREG(st.st_mode))
		count = pread(fd, &first, 1, lseek(fd, 0, SEEK_CUR));
	return count == 1 ? first : '\0';
}

int app_server_proxy_run(const char *path, struct error *err)
{
	auto_close int fd = unix_socket_connect(path, LIMIT_CONNECT_MS, err);
	if (fd < 0)
		return -(int)err->code;
	return peek(STDIN_FILENO) == 'G' ? pass_bytes(fd, err) : pass_lines(&fd, err);
}

/* ---- one request ---- */

struct asking {
	struct loop *loop;
	struct transport *server;
	const char *method;
	struct str params;
	struct buf *answer;
	bool is_greeted; /* `initialize` was answered */
	struct error failure;
};

static void send_request(struct asking *asking, char id, const char *method, struct str params)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_LINE);
	buf_printf(&line, "{\"id\":%c,\"method\":\"%s\",\"params\":", id, method);
	buf_append_str(&line, params);
	buf_append_c(&line, "}\n");
	transport_send(asking->server, buf_str(&line));
}

static void fail_asking(struct asking *asking, struct str why)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_RPC_ERROR);
	text_append_line(&line, why.len < KIB ? why : str_n(why.ptr, KIB));
	error_set(&asking->failure, ERR_invalid, "the server refused %s: %.*s",
	          asking->is_greeted ? asking->method : "initialize", STR_ARG(buf_str(&line)));
}

static void on_answer_frame(struct str frame, void *self)
{
	struct asking *asking = self;
	auto_arena struct arena arena = {0};
	struct rpc_message message;
	if (rpc_read(frame, &arena, &message, NULL) != 0 || (message.kind != RPC_RESULT && message.kind != RPC_ERROR) ||
	    !str_is(message.id, asking->is_greeted ? "2" : "1"))
		return;
	if (message.kind == RPC_ERROR) {
		fail_asking(asking, json_get_str(message.body, "message"));
	} else if (!asking->is_greeted) {
		asking->is_greeted = true;
		send_request(asking, '2', asking->method, asking->params);
		return;
	} else {
		buf_append_str(asking->answer, frame);
	}
	loop_stop(asking->loop);
}

static void on_answer_timeout(void *self)
{
	struct asking *asking = self;
	error_set(&asking->failure, ERR_timeout, "the server does not answer");
	loop_stop(asking->loop);
}

static void on_answer_end(const struct error *err, void *self)
{
	struct asking *asking = self;
	if (!asking->answer->len && !asking->failure.code)
		error_set(&asking->failure, ERR_transport, "the server closed the connection%s%s", err ? ": " : "",
		          err ? err->text : "");
	loop_stop(asking->loop);
}

static int ask(struct asking *asking, int fd, struct str rest, struct error *err)
{
	static const struct transport_events events = {on_answer_frame, on_long_frame, on_answer_end, NULL};
	asking->server = transport_websocket_open(asking->loop, fd, rest, WEBSOCKET_CLIENT, &events, asking, err);
	if (!asking->server)
		return -(int)err->code;
	send_request(asking, '1', "initialize",
	             STR("{\"clientInfo\":{\"name\":\"codex_cli_rs\",\"version\":\"" CODEX_VERSION
	                 "\"},\"capabilities\":{\"experimentalApi\":true}}"));
	struct loop_timer *timer = loop_timer_create(asking->loop, on_answer_timeout, asking);
	loop_timer_start(timer, LIMIT_CONNECT_MS);
	loop_run(asking->loop);
	loop_timer_destroy(timer);
	transport_destroy(asking->server, true);
	if (asking->failure.code)
		*err = asking->failure;
	return -(int)asking->failure.code;
}

static int connect_to(const char *address, struct error *err)
{
	struct str rest = str_of(address);
	if (str_cut_prefix(&rest, "unix://") || rest.ptr[0] == '/')
		return unix_socket_connect(rest.ptr, LIMIT_CONNECT_MS, err);
	if (!str_cut_prefix(&rest, "ws://"))
		return error_set(err, ERR_usage,
		                 "%s is no address of an app-server: use unix://PATH or ws://HOST:PORT; for wss://, "
		                 "forward a port, for example with ssh -L",
		                 address);
	if (str_has_suffix(rest, "/"))
		rest.len--;
	auto_free char *tcp = xasprintf("tcp://%.*s", STR_ARG(rest));
	ptrdiff_t colon = str_rfind_char(rest, ':');
	uint64_t port;
	if (colon <= 0 || !str_to_u64(str_skip(rest, (size_t)colon + 1), &port) || !port || port > UINT16_MAX)
		return error_set(err, ERR_usage, "%s: use ws://HOST:PORT, without a path", address);
	int fd = transport_connect(tcp, err);
	if (fd < 0)
		error_wrap(err, "%s", address);
	return fd;
}

/* A token must not cross a network in the clear. */
static bool may_send_token(const char *address)
{
	struct str rest = str_of(address);
	if (!str_cut_prefix(&rest, "ws://"))
		return false;
	if (str_has_suffix(rest, "/"))
		rest.len--;
	auto_free char *tcp = xasprintf("tcp://%.*s", STR_ARG(rest));
	return (str_cut_prefix(&rest, "localhost:") && str_rfind_char(rest, ':') < 0) ||
	       transport_listener_is_local(tcp);
}

int app_server_call(const struct app_server_peer *peer, const char *method, struct str params, struct buf *answer,
                    struct error *err)
{
	struct asking asking = {.method = method, .params = params, .answer = answer};
	struct buf rest = {0};
	auto_free char *extra = xasprintf("%s%s%s", peer->token ? "Authorization: Bearer " : "",
	                                  peer->token ? peer->token : "", peer->token ? "\r\n" : "");
	if (peer->token && !may_send_token(peer->address))
		return error_set(err, ERR_denied,
		                 "a token is sent to ws:// on this machine only; forward a port, for example with ssh "
		                 "-L");
	auto_close int fd = connect_to(peer->address, err);
	int status = fd < 0 ? -(int)err->code : shake_hands(fd, extra, &rest, err);
	if (status == 0 && !(asking.loop = loop_create(err)))
		status = -(int)err->code;
	if (status == 0)
		status = ask(&asking, steal_fd(&fd), buf_str(&rest), err);
	buf_finish(&rest);
	loop_destroy(asking.loop);
	return status;
}

int app_server_open_thread(const struct app_server_peer *peer, const char *method, struct str params, struct buf *id,
                           struct error *err)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf answer;
	buf_init(&answer, LIMIT_WEBSOCKET_MESSAGE);
	if (app_server_call(peer, method, params, &answer, err) != 0)
		return -(int)err->code;
	const struct json *thread = json_get(json_get(json_parse(&arena, buf_str(&answer), NULL), "result"), "thread");
	buf_append_str(id, json_get_str(thread, "id"));
	return id->len ? 0 : error_set(err, ERR_invalid, "the server opened no session");
}
