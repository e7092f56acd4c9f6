/* Summaries for lists are read from the beginning of files in formats of any age. The search ends in hostile files. */
#include "temp.h"

#include <time.h>

#include "rollout/rollout_list.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_summary.h"

#define ID_A "01a1fb55-e849-7942-b12b-582c7876dc93"
#define ID_B "01a1fb56-e849-7942-b12b-582c7876dc93"
#define FILE_A "sessions/2026/11/20/rollout-2026-11-20T23-41-13-" ID_A ".jsonl"
#define FILE_B "sessions/2026/11/20/rollout-2026-11-20T23-42-13-" ID_B ".jsonl"
#define META(id, more) "{\"type\":\"session_meta\",\"payload\":{\"id\":\"" id "\",\"cwd\":\"/w\"" more "}}\n"
#define BASE(id) ",\"history_base\":{\"thread_id\":\"" id "\",\"end_byte_offset\":1000}"
#define SAID(text) "{\"type\":\"event_msg\",\"payload\":{\"type\":\"user_message\",\"message\":\"" text "\"}}\n"
#define ITEM                                                                                                   \
	"{\"type\":\"event_msg\",\"payload\":{\"type\":\"item_completed\",\"item\":{\"type\":\"UserMessage\"," \
	"\"content\":[{\"type\":\"text\",\"text\":\"newer words\"}]}}}\n"
#define TURN "{\"type\":\"turn_context\",\"payload\":{\"model\":\"m\",\"effort\":\"high\"}}"

static void read_ok(const char *relative, struct arena *arena, struct rollout_summary *ret)
{
	struct error err = {0};
	assert_int_equal(rollout_summary_read(temp_path(relative), arena, ret, &err), 0);
}

static void the_beginning_of_the_file_suffices(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct rollout_summary summary;
	temp_put(FILE_A, STR(META(ID_A, "") "{\"damaged\n" SAID("first") SAID("second") TURN));
	read_ok(FILE_A, &arena, &summary);
	assert_true(str_is(summary.meta.thread_id, ID_A));
	assert_true(str_is(summary.preview, "first"));
	assert_true(str_is(summary.model, "m")); /* read from an incomplete last line */
	assert_true(str_is(summary.effort, "high"));
	temp_put(FILE_B, STR(META(ID_B, ",\"source\":{\"subagent\":\"review\"}") ITEM));
	read_ok(FILE_B, &arena, &summary);
	assert_true(str_is(summary.preview, "newer words"));
	assert_true(str_is(summary.meta.subagent, "\"review\""));
	assert_null(summary.model.ptr);
}

static void forks_begin_where_they_came_from(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct rollout_summary summary;
	temp_put(FILE_A, STR(META(ID_A, "") SAID("first")));
	temp_put(FILE_B, STR(META(ID_B, BASE(ID_A))));
	read_ok(FILE_B, &arena, &summary);
	assert_true(str_is(summary.preview, "first"));
	temp_put(FILE_A, STR(META(ID_A, BASE(ID_B)))); /* two files that refer to each other */
	read_ok(FILE_B, &arena, &summary);
	assert_null(summary.preview.ptr);
}

static void a_file_without_session_meta_is_refused(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct rollout_summary summary;
	struct error err = {0};
	temp_put(FILE_A, STR("not one\n"));
	assert_true(rollout_summary_read(temp_path(FILE_A), &arena, &summary, &err) < 0);
	assert_int_equal(err.code, ERR_invalid);
	assert_true(rollout_summary_read(temp_root, &arena, &summary, &err) < 0);
	assert_int_equal(err.code, ERR_invalid);
	assert_true(rollout_summary_read(temp_path("none"), &arena, &summary, &err) < 0);
	assert_int_equal(err.code, ERR_not_found);
}

static void a_name_contains_the_creation_time(void **state)
{
	(void)state;
	struct rollout_file_name name;
	setenv("TZ", "UTC", 1);
	tzset();
	assert_true(rollout_path_parse(path_name(FILE_A), &name));
	assert_int_equal(rollout_summary_created(&name), 0x01a1fb55e849);
	assert_true(rollout_path_parse(STR("rollout-2026-01-01T00-00-00-" ID_A ".jsonl"), &name)); /* another time */
	assert_int_equal(rollout_summary_created(&name), 1767225600000);
}

static void the_last_name_counts(void **state)
{
	(void)state;
	struct rollout_names names;
	rollout_names_read(temp_root, &names);
	assert_null(rollout_names_find(&names, STR(ID_A)).ptr);
	rollout_names_finish(&names);
	temp_put("session_index.jsonl", STR("{\"id\":\"" ID_A "\",\"thread_name\":\"one\"}\nrubbish\n"
	                                    "{\"id\":\"" ID_B "\",\"thread_name\":\"b\"}\n"
	                                    "{\"id\":\"" ID_A "\",\"thread_name\":\" two \"}\n"
	                                    "{\"id\":\"" ID_B "\",\"thread_name\":\"\"}\n"));
	rollout_names_read(temp_root, &names);
	assert_true(str_is(rollout_names_find(&names, STR(ID_A)), "two"));
	assert_null(rollout_names_find(&names, STR(ID_B)).ptr);
	assert_null(rollout_names_find(&names, STR("x")).ptr);
	rollout_names_finish(&names);
}

/* A full disk truncated a line: only that name is lost. */
static void half_a_name_takes_no_other_along(void **state)
{
	(void)state;
	struct rollout_names names;
	struct error err;
	temp_put("session_index.jsonl", STR("{\"id\":\"" ID_A "\",\"thread_na"));
	assert_int_equal(rollout_name_set(temp_root, STR(ID_A), STR("one"), &err), 0);
	assert_int_equal(rollout_name_set(temp_root, STR(ID_B), STR("two"), &err), 0);
	rollout_names_read(temp_root, &names);
	assert_true(str_is(rollout_names_find(&names, STR(ID_A)), "one"));
	assert_true(str_is(rollout_names_find(&names, STR(ID_B)), "two"));
	rollout_names_finish(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_beginning_of_the_file_suffices, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(forks_begin_where_they_came_from, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_file_without_session_meta_is_refused, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_name_contains_the_creation_time, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(the_last_name_counts, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(half_a_name_takes_no_other_along, temp_make, temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
