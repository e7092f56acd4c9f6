/* The base library: slices, buffers, arenas, truncation, ids. */
#include "temp.h"

#include <errno.h>
#include <pthread.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/list.h"
#include "base/shared_text.h"
#include "base/text.h"
#include "base/uuid.h"

static void buf_refuses_appends_beyond_its_maximum(void **state)
{
	(void)state;
	auto_buf struct buf buf;
	buf_init(&buf, 4);
	buf_append_c(&buf, "abcd");
	assert_false(buf.over);
	buf_append_c(&buf, "e");
	assert_true(buf.over);
	assert_str(buf_str(&buf), "abcd");
	buf_truncate(&buf, 2);
	assert_false(buf.over);
	assert_str(buf_str(&buf), "ab");
	buf_truncate(&buf, 3);
	assert_str(buf_str(&buf), "ab");
	buf_clear(&buf);
	buf_printf(&buf, "%d", 42);
	assert_str(buf_str(&buf), "42");
}

static void a_long_slice_is_printed_whole(void **state)
{
	(void)state;
	enum { LEN = 70000 };
	struct buf text, out;
	buf_init(&text, LEN);
	buf_init(&out, LEN + 2);
	for (size_t i = 0; i < LEN; i++)
		buf_append_char(&text, i + 1 < LEN ? 'a' : 'z');
	buf_printf(&out, "<%.*s>", STR_ARG(buf_str(&text)));
	assert_int_equal(out.len, LEN + 2);
	assert_memory_equal(out.data + LEN, "z>", 2);
	buf_finish(&text);
	buf_finish(&out);
}

static void arena_keeps_copies(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct str kept[1000];
	for (int i = 0; i < 1000; i++)
		kept[i] = str_of(arena_printf(&arena, "item %d", i));
	assert_str(kept[0], "item 0");
	assert_str(kept[999], "item 999");
	assert_null(arena_str(&arena, STR_NONE).ptr);
	char *zeroed = arena_alloc(&arena, 100000);
	assert_int_equal(zeroed[99999], 0);
}

/* Takes a text of `len` bytes. */
static struct shared_text *large_text(size_t len)
{
	struct buf bytes;
	buf_init(&bytes, len);
	memset(buf_reserve(&bytes, len), 'x', len);
	bytes.len = len;
	struct shared_text *text = shared_text_take(&bytes);
	assert_int_equal(bytes.len, 0);
	return text;
}

static void an_arena_keeps_a_held_text_and_copies_no_part_of_it(void **state)
{
	(void)state;
	struct arena arena = {0}, second = {0};
	struct shared_text *text = large_text(1000);
	struct str all = shared_text_str(text), part = str_n(all.ptr + 10, 20);
	assert_int_equal(all.len, 1000);
	assert_ptr_not_equal(arena_str(&arena, part).ptr, part.ptr);
	arena_hold(&arena, text);
	arena_hold_all(&second, &arena);
	shared_text_unref(text);
	arena_finish(&arena);
	assert_ptr_equal(arena_str(&second, part).ptr, part.ptr);
	assert_ptr_equal(arena_str(&second, all).ptr, all.ptr);
	assert_ptr_equal(arena_str(&second, str_n(all.ptr + 999, 1)).ptr, all.ptr + 999);
	assert_ptr_not_equal(arena_str(&second, STR("other")).ptr, part.ptr);
	assert_int_equal(part.ptr[19], 'x');
	arena_reset(&second); /* LeakSanitizer verifies that the text is freed, once */
	arena_finish(&second);
}

