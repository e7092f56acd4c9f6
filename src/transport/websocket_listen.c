/* Connections are the HTTP server's until they ask for more: it knows heads, limits and slow senders already. What is
 * left is a list of questions to a request, each of which may answer it. */
#include "transport/websocket_listen.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "loop/stream.h"
#include "net/bearer.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "net/websocket_upgrade.h"
#include "net/websocket_wslay.h"
#include "transport/transport_listen.h"

struct websocket_listen {
	struct websocket_listen_options options;
	struct transport_listener *listener;
	struct http_server *server;
	bool is_local_file; /* a Unix socket: its mode decides who may come in */
};

static void reply_text(struct http_exchange *exchange, int status, const char *text)
{
	http_reply(exchange, status, "text/plain; charset=utf-8", str_of(text));
}

/* Pages of browsers reach local ports too; they cannot leave this header out. */
static bool refuse_origin(struct websocket_listen *listen, struct http_exchange *exchange, const struct http_head *head)
{
	(void)listen;
	if (!http_head_get(head, "origin").ptr)
		return false;
	http_reply(exchange, 403, NULL, STR(""));
	return true;
}

static bool answer_probe(struct websocket_listen *listen, struct http_exchange *exchange, const struct http_head *head)
{
	const struct str headers[] = {STR("Server: codex/" CODEX_VERSION), STR("Allow: GET,HEAD")};
	struct str path, rest = head->target;
	(void)listen;
	str_next_part(&rest, '?', &path);
	if (!str_is(path, "/readyz") && !str_is(path, "/healthz"))
		return false;
	bool is_read = str_is(head->method, "GET") || str_is(head->method, "HEAD");
	http_reply_head(exchange, is_read ? 200 : 405, headers, is_read ? 1 : 2, 0);
	http_reply_end(exchange);
	return true;
}

static bool refuse_stranger(struct websocket_listen *listen, struct http_exchange *exchange,
                            const struct http_head *head)
{
	const struct bearer *bearer = listen->options.bearer;
	if (!bearer || listen->is_local_file)
		return false;
	const char *refusal = bearer_refusal(bearer, http_head_get(head, "authorization"), clock_unix_ms() / 1000);
	if (refusal)
		reply_text(exchange, 401, refusal);
	return refusal;
}

static bool refuse_request(struct websocket_listen *listen, struct http_exchange *exchange,
                           const struct http_head *head)
{
	const char *refusal;
	int status = websocket_upgrade_check(head, &refusal);
	(void)listen;
	if (status)
		reply_text(exchange, status, refusal);
	return status;
}

/* Answers what is answered without a WebSocket; true if it has. */
typedef bool (*question_fn)(struct websocket_listen *listen, struct http_exchange *exchange,
                            const struct http_head *head);

static const question_fn questions[] = {refuse_origin, answer_probe, refuse_stranger, refuse_request};

static void upgrade(struct websocket_listen *listen, struct http_exchange *exchange, struct str key)
{
	char accept[WEBSOCKET_ACCEPT_SIZE], line[64];
	struct buf rest;
	websocket_upgrade_accept(key, accept);
	snprintf(line, sizeof(line), "sec-websocket-accept: %s", accept);
	const struct str headers[] = {
		STR("connection: Upgrade"),
		STR("upgrade: websocket"),
		str_of(line),
		STR("x-codex-websocket-max-unfragmented-message-bytes: 16777216"),
	};
	struct stream *stream = http_exchange_upgrade(exchange, headers, countof(headers), &rest);
	if (stream)
		listen->options.on_connect(stream, &rest, listen->options.self);
}

static void on_request(struct http_exchange *exchange, const struct http_head *head, struct str body, void *self)
{
	struct websocket_listen *listen = self;
	(void)body;
	for (size_t i = 0; i < countof(questions); i++)
		if (questions[i](listen, exchange, head))
			return;
	upgrade(listen, exchange, http_head_get(head, "sec-websocket-key"));
}

static void on_connect(int fd, void *self)
{
	struct websocket_listen *listen = self;
	http_server_adopt(listen->server, fd);
}

static int open_listen(struct websocket_listen *listen, struct error *err)
{
	const char *address = listen->options.address;
	if (!websocket_wslay_load(err)) /* said now, and not to the first client */
		return -(int)err->code;
	listen->listener = transport_listener_create(listen->options.loop, address, on_connect, listen, err);
	if (!listen->listener)
		return -(int)err->code;
	listen->server = http_server_create_deaf(listen->options.loop, on_request, listen);
	listen->is_local_file = str_has_prefix(str_of(address), "unix://");
	return 0;
}

struct websocket_listen *websocket_listen_create(const struct websocket_listen_options *options, struct error *err)
{
	if (!options->bearer && str_has_prefix(str_of(options->address), "ws://") &&
	    !transport_listener_is_local(options->address)) {
		error_set(err, ERR_denied,
		          "refusing to start non-loopback websocket listener %s without auth; configure `--ws-auth "
		          "capability-token` or `--ws-auth signed-bearer-token`",
		          options->address + strlen("ws://"));
		return NULL;
	}
	struct websocket_listen *listen = xnew(struct websocket_listen);
	listen->options = *options;
	if (open_listen(listen, err) == 0)
		return listen;
	websocket_listen_destroy(listen);
	return NULL;
}

const char *websocket_listen_address(const struct websocket_listen *listen)
{
	return transport_listener_address(listen->listener);
}

void websocket_listen_destroy(struct websocket_listen *listen)
{
	if (!listen)
		return;
	transport_listener_destroy(listen->listener);
	http_server_destroy(listen->server);
	free(listen);
}
