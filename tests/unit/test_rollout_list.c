/* Finds a session by id, by name, or as the latest one. */
#include "temp.h"

#include <sys/time.h>

#include "rollout/rollout_list.h"
#include "rollout/rollout_meta.h"

#define ID_A "01a1fb55-e849-7942-b12b-582c7876dc93"
#define ID_B "01a1fb56-e849-7942-b12b-582c7876dc93"
#define ID_C "01a1fb57-e849-7942-b12b-582c7876dc93"
#define FILE_A "sessions/2026/01/02/rollout-2026-01-02T10-00-00-" ID_A ".jsonl"
#define FILE_B "sessions/2026/11/20/rollout-2026-11-20T10-00-00-" ID_B ".jsonl"
#define FILE_C "sessions/2025/12/31/rollout-2025-12-31T23-59-59-" ID_C ".jsonl"

/* Writes a file of one line, modified `age_s` seconds after the start of 2026. */
static void put_session(const char *relative, const char *id, const char *cwd, const char *provider, const char *source,
                        int changed_s)
{
	auto_free char *line = xasprintf("{\"timestamp\":\"t\",\"type\":\"session_meta\",\"payload\":{\"id\":\"%s\","
	                                 "\"cwd\":\"%s\",\"model_provider\":\"%s\",\"source\":%s}}\n",
	                                 id, cwd, provider, source);
	const char *path = temp_put(relative, str_of(line));
	struct timeval times[2] = {{.tv_sec = 1767225600 + changed_s}, {.tv_sec = 1767225600 + changed_s}};
	assert_int_equal(utimes(path, times), 0);
}

static void put_three(void)
{
	put_session(FILE_A, ID_A, "/w/a", "openai", "\"exec\"", 300);
	put_session(FILE_B, ID_B, "/w/b", "mock", "\"cli\"", 200);
	put_session(FILE_C, ID_C, "/w/a", "mock", "\"exec\"", 100);
	temp_put("sessions/2026/11/20/notes.txt", STR("not a rollout"));
	temp_put("sessions/stray", STR("not a folder"));
}

static void assert_found(char *found, const char *relative)
{
	assert_non_null(found);
	assert_string_equal(found, temp_path(relative));
	free(found);
}

static void ids_are_found_wherever_they_are(void **state)
{
	(void)state;
	struct error err = {0};
	put_three();
	assert_found(rollout_list_find_id(temp_root, STR(ID_A), &err), FILE_A);
	assert_found(rollout_list_find_id(temp_root, STR(ID_B), &err), FILE_B);
	assert_found(rollout_list_find_id(temp_root, STR("01A1FB57-E849-7942-B12B-582C7876DC93"), &err), FILE_C);
	assert_null(rollout_list_find_id(temp_root, STR("01a1fb58-e849-7942-b12b-582c7876dc93"), &err));
	assert_int_equal(err.code, ERR_not_found);
	assert_null(rollout_list_find_id(temp_path("nowhere"), STR(ID_A), &err));
	assert_int_equal(err.code, ERR_not_found);
}

static void archived_sessions_are_found_last(void **state)
{
	(void)state;
	put_three();
	put_session("archived_sessions/rollout-2026-01-02T10-00-00-" ID_A ".jsonl", ID_A, "/w/a", "openai", "\"exec\"",
	            1);
	put_session("archived_sessions/rollout-2026-03-02T10-00-00-01a1fb58-e849-7942-b12b-582c7876dc93.jsonl",
	            "01a1fb58-e849-7942-b12b-582c7876dc93", "/w/a", "openai", "\"exec\"", 900);
	assert_found(rollout_list_find_id(temp_root, STR(ID_A), NULL), FILE_A);
	assert_found(rollout_list_find_id(temp_root, STR("01a1fb58-e849-7942-b12b-582c7876dc93"), NULL),
	             "archived_sessions/rollout-2026-03-02T10-00-00-01a1fb58-e849-7942-b12b-582c7876dc93.jsonl");
	assert_found(rollout_list_find_latest(temp_root, &(struct rollout_filter){0}, NULL), FILE_A);
}

static void the_newest_file_of_a_reverted_thread_wins(void **state)
{
	(void)state;
	put_three();
#define REVERTED "sessions/2026/11/20/rollout-2026-11-20T10-00-00-" ID_B "_01a1fbce-f409-71a1-aa5c-5fbb73b0624f.jsonl"
	put_session(REVERTED, ID_B, "/w/b", "mock", "\"cli\"", 150);
	assert_found(rollout_list_find_id(temp_root, STR(ID_B), NULL), REVERTED);
	assert_found(rollout_list_find_segment(temp_root, STR(ID_B), NULL), FILE_B);
	assert_found(rollout_list_find_segment(temp_root, STR("01a1fbce-f409-71a1-aa5c-5fbb73b0624f"), NULL), REVERTED);
}

