/* Server-sent events: the same events for any split of the bytes, without needless copies. */
#include "test.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/sse.h"

/* Writes every event as "event|data|id\n", so that a whole stream is compared as one text. */
struct log {
	struct buf text;
	int stop_after; /* number of events after which to stop; 0: never */
	int count;
};

static bool on_event(const struct sse_event *event, void *self)
{
	struct log *log = self;
	buf_append_str(&log->text, event->event);
	buf_append_char(&log->text, '|');
	buf_append_str(&log->text, event->data);
	buf_append_char(&log->text, '|');
	buf_append_str(&log->text, event->id);
	buf_append_char(&log->text, '\n');
	return ++log->count != log->stop_after;
}

/* Feeds a copy that is freed afterwards, so that the sanitizer detects a slice that outlives it. */
static void feed(struct sse *sse, const char *bytes, size_t len)
{
	auto_free char *copy = xmalloc(len ? len : 1);
	memcpy(copy, bytes, len);
	assert_int_equal(sse_feed(sse, str_n(copy, len), NULL), 0);
}

/* Splits the stream at the given offsets (ascending). */
static void check_split(struct str stream, const size_t *cuts, size_t cut_count, const char *want)
{
	struct log log = {0};
	struct sse sse;
	size_t from = 0;
	buf_init(&log.text, MIB);
	buf_append_c(&log.text, "");
	sse_init(&sse, on_event, &log);
	for (size_t i = 0; i <= cut_count; i++) {
		size_t to = i < cut_count ? cuts[i] : stream.len;
		feed(&sse, stream.ptr + from, to - from);
		from = to;
	}
	assert_int_equal(sse_end(&sse, NULL), 0);
	assert_string_equal(log.text.data, want);
	sse_finish(&sse);
	buf_finish(&log.text);
}

static void check_all_splits(struct str stream, const char *want)
{
	size_t every[512];
	assert_true(stream.len < countof(every));
	for (size_t i = 0; i < stream.len; i++)
		every[i] = i;
	check_split(stream, NULL, 0, want);
	check_split(stream, every, stream.len, want);
	for (size_t i = 0; i <= stream.len; i++) {
		for (size_t k = i; k <= stream.len; k++)
			check_split(stream, (size_t[]){i, k}, 2, want);
	}
}

#define ROW(literal)                            \
	{                                       \
		"" literal, sizeof(literal) - 1 \
	}

static const struct {
	struct str stream;
	const char *want;
} rows[] = {
	{ROW(""), ""},
	{ROW("\n\n\n"), ""},
	{ROW("data: x\n\n"), "message|x|\n"},
	{ROW("data:x\n\ndata:  y\n\n"), "message|x|\nmessage| y|\n"},
	{ROW("event: a\ndata: 1\n\nevent: b\ndata: 2\n\n"), "a|1|\nb|2|\n"},
	{ROW("event: a\r\ndata: 1\r\n\r\nevent: b\r\ndata: 2\r\n\r\n"), "a|1|\nb|2|\n"},
	{ROW("event: a\rdata: 1\r\revent: b\rdata: 2\r\r"), "a|1|\nb|2|\n"},
	{ROW("data: 1\r\n\ndata: 2\r\r\ndata: 3\n\r\ndata: 4\n\r"), "message|1|\nmessage|2|\nmessage|3|\nmessage|4|\n"},
	{ROW("data: a\ndata: b\ndata\ndata: c\n\n"), "message|a\nb\n\nc|\n"},
	{ROW("data: a\n\ndata: b\ndata: c\n\ndata: d\n\n"), "message|a|\nmessage|b\nc|\nmessage|d|\n"},
	{ROW("data\n\n"), "message||\n"},
	{ROW("data:\n\n"), "message||\n"},
	{ROW("data:\ndata:\n\n"), "message|\n|\n"},
	{ROW("\xef\xbb\xbf"
             "data: x\n\n"),
         "message|x|\n"},
	{ROW("data: 1\n\n\xef\xbb\xbf"
             "data: x\n\n"),
         "message|1|\n"},
	{ROW(": hi\n:\ndata: x\n: data: no\n\n:\n\n"), "message|x|\n"},
	{ROW("retry: 10\nfoo: bar\nDATA: no\ndatas: no\n data: no\ndata: x\n\n"), "message|x|\n"},
	{ROW("event: lost\n\ndata: x\n\n"), "message|x|\n"},
	{ROW("event: a\nevent:\ndata: x\n\n"), "message|x|\n"},
	{ROW("event: a\nevent: b\ndata: x\n\n"), "b|x|\n"},
	{ROW("id: 7\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"), "message|a|7\nmessage|b|7\nmessage|c|\n"},
	{ROW("id: 1\n\nid: 2\0\ndata: x\n\n"), "message|x|1\n"},
	{ROW("data: {\"a\": \"b:c\"}\n\n"), "message|{\"a\": \"b:c\"}|\n"},
	{ROW("data: \xff\xfe ok\n\n"), "message|\xff\xfe ok|\n"},
	{ROW("event: done\ndata: x\n"), "done|x|\n"},
	{ROW("event: done\ndata: x"), "done|x|\n"},
	{ROW("event: done\ndata: x\r"), "done|x|\n"},
	{ROW("data: x\ndat"), "message|x|\n"},
	{ROW("data: x\ndata: cut o"), "message|x|\n"},
	{ROW("event: done\n"), ""},
	{ROW("data: x\n\nevent: do"), "message|x|\n"},
};

