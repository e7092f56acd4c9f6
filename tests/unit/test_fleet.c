/* The parts of a fleet that need no server: addresses, replies, rows, the log. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "fleet/fleet_limits.h"
#include "fleet/fleet_log.h"
#include "fleet/fleet_pack.h"
#include "fleet/fleet_rows.h"
#include "fleet/redis_url.h"
#include "fleet/resp.h"

/* ---- addresses ---- */

static void urls_have_all_parts(void **state)
{
	struct redis_url url;
	(void)state;
	assert_int_equal(redis_url_read("rediss://me:p%40s:s@[::1]:7000/3", &url, NULL), 0);
	assert_true(url.has_tls);
	assert_string_equal(url.user, "me");
	assert_string_equal(url.password, "p@s:s");
	assert_string_equal(url.host, "::1");
	assert_string_equal(url.port, "7000");
	assert_int_equal(url.db, 3);
	redis_url_finish(&url);
	assert_int_equal(redis_url_read("redis://:secret@host", &url, NULL), 0);
	assert_null(url.user);
	assert_string_equal(url.shown, "redis://host:6379/0");
	redis_url_finish(&url);
	assert_int_equal(redis_url_read("unix:///run/redis.sock", &url, NULL), 0);
	assert_string_equal(url.path, "/run/redis.sock");
	redis_url_finish(&url);
}

static void bad_urls_are_refused_without_their_text(void **state)
{
	static const char *const texts[] = {"",
	                                    "http://x",
	                                    "redis://",
	                                    "redis://h:0",
	                                    "redis://h:x",
	                                    "redis://h/db",
	                                    "unix://relative",
	                                    "redis://u:secret%4@h",
	                                    "redis://h:65536"};
	(void)state;
	for (size_t i = 0; i < countof(texts); i++) {
		struct redis_url url;
		struct error err;
		assert_int_equal(redis_url_read(texts[i], &url, &err), -ERR_usage);
		assert_null(strstr(err.text, "secret"));
	}
}

/* ---- replies ---- */

static void replies_are_read_at_any_split(void **state)
{
	static const char text[] = "*4\r\n$3\r\na\r\n\r\n:42\r\n*2\r\n$-1\r\n+OK\r\n*-1\r\n";
	(void)state;
	for (size_t len = 0; len < sizeof(text) - 1; len++) {
		auto_arena struct arena arena = {0};
		struct str bytes = str_n(text, len);
		struct resp reply;
		assert_int_equal(resp_read(&bytes, &arena, &reply), RESP_MORE);
		assert_int_equal(bytes.len, len);
	}
	auto_arena struct arena arena = {0};
	struct str bytes = str_of(text);
	struct resp reply;
	assert_int_equal(resp_read(&bytes, &arena, &reply), RESP_DONE);
	assert_int_equal(bytes.len, 0);
	assert_true(str_is(resp_text(resp_at(&reply, 0)), "a\r\n"));
	assert_int_equal(resp_u64(resp_at(&reply, 1)), 42);
	assert_int_equal(resp_at(resp_at(&reply, 2), 0)->type, RESP_nil);
	assert_int_equal(resp_at(&reply, 3)->type, RESP_nil);
	assert_int_equal(resp_at(&reply, 9)->type, RESP_nil);
}

static void hostile_replies_are_refused(void **state)
{
	static const char *const texts[] = {"hello\r\n",         "\r\n",  "$x\r\n",       "$-2\r\n", "*-7\r\n",
	                                    "*999999999999\r\n", ":\r\n", "$1\r\nabc\r\n"};
	(void)state;
	for (size_t i = 0; i < countof(texts); i++) {
		auto_arena struct arena arena = {0};
		struct str bytes = str_of(texts[i]);
		struct resp reply;
		assert_int_equal(resp_read(&bytes, &arena, &reply), RESP_BAD);
	}
	auto_arena struct arena arena = {0};
	auto_buf struct buf deep;
	struct resp reply;
	buf_init(&deep, 64 * KIB);
	for (int i = 0; i < 1000; i++)
		buf_append_c(&deep, "*1\r\n");
	struct str bytes = buf_str(&deep);
	assert_int_equal(resp_read(&bytes, &arena, &reply), RESP_BAD);
	auto_free char *line = xmalloc((size_t)LIMIT_REDIS_LINE + 4);
	memset(line, 'x', (size_t)LIMIT_REDIS_LINE + 4);
	line[0] = '+';
	memcpy(line + LIMIT_REDIS_LINE + 2, "\r\n", 2);
	bytes = str_n(line, (size_t)LIMIT_REDIS_LINE + 4);
	assert_int_equal(resp_read(&bytes, &arena, &reply), RESP_BAD);
}

