/* Head and tail of a command's output are kept. */
#include "test.h"

#include "base/text.h"
#include "process/output.h"

enum { ROOM = 4096 };

static void append(struct output *output, const char *text)
{
	output_append(output, str_of(text));
}

static void expect_text(const struct output *output, const char *want)
{
	auto_buf struct buf out;
	buf_init(&out, ROOM);
	output_text(output, &out);
	assert_string_equal(buf_str(&out).ptr, want);
}

/* output_take yields the same text as a copy. */
static void expect_taken(struct output *output)
{
	auto_buf struct buf copied, taken;
	buf_init(&copied, ROOM);
	buf_init(&taken, ROOM);
	output_text(output, &copied);
	output_take(output, &taken);
	assert_int_equal(copied.len, taken.len);
	assert_memory_equal(buf_str(&copied).ptr, buf_str(&taken).ptr, copied.len);
	assert_int_equal(output->kept.len, 0);
	output_finish(output);
}

static void expect_drain(struct output *output, bool is_last, const char *want)
{
	auto_buf struct buf out;
	buf_init(&out, ROOM);
	output_drain(output, &out, is_last);
	assert_string_equal(buf_str(&out).ptr, want);
}

static void small_output_is_kept_whole(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 8);
	assert_int_equal(output.kept.len, 0);
	expect_text(&output, "");
	append(&output, "abc");
	append(&output, "defgh");
	expect_text(&output, "abcdefgh");
	assert_int_equal(output.total, 8);
	assert_int_equal(output.dropped, 0);
	output_finish(&output);
}

static void the_middle_is_dropped_and_marked(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 8);
	append(&output, "abcdefgh");
	append(&output, "1");
	expect_text(&output, "abcd\n[1 bytes of output left out here]\nfgh1");
	append(&output, "23456789");
	expect_text(&output, "abcd\n[9 bytes of output left out here]\n6789");
	assert_int_equal(output.total, 17);
	assert_int_equal(output.dropped, 9);
	output_finish(&output);
}

/* Compared with a model that keeps everything and truncates at the end. */
static void any_chunking_gives_the_same(void **state)
{
	(void)state;
	char all[300];
	for (size_t i = 0; i < sizeof(all); i++)
		all[i] = (char)('a' + i * 7 % 26);
	for (size_t chunk = 1; chunk < 40; chunk++) {
		struct output output;
		output_init(&output, 21);
		for (size_t at = 0; at < sizeof(all); at += chunk)
			output_append(&output, str_n(all + at, at + chunk > sizeof(all) ? sizeof(all) - at : chunk));
		char want[200];
		snprintf(want, sizeof(want), "%.10s\n[279 bytes of output left out here]\n%.11s", all,
		         all + sizeof(all) - 11);
		expect_text(&output, want);
		output_finish(&output);
	}
}

static void a_character_across_the_halves_is_not_split(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 8);
	append(&output, "abc€de");
	expect_text(&output, "abc€de");
	output_finish(&output);
}

static void cuts_fall_between_characters(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 8);
	append(&output, "abc€-----x€yz"); /* the head ends inside a character, and the tail begins inside one */
	expect_text(&output, "abc\n[12 bytes of output left out here]\nyz");
	output_finish(&output);
}

static void ill_formed_bytes_are_replaced(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 64);
	append(&output, "a\xff\xe2\x82z");
	expect_text(&output, "a\xef\xbf\xbd\xef\xbf\xbdz");
	output_finish(&output);
}

static void drains_hand_out_each_byte_once(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 8);
	append(&output, "ab");
	expect_drain(&output, false, "ab");
	expect_drain(&output, false, "");
	append(&output, "0123456789");
	expect_drain(&output, false, "0123\n[2 bytes of output left out here]\n6789");
	append(&output, "cd");
	expect_drain(&output, true, "cd");
	assert_int_equal(output.total, 14);
	output_finish(&output);
}

static void a_drain_waits_for_the_rest_of_a_character(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 16);
	append(&output, "x\xf0\x9f");
	expect_drain(&output, false, "x");
	append(&output, "\x98\x80y");
	expect_drain(&output, false, "😀y");
	append(&output, "\xe2\x82");
	expect_drain(&output, true, "\xef\xbf\xbd");
	assert_int_equal(output.total, 8);
	output_finish(&output);
}