static void every_split_gives_the_same_events(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(rows); i++)
		check_all_splits(rows[i].stream, rows[i].want);
}

struct seen {
	struct str data;
};

static bool on_event_remember(const struct sse_event *event, void *self)
{
	((struct seen *)self)->data = event->data;
	return true;
}

static void data_within_one_feed_is_not_copied(void **state)
{
	(void)state;
	struct seen seen = {0};
	struct sse sse;
	struct str stream = STR("event: a\ndata: xyz\n\n");
	sse_init(&sse, on_event_remember, &seen);
	assert_int_equal(sse_feed(&sse, stream, NULL), 0);
	assert_ptr_equal(seen.data.ptr, stream.ptr + 15);
	assert_int_equal(seen.data.len, 3);
	sse_finish(&sse);
}

static void a_stop_ignores_the_rest(void **state)
{
	(void)state;
	struct log log = {.stop_after = 2};
	struct sse sse;
	struct error err = {0};
	buf_init(&log.text, MIB);
	sse_init(&sse, on_event, &log);
	assert_int_equal(sse_feed(&sse, STR("data: 1\n\ndata: 2\n\ndata: 3\n\ndata: 4"), &err), 0);
	assert_int_equal(sse_feed(&sse, STR("5\n\n"), &err), 0);
	assert_int_equal(sse_end(&sse, &err), 0);
	assert_string_equal(log.text.data, "message|1|\nmessage|2|\n");
	sse_finish(&sse);
	buf_finish(&log.text);
}

/* Feeds prefix + filler repeatedly (at most `times`) while it is accepted; returns the last result. */
static int feed_repeated(const char *piece, size_t size, int times, struct error *err)
{
	struct log log = {0};
	struct sse sse;
	int result = 0;
	auto_free char *filler = xmalloc(size);
	memset(filler, 'x', size);
	memcpy(filler, piece, strlen(piece));
	sse_init(&sse, on_event, &log);
	for (int i = 0; i < times && result == 0; i++)
		result = sse_feed(&sse, str_n(filler, size), err);
	if (result < 0) {
		assert_int_equal(sse_feed(&sse, STR("\n\ndata: x\n\n"), NULL), 0);
		assert_int_equal(sse_end(&sse, NULL), 0);
	}
	assert_int_equal(log.count, 0);
	sse_finish(&sse);
	return result;
}

static void a_line_without_end_is_refused(void **state)
{
	(void)state;
	struct error err = {0};
	assert_int_equal(feed_repeated("data:", 4 * MIB, LIMIT_SSE_LINE / MIB / 4, &err), 0);
	assert_int_equal(feed_repeated("data:", 4 * MIB, LIMIT_SSE_LINE / MIB / 4 + 1, &err), -ERR_limit);
	assert_non_null(strstr(err.text, "LIMIT_SSE_LINE"));
	assert_int_equal(feed_repeated("data:", (size_t)LIMIT_SSE_LINE + 1, 1, &err), -ERR_limit);
}

static void an_event_without_end_is_refused(void **state)
{
	(void)state;
	struct error err = {0};
	assert_int_equal(feed_repeated("\ndata:", 4 * MIB, LIMIT_SSE_EVENT / MIB / 4 + 2, &err), -ERR_limit);
	assert_non_null(strstr(err.text, "LIMIT_SSE_EVENT"));
}

static void finish_takes_null_and_half_events(void **state)
{
	(void)state;
	struct log log = {0};
	struct sse sse;
	sse_finish(NULL);
	sse_init(&sse, on_event, &log);
	feed(&sse, "id: 1\nevent: a\ndata: b\ndata: c\nda", 33);
	sse_finish(&sse);
	assert_int_equal(log.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_split_gives_the_same_events),
		cmocka_unit_test(data_within_one_feed_is_not_copied),
		cmocka_unit_test(a_stop_ignores_the_rest),
		cmocka_unit_test(a_line_without_end_is_refused),
		cmocka_unit_test(an_event_without_end_is_refused),
		cmocka_unit_test(finish_takes_null_and_half_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