static void an_arena_adopts_what_another_has(void **state)
{
	(void)state;
	struct arena arena = {0}, other = {0};
	struct shared_text *text = large_text(1000);
	struct str all = shared_text_str(text), kept[300];
	for (size_t i = 0; i < countof(kept); i++) {
		arena_hold(i % 2 ? &arena : &other, text);
		kept[i] = str_of(arena_printf(&other, "row %zu", i));
		arena_printf(&arena, "own %zu", i);
		if (i % 3 == 0)
			arena_adopt(&arena, &other);
	}
	shared_text_unref(text);
	arena_adopt(&arena, &other);
	assert_null(other.blocks);
	arena_adopt(&arena, &other);
	for (size_t i = 0; i < countof(kept); i++) {
		char expected[16];
		snprintf(expected, sizeof(expected), "row %zu", i);
		assert_true(str_eq(kept[i], str_of(expected)));
	}
	assert_ptr_equal(arena_str(&arena, all).ptr, all.ptr);
	arena_finish(&arena); /* LeakSanitizer verifies that the text is freed, once */
}

static void slices_cut_and_convert(void **state)
{
	(void)state;
	struct str rest = STR("a\r\nb\n"), line;
	assert_true(str_next_line(&rest, &line));
	assert_str(line, "a\r");
	assert_true(str_next_line(&rest, &line));
	assert_str(line, "b");
	assert_false(str_next_line(&rest, &line));
	int64_t value;
	assert_true(str_to_i64(STR("-9223372036854775808"), &value));
	assert_true(value == INT64_MIN);
	assert_false(str_to_i64(STR("9223372036854775808"), &value));
	assert_false(str_to_i64(STR("1x"), &value));
	assert_false(str_to_i64(STR(""), &value));
}

static void check_middle(const char *text, struct text_budget budget, const char *want)
{
	auto_buf struct buf out;
	buf_init(&out, 1000);
	text_append_output(&out, str_of(text), budget);
	assert_string_equal(out.data, want);
}

/* Three examples of truncation by codex 0.169. */
static void truncation_examples_hold(void **state)
{
	(void)state;
	check_middle("example output", (struct text_budget){TEXT_TOKENS, 1},
	             "Total output lines: 1\n\nex…3 tokens truncated…ut");
	check_middle("example output", (struct text_budget){TEXT_BYTES, 1},
	             "Total output lines: 1\n\n…13 chars truncated…t");
	auto_buf struct buf out;
	buf_init(&out, 1000);
	text_append_middle(&out, STR("this is an example of a long output that should be truncated"),
	                   (struct text_budget){TEXT_TOKENS, 5});
	assert_string_equal(out.data, "this is an…10 tokens truncated… truncated");
	check_middle("fits", (struct text_budget){TEXT_BYTES, 4}, "fits");
}

static void truncation_never_splits_a_character(void **state)
{
	(void)state;
	for (size_t limit = 0; limit < 40; limit++) {
		auto_buf struct buf out;
		buf_init(&out, 1000);
		text_append_middle(&out, STR("äöü€€€😀😀😀äöü€€€😀😀"), (struct text_budget){TEXT_BYTES, limit});
		assert_true(text_is_utf8(buf_str(&out)));
	}
}

