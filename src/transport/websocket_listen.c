/* A request passes a list of checks, each of which may answer it; a request that passes all becomes a WebSocket. Until
 * then only the head of the request is kept (net/upgrade_reader.h). */
#include "transport/websocket_listen.h"

#include <stdio.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "net/bearer.h"
#include "net/http_head.h"
#include "net/http_url.h"
#include "net/upgrade_reader.h"
#include "net/websocket_upgrade.h"
#include "net/websocket.h"
#include "transport/pending_clients.h"
#include "transport/transport_listen.h"

struct websocket_listen {
	struct websocket_listen_options options;
	struct transport_listener *listener;
	struct pending_clients *clients;
	struct list visitors;
	bool is_local_file; /* a Unix socket: the mode of its file controls access */
};

/* A connection whose request has not been answered yet. */
struct visitor {
	struct list link;
	struct websocket_listen *listen;
	struct upgrade_reader *reader;
	struct pending_client *pending; /* NULL after the connection was handed over */
	struct sockaddr_storage local;  /* the local address of the connection */
};

static void visitor_destroy(struct visitor *visitor)
{
	list_remove(&visitor->link);
	upgrade_reader_destroy(visitor->reader);
	pending_client_destroy(visitor->pending);
	free(visitor);
}

static void reply(struct visitor *visitor, int status)
{
	upgrade_reader_answer(visitor->reader, status, NULL, 0, NULL, STR(""));
}

static void reply_text(struct visitor *visitor, int status, const char *text)
{
	upgrade_reader_answer(visitor->reader, status, NULL, 0, "text/plain; charset=utf-8", str_of(text));
}

/* ---- the questions ---- */

/* Refuses web pages, which can reach local ports, too: browsers always send an Origin header. */
static bool refuse_origin(struct visitor *visitor, const struct http_head *head)
{
	if (!http_head_get(head, "origin").ptr)
		return false;
	reply(visitor, 403);
	return true;
}

static bool refuse_host(struct visitor *visitor, const struct http_head *head)
{
	const struct websocket_listen_options *options = &visitor->listen->options;
	struct str host = http_head_get(head, "host");
	unsigned count = http_head_count(head, "host");
	if (count > 1 || (count == 0 && !head->is_http_1_0)) {
		reply_text(visitor, 400, "A request must have one `Host` header");
		return true;
	}
	if (count == 0 || visitor->listen->is_local_file ||
	    http_host_is_allowed(host, (const struct sockaddr *)&visitor->local, options->hosts, options->host_count))
		return false;
	reply_text(visitor, 403,
	           "The `Host` header does not name an address of this server; to accept another name, start the "
	           "server with --ws-allow-host NAME");
	return true;
}

static bool answer_probe(struct visitor *visitor, const struct http_head *head)
{
	const struct str headers[] = {STR("Server: codex/" CODEX_VERSION), STR("Allow: GET,HEAD")};
	struct str path, rest = head->target;
	str_next_part(&rest, '?', &path);
	if (!str_is(path, "/readyz") && !str_is(path, "/healthz"))
		return false;
	bool is_read = str_is(head->method, "GET") || str_is(head->method, "HEAD");
	upgrade_reader_answer(visitor->reader, is_read ? 200 : 405, headers, is_read ? 1 : 2, NULL, STR(""));
	return true;
}

static bool refuse_stranger(struct visitor *visitor, const struct http_head *head)
{
	const struct bearer *bearer = visitor->listen->options.bearer;
	if (!bearer || visitor->listen->is_local_file)
		return false;
	const char *refusal = bearer_refusal(bearer, http_head_get(head, "authorization"), clock_unix_ms() / 1000);
	if (refusal)
		reply_text(visitor, 401, refusal);
	return refusal;
}

static bool refuse_request(struct visitor *visitor, const struct http_head *head)
{
	const char *refusal;
	int status = websocket_upgrade_check(head, &refusal);
	if (status)
		reply_text(visitor, status, refusal);
	return status;
}