/* ---- rows ---- */

static void add_group(struct fleet_rows *rows, const char *event, const char *line, const char *applied)
{
	fleet_rows_add(rows, FLEET_EVENT, str_of(event));
	fleet_rows_add(rows, FLEET_LINE, str_of(line));
	if (applied)
		fleet_rows_add(rows, FLEET_APPLIED, str_of(applied));
	fleet_rows_cut(rows);
}

static void only_whole_groups_are_stored(void **state)
{
	struct fleet_rows rows;
	struct fleet_rows_batch batch;
	(void)state;
	fleet_rows_init(&rows, 7, 3);
	fleet_rows_add(&rows, FLEET_EVENT, STR("open"));
	assert_false(fleet_rows_next(&rows, &batch));
	fleet_rows_add(&rows, FLEET_APPLIED, STR("5-0"));
	fleet_rows_cut(&rows);
	fleet_rows_add(&rows, FLEET_EVENT, STR("tail"));
	assert_true(fleet_rows_next(&rows, &batch));
	assert_int_equal(batch.seq, 7);
	assert_int_equal(batch.lines_before, 3);
	assert_int_equal(batch.events.count, 1);
	assert_true(str_is(batch.applied, "5-0"));
	fleet_rows_batch_finish(&batch);
	uint64_t position = fleet_rows_position(&rows);
	fleet_rows_on_stored(&rows);
	assert_false(fleet_rows_is_stored(&rows, position));
	assert_true(fleet_rows_is_stored(&rows, position - 1));
	assert_int_equal(rows.waiting, 4);
	fleet_rows_drop_tail(&rows);
	assert_int_equal(rows.waiting, 0);
	assert_int_equal(rows.seq, 8);
	fleet_rows_finish(&rows);
}

static void a_store_that_is_older_gets_the_rest_again(void **state)
{
	struct fleet_rows rows;
	struct fleet_rows_batch batch;
	(void)state;
	fleet_rows_init(&rows, 0, 0);
	add_group(&rows, "one", "a", "1-0");
	add_group(&rows, "two", "b", NULL);
	add_group(&rows, "three", "c", "2-0");
	assert_true(fleet_rows_next(&rows, &batch));
	fleet_rows_batch_finish(&batch);
	fleet_rows_on_stored(&rows);
	assert_false(fleet_rows_next(&rows, &batch));
	assert_true(fleet_rows_rewind(&rows, 1, 1));
	assert_true(fleet_rows_next(&rows, &batch));
	assert_int_equal(batch.events.count, 2);
	assert_true(str_is(batch.events.items[0], "two"));
	fleet_rows_batch_finish(&batch);
	assert_false(fleet_rows_rewind(&rows, 1, 2));
	assert_false(fleet_rows_rewind(&rows, 4, 4));
	assert_true(fleet_rows_rewind(&rows, 3, 3));
	assert_false(fleet_rows_next(&rows, &batch));
	fleet_rows_restart(&rows);
	assert_true(fleet_rows_next(&rows, &batch));
	assert_int_equal(batch.events.count, 3);
	fleet_rows_batch_finish(&batch);
	fleet_rows_finish(&rows);
}