static void memory_is_limited_by_the_cap(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 1000);
	char chunk[4096];
	memset(chunk, 'x', sizeof(chunk));
	for (int i = 0; i < 1000; i++)
		output_append(&output, str_n(chunk, sizeof(chunk)));
	assert_int_equal(output.total, 4096000);
	assert_int_equal(output.dropped, 4095000);
	assert_true(output.kept.cap <= 1000 + 1);
	output_finish(&output);
}

static void a_cap_of_nothing_keeps_nothing(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 0);
	append(&output, "abc");
	expect_text(&output, "\n[3 bytes of output left out here]\n");
	output_finish(&output);
}

static void skipped_output_is_counted_in_order(void **state)
{
	(void)state;
	struct output output;
	auto_buf struct buf text;
	buf_init(&text, 1000);
	output_init(&output, 8);
	output_append(&output, STR("headtail"));
	output_skip(&output, 100);
	assert_int_equal(output.total, 108);
	assert_int_equal(output.dropped, 104);
	output_append(&output, STR("new!"));
	output_text(&output, &text);
	assert_non_null(strstr(text.data, "head"));
	assert_null(strstr(text.data, "tail"));
	assert_non_null(strstr(text.data, "104 bytes"));
	assert_true(str_has_suffix(buf_str(&text), "new!"));
	output_finish(&output);
}

static void taken_bytes_equal_copied_ones(void **state)
{
	(void)state;
	static const char *const words[] = {
		"", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xff", "\xe2\x82", "0123456789",
	};
	unsigned random = 1;
	for (size_t round = 0; round < 3000; round++) {
		struct output output;
		output_init(&output, round % 24);
		for (size_t i = 0; i < round % 17; i++) {
			random = random * 1103515245 + 12345;
			append(&output, words[random >> 16 & 7]);
			if (output_is_full(&output) && (random >> 20) % 5 == 0)
				output_skip(&output, 1 + round % 7);
		}
		expect_taken(&output);
	}
}

static void a_drain_after_a_gap_holds_back_an_incomplete_character(void **state)
{
	(void)state;
	struct output output;
	output_init(&output, 8);
	append(&output, "abc\xc3tail");
	output_skip(&output, 5);
	expect_drain(&output, false, "abc\n[10 bytes of output left out here]\n");
	append(&output, "\xe2\x82");
	expect_drain(&output, false, "");
	append(&output, "\xac");
	expect_drain(&output, true, "\xe2\x82\xac");
	output_finish(&output);
}

static void a_copy_is_independent(void **state)
{
	(void)state;
	for (size_t fill = 0; fill < 40; fill++) {
		struct output from, to;
		output_init(&from, 16);
		output_init(&to, 16);
		for (size_t i = 0; i < fill; i++)
			output_append(&from, str_n(&"abcdefghijklmnopqrstuvwxyz0123456789ABCDEFG"[i], 1));
		output_copy(&to, &from);
		output_append(&to, STR("!"));
		output_append(&from, STR("!"));
		auto_buf struct buf a, b;
		buf_init(&a, 1000);
		buf_init(&b, 1000);
		output_text(&from, &a);
		output_text(&to, &b);
		assert_true(str_eq(buf_str(&a), buf_str(&b)));
		assert_int_equal(to.dropped, from.dropped);
		output_finish(&from);
		output_finish(&to);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_output_is_kept_whole),
		cmocka_unit_test(the_middle_is_dropped_and_marked),
		cmocka_unit_test(any_chunking_gives_the_same),
		cmocka_unit_test(a_character_across_the_halves_is_not_split),
		cmocka_unit_test(cuts_fall_between_characters),
		cmocka_unit_test(ill_formed_bytes_are_replaced),
		cmocka_unit_test(drains_hand_out_each_byte_once),
		cmocka_unit_test(a_drain_waits_for_the_rest_of_a_character),
		cmocka_unit_test(memory_is_limited_by_the_cap),
		cmocka_unit_test(a_copy_is_independent),
		cmocka_unit_test(taken_bytes_equal_copied_ones),
		cmocka_unit_test(a_drain_after_a_gap_holds_back_an_incomplete_character),
		cmocka_unit_test(skipped_output_is_counted_in_order),
		cmocka_unit_test(a_cap_of_nothing_keeps_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
