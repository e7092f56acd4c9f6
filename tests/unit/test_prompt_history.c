/* history.jsonl: entries are found by line, the file is private, and its size is limited. */
#include "test.h"

#include "rollout/prompt_history.h"
#include "temp.h"

static void add(const char *home, const char *text, int64_t max_bytes)
{
	struct error err;
	const struct prompt_entry entry = {STR("s-1"), 1700000000, str_of(text)};
	if (prompt_history_append(home, &entry, max_bytes, &err) != 0)
		fail_msg("%s", err.text);
}

static void entries_are_found_by_line(void **state)
{
	(void)state;
	const char *home = temp_root;
	auto_arena struct arena arena = {0};
	struct prompt_entry entry;
	int64_t log_id, count;
	prompt_history_measure(home, &log_id, &count);
	assert_int_equal(count, 0);
	assert_int_equal(log_id, 0);
	add(home, "one", 0);
	add(home, "two\nlines", 0);
	prompt_history_measure(home, &log_id, &count);
	assert_int_equal(count, 2);
	assert_true(prompt_history_find(home, log_id, 1, &arena, &entry));
	assert_str(entry.text, "two\nlines");
	assert_str(entry.session_id, "s-1");
	assert_int_equal(entry.ts, 1700000000);
	assert_false(prompt_history_find(home, log_id, 2, &arena, &entry));
	assert_false(prompt_history_find(home, log_id, -1, &arena, &entry));
	assert_false(prompt_history_find(home, log_id + 1, 0, &arena, &entry));
}

static void the_file_is_private(void **state)
{
	(void)state;
	const char *home = temp_root;
	struct stat info;
	add(home, "secret", 0);
	auto_free char *path = path_join(home, "history.jsonl");
	assert_int_equal(stat(path, &info), 0);
	assert_int_equal(info.st_mode & 0777, 0600);
}

static void the_oldest_go_first(void **state)
{
	(void)state;
	const char *home = temp_root;
	auto_arena struct arena arena = {0};
	struct prompt_entry entry;
	int64_t log_id, count;
	char text[32];
	for (int i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "prompt %d", i);
		add(home, text, 1000);
	}
	prompt_history_measure(home, &log_id, &count);
	assert_in_range(count, 5, 20);
	assert_true(prompt_history_find(home, log_id, count - 1, &arena, &entry));
	assert_str(entry.text, "prompt 99");
	add(home, "longer than the bound", 10);
	prompt_history_measure(home, &log_id, &count);
	assert_int_equal(count, 1);
}

/* Trimmed to four fifths at once, not by one line per prompt: clients count lines. */
static void trimming_makes_room(void **state)
{
	(void)state;
	auto_free char *path = path_join(temp_root, "history.jsonl");
	struct stat before = {0}, after;
	size_t line = 0;
	char text[32];
	for (int i = 100; i < 200; i++) {
		snprintf(text, sizeof(text), "prompt %d", i);
		add(temp_root, text, 1000);
		assert_int_equal(stat(path, &after), 0);
		if (after.st_size < before.st_size)
			break;
		line = (size_t)(after.st_size - before.st_size);
		before = after;
	}
	assert_in_range(after.st_size, 800 - line + 1, 800);
}

/* A full disk truncated a line: only that line is lost. */
static void half_a_line_takes_no_other_along(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct prompt_entry entry;
	int64_t log_id, count;
	temp_put("history.jsonl", STR("{\"session_id\":\"s\",\"ts\":1,\"text\":\"fir"));
	add(temp_root, "second", 0);
	add(temp_root, "third", 0);
	prompt_history_measure(temp_root, &log_id, &count);
	assert_int_equal(count, 3);
	assert_false(prompt_history_find(temp_root, log_id, 0, &arena, &entry));
	assert_true(prompt_history_find(temp_root, log_id, 1, &arena, &entry));
	assert_str(entry.text, "second");
	assert_true(prompt_history_find(temp_root, log_id, 2, &arena, &entry));
	assert_str(entry.text, "third");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(entries_are_found_by_line, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(the_file_is_private, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(the_oldest_go_first, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(trimming_makes_room, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(half_a_line_takes_no_other_along, temp_make, temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
