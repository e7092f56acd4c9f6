/* One HTTP request of the transport: its headers, and the parts of its answer. */
#include "base/error.h"
#include "base/json_peek.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "mcp/mcp_http_auth.h"
#include "mcp/mcp_link_http_priv.h"
#include "net/http_client.h"
#include "net/http_head.h"
#include "net/http_url.h"

struct mcp_exchange *mcp_exchange_create(struct mcp_http *http, struct str body, uint64_t request)
{
	struct mcp_exchange *exchange = xnew(struct mcp_exchange);
	exchange->http = http;
	exchange->body = str_copy(body);
	exchange->request = request;
	exchange->last_id = exchange->location = exchange->challenge = STR_NONE;
	exchange->sse.retry_ms = -1;
	buf_init(&exchange->text, LIMIT_LINE);
	list_append(&http->active, &exchange->link);
	http->exchange_count++;
	return exchange;
}

void mcp_exchange_destroy(struct mcp_exchange *exchange)
{
	struct mcp_http *http = exchange->http;
	if (http->listen == exchange)
		http->listen = NULL;
	list_remove(&exchange->link);
	http->exchange_count--;
	http_call_cancel(exchange->call);
	loop_timer_destroy(exchange->timer);
	free(exchange->url);
	str_free(&exchange->body);
	str_free(&exchange->last_id);
	str_free(&exchange->location);
	str_free(&exchange->challenge);
	buf_finish(&exchange->text);
	sse_finish(&exchange->sse);
	free(exchange);
}

/* ---- the answer ---- */

/* Replaces an id of the server. One that cannot be sent back is not kept. */
static void keep_token(struct str *slot, struct str text)
{
	struct http_header header;
	if (text.len > MCP_HTTP_TOKEN)
		return;
	auto_free char *line = xasprintf("X: %.*s", (int)text.len, text.ptr);
	if (!http_header_parse(str_n(line, text.len + 3), &header))
		return;
	str_free(slot);
	*slot = str_copy(text);
}

static bool on_event(const struct sse_event *event, void *self)
{
	struct mcp_exchange *exchange = self;
	struct mcp_http *http = exchange->http;
	bool is_long = event->data.len > LIMIT_MCP_MESSAGE;
	if (event->id.len && !str_eq(event->id, exchange->last_id))
		keep_token(&exchange->last_id, event->id);
	exchange->attempts = 0;
	if (is_long && !exchange->is_listen) {
		error_set(&exchange->sse_error, ERR_limit, "the server has sent a message of more than %d MiB",
		          LIMIT_MCP_MESSAGE / MIB);
		return false;
	}
	if (!is_long && event->data.len && str_is(event->event, "message"))
		mcp_http_deliver(exchange, event->data);
	return !http->is_closed;
}

static bool is_media(struct str type, const char *name)
{
	ptrdiff_t at = str_find_char(type, ';');
	return str_equal_fold(str_trim(at < 0 ? type : str_n(type.ptr, (size_t)at)), str_of(name));
}

static bool is_success(const struct mcp_exchange *exchange)
{
	return exchange->status >= 200 && exchange->status < 300;
}

static bool on_head(int status, const struct http_head *head, void *self)
{
	struct mcp_exchange *exchange = self;
	struct mcp_http *http = exchange->http;
	struct str type = http_head_get(head, "content-type"), session = http_head_get(head, "mcp-session-id");
	exchange->status = status;
	exchange->is_sse = is_success(exchange) && is_media(type, "text/event-stream");
	exchange->is_json = is_media(type, "application/json");
	if (is_success(exchange))
		exchange->redirects = 0;
	if (exchange->is_sse) {
		int64_t retry_ms = exchange->sse.retry_ms; /* a pause applies until the server sets another one */
		sse_init(&exchange->sse, on_event, exchange);
		exchange->sse.retry_ms = retry_ms;
	}
	if (session.ptr && is_success(exchange) && mcp_exchange_is_opening(exchange))
		keep_token(&http->session, session);
	str_free(&exchange->location);
	str_free(&exchange->challenge);
	exchange->location = str_copy(http_head_get(head, "location"));
	exchange->challenge = str_copy(http_head_get(head, "www-authenticate"));
	return true;
}