static void a_packed_session_is_found_unless_it_lies_unpacked_beside(void **state)
{
	(void)state;
	struct error err = {0};
	temp_put(FILE_A ".zst", STR("\x28\xb5\x2f\xfd"));
	assert_found(rollout_list_find_id(temp_root, STR(ID_A), &err), FILE_A ".zst");
	put_session(FILE_A, ID_A, "/w/a", "openai", "\"exec\"", 300);
	assert_found(rollout_list_find_id(temp_root, STR(ID_A), &err), FILE_A);
}

static void the_last_session_is_the_one_last_written_to(void **state)
{
	(void)state;
	struct error err = {0};
	put_three();
	assert_found(rollout_list_find_latest(temp_root, &(struct rollout_filter){0}, &err), FILE_A);
	assert_found(rollout_list_find_latest(temp_root, &(struct rollout_filter){.cwd = STR("/w/b")}, &err), FILE_B);
	struct rollout_filter both = {.cwd = STR("/w/a"), .model_provider = STR("mock")};
	assert_found(rollout_list_find_latest(temp_root, &both, &err), FILE_C);
	assert_null(rollout_list_find_latest(temp_root, &(struct rollout_filter){.cwd = STR("/w/c")}, &err));
	assert_int_equal(err.code, ERR_not_found);
}

static void the_same_folder_by_another_name_is_the_same(void **state)
{
	(void)state;
	auto_free char *real = xstrdup(temp_path("real")), *alias = xstrdup(temp_path("alias"));
	assert_int_equal(dir_make(real, 0700, NULL), 0);
	assert_int_equal(symlink(real, alias), 0);
	put_session(FILE_A, ID_A, alias, "openai", "\"exec\"", 300);
	assert_found(rollout_list_find_latest(temp_root, &(struct rollout_filter){.cwd = str_of(real)}, NULL), FILE_A);
}

static void subagents_and_damaged_files_are_never_the_last(void **state)
{
	(void)state;
	put_three();
	put_session("sessions/2026/11/21/rollout-2026-11-21T10-00-00-01a1fb58-e849-7942-b12b-582c7876dc93.jsonl",
	            "01a1fb58-e849-7942-b12b-582c7876dc93", "/w/a", "openai", "{\"subagent\":\"review\"}", 900);
	temp_put("sessions/2026/11/21/rollout-2026-11-21T10-00-00-01a1fb59-e849-7942-b12b-582c7876dc93.jsonl", STR(""));
	temp_put("sessions/2026/11/21/rollout-2026-11-21T10-00-00-01a1fb5a-e849-7942-b12b-582c7876dc93.jsonl",
	         STR("{\"timestamp\":\"t\",\"type\":\"event_msg\",\"payload\":{}}\n"));
	assert_found(rollout_list_find_latest(temp_root, &(struct rollout_filter){0}, NULL), FILE_A);
}

#define ENTRY(id, name) "{\"id\":\"" id "\",\"thread_name\":\"" name "\",\"updated_at\":\"2026-01-01T00:00:00Z\"}\n"

static void names_lead_to_the_thread_that_has_them_now(void **state)
{
	(void)state;
	struct error err = {0};
	put_three();
	temp_put("session_index.jsonl",
	         STR(ENTRY(ID_A, "parser") ENTRY(ID_B, "parser") ENTRY(ID_B, "printer") "torn{\n" ENTRY(
			 "01a1fb58-e849-7942-b12b-582c7876dc93", "parser") ENTRY(ID_C, " docs ")));
	assert_found(rollout_list_find_name(temp_root, STR("parser"), &err), FILE_A);
	assert_found(rollout_list_find_name(temp_root, STR("printer"), &err), FILE_B);
	assert_found(rollout_list_find_name(temp_root, STR("docs"), &err), FILE_C);
	assert_null(rollout_list_find_name(temp_root, STR("absent"), &err));
	assert_int_equal(err.code, ERR_not_found);
	assert_null(rollout_list_find_name(temp_root, STR(" "), &err));
}

static void heads_are_read_without_the_rest(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct rollout_meta meta;
	struct error err = {0};
	put_three();
	assert_int_equal(rollout_list_read_head(temp_path(FILE_B), &arena, &meta, &err), 0);
	assert_str(meta.cwd, "/w/b");
	assert_int_equal(meta.source, session_source_cli);
	assert_true(rollout_list_read_head(temp_put("bad.jsonl", STR("{\"type\":")), &arena, &meta, &err) < 0);
	assert_non_null(strstr(err.text, "bad.jsonl"));
}

#define TEMP_TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMP_TEST(ids_are_found_wherever_they_are),
		TEMP_TEST(archived_sessions_are_found_last),
		TEMP_TEST(the_newest_file_of_a_reverted_thread_wins),
		TEMP_TEST(a_packed_session_is_found_unless_it_lies_unpacked_beside),
		TEMP_TEST(the_last_session_is_the_one_last_written_to),
		TEMP_TEST(the_same_folder_by_another_name_is_the_same),
		TEMP_TEST(subagents_and_damaged_files_are_never_the_last),
		TEMP_TEST(names_lead_to_the_thread_that_has_them_now),
		TEMP_TEST(heads_are_read_without_the_rest),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
