/* Any program and any web page on this machine can send requests here. Only the browser that has completed the login
 * knows the state; the Host header excludes pages whose name was made to resolve to 127.0.0.1. */
#include "net/oauth_listener.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "net/net_limits.h"
#include "net/oauth_pkce.h"

struct oauth_listener {
	struct http_server *server;
	struct http_exchange *browser; /* waits for the page; NULL: none */
	char *path, *state;
	const struct oauth_listener_events *events;
	void *self;
	bool is_answered;
	struct loop_timer *timer;
	struct loop_deferred cancel;
};

/* ---- answers ---- */

static void append_escaped(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		if (strchr("<>&\"'", c) || (unsigned char)c < ' ')
			buf_printf(out, "&#%d;", (unsigned char)c);
		else
			buf_append_char(out, c);
	}
}

static void reply_page(struct http_exchange *exchange, int status, const char *title, struct str text)
{
	static const struct str headers[] = {{"Content-Type: text/html; charset=utf-8", 38},
	                                     {"Cache-Control: no-store", 23},
	                                     {"Connection: close", 17}};
	auto_buf struct buf page;
	buf_init(&page, 8 * LIMIT_LOGIN_PAGE_TEXT);
	text.len = text.len < LIMIT_LOGIN_PAGE_TEXT ? text.len : LIMIT_LOGIN_PAGE_TEXT;
	buf_append_c(&page, "<!doctype html><meta charset=\"utf-8\"><title>");
	append_escaped(&page, str_of(title));
	buf_append_c(&page, "</title><h1>");
	append_escaped(&page, str_of(title));
	buf_append_c(&page, "</h1><p>");
	append_escaped(&page, text);
	buf_append_c(&page, "</p>\n");
	http_reply_head(exchange, status, headers, countof(headers), (int64_t)page.len);
	http_reply_data(exchange, buf_str(&page));
	http_reply_end(exchange);
}

static void on_timer(void *self)
{
	struct oauth_listener *listener = self;
	listener->events->on_shown(listener->self);
}

void oauth_listener_show(struct oauth_listener *listener, const char *title, struct str text)
{
	if (listener->browser)
		reply_page(steal(listener->browser), 200, title, text);
	loop_timer_start(listener->timer, LIMIT_LOGIN_PAGE_MS);
}

/* ---- requests ---- */

static bool is_here(const struct oauth_listener *listener, const struct http_head *head)
{
	static const char *const names[] = {"127.0.0.1", "localhost"};
	struct str host = http_head_get(head, "host");
	for (size_t i = 0; i < countof(names); i++) {
		auto_free char *name = xasprintf("%s:%u", names[i], oauth_listener_port(listener));
		if (str_equal_fold(host, str_of(name)))
			return true;
	}
	return false;
}

/* True for a request that a web page caused: browsers mark them. */
static bool is_of_page(const struct http_head *head)
{
	struct str site = http_head_get(head, "sec-fetch-site");
	return http_head_get(head, "origin").ptr || http_head_get(head, "referer").ptr ||
	       (site.ptr && !str_is(site, "none"));
}

static void take_answer(struct oauth_listener *listener, struct http_exchange *exchange, struct str query)
{
	auto_arena struct arena arena = {0};
	struct oauth_answer answer = {
		.code = oauth_find_field(&arena, query, "code"),
		.error = oauth_find_field(&arena, query, "error"),
		.description = oauth_find_field(&arena, query, "error_description"),
		.issuer = oauth_find_field(&arena, query, "iss"),
	};
	if (!str_eq_secret(oauth_find_field(&arena, query, "state"), str_of(listener->state))) {
		http_reply(exchange, 400, "text/plain", STR("State mismatch"));
	} else if (listener->is_answered) {
		http_reply(exchange, 400, "text/plain", STR("Already answered"));
	} else {
		listener->is_answered = true;
		listener->browser = exchange;
		if (answer.error.len)
			answer.code = STR_NONE;
		listener->events->on_answer(&answer, listener->self);
	}
}

static void on_cancel(void *self)
{
	struct oauth_listener *listener = self;
	listener->events->on_cancel(listener->self);
}

static void on_request(struct http_exchange *exchange, const struct http_head *head, struct str body, void *self)
{
	struct oauth_listener *listener = self;
	struct str query = head->target, path = STR_NONE;
	(void)body;
	str_next_part(&query, '?', &path);
	if (!is_here(listener, head)) {
		http_reply(exchange, 400, "text/plain", STR("Wrong host"));
	} else if (!str_is(head->method, "GET")) {
		http_reply(exchange, 405, "text/plain", STR("Method not allowed"));
	} else if (str_is(path, listener->path)) {
		take_answer(listener, exchange, query);
	} else if (str_is(path, "/cancel") && !is_of_page(head)) {
		http_reply(exchange, 200, "text/plain", STR("Login cancelled"));
		loop_defer(&listener->cancel);
	} else {
		http_reply(exchange, 404, "text/plain", STR("Not found"));
	}
}

/* ---- lifetime ---- */

struct oauth_listener *oauth_listener_create(struct loop *loop, const struct oauth_listener_options *options,
                                             const struct oauth_listener_events *events, void *self, struct error *err)
{
	struct oauth_listener *listener = xnew(struct oauth_listener);
	struct http_server *server = http_server_create(loop, NULL, options->port, on_request, listener, err);
	if (!server) {
		free(listener);
		return NULL;
	}
	listener->server = server;
	listener->path = xstrdup(options->path);
	listener->state = xstrdup(options->state);
	listener->events = events;
	listener->self = self;
	listener->timer = loop_timer_create(loop, on_timer, listener);
	loop_deferred_init(&listener->cancel, loop, on_cancel, listener);
	return listener;
}

uint16_t oauth_listener_port(const struct oauth_listener *listener)
{
	return http_server_port(listener->server);
}

void oauth_listener_destroy(struct oauth_listener *listener)
{
	if (!listener)
		return;
	if (listener->browser)
		http_exchange_abort(listener->browser, HTTP_ABORT_CLOSE);
	http_server_destroy(listener->server);
	loop_deferred_finish(&listener->cancel);
	loop_timer_destroy(listener->timer);
	explicit_bzero(listener->state, strlen(listener->state));
	free(listener->state);
	free(listener->path);
	free(listener);
}
