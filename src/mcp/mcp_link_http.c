/* The session: what follows from the end of each exchange. A message is lost only if its HTTP request failed in a way
 * that leaves it unknown whether the server has carried it out; it is then not sent again. */
#include "mcp/mcp_link_http.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_peek.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "mcp/mcp_http_auth.h"
#include "mcp/mcp_link_http_priv.h"
#include "net/http_head.h"
#include "net/http_url.h"

static struct mcp_http *http_of(struct mcp_link *link)
{
	return container_of(link, struct mcp_http, link);
}

static void http_free(struct mcp_http *http)
{
	struct mcp_exchange *it;
	list_for_each(it, &http->active, link)
		mcp_exchange_destroy(it);
	list_for_each(it, &http->held, link)
		mcp_exchange_destroy(it);
	loop_timer_destroy(http->opened);
	mcp_http_auth_destroy(http->auth);
	str_free(&http->initialize);
	str_free(&http->session);
	str_free(&http->version);
	free(http->url);
	arena_finish(&http->arena);
	free(http);
}

void mcp_http_enter(struct mcp_http *http)
{
	http->depth++;
}

void mcp_http_leave(struct mcp_http *http)
{
	if (--http->depth == 0 && http->is_closed)
		http_free(http);
}

/* ---- messages ---- */

static bool answers(struct str json, uint64_t request)
{
	char text[24];
	struct str id;
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)request);
	if (str_has_prefix(json, "["))
		return true; /* a batch, of revision 2025-03-26 */
	return json_peek_member(json, "id", &id) && str_eq(str_trim(id), str_n(text, (size_t)len)) &&
	       !json_peek_has(json, "method");
}

void mcp_http_deliver(struct mcp_exchange *exchange, struct str json)
{
	struct mcp_http *http = exchange->http;
	json = str_trim(json);
	bool is_answer = exchange->request && answers(json, exchange->request);
	if (is_answer && exchange->is_answered)
		return;
	exchange->is_answered |= is_answer && (!exchange->is_handshake || json_peek_has(json, "result"));
	if (!(is_answer && exchange->is_handshake))
		http->link.events->on_message(json, http->link.self);
}

/* Ends the exchange, and reports the failure if a request waits for it. */
static void fail(struct mcp_exchange *exchange, const struct error *err)
{
	struct mcp_http *http = exchange->http;
	uint64_t request = exchange->request;
	mcp_exchange_destroy(exchange);
	if (request)
		http->link.events->on_request_failed(request, err, http->link.self);
}

/* ---- the session ---- */

static bool is_holding(const struct mcp_http *http)
{
	return http->is_reopening || http->is_asking;
}

