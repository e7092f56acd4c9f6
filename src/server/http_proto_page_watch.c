/* GET /v1/watch: one stream for a page, with the list of sessions and the events of one of them. Browsers have six
 * connections to a host, so one must be enough. A list is written when it is sent, and only if nothing else is waiting
 * for the client: so it is never older than the events before it. */
#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_server.h"
#include "server/http_proto_priv.h"
#include "server/kept_session.h"
#include "server/page_access.h"
#include "server/server_limits.h"

struct page_watch {
	struct list link;
	struct http_page *page;
	struct http_exchange *exchange;
	struct page_device *device;
	struct kept_session *session; /* NULL: the page shows none */
	struct kept_watcher *watcher;
	struct loop_timer *pulse;
	struct buf out;
	bool is_list_due;
	bool is_stalled; /* the client does not read */
};

static void watch_destroy(struct page_watch *watch)
{
	list_remove(&watch->link);
	kept_watcher_destroy(watch->watcher);
	loop_timer_destroy(watch->pulse);
	http_reply_end(watch->exchange);
	buf_finish(&watch->out);
	free(watch);
}

void http_page_end_watches(struct http_page *page, const struct page_device *device)
{
	struct page_watch *it;
	list_for_each(it, &page->watches, link) {
		if (!device || it->device == device)
			watch_destroy(it);
	}
}

static void send_out(struct page_watch *watch)
{
	if (!watch->out.len)
		return;
	page_access_seen(watch->device);
	loop_timer_start(watch->pulse, LIMIT_PAGE_PULSE_MS);
	if (!http_reply_data(watch->exchange, buf_str(&watch->out))) {
		watch->is_stalled = true;
		if (watch->watcher)
			kept_watcher_stall(watch->watcher);
	}
	buf_reuse(&watch->out);
}

static void send_list(struct page_watch *watch)
{
	struct json_writer w = json_writer(&watch->out);
	if (!watch->is_list_due || watch->is_stalled)
		return;
	watch->is_list_due = false;
	http_write_sessions(watch->page->proto, &w);
	buf_append_char(&watch->out, '\n');
	send_out(watch);
}

/* ---- events ---- */

static void on_news(void *self);

/* Continues with the oldest event that is kept, and says so. */
static void skip_lost(struct page_watch *watch)
{
	uint64_t first = kept_session_first_seq(watch->session);
	buf_printf(&watch->out, "{\"gone\":true,\"first_seq\":%llu}\n", (unsigned long long)first);
	kept_watcher_destroy(watch->watcher);
	watch->watcher = kept_watcher_create(watch->session, first - 1, on_news, watch);
}

/* Returns false if the session has ended, and the watch with it. */
static bool send_events(struct page_watch *watch)
{
	enum kept_next next = KEPT_EVENT;
	struct str line;
	uint64_t seq;
	while (watch->watcher && !watch->is_stalled && next != KEPT_WAIT && next != KEPT_ENDED) {
		next = kept_watcher_next(watch->watcher, &line, &seq);
		if (next == KEPT_EVENT)
			lines_append_event(&watch->out, line, seq);
		else if (next == KEPT_LOST)
			skip_lost(watch);
		if (next == KEPT_WAIT || next == KEPT_ENDED || watch->out.len > LIMIT_STREAM_KEEP)
			send_out(watch);
	}
	if (next != KEPT_ENDED)
		return true;
	watch_destroy(watch);
	return false;
}

static void on_news(void *self)
{
	struct page_watch *watch = self;
	if (!watch->is_stalled && send_events(watch))
		send_list(watch);
}

void http_page_send_lists(void *self)
{
	struct http_page *page = self;
	struct page_watch *it;
	list_for_each(it, &page->watches, link) {
		it->is_list_due = true;
		on_news(it);
	}
}

/* ---- the stream ---- */

static void on_writable(void *self)
{
	struct page_watch *watch = self;
	watch->is_stalled = false;
	if (watch->watcher)
		kept_watcher_go_on(watch->watcher);
	on_news(watch);
}

static void on_gone(void *self)
{
	watch_destroy(self);
}

static const struct http_exchange_events exchange_events = {on_writable, on_gone};

static void on_pulse(void *self)
{
	struct page_watch *watch = self;
	buf_append_char(&watch->out, '\n');
	send_out(watch);
}

/* Returns false for an `after` that is no number. */
static bool read_query(const struct http_request *request, struct str *ret_session, uint64_t *ret_after)
{
	struct str rest = request->query, pair;
	while (str_next_part(&rest, '&', &pair)) {
		if (str_cut_prefix(&pair, "session="))
			*ret_session = pair;
		else if (str_cut_prefix(&pair, "after=") && !str_to_u64(pair, ret_after))
			return false;
	}
	return true;
}

static void watch_create(struct http_request *request, struct kept_session *session, uint64_t after)
{
	struct page_watch *watch = xnew(struct page_watch);
	const struct str type = STR("content-type: application/x-ndjson");
	watch->page = request->proto->page;
	watch->exchange = request->exchange;
	watch->device = request->device;
	watch->session = session;
	watch->is_list_due = true;
	watch->pulse = loop_timer_create(request->proto->options.loop, on_pulse, watch);
	buf_init(&watch->out, LIMIT_STREAM_QUEUE_HARD);
	list_append(&watch->page->watches, &watch->link);
	http_exchange_watch(watch->exchange, &exchange_events, watch);
	http_reply_head(watch->exchange, 200, &type, 1, HTTP_CHUNKED);
	if (session)
		watch->watcher = kept_watcher_create(session, after, on_news, watch); /* on_news follows */
	send_list(watch);
}

void on_route_page_watch(struct http_request *request)
{
	struct str id = STR_NONE;
	uint64_t after = 0;
	struct http_session *session = NULL;
	if (!read_query(request, &id, &after))
		http_request_refuse(request, 400, "`after` must be a number");
	else if (id.len && !(session = http_session_find(request->proto, id)))
		http_request_refuse(request, 404, "there is no session with this id; it may have ended");
	else
		watch_create(request, session ? session->kept : NULL, after);
}