static void lossy_utf8_replaces_ill_formed_parts(void **state)
{
	(void)state;
	static const struct {
		struct str in;
		const char *want;
	} rows[] = {
		{{"a\xff"
	          "b",
	          3},
	         "a\xef\xbf\xbd"
	         "b"},
		{{"\xe2\x82", 2}, "\xef\xbf\xbd"},
		{{"\xf0\x9f\x98x", 4}, "\xef\xbf\xbdx"},
		{{"\xed\xa0\x80", 3}, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
		{{"\xc0\xaf", 2}, "\xef\xbf\xbd\xef\xbf\xbd"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_buf struct buf out;
		buf_init(&out, 100);
		text_append_utf8_lossy(&out, rows[i].in);
		assert_string_equal(out.data, rows[i].want);
	}
}

static void a_character_without_its_last_bytes_is_not_counted(void **state)
{
	(void)state;
	assert_int_equal(text_utf8_whole(STR("")), 0);
	assert_int_equal(text_utf8_whole(STR("ab")), 2);
	assert_int_equal(text_utf8_whole(STR("a\xe2\x82\xac")), 4);
	assert_int_equal(text_utf8_whole(STR("a\xe2\x82")), 1);
	assert_int_equal(text_utf8_whole(STR("a\xf0\x9f\x98")), 1);
	assert_int_equal(text_utf8_whole(STR("a\xc3")), 1);
	assert_int_equal(text_utf8_whole(STR("\x80\x80\x80\x80")), 4); /* no beginning: nothing is missing at the end */
}

static void trimming_knows_unicode_blanks(void **state)
{
	(void)state;
	assert_str(text_trim(STR(" \t\u00a0x y\u3000\u2028\n")), "x y");
	assert_str(text_trim_end(STR("\u2003x\u2003")), "\u2003x");
	assert_str(text_trim(STR("\u200bx\u00e9")), "\u200bx\u00e9");
	assert_str(text_trim(STR(" \xff ")), "\xff");
	assert_str(text_trim(STR(" \u3000 ")), "");
}

static void code_points_become_utf8(void **state)
{
	(void)state;
	static const struct {
		uint32_t point;
		const char *want;
	} rows[] = {{0x24, "$"},
	            {0x7f, "\x7f"},
	            {0x80, "\xc2\x80"},
	            {0x20ac, "€"},
	            {0xffff, "\xef\xbf\xbf"},
	            {0x10000, "\xf0\x90\x80\x80"},
	            {0x10ffff, "\xf4\x8f\xbf\xbf"}};
	for (size_t i = 0; i < countof(rows); i++) {
		char utf8[4];
		assert_true(str_is(str_n(utf8, text_put_utf8(utf8, rows[i].point)), rows[i].want));
	}
}

static void paths_stand_in_addresses(void **state)
{
	(void)state;
	auto_buf struct buf coded, plain;
	buf_init(&coded, 100);
	buf_init(&plain, 100);
	text_append_url_path(&coded, STR("/a b/%\xc3\xa4?#{}~\n"));
	assert_true(str_is(buf_str(&coded), "/a%20b/%25%C3%A4%3F%23%7B%7D~%0A"));
	text_append_url_decoded(&plain, buf_str(&coded));
	assert_true(str_is(buf_str(&plain), "/a b/%\xc3\xa4?#{}~\n"));
	buf_clear(&plain);
	text_append_url_decoded(&plain, STR("%2f%%4%zz%4"));
	assert_true(str_is(buf_str(&plain), "/%%4%zz%4"));
}

static void base64_round_trip(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"", ""}, {"f", "Zg=="}, {"fo", "Zm8="}, {"foo", "Zm9v"}, {"foobar", "Zm9vYmFy"}};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_buf struct buf coded, plain;
		buf_init(&coded, 100);
		buf_init(&plain, 100);
		text_base64(&coded, rows[i][0], strlen(rows[i][0]));
		assert_true(str_is(buf_str(&coded), rows[i][1]));
		assert_true(text_base64_decode(&plain, str_of(rows[i][1])));
		assert_true(str_is(buf_str(&plain), rows[i][0]));
	}
	auto_buf struct buf out;
	buf_init(&out, 100);
	assert_false(text_base64_decode(&out, STR("Zg=")));
	assert_false(text_base64_decode(&out, STR("Z===")));
	assert_false(text_base64_decode(&out, STR("Zg==Zg==")));
}

static void ids_sort_in_the_order_they_were_made(void **state)
{
	(void)state;
	char last[UUID_TEXT_SIZE], next[UUID_TEXT_SIZE];
	uuid_v7(last);
	for (int i = 0; i < 10000; i++) {
		uuid_v7(next);
		assert_true(uuid_is_valid(str_of(next)));
		assert_true(strcmp(last, next) < 0);
		memcpy(last, next, sizeof(last));
	}
}

static void paths_are_text(void **state)
{
	(void)state;
	auto_free char *a = path_normalize("/a/./b//../c/");
	assert_string_equal(a, "/a/c");
	auto_free char *b = path_normalize("/../..");
	assert_string_equal(b, "/");
	auto_free char *c = path_join("/x", "y");
	assert_string_equal(c, "/x/y");
	assert_true(path_is_inside("/a/b", "/a"));
	assert_true(path_is_inside("/a", "/a"));
	assert_false(path_is_inside("/ab", "/a"));
}