static void send_initialized(struct mcp_http *http)
{
	struct str text = STR("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
	mcp_exchange_start(mcp_exchange_create(http, text, MCP_NO_REQUEST));
}

static void start_listening(struct mcp_http *http)
{
	if (http->listen || http->is_deaf || !http->version.ptr)
		return;
	http->listen = mcp_exchange_create(http, STR(""), MCP_NO_REQUEST);
	http->listen->is_listen = true;
	mcp_exchange_start(http->listen);
}

static void send_held(struct mcp_http *http)
{
	struct mcp_exchange *it;
	list_for_each(it, &http->held, link) {
		if (http->is_asking || (http->is_reopening && !it->is_handshake))
			continue;
		if (it->is_answered) { /* forgotten */
			mcp_exchange_destroy(it);
			continue;
		}
		list_remove(&it->link);
		list_append(&http->active, &it->link);
		mcp_exchange_start(it);
	}
}

static void hold(struct mcp_exchange *exchange)
{
	list_remove(&exchange->link);
	list_append(&exchange->http->held, &exchange->link);
}

/* The server does not know the session any more: opens another one, and sends the request again in it. */
static void reopen(struct mcp_exchange *exchange)
{
	struct mcp_http *http = exchange->http;
	exchange->is_repeated = true;
	if (!http->is_reopening && exchange->session_number != http->session_number) {
		mcp_exchange_start(exchange);
		return;
	}
	hold(exchange);
	if (http->is_reopening)
		return;
	http->is_reopening = true;
	http->session_number++;
	str_free(&http->session);
	if (http->listen)
		mcp_exchange_destroy(http->listen);
	struct mcp_exchange *handshake = mcp_exchange_create(http, http->initialize, 1);
	struct str id;
	uint64_t number;
	if (json_peek_member(http->initialize, "id", &id) && str_to_u64(str_trim(id), &number))
		handshake->request = number;
	handshake->is_handshake = true;
	mcp_exchange_start(handshake);
}

static void end_handshake(struct mcp_exchange *exchange, const struct error *err)
{
	struct mcp_http *http = exchange->http;
	bool is_open = exchange->is_answered;
	struct error why;
	if (!is_open)
		error_set(&why, ERR_transport, "the session was lost, and no other one could be opened%s%s",
		          err ? ": " : "", err ? err->text : "");
	mcp_exchange_destroy(exchange);
	if (!is_open) {
		http->link.events->on_closed(&why, http->link.self);
		return;
	}
	http->is_reopening = false;
	send_initialized(http);
	send_held(http);
}

/* ---- the end of an exchange ---- */

static uint64_t pause_of(const struct mcp_exchange *exchange)
{
	int64_t asked = exchange->sse.retry_ms;
	if (asked < 0)
		return (uint64_t)MCP_HTTP_RECONNECT_MS << exchange->attempts;
	return asked < MCP_HTTP_RECONNECT_MIN_MS   ? MCP_HTTP_RECONNECT_MIN_MS
	       : asked > MCP_HTTP_RECONNECT_MAX_MS ? MCP_HTTP_RECONNECT_MAX_MS
	                                           : (uint64_t)asked;
}

/* The stream that receives messages has ended. Without an answer to rely on it is opened again a few times, but not if
 * it has an event that cannot be read, which would be sent again. */
static void end_listen(struct mcp_exchange *exchange)
{
	struct mcp_http *http = exchange->http;
	bool is_alive = exchange->is_sse || exchange->status == 0 || exchange->status >= 500;
	if (is_alive && exchange->sse_error.code != ERR_limit && exchange->attempts < MCP_HTTP_RECONNECTS) {
		uint64_t pause = pause_of(exchange);
		exchange->attempts++;
		mcp_exchange_start_later(exchange, pause);
		return;
	}
	http->is_deaf = exchange->status != 404;
	mcp_exchange_destroy(exchange);
}

/* True if the rest of the answer is fetched. */
static bool resume(struct mcp_exchange *exchange)
{
	if (!exchange->last_id.ptr || exchange->attempts >= MCP_HTTP_RECONNECTS || exchange->status >= 400 ||
	    exchange->sse_error.code != ERR_none)
		return false;
	uint64_t pause = pause_of(exchange);
	exchange->attempts++;
	exchange->is_resumed = true;
	mcp_exchange_start_later(exchange, pause);
	return true;
}

bool mcp_exchange_is_opening(const struct mcp_exchange *exchange)
{
	return exchange->is_handshake || (exchange->request && !exchange->http->version.ptr);
}

/* True if initialize is sent again because the server is overloaded. */
static bool retry(struct mcp_exchange *exchange)
{
	if (!mcp_exchange_is_opening(exchange) || exchange->status < 500 || exchange->attempts + 1 >= MCP_HTTP_TRIES)
		return false;
	mcp_exchange_start_later(exchange, (uint64_t)MCP_HTTP_RETRY_MS << exchange->attempts++);
	return true;
}

static void ask_auth(struct mcp_http *http, bool is_refused);

/* The server has refused the headers of auth, or there is a login since: sends the request again with new ones. */
static bool reauthorize(struct mcp_exchange *exchange)
{
	struct mcp_http *http = exchange->http;
	if (exchange->status != 401 || !http->auth || exchange->is_reauthorized)
		return false;
	exchange->is_reauthorized = true;
	hold(exchange);
	if (exchange->auth_number == http->auth_number && !http->is_asking)
		ask_auth(http, true);
	else
		send_held(http);
	return true;
}

static bool is_lost_session(const struct mcp_exchange *exchange)
{
	return exchange->status == 404 && exchange->http->initialize.ptr && exchange->session_number &&
	       !exchange->is_repeated && !exchange->is_resumed && !exchange->is_handshake;
}

/* An answer without a stream: JSON, or nothing. Error responses may be JSON-RPC, too. */
static void deliver_text(struct mcp_exchange *exchange)
{
	struct str text = str_trim(buf_str(&exchange->text));
	bool is_fine = exchange->status >= 200 && exchange->status < 300;
	if (!exchange->is_json || exchange->text.over || !text.len)
		return;
	if (is_fine || (exchange->request && answers(text, exchange->request) && json_peek_is_object(text)))
		mcp_http_deliver(exchange, text);
}

static void end_request(struct mcp_exchange *exchange, const struct error *err)
{
	struct mcp_http *http = exchange->http;
	struct error why;
	bool is_notice = !exchange->request && exchange->status >= 200 && exchange->status < 300;
	if (exchange->text.over)
		error_set(&why, ERR_limit, "the server has sent a message of more than %d MiB", LIMIT_LINE / MIB);
	else if (err)
		why = *err;
	else
		mcp_http_describe_status(exchange, &why);
	if (exchange->is_handshake) {
		end_handshake(exchange, &why);
		return;
	}
	if (exchange->is_answered || !exchange->request)
		mcp_exchange_destroy(exchange);
	else
		fail(exchange, &why);
	if (is_notice && !http->is_closed)
		start_listening(http);
}

void mcp_http_ended(struct mcp_exchange *exchange, const struct error *err)
{
	struct mcp_http *http = exchange->http;
	if (!err && reauthorize(exchange))
		return;
	if (exchange->is_listen) {
		if (err || !mcp_exchange_follow(exchange))
			end_listen(exchange);
		return;
	}
	if (!exchange->is_sse && !exchange->is_answered && !err)
		deliver_text(exchange);
	if (http->is_closed)
		return;
	bool is_open = exchange->request && !exchange->is_answered;
	if (is_open && is_lost_session(exchange))
		reopen(exchange);
	else if (is_open && ((exchange->is_sse || exchange->is_resumed) && resume(exchange)))
		return;
	else if (mcp_exchange_follow(exchange))
		return;
	else if (!(is_open && retry(exchange)))
		end_request(exchange, err);
}

/* ---- the headers of auth ---- */

static bool expires_soon(const struct mcp_http *http)
{
	int64_t expires = http->granted ? http->granted->expires_at_ms : 0;
	return expires && expires - clock_unix_ms() < MCP_HTTP_EARLY_MS;
}

/* Ends all requests that wait for headers. */
static void fail_held(struct mcp_http *http, const struct error *err)
{
	struct mcp_exchange *it;
	while (!http->is_closed && (it = list_first(&http->held, struct mcp_exchange, link))) {
		if (it->is_handshake)
			end_handshake(it, err);
		else
			fail(it, err);
	}
}

static void on_first_auth(const struct mcp_http_headers *headers, const struct error *err, void *self)
{
	struct mcp_http *http = self;
	struct error why;
	mcp_http_enter(http);
	http->is_asking = false;
	http->granted = headers;
	http->auth_number++;
	if (err)
		mcp_http_describe_auth(http, err, &why);
	if (err)
		http->link.events->on_closed(&why, http->link.self);
	else
		http->link.events->on_open(http->link.self);
	mcp_http_leave(http);
}

/* A failure is no reason to drop headers that the server has not refused: it decides. */
static void on_next_auth(const struct mcp_http_headers *headers, const struct error *err, void *self)
{
	struct mcp_http *http = self;
	struct error why;
	mcp_http_enter(http);
	http->is_asking = false;
	http->auth_number++;
	if (headers)
		http->granted = headers;
	if (err && http->is_refused) {
		mcp_http_describe_auth(http, err, &why);
		fail_held(http, &why);
	} else {
		send_held(http);
	}
	mcp_http_leave(http);
}

static void ask_auth(struct mcp_http *http, bool is_refused)
{
	http->is_asking = true;
	http->is_refused = is_refused;
	mcp_http_auth_ask(http->auth, is_refused, on_next_auth, http);
}

/* ---- operations ---- */

static int http_send(struct mcp_link *link, struct str json, uint64_t request, struct error *err)
{
	struct mcp_http *http = http_of(link);
	if (http->exchange_count >= MCP_HTTP_EXCHANGES)
		return error_set(err, ERR_limit, "more than %d HTTP requests are unanswered", MCP_HTTP_EXCHANGES);
	if (request && !http->initialize.ptr)
		http->initialize = str_copy(json);
	struct mcp_exchange *exchange = mcp_exchange_create(http, json, request);
	if (http->auth && !http->is_asking && expires_soon(http))
		ask_auth(http, false);
	if (is_holding(http))
		hold(exchange);
	else
		mcp_exchange_start(exchange);
	return 0;
}

static void http_forget(struct mcp_link *link, uint64_t request)
{
	struct mcp_http *http = http_of(link);
	struct list *lists[] = {&http->active, &http->held};
	for (size_t i = 0; i < countof(lists); i++) {
		struct mcp_exchange *it;
		list_for_each(it, lists[i], link) {
			if (it->request != request || it->is_handshake)
				continue;
			it->is_answered = true;
			if (lists[i] == &http->active)
				mcp_exchange_start_later(it, 0);
		}
	}
}

static void http_set_version(struct mcp_link *link, struct str version)
{
	struct mcp_http *http = http_of(link);
	str_free(&http->version);
	http->version = str_copy(version);
	http->session_number = http->session.ptr ? 1 : 0;
}

static void http_close(struct mcp_link *link)
{
	struct mcp_http *http = http_of(link);
	if (http->session.ptr)
		mcp_exchange_send_delete(http);
	http->is_closed = true;
	if (http->depth == 0)
		http_free(http);
}

static const struct mcp_link_ops ops = {http_send, http_forget, http_set_version, http_close};

static void on_opened(void *self)
{
	struct mcp_http *http = self;
	if (http->auth) {
		http->is_asking = true;
		mcp_http_auth_ask(http->auth, false, on_first_auth, http);
		return;
	}
	mcp_http_enter(http);
	http->link.events->on_open(http->link.self);
	mcp_http_leave(http);
}

static void copy_headers(struct mcp_http *http, const struct mcp_http_spec *spec)
{
	struct str *headers = arena_array(&http->arena, struct str, spec->header_count);
	for (size_t i = 0; i < spec->header_count; i++) {
		struct http_header header;
		headers[i] = arena_str(&http->arena, spec->headers[i]);
		if (http_header_parse(headers[i], &header) && str_equal_fold(header.name, STR("authorization")))
			http->has_authorization = true;
	}
	http->headers = headers;
	http->header_count = spec->header_count;
}

struct mcp_link *mcp_link_http_open(struct loop *loop, struct http_client *client, const struct mcp_http_spec *spec,
                                    const struct mcp_link_events *events, void *self, struct error *err)
{
	struct http_url url;
	if (!http_url_parse(str_of(spec->url), &url)) {
		mcp_http_auth_destroy(spec->auth);
		error_set(err, ERR_config, "url must begin with http:// or https:// and contain a host");
		return NULL;
	}
	struct mcp_http *http = xnew(struct mcp_http);
	http->link = (struct mcp_link){&ops, events, self};
	http->loop = loop;
	http->client = client;
	http->auth = spec->auth;
	http->has_authorization = spec->auth && !spec->has_login;
	http->name = arena_cstr(&http->arena, str_of(spec->name));
	http->url = xstrdup(spec->url);
	http->initialize = http->session = http->version = STR_NONE;
	list_init(&http->active);
	list_init(&http->held);
	copy_headers(http, spec);
	http->opened = loop_timer_create(loop, on_opened, http);
	loop_timer_start(http->opened, 0);
	return &http->link;
}
