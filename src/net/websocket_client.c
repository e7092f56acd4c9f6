/* The handshake is written here, and the answer read up to its empty line; what follows are frames. Messages are
 * delivered one by one, so that a caller can pause or close the socket between two of them. */
#include "net/websocket_client.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http_client.h"
#include "net/http_head.h"
#include "net/http_tunnel.h"
#include "net/http_url.h"
#include "net/websocket.h"
#include "net/websocket_upgrade.h"

struct websocket_client {
	const struct websocket_client_handler *handler;
	void *self;
	struct http_tunnel *tunnel;
	struct websocket *websocket; /* non-NULL once the handshake was accepted */
	struct buf request;          /* of the handshake */
	char key[WEBSOCKET_KEY_SIZE];
	struct buf head; /* of its answer */
	struct loop_timer *timer;
	struct loop_deferred deliver; /* messages that arrived before a pause */
	unsigned depth;               /* of callbacks; the outermost one frees a closed socket */
	uint64_t timeout_ms;
	bool is_paused;
	bool is_closed; /* by the owner */
	bool is_over;   /* on_end was called */
};

/* ---- the end ---- */

static void client_free(struct websocket_client *client)
{
	loop_deferred_finish(&client->deliver);
	loop_timer_destroy(client->timer);
	websocket_destroy(client->websocket);
	buf_finish(&client->request);
	buf_finish(&client->head);
	free(client);
}

static void enter(struct websocket_client *client)
{
	client->depth++;
}

static void leave(struct websocket_client *client)
{
	if (--client->depth == 0 && client->is_closed)
		client_free(client);
}

static void end(struct websocket_client *client, int status, const struct error *err)
{
	if (client->is_over || client->is_closed)
		return;
	client->is_over = true;
	loop_timer_stop(client->timer);
	http_tunnel_close(steal(client->tunnel));
	client->handler->on_end(status, err, client->self);
}

void websocket_client_close(struct websocket_client *client)
{
	if (!client || client->is_closed)
		return;
	if (client->websocket && client->tunnel)
		websocket_close(client->websocket, WEBSOCKET_CODE_NORMAL, "");
	client->is_closed = true;
	http_tunnel_close(steal(client->tunnel));
	loop_timer_stop(client->timer);
	if (client->depth == 0)
		client_free(client);
}

/* ---- messages ---- */

static void deliver(struct websocket_client *client)
{
	struct str message;
	struct error binary;
	while (!client->is_paused && !client->is_closed && !client->is_over) {
		switch (websocket_next(client->websocket, &message)) {
		case WEBSOCKET_WAIT:
			http_tunnel_resume(client->tunnel);
			return;
		case WEBSOCKET_TEXT:
			client->handler->on_message(message, client->self);
			break;
		case WEBSOCKET_BINARY:
			websocket_close(client->websocket, WEBSOCKET_CODE_PROTOCOL, "text is expected");
			error_set(&binary, ERR_transport, "the server sent a binary message");
			end(client, 0, &binary);
			break;
		case WEBSOCKET_CLOSED:
			end(client, 0, websocket_error(client->websocket));
			break;
		}
	}
}

static void on_deliver(void *self)
{
	struct websocket_client *client = self;
	enter(client);
	if (client->websocket)
		deliver(client);
	leave(client);
}

static bool on_output(struct str bytes, void *self)
{
	struct websocket_client *client = self;
	if (client->tunnel)
		http_tunnel_send(client->tunnel, bytes);
	return true;
}

/* ---- the handshake ---- */

/* Reads what has arrived of the head. Returns its length with the empty line; 0: it is incomplete. */
static size_t head_length(const struct websocket_client *client)
{
	ptrdiff_t end = str_find(buf_str(&client->head), STR("\r\n\r\n"));
	return end < 0 ? 0 : (size_t)end + 4;
}

static int open_websocket(struct websocket_client *client, struct str head, struct error *err)
{
	if (websocket_upgrade_answer(head, client->key, err) != 0)
		return -(int)err->code;
	client->websocket = websocket_create(WEBSOCKET_CLIENT, on_output, client, err);
	return client->websocket ? 0 : -(int)err->code;
}

static void read_answer(struct websocket_client *client)
{
	struct error err;
	struct http_head head;
	size_t length = head_length(client);
	if (length > LIMIT_HTTP_HEAD || (!length && client->head.len > LIMIT_HTTP_HEAD)) {
		error_set(&err, ERR_limit, "the answer to the handshake has more than %d bytes of headers",
		          LIMIT_HTTP_HEAD);
		end(client, 0, &err);
		return;
	}
	if (!length)
		return;
	struct str text = str_n(client->head.data, length);
	int status = open_websocket(client, text, &err);
	http_head_parse_answer(&head, text);
	if (status == 0) {
		loop_timer_stop(client->timer);
		websocket_receive(client->websocket, str_skip(buf_str(&client->head), length));
		client->handler->on_open(&head, client->self);
		deliver(client);
	} else {
		end(client, head.status, &err);
	}
	http_head_finish(&head);
	buf_finish(&client->head);
}

