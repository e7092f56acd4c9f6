/* Untrusted text is made safe for a terminal. */
#include "test.h"

#include "base/buf.h"
#include "base/mem.h"
#include "ui/cli/terminal.h"

static void shows(struct str text, const char *want)
{
	auto_buf struct buf out;
	buf_init(&out, 1024);
	terminal_text_append(&out, text);
	if (!str_is(buf_str(&out), want))
		fail_msg("got \"%.*s\", want \"%s\"", STR_ARG(buf_str(&out)), want);
}

static void test_nothing_is_obeyed(void **state)
{
	(void)state;
	shows(STR("plain\ttext\n"), "plain\ttext\n");
	shows(STR(""), "");
	shows(STR("\x1b[31mred\x1b[0m"), "^[[31mred^[[0m");
	shows(STR("\x1b]0;title\a"), "^[]0;title^G");
	shows(STR("a\0b\r\x7f"), "a^@b^M^?");
	shows(STR("\xc2\x9b"
	          "31m"),
	      "\xef\xbf\xbd"
	      "31m"); /* CSI as one C1 character */
	shows(STR("\x9b"
	          "31m"),
	      "\xef\xbf\xbd"
	      "31m");                                       /* CSI as one byte */
	shows(STR("\xc2\xa0\xc3\xa9"), "\xc2\xa0\xc3\xa9"); /* the first character after the controls */
	shows(STR("x\xe2\x82"), "x\xef\xbf\xbd");
}

static void test_characters_without_a_glyph_are_named(void **state)
{
	(void)state;
	shows(STR("rm \xe2\x80\xaegpj.\xe2\x81\xa6x"), "rm <U+202E>gpj.<U+2066>x");
	shows(STR("r\xe2\x80\x8bm\xef\xbb\xbf"), "r<U+200B>m<U+FEFF>");
	shows(STR("a\xe2\x80\x8d\xe2\x80\xa8z"), "a<U+200D><U+2028>z");
	shows(STR("x\xc2\xad\xcd\x8f"), "x<U+00AD><U+034F>");
	shows(STR("\xf3\xa0\x81\xa1"), "<U+E0061>");
	shows(STR("a\xef\xb8\x8f"), "a<U+FE0F>");
	shows(STR("\xe2\x9a\xa0\xef\xb8\x8f"), "\xe2\x9a\xa0\xef\xb8\x8f"); /* a warning sign */
	shows(STR("\xd7\xa9\xe2\x80\x93"), "\xd7\xa9\xe2\x80\x93");         /* right to left by nature */
}

static void test_cut_to_columns(void **state)
{
	(void)state;
	assert_str(terminal_text_cut(STR("hello"), 9), "hello");
	assert_str(terminal_text_cut(STR("hello"), 5), "hello");
	assert_str(terminal_text_cut(STR("hello"), 4), "hell");
	assert_str(terminal_text_cut(STR("hello"), 0), "");
	assert_str(terminal_text_cut(STR("a\xc3\xa9z"), 3), "a\xc3\xa9"); /* each may take two columns */
	assert_str(terminal_text_cut(STR("a\xc3\xa9z"), 2), "a");
	assert_str(terminal_text_cut(STR("\xff\xff"), 1), "\xff");
}

static void test_carriage_returns_overwrite_the_line(void **state)
{
	(void)state;
	assert_str(terminal_text_line(STR("text")), "text");
	assert_str(terminal_text_line(STR("text\r")), "text");
	assert_str(terminal_text_line(STR("10%\r50%\r100%\r\r")), "100%");
	assert_str(terminal_text_line(STR("\r")), "");
	assert_str(terminal_text_line(STR("")), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_is_obeyed),
		cmocka_unit_test(test_characters_without_a_glyph_are_named),
		cmocka_unit_test(test_cut_to_columns),
		cmocka_unit_test(test_carriage_returns_overwrite_the_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