static void on_data(struct str bytes, void *self)
{
	struct mcp_exchange *exchange = self;
	struct mcp_http *http = exchange->http;
	if (!exchange->is_sse) {
		if (!exchange->text.over)
			buf_append_str(&exchange->text, bytes);
		return;
	}
	mcp_http_enter(http);
	if (sse_feed(&exchange->sse, bytes, &exchange->sse_error) != 0 || exchange->sse_error.code != ERR_none)
		http_call_pause(exchange->call);
	/* The server should end the stream after the response; one that does not is not waited for. */
	if (!http->is_closed && (exchange->is_answered || exchange->sse_error.code != ERR_none))
		mcp_exchange_start_later(exchange, LIMIT_ANSWER_LINGER_MS);
	mcp_http_leave(http);
}

static void on_done(const struct error *err, void *self)
{
	struct mcp_exchange *exchange = self;
	struct mcp_http *http = exchange->http;
	exchange->call = NULL;
	loop_timer_destroy(steal(exchange->timer));
	mcp_http_enter(http);
	if (exchange->is_sse && !err && exchange->sse_error.code == ERR_none)
		best_effort(sse_end(&exchange->sse, &exchange->sse_error));
	if (!http->is_closed)
		mcp_http_ended(exchange, exchange->sse_error.code != ERR_none ? &exchange->sse_error : err);
	mcp_http_leave(http);
}

/* ---- the request ---- */

enum { OWN_HEADERS = 6 };

static size_t own_headers(const struct mcp_exchange *exchange, struct arena *arena, struct str *out)
{
	const struct mcp_http *http = exchange->http;
	bool is_get = exchange->is_listen || exchange->is_resumed;
	size_t count = 0;
	out[count++] = is_get ? STR("Accept: text/event-stream") : STR("Accept: text/event-stream, application/json");
	out[count++] = STR("User-Agent: codex-mcp-client/" CODEX_VERSION);
	if (!is_get)
		out[count++] = STR("Content-Type: application/json");
	if (http->session.ptr && !exchange->is_handshake)
		out[count++] = str_of(arena_printf(arena, "Mcp-Session-Id: %.*s", STR_ARG(http->session)));
	if (http->version.ptr && !exchange->is_handshake)
		out[count++] = str_of(arena_printf(arena, "MCP-Protocol-Version: %.*s", STR_ARG(http->version)));
	if (is_get && exchange->last_id.ptr)
		out[count++] = str_of(arena_printf(arena, "Last-Event-ID: %.*s", STR_ARG(exchange->last_id)));
	return count;
}

static const struct http_handler handler = {on_head, on_data, on_done};

static struct http_call *start(struct mcp_exchange *exchange, const char *method, const struct http_handler *events,
                               void *self)
{
	struct mcp_http *http = exchange->http;
	auto_arena struct arena arena = {0};
	size_t granted_count = http->granted ? http->granted->count : 0;
	struct str *headers = arena_array(&arena, struct str, OWN_HEADERS + http->header_count + granted_count);
	size_t count = own_headers(exchange, &arena, headers);
	for (size_t i = 0; i < http->header_count; i++)
		headers[count++] = http->headers[i];
	for (size_t i = 0; i < granted_count; i++)
		headers[count++] = http->granted->lines[i];
	struct str name = STR_NONE;
	bool is_call = json_peek_member(exchange->body, "method", &name) && str_is(str_trim(name), "\"tools/call\"");
	bool is_farewell = strcmp(method, "DELETE") == 0;
	const struct http_request request = {
		.method = method,
		.is_once = is_call, /* a tool must not run twice */
		.is_farewell = is_farewell,
		.idle_timeout_ms = is_farewell ? LIMIT_MCP_FAREWELL_MS : 0,
		.url = exchange->url ? exchange->url : http->url,
		.headers = headers,
		.header_count = count,
		.body = &exchange->body,
		.body_count = strcmp(method, "POST") == 0,
		.connect_timeout_ms = LIMIT_CONNECT_MS,
	};
	return http_call_start(http->client, &request, events, self);
}