static void rows_are_kept_up_to_a_limit(void **state)
{
	struct fleet_rows rows;
	struct fleet_rows_batch batch;
	(void)state;
	fleet_rows_init(&rows, 0, 0);
	for (int i = 0; i < 3 * LIMIT_FLEET_EVENTS; i++) {
		add_group(&rows, "event", "line", NULL);
		assert_true(fleet_rows_next(&rows, &batch));
		fleet_rows_batch_finish(&batch);
		fleet_rows_on_stored(&rows);
	}
	assert_true(rows.rows.count <= 2 * (LIMIT_FLEET_EVENTS + 1));
	assert_false(fleet_rows_rewind(&rows, 10, 10));
	assert_true(fleet_rows_rewind(&rows, rows.seq - 3000, rows.lines - 3000));
	assert_true(fleet_rows_next(&rows, &batch));
	assert_int_equal(batch.seq, 3 * LIMIT_FLEET_EVENTS - 3000);
	fleet_rows_batch_finish(&batch);
	fleet_rows_finish(&rows);
}

/* Also while a long log is loaded, before anything is stored. */
static void stored_lines_are_kept_up_to_a_limit(void **state)
{
	enum { LINE = 64 * KIB, COUNT = 20 * MIB / LINE };
	static char text[LINE];
	struct fleet_rows rows;
	struct fleet_rows_batch batch;
	(void)state;
	memset(text, 'x', sizeof(text));
	fleet_rows_init(&rows, 7, COUNT);
	for (int i = 0; i < COUNT; i++) {
		fleet_rows_add_stored(&rows, str_n(text, sizeof(text)));
		assert_true(rows.kept <= LIMIT_FLEET_KEPT);
	}
	assert_true(rows.kept >= LIMIT_FLEET_KEPT / 4 * 3 - LINE);
	assert_int_equal(rows.from_lines, COUNT - rows.rows.count);
	assert_false(fleet_rows_next(&rows, &batch));
	assert_true(fleet_rows_is_stored(&rows, fleet_rows_position(&rows)));
	assert_false(fleet_rows_rewind(&rows, 7, 1));
	assert_true(fleet_rows_rewind(&rows, 7, COUNT - 1));
	assert_true(fleet_rows_next(&rows, &batch));
	assert_int_equal(batch.lines.count, 1);
	assert_int_equal(batch.lines_before, COUNT - 1);
	fleet_rows_batch_finish(&batch);
	fleet_rows_finish(&rows);
}

/* ---- the log ---- */

#define ROOT "01999999-0000-7000-8000-000000000001"
#define CHILD "01999999-0000-7000-8000-000000000002"

static void add(struct fleet_log *log, const char *line)
{
	assert_int_equal(fleet_log_add(log, str_of(line), NULL), 0);
}

static void add_note(struct fleet_log *log, struct buf *note)
{
	assert_int_equal(fleet_log_add(log, buf_str(note), NULL), 0);
	buf_clear(note);
}