static void errors_gather_context(void **state)
{
	(void)state;
	struct error err;
	assert_int_equal(error_set(&err, ERR_invalid, "bad %s", "thing"), -ERR_invalid);
	assert_int_equal(error_wrap(&err, "reading %s", "file"), -ERR_invalid);
	assert_string_equal(err.text, "reading file: bad thing");
}

static void errors_have_no_control_characters(void **state)
{
	(void)state;
	struct error err;
	char full[ERROR_TEXT_MAX + 1] = {0};
	error_set(&err, ERR_invalid,
	          "a\x1b]0;b\ac\x7f\r\n\t\xc2\x9b"
	          "1m \xc2\xa0\xc3\xa4");
	assert_string_equal(err.text, "a^[]0;b^Gc^?^M\n\t^[1m \xc2\xa0\xc3\xa4");
	error_wrap(&err, "%s", "\x1b");
	assert_string_equal(err.text, "^[: a^[]0;b^Gc^?^M\n\t^[1m \xc2\xa0\xc3\xa4");
	error_sys(&err, ENOENT, "%s", "\x1b[m");
	assert_string_equal(err.text, "^[[m: No such file or directory");
	memset(full, '\x1b', ERROR_TEXT_MAX);
	error_set(&err, ERR_invalid, "%s", full);
	assert_null(strchr(err.text, '\x1b'));
	assert_in_range(strlen(err.text), ERROR_TEXT_MAX - 4, ERROR_TEXT_MAX - 1);
}

static void times_are_rfc3339(void **state)
{
	(void)state;
	char text[CLOCK_RFC3339_SIZE];
	clock_rfc3339(1769799570123, text);
	assert_string_equal(text, "2026-01-30T18:59:30.123Z");
}

static void times_are_parsed_as_they_are_written(void **state)
{
	(void)state;
	static const char *const bad[] = {"2026-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
	                                  "2026-00-01T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z",
	                                  "2026-01-01T00:60:00Z", "2026-01-01T00:00:00",  "2026-01-01T00:00:00+01:00",
	                                  "2026-01-01 00:00:00Z", "2026-1-01T00:00:000Z", "20x6-01-01T00:00:00Z"};
	char text[CLOCK_RFC3339_SIZE];
	int64_t ms;
	/* 1600 to 2400, in steps that reach each day of the year and each hour */
	for (int64_t at = -11676096000000; at < 13569465600000; at += 86400000LL * 13 + 3600000 + 61000) {
		clock_rfc3339(at, text);
		assert_true(clock_parse_rfc3339(str_of(text), &ms));
		assert_int_equal(ms, at);
	}
	assert_true(clock_parse_rfc3339(STR("2024-02-29T23:59:59.5Z"), &ms));
	assert_int_equal(ms, 1709251199500);
	assert_true(clock_parse_rfc3339(STR("2000-02-29T00:00:00Z"), &ms));
	for (size_t i = 0; i < countof(bad); i++)
		assert_false(clock_parse_rfc3339(str_of(bad[i]), &ms));
}

/* Reading a pipe without a writer would block forever. */
static void only_regular_files_are_read(void **state)
{
	(void)state;
	struct error err;
	auto_buf struct buf out;
	buf_init(&out, 1024);
	char path[] = "/tmp/codex-fifo-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "x", 1), 1);
	close(fd);
	assert_int_equal(file_read_regular(path, &out, &err), 0);
	assert_str(buf_str(&out), "x");
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_not_equal(file_read_regular(path, &out, &err), 0);
	unlink(path);
	assert_int_not_equal(file_read_regular("/dev/zero", &out, &err), 0);
	assert_int_not_equal(file_read_regular("/tmp", &out, &err), 0);
}

/* The target keeps its content, and no temporary file remains. */
static void a_failed_replacement_leaves_no_file(void **state)
{
	(void)state;
	struct error err;
	temp_put("folder/file", STR("old"));
	assert_int_not_equal(file_write_atomic(temp_path("folder"), STR("new"), 0600, false, &err), 0);
	assert_int_equal(unlink(temp_path("folder/file")), 0);
	assert_int_equal(rmdir(temp_path("folder")), 0);
	assert_int_equal(rmdir(temp_root), 0); /* rmdir succeeds only if the folder is empty */
	assert_int_equal(mkdir(temp_root, 0700), 0);
}

