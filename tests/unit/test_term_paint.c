/* The bytes of frames: nothing without a change, only changed rows, finished lines once. Rows: widths, wrapping. */
#include "test.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "term/term_paint.h"
#include "term/term_row.h"
#include "term/term_width.h"

#define BEGIN "\x1b[?2026h\x1b[?25l"
#define END "\x1b[?25h\x1b[?2026l"

static void set_row(struct term_row *row, const char *text)
{
	term_row_init(row, 20, false);
	term_row_add_c(row, TERM_plain, text);
}

static void draw(struct term_paint *paint, const char *first, const char *second)
{
	const char *texts[] = {first, second};
	for (size_t i = 0; i < countof(texts) && texts[i]; i++) {
		struct term_row row;
		set_row(&row, texts[i]);
		term_paint_caret(paint, term_paint_live(paint, &row), row.columns);
		term_row_finish(&row);
	}
}

static void check_frame(struct term_paint *paint, const char *want)
{
	auto_buf struct buf out;
	buf_init(&out, 4096);
	term_paint_frame(paint, &out);
	assert_string_equal(buf_str(&out).ptr, want);
}

static void check_cut(size_t width, const char *first, const char *second, const char *want)
{
	struct term_row row;
	term_row_init(&row, width, false);
	term_row_add_c(&row, TERM_plain, first);
	term_row_add_c(&row, TERM_plain, second);
	assert_string_equal(buf_str(&row.text).ptr, want);
	assert_true(row.columns <= width);
	term_row_finish(&row);
}

static void what_does_not_fit_ends_with_an_ellipsis(void **state)
{
	(void)state;
	check_cut(5, "abc", "de", "abcde");
	check_cut(5, "abc", "def", "abcd…\x1b[6G\x1b[0m");
	check_cut(5, "abcde", "f", "abcd…\x1b[6G\x1b[0m");
	check_cut(5, "abcdef", "g", "abcd…\x1b[6G\x1b[0m");
	check_cut(5, "abc", "日x", "abc…\x1b[5G\x1b[0m");
	check_cut(4, "abc", "日", "abc…\x1b[5G\x1b[0m");
	check_cut(1, "ab", "", "…\x1b[2G\x1b[0m");
	check_cut(0, "ab", "", "");
}

static void a_frame_writes_what_has_changed(void **state)
{
	struct term_paint *paint = term_paint_create();
	(void)state;
	draw(paint, "one", NULL);
	check_frame(paint, BEGIN "\rone\x1b[K\r\x1b[4G" END);
	draw(paint, "one", NULL);
	check_frame(paint, "");
	draw(paint, "one", "two");
	check_frame(paint, BEGIN "\r\ntwo\x1b[K\r\x1b[4G" END);
	draw(paint, "one", "tea");
	check_frame(paint, BEGIN "\rtea\x1b[K\r\x1b[4G" END);
	draw(paint, "six", NULL);
	check_frame(paint, BEGIN "\x1b[1A\rsix\x1b[K\x1b[1B\r\x1b[J\x1b[1A\r\x1b[4G" END);
	term_paint_destroy(paint);
}

static void a_finished_line_is_written_once(void **state)
{
	struct term_paint *paint = term_paint_create();
	struct term_row row;
	(void)state;
	draw(paint, "one", "two");
	check_frame(paint, BEGIN "\rone\x1b[K\r\ntwo\x1b[K\r\x1b[4G" END);
	set_row(&row, "done");
	term_paint_commit(paint, &row);
	term_row_finish(&row);
	draw(paint, "one", "two");
	check_frame(paint, BEGIN "\x1b[1A\r\x1b[K\x1b[2G\x1b[J\rdone\r\none\r\ntwo\r\x1b[4G" END);
	draw(paint, "one", "two");
	check_frame(paint, "");
	term_paint_destroy(paint);
}

/* A row of 3 columns takes two rows of a window of 2: the first live row is farther up. */
static void a_narrower_window_is_drawn_over_the_wrapped_rows(void **state)
{
	struct term_paint *paint = term_paint_create();
	(void)state;
	draw(paint, "one", "x");
	check_frame(paint, BEGIN "\rone\x1b[K\r\nx\x1b[K\r\x1b[2G" END);
	term_paint_resize(paint, 2);
	draw(paint, "a", "x");
	check_frame(paint, BEGIN "\x1b[2A\r\x1b[K\x1b[2G\x1b[J\ra\r\nx\r\x1b[2G" END);
	term_paint_destroy(paint);
}

static void check_width(const char *text, size_t width, const char *shown)
{
	auto_buf struct buf out;
	struct str rest = str_of(text);
	buf_init(&out, 4096);
	assert_int_equal(term_width(rest), width);
	while (rest.len) {
		struct term_cluster cluster = term_cluster_next(rest);
		term_cluster_append(&out, &cluster);
		rest = str_skip(rest, cluster.bytes.len);
	}
	assert_string_equal(buf_str(&out).ptr, shown);
}

static void clusters_have_widths_and_nothing_drives_the_terminal(void **state)
{
	(void)state;
	check_width("abc", 3, "abc");
	check_width("e\xcc\x81", 1, "e\xcc\x81");
	check_width("漢字", 4, "漢字");
	check_width("👨‍👩‍👧", 2, "👨‍👩‍👧");
	check_width("🇩🇪", 2, "🇩🇪");
	check_width("❤️", 2, "❤️");
	check_width("a\x1b[m\x7f", 7, "a^[[m^?");
	check_width("\xe2\x80\xae", 8, "\\u{202e}");
	check_width("a\xe2\x80\x8b", 9, "a\\u{200b}");
	check_width("a\xe2\x80\x8d", 9, "a\\u{200d}");
	check_width("\xc2\x9b", 6, "\\u{9b}");
	check_width("\xff", 1, "\xef\xbf\xbd");
}

static void check_wrap(const char *text, size_t columns, const char *want)
{
	auto_buf struct buf out;
	struct str rest = str_of(text), row;
	buf_init(&out, 4096);
	while (term_wrap_next(&rest, columns, &row))
		buf_printf(&out, "%.*s|", STR_ARG(row));
	assert_string_equal(buf_str(&out).ptr, want);
}

static void text_is_wrapped_at_blanks(void **state)
{
	(void)state;
	check_wrap("one two three", 7, "one two|three|");
	check_wrap("one two three", 8, "one two|three|");
	check_wrap("one  two", 4, "one |two|");
	check_wrap("abcdefgh", 3, "abc|def|gh|");
	check_wrap("  indented text", 9, "  indente|d text|");
	check_wrap("漢字漢字", 5, "漢字|漢字|");
	check_wrap("", 5, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_fit_ends_with_an_ellipsis),
		cmocka_unit_test(a_frame_writes_what_has_changed),
		cmocka_unit_test(a_finished_line_is_written_once),
		cmocka_unit_test(a_narrower_window_is_drawn_over_the_wrapped_rows),
		cmocka_unit_test(clusters_have_widths_and_nothing_drives_the_terminal),
		cmocka_unit_test(text_is_wrapped_at_blanks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