static void on_tunnel_open(void *self)
{
	struct websocket_client *client = self;
	http_tunnel_send(client->tunnel, buf_str(&client->request));
	buf_finish(&client->request);
}

static void on_tunnel_bytes(struct str bytes, void *self)
{
	struct websocket_client *client = self;
	enter(client);
	if (!client->websocket) {
		buf_append_str(&client->head, bytes);
		read_answer(client);
	} else {
		client->handler->on_bytes(client->self);
		websocket_receive(client->websocket, bytes);
		deliver(client);
	}
	leave(client);
}

static void on_tunnel_end(const struct error *err, void *self)
{
	struct websocket_client *client = self;
	struct error cut;
	error_set(&cut, ERR_transport, "the server closed the connection without a close frame");
	enter(client);
	end(client, 0, err ? err : &cut);
	leave(client);
}

static const struct http_tunnel_handler tunnel_handler = {on_tunnel_open, on_tunnel_bytes, on_tunnel_end};

static void on_timeout(void *self)
{
	struct websocket_client *client = self;
	struct error err;
	error_set(&err, ERR_timeout, "no WebSocket was opened within %g s", (double)client->timeout_ms / 1000);
	enter(client);
	end(client, 0, &err);
	leave(client);
}

/* ---- the start ---- */

/* Appends the port unless it is that of the scheme. */
static void append_host(struct buf *out, const struct http_url *url)
{
	buf_append_str(out, url->host);
	if (!str_is(url->port, url->is_https ? "443" : "80"))
		buf_printf(out, ":%.*s", STR_ARG(url->port));
}

/* Appends path and query, which is what follows the host in the URL. */
static void append_target(struct buf *out, const char *url)
{
	struct str rest = str_skip(str_of(url), (size_t)str_find(str_of(url), STR("://")) + 3);
	size_t at = 0;
	while (at < rest.len && rest.ptr[at] != '/' && rest.ptr[at] != '?' && rest.ptr[at] != '#')
		at++;
	rest = str_skip(rest, at);
	ptrdiff_t mark = str_find_char(rest, '#');
	rest.len = mark >= 0 ? (size_t)mark : rest.len;
	buf_append_c(out, str_has_prefix(rest, "/") ? "" : "/");
	buf_append_str(out, rest);
}

static void write_handshake(struct websocket_client *client, const struct websocket_client_request *request)
{
	auto_buf struct buf host, target, extra;
	struct http_header header;
	struct http_url url;
	buf_init(&host, LIMIT_HTTP_HEAD);
	buf_init(&target, LIMIT_HTTP_HEAD);
	buf_init(&extra, LIMIT_HTTP_HEAD);
	if (http_url_parse(str_of(request->url), &url)) { /* else the tunnel fails */
		append_host(&host, &url);
		append_target(&target, request->url);
	}
	for (size_t i = 0; i < request->header_count; i++) {
		if (http_header_parse(request->headers[i], &header))
			buf_printf(&extra, "%.*s\r\n", STR_ARG(request->headers[i]));
	}
	buf_init(&client->request, 4 * LIMIT_HTTP_HEAD);
	websocket_upgrade_request(&client->request, buf_str(&host).ptr, buf_str(&target).ptr, buf_str(&extra).ptr,
	                          client->key);
}

struct websocket_client *websocket_client_open(struct loop *loop, struct http_client *http,
                                               const struct websocket_client_request *request,
                                               const struct websocket_client_handler *handler, void *self)
{
	struct websocket_client *client = xnew(struct websocket_client);
	client->handler = handler;
	client->self = self;
	client->timeout_ms = request->timeout_ms;
	buf_init(&client->head, 2 * LIMIT_HTTP_HEAD);
	loop_deferred_init(&client->deliver, loop, on_deliver, client);
	client->timer = loop_timer_create(loop, on_timeout, client);
	loop_timer_start(client->timer, request->timeout_ms);
	write_handshake(client, request);
	struct http_request connect = {
		.url = request->url,
		.client_certificate = request->client_certificate,
		.client_key = request->client_key,
		.connect_timeout_ms = request->timeout_ms,
	};
	client->tunnel = http_tunnel_open(http, &connect, &tunnel_handler, client);
	return client;
}

void websocket_client_send(struct websocket_client *client, const struct str *parts, size_t count)
{
	websocket_send_parts(client->websocket, parts, count);
}

void websocket_client_pause(struct websocket_client *client)
{
	client->is_paused = true;
	if (client->tunnel)
		http_tunnel_pause(client->tunnel);
}

void websocket_client_resume(struct websocket_client *client)
{
	client->is_paused = false;
	loop_defer(&client->deliver);
}