/* Answers a request that must not become a WebSocket; returns true if it did. */
typedef bool (*question_fn)(struct visitor *visitor, const struct http_head *head);

static const question_fn questions[] = {refuse_origin, refuse_host, answer_probe, refuse_stranger, refuse_request};

/* ---- visitors ---- */

static void upgrade(struct visitor *visitor, struct str key)
{
	struct websocket_listen *listen = visitor->listen;
	char accept[WEBSOCKET_ACCEPT_SIZE], line[64];
	websocket_upgrade_accept(key, accept);
	snprintf(line, sizeof(line), "sec-websocket-accept: %s", accept);
	const struct str headers[] = {
		STR("connection: Upgrade"),
		STR("upgrade: websocket"),
		str_of(line),
		STR("x-codex-websocket-max-unfragmented-message-bytes: 16777216"),
	};
	int fd = upgrade_reader_accept(visitor->reader, headers, countof(headers));
	struct pending_client *pending = fd >= 0 ? steal(visitor->pending) : NULL;
	visitor_destroy(visitor); /* The reader must be gone before another owner watches the descriptor. */
	if (fd >= 0)
		listen->options.on_connect(fd, pending, listen->options.self);
}

static void on_head(const struct http_head *head, void *self)
{
	struct visitor *visitor = self;
	for (size_t i = 0; i < countof(questions); i++)
		if (questions[i](visitor, head))
			return;
	upgrade(visitor, http_head_get(head, "sec-websocket-key"));
}

static void on_visitor_end(void *self)
{
	visitor_destroy(self);
}

static const struct upgrade_reader_events reader_events = {on_head, on_visitor_end};

static void on_connect(int fd, void *self)
{
	struct websocket_listen *listen = self;
	fd = pending_clients_make_room(listen->clients, fd);
	if (fd < 0)
		return;
	struct visitor *visitor = xnew(struct visitor);
	socklen_t size = sizeof(visitor->local);
	visitor->listen = listen;
	getsockname(fd, (struct sockaddr *)&visitor->local, &size);
	visitor->reader = upgrade_reader_create(listen->options.loop, fd, &reader_events, visitor);
	visitor->pending = pending_client_create(listen->clients, on_visitor_end, visitor);
	list_append(&listen->visitors, &visitor->link);
}

/* ---- the listener ---- */

/* An address that other machines reach needs a bearer. */
static int require_bearer(const struct websocket_listen *listen, const char *address, struct error *err)
{
	if (listen->options.bearer || !str_has_prefix(str_of(address), "ws://") || transport_listener_is_local(address))
		return 0;
	return error_set(err, ERR_denied,
	                 "refusing to start non-loopback websocket listener %s without auth; configure `--ws-auth "
	                 "capability-token` or `--ws-auth signed-bearer-token`",
	                 address + strlen("ws://"));
}

static int open_listen(struct websocket_listen *listen, struct error *err)
{
	const char *address = listen->options.address;
	if (require_bearer(listen, address, err) != 0)
		return -(int)err->code;
	if (websocket_load(err) != 0) /* Report a missing library now, not to the first client. */
		return -(int)err->code;
	listen->listener = transport_listener_create(listen->options.loop, address, on_connect, listen, err);
	if (!listen->listener)
		return -(int)err->code;
	address = transport_listener_address(listen->listener); /* fd:// has become unix:// or ws:// */
	listen->is_local_file = str_has_prefix(str_of(address), "unix://");
	return require_bearer(listen, address, err);
}

struct websocket_listen *websocket_listen_create(const struct websocket_listen_options *options, struct error *err)
{
	struct websocket_listen *listen = xnew(struct websocket_listen);
	listen->options = *options;
	listen->clients = pending_clients_create(options->limit);
	list_init(&listen->visitors);
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
	struct visitor *visitor;
	if (!listen)
		return;
	transport_listener_destroy(listen->listener);
	list_for_each(visitor, &listen->visitors, link)
		visitor_destroy(visitor);
	pending_clients_destroy(listen->clients);
	free(listen);
}