static void the_log_has_rollouts_and_what_is_unfinished(void **state)
{
	char folder[] = "fleet-log-XXXXXX";
	auto_buf struct buf note, text;
	(void)state;
	assert_non_null(mkdtemp(folder));
	buf_init(&note, 64 * KIB);
	buf_init(&text, 64 * KIB);
	struct fleet_log *log = fleet_log_create(folder);
	fleet_note_submission(&note, STR("c1"),
	                      STR("{\"id\":\"c1\",\"op\":{\"type\":\"override_turn_context\",\n\"model\":\"m1\"}}"));
	add_note(log, &note);
	add(log,
	    "{\"timestamp\":\"2026-01-30T18:59:30.123Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"" ROOT "\"}}");
	fleet_note_submission(&note, STR("t1"),
	                      STR("{\"id\":\"t1\",\"op\":{\"type\":\"user_input\",\"items\":[{\"type\":\"text\","
	                          "\"text\":\"hi\"}]}}"));
	add_note(log, &note);
	add(log, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\",\"turn_id\":\"turn-1\"}}");
	fleet_note_task(&note, STR("t1"), false);
	add_note(log, &note);
	fleet_note_begin(&note, ROOT, STR("call-1"));
	add_note(log, &note);
	fleet_note_begin(&note, CHILD, STR("call-of-child"));
	add_note(log, &note);
	fleet_note_line(
		&note, CHILD,
		STR("{\"timestamp\":\"2026-01-30T18:59:31.000Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"" CHILD
	            "\"}}"));
	add_note(log, &note);
	assert_int_equal(fleet_log_end(log, NULL), 0);
	fleet_log_write_configure(log, &text);
	const char *path = strstr(text.data, folder);
	assert_non_null(path);
	auto_free char *file = xstrndup(path, (size_t)(strchr(path, '"') - path));
	assert_non_null(strstr(file, ROOT));
	assert_true(file_exists(file));
	buf_clear(&text);
	assert_true(fleet_log_has_id(log, STR("t1")));
	assert_false(fleet_log_has_id(log, STR("t2")));
	assert_false(fleet_log_has_id(log, STR("")));
	assert_true(fleet_log_write_override(log, &text));
	assert_non_null(strstr(text.data, "\"model\":\"m1\""));
	const struct unfinished *unfinished = fleet_log_unfinished(log, "w1");
	assert_non_null(unfinished);
	assert_true(str_is(unfinished->id, "t1"));
	assert_true(str_is(unfinished->turn_id, "turn-1"));
	assert_int_equal(unfinished->input_count, 1);
	assert_int_equal(unfinished->call_count, 1);
	assert_true(str_is(unfinished->calls[0].call_id, "call-1"));
	assert_false(unfinished->calls[0].has_ended);
	fleet_log_destroy(log);
	fleet_folder_remove(folder);
	assert_false(dir_exists(folder));
}

static void a_task_that_has_ended_is_not_unfinished(void **state)
{
	auto_buf struct buf note;
	(void)state;
	buf_init(&note, 64 * KIB);
	struct fleet_log *log = fleet_log_create("/nonexistent");
	fleet_note_task(&note, STR("t1"), false);
	add_note(log, &note);
	assert_non_null(fleet_log_unfinished(log, "w"));
	fleet_note_task(&note, STR("t1"), true);
	add_note(log, &note);
	assert_null(fleet_log_unfinished(log, "w"));
	fleet_log_destroy(log);
}

/* ---- subagents ---- */

static void add_below(struct fleet_log *log, const char *line)
{
	auto_buf struct buf note;
	buf_init(&note, 64 * KIB);
	fleet_note_line(&note, CHILD, str_of(line));
	add_note(log, &note);
}

static void a_subagent_that_worked_is_unfinished(void **state)
{
	char folder[] = "fleet-log-XXXXXX";
	auto_buf struct buf note;
	(void)state;
	assert_non_null(mkdtemp(folder));
	buf_init(&note, 64 * KIB);
	struct fleet_log *log = fleet_log_create(folder);
	add(log,
	    "{\"timestamp\":\"2026-01-30T18:59:30.123Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"" ROOT "\"}}");
	add_below(log,
	          "{\"timestamp\":\"2026-01-30T18:59:31.000Z\",\"type\":\"session_meta\",\"payload\":{\"id\":\"" CHILD
	          "\"}}");
	add_below(log, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\",\"turn_id\":\"turn-2\"}}");
	assert_null(fleet_log_unfinished(log, "w1")); /* its prompt is not in its history */
	add_below(log, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"item_completed\",\"item\":{\"type\":"
	               "\"UserMessage\"}}}");
	fleet_note_begin(&note, CHILD, STR("call-of-child"));
	add_note(log, &note);
	const struct unfinished *unfinished = fleet_log_unfinished(log, "w1");
	assert_non_null(unfinished);
	assert_null(unfinished->id.ptr);
	assert_int_equal(unfinished->agent_count, 1);
	assert_string_equal(unfinished->agents[0].thread_id, CHILD);
	assert_true(str_is(unfinished->agents[0].turn_id, "turn-2"));
	assert_int_equal(unfinished->agents[0].call_count, 1);
	assert_true(str_is(unfinished->agents[0].calls[0].call_id, "call-of-child"));
	fleet_log_destroy(log);
	fleet_folder_remove(folder);
}

