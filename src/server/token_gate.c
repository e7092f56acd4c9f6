/* No transport is used: before a client is authenticated it must cost a few kilobytes, not a buffer of 16 MiB and an
 * engine. The line is inspected in the socket's buffer (MSG_PEEK) and consumed exactly to its end, so that the
 * descriptor can be passed on without buffered data. */
#include "server/token_gate.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/access_token.h"
#include "protocol/message/message.h"
#include "server/server_limits.h"

struct token_gate {
	uv_poll_t poll;
	struct loop_timer *timer; /* limits the wait, then delays the refusal */
	int fd;                   /* -1 after it was passed on or closed */
	const char *token;
	struct buf line;
	token_gate_done_fn on_done;
	void *self;
};

static void finish(struct token_gate *gate, int fd)
{
	uv_poll_stop(&gate->poll);
	loop_timer_stop(gate->timer);
	gate->fd = -1;
	gate->on_done(fd, gate->self);
}

static void send_refusal(int fd)
{
	auto_buf struct buf out;
	struct ev_error body = {
		.message = STR("The first line must be {\"token\":\"…\"} with the token of this server; the "
	                       "connection is closed."),
		.codex_error_info = STR("\"unauthorized\""),
	};
	struct event *event = event_create(STR(""), EV_error, &body);
	buf_init(&out, ERROR_TEXT_MAX);
	struct json_writer w = json_writer(&out);
	event_encode(event, &w);
	buf_append_char(&out, '\n');
	ssize_t ignored = send(fd, out.data, out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)ignored; /* best effort */
	event_destroy(event);
}

static void on_refuse(void *self)
{
	struct token_gate *gate = self;
	uv_poll_stop(&gate->poll);
	send_refusal(gate->fd);
	shutdown(gate->fd, SHUT_RDWR);
	close(gate->fd);
	finish(gate, -1);
}

/* Refuses the connection after a delay; further input is not read. */
static void refuse_later(struct token_gate *gate)
{
	uv_poll_stop(&gate->poll);
	loop_timer_start(gate->timer, LIMIT_TOKEN_REFUSE_MS);
}

static void judge(struct token_gate *gate)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, str_trim(buf_str(&gate->line)), NULL);
	if (access_token_matches(gate->token, json_get_str(json, "token")))
		finish(gate, gate->fd);
	else
		refuse_later(gate);
}

/* Consumes received bytes up to the end of the line; true if the line is complete. *ret_is_over is set at the end of
 * the input. */
static bool take_bytes(struct token_gate *gate, bool *ret_is_over)
{
	char bytes[KIB];
	ssize_t count = recv(gate->fd, bytes, sizeof(bytes), MSG_PEEK);
	*ret_is_over = count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR);
	if (count <= 0)
		return false;
	const char *end = memchr(bytes, '\n', (size_t)count);
	size_t wanted = end ? (size_t)(end - bytes) + 1 : (size_t)count;
	count = recv(gate->fd, bytes, wanted, 0);
	if (count > 0)
		buf_append(&gate->line, bytes, (size_t)count);
	return end;
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct token_gate *gate = container_of(poll, struct token_gate, poll);
	bool is_over = status < 0;
	(void)events;
	bool is_whole = !is_over && take_bytes(gate, &is_over);
	if (is_over || gate->line.over)
		refuse_later(gate);
	else if (is_whole)
		judge(gate);
}

struct token_gate *token_gate_create(struct loop *loop, int fd, const char *token, token_gate_done_fn on_done,
                                     void *self)
{
	struct token_gate *gate = xnew(struct token_gate);
	gate->fd = fd;
	gate->token = token;
	gate->on_done = on_done;
	gate->self = self;
	buf_init(&gate->line, LIMIT_TOKEN_LINE);
	gate->timer = loop_timer_create(loop, on_refuse, gate);
	loop_timer_start(gate->timer, LIMIT_TOKEN_MS);
	uv_poll_init(loop_uv(loop), &gate->poll, fd);
	uv_poll_start(&gate->poll, UV_READABLE, on_readable);
	return gate;
}

static void on_closed(uv_handle_t *handle)
{
	struct token_gate *gate = container_of((uv_poll_t *)handle, struct token_gate, poll);
	buf_finish(&gate->line);
	free(gate);
}

void token_gate_destroy(struct token_gate *gate)
{
	if (!gate)
		return;
	uv_poll_stop(&gate->poll);
	loop_timer_destroy(gate->timer);
	if (gate->fd >= 0)
		close(gate->fd);
	uv_close((uv_handle_t *)&gate->poll, on_closed);
}
