/* The endpoints that wait for a session: its events as they come, and its end. A watch belongs to its exchange and ends
 * with it; when a client reads slowly, no event is formatted for it until it reads again. */
#include "base/buf.h"
#include "base/json_peek.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "server/http_proto_priv.h"
#include "server/kept_session.h"

struct http_watch {
	struct list link;
	struct http_exchange *exchange;
	struct kept_session *session;
	struct kept_watcher *watcher;
	struct buf out;
	struct page_device *device; /* whose request it is; NULL: unknown */
	bool is_sse;
	bool follows;     /* stays open when there is no further event yet */
	bool awaits_end;  /* reports the end of the session only */
	bool is_stalled;  /* the client does not read */
	bool is_answered; /* the exchange has ended */
};

static void watch_destroy(struct http_watch *watch)
{
	list_remove(&watch->link);
	kept_watcher_destroy(watch->watcher);
	if (!watch->is_answered)
		http_reply_end(watch->exchange);
	buf_finish(&watch->out);
	free(watch);
}

void http_watches_destroy(struct http_proto *proto, const struct page_device *device)
{
	struct http_watch *it;
	list_for_each(it, &proto->watches, link) {
		if (!device || it->device == device)
			watch_destroy(it);
	}
}

/* ---- events ---- */

static void append_sse(struct http_watch *watch, struct str line, uint64_t seq)
{
	struct str msg, type;
	buf_printf(&watch->out, "id: %llu\n", (unsigned long long)seq);
	if (json_peek_member(line, "msg", &msg) && json_peek_member(msg, "type", &type) && type.len > 2)
		buf_printf(&watch->out, "event: %.*s\n", (int)type.len - 2, type.ptr + 1);
	buf_append_c(&watch->out, "data: ");
	buf_append_str(&watch->out, line);
	buf_append_c(&watch->out, "\n\n");
}

/* Sends what was formatted; notes whether the client is slow. */
static void send_out(struct http_watch *watch)
{
	if (watch->out.len && !http_reply_data(watch->exchange, buf_str(&watch->out))) {
		watch->is_stalled = true;
		kept_watcher_stall(watch->watcher);
	}
	buf_reuse(&watch->out);
}

static void send_events(struct http_watch *watch)
{
	enum kept_next next = KEPT_EVENT;
	struct str line;
	uint64_t seq;
	while (!watch->is_stalled && next == KEPT_EVENT) {
		next = kept_watcher_next(watch->watcher, &line, &seq);
		if (next == KEPT_EVENT && watch->is_sse)
			append_sse(watch, line, seq);
		else if (next == KEPT_EVENT)
			lines_append_event(&watch->out, line, seq);
		if (next != KEPT_EVENT || watch->out.len > LIMIT_STREAM_KEEP)
			send_out(watch);
	}
	bool is_over = next != KEPT_EVENT && (next != KEPT_WAIT || !watch->follows);
	if (is_over)
		watch_destroy(watch);
}

static void send_end(struct http_watch *watch)
{
	char json[64];
	struct http_request request = {.exchange = watch->exchange};
	if (!kept_session_has_ended(watch->session))
		return;
	snprintf(json, sizeof(json), "{\"last_seq\":%llu}", (unsigned long long)kept_session_last_seq(watch->session));
	watch->is_answered = true;
	http_request_answer(&request, 200, str_of(json), NULL, 0);
	watch_destroy(watch);
}

static void on_news(void *self)
{
	struct http_watch *watch = self;
	if (watch->awaits_end)
		send_end(watch);
	else if (!watch->is_stalled)
		send_events(watch);
}

static void on_writable(void *self)
{
	struct http_watch *watch = self;
	watch->is_stalled = false;
	kept_watcher_go_on(watch->watcher);
	on_news(watch);
}

static void on_gone(void *self)
{
	watch_destroy(self);
}

static const struct http_exchange_events exchange_events = {on_writable, on_gone};

static struct http_watch *watch_create(struct http_request *request, uint64_t after)
{
	struct http_watch *watch = xnew(struct http_watch);
	watch->exchange = request->exchange;
	watch->session = request->session->kept;
	watch->device = request->device;
	watch->watcher = kept_watcher_create(watch->session, after, on_news, watch);
	buf_init(&watch->out, LIMIT_STREAM_QUEUE_HARD);
	list_append(&request->proto->watches, &watch->link);
	http_exchange_watch(watch->exchange, &exchange_events, watch);
	return watch;
}

/* ---- GET /v1/sessions/ID/events ---- */

struct events_query {
	uint64_t after;
	bool follows;
};

/* Returns false for a parameter whose value is not a number, or not 0 or 1. */
static bool read_query(const struct http_request *request, struct events_query *ret)
{
	struct str rest = request->query, pair, last = http_head_get(request->head, "last-event-id");
	*ret = (struct events_query){.follows = true};
	while (str_next_part(&rest, '&', &pair)) {
		if (str_cut_prefix(&pair, "after=") && !str_to_u64(pair, &ret->after))
			return false;
		if (str_cut_prefix(&pair, "follow=") && !str_is(pair, "1")) {
			if (!str_is(pair, "0"))
				return false;
			ret->follows = false;
		}
	}
	return !last.len || str_to_u64(last, &ret->after);
}

static void send_head(struct http_request *request, bool is_sse)
{
	char id[80];
	snprintf(id, sizeof(id), "codex-session-id: %s", kept_session_id(request->session->kept));
	const struct str headers[] = {
		is_sse ? STR("content-type: text/event-stream") : STR("content-type: application/x-ndjson"),
		STR("cache-control: no-store"),
		str_of(id),
	};
	http_reply_head(request->exchange, 200, headers, countof(headers), HTTP_CHUNKED);
}

void on_route_events(struct http_request *request)
{
	struct events_query query;
	char message[96];
	uint64_t first = kept_session_first_seq(request->session->kept);
	if (!read_query(request, &query)) {
		http_request_refuse(request, 400, "`after` and last-event-id must be numbers, `follow` 0 or 1");
		return;
	}
	if (query.after < first - 1) {
		snprintf(message, sizeof(message), "events before %llu are no longer kept", (unsigned long long)first);
		http_request_refuse_with(request, 410, message, "first_seq", first);
		return;
	}
	bool is_sse = str_find(http_head_get(request->head, "accept"), STR("text/event-stream")) >= 0;
	send_head(request, is_sse);
	struct http_watch *watch = watch_create(request, query.after);
	watch->is_sse = is_sse;
	watch->follows = query.follows;
}

/* ---- DELETE /v1/sessions/ID ---- */

void on_route_close(struct http_request *request)
{
	struct http_watch *watch = watch_create(request, 0);
	watch->awaits_end = true;
	kept_session_shut_down(watch->session);
}