/* Another writer of the folder must not be able to redirect the write. */
static void a_link_in_the_place_of_a_temporary_file_is_not_followed(void **state)
{
	(void)state;
	char name[64];
	temp_put("victim", STR("precious"));
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "file.tmp.%d.%d", (int)getpid(), i);
		assert_int_equal(symlink("victim", temp_path(name)), 0);
	}
	assert_int_not_equal(file_write_atomic(temp_path("file"), STR("new"), 0600, false, NULL), 0);
	auto_free char *text = temp_get(temp_path("victim"));
	assert_string_equal(text, "precious");
}

static void equal_texts_are_stored_once(void **state)
{
	(void)state;
	char bytes[] = "the same text";
	struct shared_text *first = shared_text_intern(str_of(bytes));
	bytes[0] = 'T'; /* it is a copy */
	struct shared_text *second = shared_text_intern(STR("the same text"));
	struct shared_text *other = shared_text_intern(STR("another text"));
	assert_ptr_equal(first, second);
	assert_ptr_not_equal(first, other);
	shared_text_unref(first);
	assert_str(shared_text_str(second), "the same text");
	assert_ptr_equal(shared_text_ref(second), second);
	shared_text_unref(second);
	shared_text_unref(second);
	shared_text_unref(other);
	shared_text_unref(NULL);
	assert_null(shared_text_str(NULL).ptr);
}

enum { THREADS = 4, ROUNDS = 10000 };

static void *share_in_thread(void *self)
{
	for (int i = 0; i < ROUNDS; i++) {
		struct shared_text *text = shared_text_intern(STR("text of all threads"));
		*(size_t *)self += shared_text_str(text).len;
		shared_text_unref(text);
	}
	return NULL;
}

static void texts_are_shared_by_threads(void **state)
{
	(void)state;
	pthread_t threads[THREADS];
	size_t sums[THREADS] = {0};
	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, share_in_thread, &sums[i]), 0);
	for (int i = 0; i < THREADS; i++) {
		assert_int_equal(pthread_join(threads[i], NULL), 0);
		assert_int_equal(sums[i], ROUNDS * STR("text of all threads").len);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buf_refuses_appends_beyond_its_maximum),
		cmocka_unit_test(a_long_slice_is_printed_whole),
		cmocka_unit_test(arena_keeps_copies),
		cmocka_unit_test(an_arena_keeps_a_held_text_and_copies_no_part_of_it),
		cmocka_unit_test(an_arena_adopts_what_another_has),
		cmocka_unit_test(slices_cut_and_convert),
		cmocka_unit_test(truncation_examples_hold),
		cmocka_unit_test(truncation_never_splits_a_character),
		cmocka_unit_test(lossy_utf8_replaces_ill_formed_parts),
		cmocka_unit_test(a_character_without_its_last_bytes_is_not_counted),
		cmocka_unit_test(trimming_knows_unicode_blanks),
		cmocka_unit_test(code_points_become_utf8),
		cmocka_unit_test(base64_round_trip),
		cmocka_unit_test(paths_stand_in_addresses),
		cmocka_unit_test(ids_sort_in_the_order_they_were_made),
		cmocka_unit_test(paths_are_text),
		cmocka_unit_test(errors_gather_context),
		cmocka_unit_test(equal_texts_are_stored_once),
		cmocka_unit_test(texts_are_shared_by_threads),
		cmocka_unit_test(errors_have_no_control_characters),
		cmocka_unit_test(times_are_rfc3339),
		cmocka_unit_test(times_are_parsed_as_they_are_written),
		cmocka_unit_test(only_regular_files_are_read),
		cmocka_unit_test_setup_teardown(a_failed_replacement_leaves_no_file, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_link_in_the_place_of_a_temporary_file_is_not_followed, temp_make,
	                                        temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