void mcp_exchange_start(struct mcp_exchange *exchange)
{
	exchange->status = 0;
	exchange->is_sse = exchange->is_json = false;
	exchange->sse_error = (struct error){0};
	exchange->session_number = exchange->http->session_number;
	exchange->auth_number = exchange->http->auth_number;
	buf_clear(&exchange->text);
	sse_finish(&exchange->sse);
	exchange->call =
		start(exchange, exchange->is_listen || exchange->is_resumed ? "GET" : "POST", &handler, exchange);
}

/* ---- redirects ---- */

static bool is_origin_equal(const struct http_url *a, const struct http_url *b)
{
	return a->is_https == b->is_https && str_equal_fold(a->host, b->host) && str_eq(a->port, b->port);
}

/* True for a redirect that keeps the method, or did so in practice. */
static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 307 || status == 308;
}

static bool is_permanent(int status)
{
	return status == 301 || status == 308;
}

bool mcp_exchange_follow(struct mcp_exchange *exchange)
{
	bool is_alone = exchange->url || !(is_permanent(exchange->status) || mcp_exchange_is_opening(exchange));
	char **current = exchange->url ? &exchange->url : &exchange->http->url;
	char **target = is_alone ? &exchange->url : current;
	struct http_url from, to;
	struct str location = exchange->location;
	if (!is_redirect(exchange->status) || !location.len || location.len > MCP_HTTP_TOKEN ||
	    exchange->redirects++ >= MCP_HTTP_REDIRECTS || !http_url_parse(str_of(*current), &from))
		return false;
	bool is_path = str_has_prefix(location, "/") && !str_has_prefix(location, "//");
	char *url = is_path ? xasprintf("%.*s://%.*s:%.*s%.*s", STR_ARG(from.scheme), STR_ARG(from.host),
	                                STR_ARG(from.port), STR_ARG(location))
	                    : str_dup(location);
	if (!http_url_parse(str_of(url), &to) || !is_origin_equal(&from, &to)) {
		free(url);
		return false;
	}
	free(*target);
	*target = url;
	mcp_exchange_start(exchange);
	return true;
}

/* ---- pauses ---- */

/* The pause is over: the request is sent, or the rest of its answer is not waited for. */
static void on_timer(void *self)
{
	struct mcp_exchange *exchange = self;
	struct mcp_http *http = exchange->http;
	if (!exchange->call && !exchange->is_answered) {
		mcp_exchange_start(exchange);
		return;
	}
	mcp_http_enter(http);
	http_call_cancel(steal(exchange->call));
	mcp_http_ended(exchange, exchange->sse_error.code != ERR_none ? &exchange->sse_error : NULL);
	mcp_http_leave(http);
}

void mcp_exchange_start_later(struct mcp_exchange *exchange, uint64_t delay_ms)
{
	if (!exchange->timer)
		exchange->timer = loop_timer_create(exchange->http->loop, on_timer, exchange);
	if (!loop_timer_is_active(exchange->timer))
		loop_timer_start(exchange->timer, delay_ms);
}

static void on_deleted(const struct error *err, void *self)
{
	(void)err;
	(void)self;
}

void mcp_exchange_send_delete(struct mcp_http *http)
{
	static const struct http_handler ignore = {.on_done = on_deleted};
	struct mcp_exchange farewell = {.http = http, .is_listen = true, .body = STR_NONE, .last_id = STR_NONE};
	start(&farewell, "DELETE", &ignore, NULL);
}
