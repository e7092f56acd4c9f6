/* Lines are independent of how the bytes are split, and their size is limited. */
#include "test.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "transport/frame_lines.h"

/* Writes the frames as "a|b|LONG|". */
static void take_all(struct frame_lines *lines, struct buf *out)
{
	struct str line;
	enum frame frame;
	while ((frame = frame_lines_next(lines, &line)) != FRAME_NONE) {
		if (frame == FRAME_LONG)
			buf_append_c(out, "LONG");
		else
			buf_append_str(out, line);
		buf_append_char(out, '|');
	}
}

static void check_cut(const char *text, size_t step, const char *want)
{
	struct frame_lines lines;
	auto_buf struct buf got;
	buf_init(&got, 4096);
	frame_lines_init(&lines, LIMIT_LINE);
	struct str rest = str_of(text);
	while (rest.len) {
		size_t len = rest.len < step ? rest.len : step;
		frame_lines_add(&lines, str_n(rest.ptr, len));
		rest = str_skip(rest, len);
		take_all(&lines, &got);
	}
	frame_lines_end(&lines);
	take_all(&lines, &got);
	if (!str_eq(buf_str(&got), str_of(want)))
		fail_msg("step %zu: got \"%s\", want \"%s\"", step, got.data, want);
	frame_lines_finish(&lines);
}

static void lines_are_found_in_any_cut(void **state)
{
	(void)state;
	for (size_t step = 1; step < 20; step++) {
		check_cut("one\ntwo\r\n\n  \n three \nfour", step, "one|two|three|four|");
		check_cut("\n\n", step, "");
		check_cut("last\n", step, "last|");
	}
}

static void add_fill(struct frame_lines *lines, size_t count, struct buf *got)
{
	enum { PIECE = 64 * KIB };
	auto_free char *fill = xmalloc(PIECE);
	memset(fill, 'x', PIECE);
	while (count) {
		size_t len = count < PIECE ? count : PIECE;
		frame_lines_add(lines, str_n(fill, len));
		take_all(lines, got);
		count -= len;
	}
}

static void a_long_line_is_passed_over(void **state)
{
	(void)state;
	struct frame_lines lines;
	auto_buf struct buf got;
	buf_init(&got, 4096);
	frame_lines_init(&lines, LIMIT_LINE);
	frame_lines_add(&lines, STR("before\n"));
	take_all(&lines, &got);
	add_fill(&lines, (size_t)LIMIT_LINE * 3, &got);
	assert_true(lines.bytes.len <= LIMIT_LINE);
	frame_lines_add(&lines, STR("end\nafter\nand"));
	take_all(&lines, &got);
	frame_lines_end(&lines);
	take_all(&lines, &got);
	assert_string_equal(got.data, "before|LONG|after|and|");
	frame_lines_finish(&lines);
}

static void a_line_of_the_limit_is_one(void **state)
{
	(void)state;
	struct frame_lines lines;
	struct str line;
	auto_buf struct buf got;
	buf_init(&got, 4096);
	frame_lines_init(&lines, LIMIT_LINE);
	add_fill(&lines, LIMIT_LINE, &got);
	frame_lines_add(&lines, STR("\n"));
	assert_int_equal(frame_lines_next(&lines, &line), FRAME_LINE);
	assert_int_equal(line.len, LIMIT_LINE);
	assert_int_equal(frame_lines_next(&lines, &line), FRAME_NONE);
	frame_lines_finish(&lines);
}

/* The last byte of the line is also its end, so nothing was dropped before. */
static void a_line_of_one_byte_more_is_too_long(void **state)
{
	(void)state;
	struct frame_lines lines;
	struct str line;
	auto_buf struct buf got;
	buf_init(&got, 4096);
	frame_lines_init(&lines, LIMIT_LINE);
	add_fill(&lines, LIMIT_LINE, &got);
	frame_lines_add(&lines, STR("x\nnext\n"));
	assert_int_equal(frame_lines_next(&lines, &line), FRAME_LONG);
	assert_int_equal(frame_lines_next(&lines, &line), FRAME_LINE);
	assert_str(line, "next");
	frame_lines_finish(&lines);
}

static void a_long_line_without_end_is_reported_too(void **state)
{
	(void)state;
	struct frame_lines lines;
	auto_buf struct buf got;
	buf_init(&got, 4096);
	frame_lines_init(&lines, LIMIT_LINE);
	add_fill(&lines, (size_t)LIMIT_LINE + 1, &got);
	frame_lines_end(&lines);
	take_all(&lines, &got);
	assert_string_equal(got.data, "LONG|");
	frame_lines_finish(&lines);
}

/* Checked for any split, and after any other line. */
static void a_long_line_shows_its_beginning(void **state)
{
	static const char text[] = "short\n{\"id\":7,\"x\":\"yyyyyyyyyyyyyyyyyyyy\"}\n{\"id\":8}\n";
	static const char *const begins[] = {"short", "{\"id\":7,\"", "{\"id\":8}"};
	(void)state;
	for (size_t step = 1; step < sizeof(text); step++) {
		struct frame_lines lines;
		struct str line, rest = str_of(text);
		size_t count = 0;
		frame_lines_init(&lines, 10);
		while (rest.len) {
			size_t len = rest.len < step ? rest.len : step;
			frame_lines_add(&lines, str_n(rest.ptr, len));
			rest = str_skip(rest, len);
			enum frame frame;
			while ((frame = frame_lines_next(&lines, &line)) != FRAME_NONE) {
				assert_int_equal(frame, count == 1 ? FRAME_LONG : FRAME_LINE);
				assert_true(str_has_prefix(line, begins[count]));
				assert_true(line.len <= LIMIT_LINE_HEAD);
				count++;
			}
		}
		assert_int_equal(count, 3);
		frame_lines_finish(&lines);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_found_in_any_cut),
		cmocka_unit_test(a_long_line_is_passed_over),
		cmocka_unit_test(a_line_of_the_limit_is_one),
		cmocka_unit_test(a_line_of_one_byte_more_is_too_long),
		cmocka_unit_test(a_long_line_without_end_is_reported_too),
		cmocka_unit_test(a_long_line_shows_its_beginning),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