static void a_subagent_that_has_ended_is_not_unfinished(void **state)
{
	static const char *const ends[] = {"task_complete", "turn_aborted"};
	(void)state;
	for (size_t i = 0; i < countof(ends); i++) {
		auto_free char *end = xasprintf("{\"type\":\"event_msg\",\"payload\":{\"type\":\"%s\"}}", ends[i]);
		struct fleet_log *log = fleet_log_create("/nonexistent");
		add(log, "{\"type\":\"session_meta\",\"payload\":{\"id\":\"" ROOT "\"}}");
		add_below(log, "{\"type\":\"session_meta\",\"payload\":{\"id\":\"" CHILD "\"}}");
		add_below(log, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"task_started\",\"turn_id\":\"t\"}}");
		add_below(log, "{\"type\":\"event_msg\",\"payload\":{\"type\":\"item_completed\",\"item\":{\"type\":"
		               "\"UserMessage\"}}}");
		add_below(log, end);
		assert_null(fleet_log_unfinished(log, "w1"));
		fleet_log_destroy(log);
	}
}

/* ---- packing ---- */

static void packed_lines_are_the_same_again(void **state)
{
	auto_buf struct buf lines, packed, again;
	(void)state;
	buf_init(&lines, 4 * MIB);
	buf_init(&packed, 4 * MIB);
	buf_init(&again, 4 * MIB);
	for (int i = 0; i < 10000; i++)
		buf_printf(&lines, "{\"line\":%d}\n", i);
	if (fleet_pack(&packed, buf_str(&lines), NULL) != 0)
		skip(); /* no libzstd */
	assert_true(packed.len < lines.len / 4);
	assert_int_equal(fleet_unpack(&again, buf_str(&packed), NULL), 0);
	assert_true(str_eq(buf_str(&again), buf_str(&lines)));
	for (size_t len = 0; len < packed.len; len += packed.len / 16) { /* cut off, and changed */
		struct error err;
		buf_clear(&again);
		assert_int_equal(fleet_unpack(&again, str_n(packed.data, len), &err), -ERR_invalid);
		packed.data[len] ^= 1;
		buf_clear(&again);
		assert_int_equal(fleet_unpack(&again, buf_str(&packed), &err), -ERR_invalid);
		packed.data[len] ^= 1;
	}
	buf_append_c(&packed, "more");
	assert_int_equal(fleet_unpack(&again, buf_str(&packed), NULL), -ERR_invalid);
}

static void packed_lines_that_unpack_to_too_much_are_refused(void **state)
{
	auto_buf struct buf lines, packed, again;
	(void)state;
	buf_init(&lines, 64 * MIB);
	buf_init(&packed, 4 * MIB);
	buf_init(&again, 1 * MIB);
	while (lines.len < 32 * MIB)
		buf_append_c(&lines, "                                                                ");
	if (fleet_pack(&packed, buf_str(&lines), NULL) != 0)
		skip();
	assert_int_equal(fleet_unpack(&again, buf_str(&packed), NULL), -ERR_invalid);
	assert_true(again.len <= 1 * MIB);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_have_all_parts),
		cmocka_unit_test(bad_urls_are_refused_without_their_text),
		cmocka_unit_test(replies_are_read_at_any_split),
		cmocka_unit_test(hostile_replies_are_refused),
		cmocka_unit_test(only_whole_groups_are_stored),
		cmocka_unit_test(a_store_that_is_older_gets_the_rest_again),
		cmocka_unit_test(rows_are_kept_up_to_a_limit),
		cmocka_unit_test(stored_lines_are_kept_up_to_a_limit),
		cmocka_unit_test(the_log_has_rollouts_and_what_is_unfinished),
		cmocka_unit_test(a_task_that_has_ended_is_not_unfinished),
		cmocka_unit_test(a_subagent_that_worked_is_unfinished),
		cmocka_unit_test(a_subagent_that_has_ended_is_not_unfinished),
		cmocka_unit_test(packed_lines_are_the_same_again),
		cmocka_unit_test(packed_lines_that_unpack_to_too_much_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
