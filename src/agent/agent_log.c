/* Events are encoded only when the log is read, because most are never read. */
#include "agent/agent_log.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/message.h"

static struct agent_log_entry *entry_at(const struct agent_log *log, size_t index)
{
	return &log->entries[(log->first + index) % LIMIT_AGENT_LOG];
}

void agent_log_finish(struct agent_log *log)
{
	for (size_t i = 0; i < log->count; i++)
		event_destroy(entry_at(log, i)->event);
	free(log->entries);
	*log = (struct agent_log){0};
}

void agent_log_add(struct agent_log *log, struct event *event)
{
	if (!log->entries)
		log->entries = xcalloc(LIMIT_AGENT_LOG, sizeof(*log->entries));
	if (log->count == LIMIT_AGENT_LOG) {
		event_destroy(entry_at(log, 0)->event);
		log->first = (log->first + 1) % LIMIT_AGENT_LOG;
		log->count--;
	}
	*entry_at(log, log->count++) = (struct agent_log_entry){clock_unix_ms(), event};
}

/* The entries [from, to) of the log that an answer contains. */
struct window {
	size_t from, to;
	size_t available;
	bool is_cut;
};

/* Finds the entries of a query. Times increase within a log unless the clock was set back. */
static struct window find_window(const struct agent_log *log, const struct agent_log_query *query)
{
	struct window window = {.to = log->count};
	while (query->has_since && window.from < window.to && entry_at(log, window.from)->at_ms <= query->since_ms)
		window.from++;
	while (query->has_before && window.to > window.from && entry_at(log, window.to - 1)->at_ms >= query->before_ms)
		window.to--;
	window.available = window.to - window.from;
	if (window.available <= query->limit)
		return window;
	if (query->has_since && !query->has_before) /* the query pages forward */
		window.to = window.from + query->limit;
	else
		window.from = window.to - query->limit;
	return window;
}

static void write_entry(const struct agent_log_entry *entry, struct json_writer *w)
{
	jw_object(w);
	jw_member_i64(w, "timestamp_ms", entry->at_ms);
	jw_key(w, "event");
	event_encode(entry->event, w);
	jw_object_end(w);
}

/* Writes "[…]" with as many entries of the window as max_bytes allows. */
static void write_events(const struct agent_log *log, struct window *window, size_t max_bytes, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_array(&w);
	for (size_t i = window->from; i < window->to; i++) {
		size_t before = out->len;
		write_entry(entry_at(log, i), &w);
		if (out->over || (max_bytes && out->len + 1 > max_bytes)) {
			buf_truncate(out, before);
			window->to = i;
			window->is_cut = true;
		}
	}
	jw_array_end(&w);
}

static void write_time(struct json_writer *w, const char *key, const struct agent_log_entry *entry)
{
	jw_key(w, key);
	if (entry)
		jw_i64(w, entry->at_ms);
	else
		jw_null(w);
}

void agent_log_write(const struct agent_log *log, const char *session_id, const struct agent_log_query *query,
                     struct json_writer *w)
{
	struct window window = find_window(log, query);
	auto_buf struct buf events;
	buf_init(&events, LIMIT_TOOL_OUTPUT - 4 * KIB);
	write_events(log, &window, query->max_bytes, &events);
	size_t count = window.to - window.from;
	jw_object(w);
	jw_member_cstr(w, "session_id", session_id);
	jw_member_i64(w, "returned", (int64_t)count);
	jw_member_i64(w, "total_available", (int64_t)window.available);
	jw_member_bool(w, "more_available", window.is_cut || count < window.available);
	write_time(w, "earliest_ms", count ? entry_at(log, window.from) : NULL);
	write_time(w, "latest_ms", count ? entry_at(log, window.to - 1) : NULL);
	jw_member_raw(w, "events", buf_str(&events));
	jw_object_end(w);
}
