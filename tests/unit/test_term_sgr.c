/* Texts between sequences CSI … m have the styles that these set; other sequences are text. */
#include "test.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "term/term_row.h"
#include "term/term_sgr.h"
#include "term/term_text.h"

/* Appends the runs of a text, each as "parameters:text|". */
static void read_runs(const char *text, bool has_color, struct buf *out)
{
	struct term_sgr sgr = {0};
	struct str rest = str_of(text), run;
	while (term_sgr_next(&sgr, &rest, &run)) {
		enum term_style style = term_sgr_style(&sgr, TERM_plain, has_color);
		buf_printf(out, "%s:%.*s|", style == TERM_plain ? "" : term_sgr_parameters(style), STR_ARG(run));
	}
}

static void check(const char *text, const char *want)
{
	auto_buf struct buf out;
	buf_init(&out, 4096);
	read_runs(text, true, &out);
	assert_string_equal(buf_str(&out).ptr, want);
}

static void colours_and_looks_are_kept(void **state)
{
	(void)state;
	check("plain", ":plain|");
	check("\x1b[31mred\x1b[0m no", "31:red|: no|");
	check("\x1b[1;2;3;4;7;32;45mall\x1b[m", "1;2;3;4;7;32;45:all|");
	check("\x1b[1;4mx\x1b[22;24my", "1;4:x|:y|");
	check("\x1b[91;102mbright\x1b[39;49mnot", "91;102:bright|:not|");
	check("\x1b[38;5;208;48;5;0mnumber", "38;5;208;40:number|");
	check("\x1b[38;2;255;0;0;1mrgb", "1;38;5;196:rgb|");
	check("\x1b[38:2::0:0:255m1\x1b[48:2:0:255:0m2\x1b[38:5:7m3", "38;5;21:1|38;5;21;48;5;46:2|37;48;5;46:3|");
	check("\x1b[4:3mcurly\x1b[4:0mnot\x1b[21mtwice", "4:curly|:not|4:twice|");
	check("\x1b[3;58;5;1;31mx", "3;31:x|");     /* the colour of an underline belongs to 58 */
	check("\x1b[5;8;9;1;77;108;110mx", "1:x|"); /* no effect */
	check("\x1b[31m\x1b[0m", "");
}

static void what_is_no_colour_is_text(void **state)
{
	char longer[200] = "\x1b[";
	(void)state;
	check("\x1b[2Ja\x1b]0;t\x07", ":\x1b[2Ja\x1b]0;t\x07|");
	check("\x1b[>4;0mx\x1b[?1m", ":\x1b[>4;0mx\x1b[?1m|");
	check("a\x1b[31", ":a\x1b[31|");
	check("\x1b", ":\x1b|");
	check("\x1b[38;5mx\x1b[38;5;999;1my\x1b[48;2;1mz",
	      ":x|1:y|1:z|"); /* a colour that is incomplete, or no colour */
	check("\x1b[99999999999999999999;1mx", "1:x|");
	memset(longer + 2, '1', 150);
	strcpy(longer + 152, "mx");
	auto_buf struct buf want;
	buf_init(&want, 4096);
	buf_printf(&want, ":%s|", longer);
	check(longer, buf_str(&want).ptr);
}

/* The last value of the most that a sequence has. */
static void a_colour_at_the_end_of_the_values_is_incomplete(void **state)
{
	static const char *const codes[] = {"38", "48", "58"};
	(void)state;
	for (size_t i = 0; i < countof(codes); i++) {
		for (size_t count = 27; count <= 31; count++) {
			char text[80] = "\x1b[";
			memset(text + 2, ';', count);
			strcpy(text + 2 + count, codes[i]);
			strcat(text, "mx");
			check(text, ":x|");
			text[2] = ':';
			check(text, ":x|");
		}
	}
}

static void colours_that_hide_the_text_do_not_count(void **state)
{
	(void)state;
	check("\x1b[30;40mx\x1b[1;33;43my", ":x|1:y|");
	check("\x1b[38;5;16;48;5;16mx\x1b[40my\x1b[30;48;2;0;0;0mz", ":x|:y|:z|");
	check("\x1b[97;48;2;255;255;255mx\x1b[7;38;5;231;107my", ":x|7:y|");
	check("\x1b[30;107mx", "30;107:x|");
}

static void without_colour_looks_remain(void **state)
{
	auto_buf struct buf out;
	(void)state;
	buf_init(&out, 4096);
	read_runs("\x1b[1;31ma\x1b[22mb", false, &out);
	assert_string_equal(buf_str(&out).ptr, "1:a|:b|");
}

static void a_row_ends_in_the_plain_style(void **state)
{
	struct term_row row;
	(void)state;
	term_row_init(&row, 20, true);
	term_row_add_c(&row, term_sgr_style(&(struct term_sgr){.front = 2}, TERM_dim, true), "red");
	term_row_add_c(&row, TERM_plain, " not");
	assert_string_equal(buf_str(&row.text).ptr, "\x1b[31mred\x1b[0m not");
	term_row_finish(&row);
}

static void check_width(const char *text, const char *want)
{
	struct term_text styled;
	struct term_row row;
	struct term_sgr sgr = {0};
	struct str rest = str_of(text), run;
	term_text_init(&styled);
	term_row_init(&row, 10, false);
	while (term_sgr_next(&sgr, &rest, &run))
		term_text_add(&styled, term_sgr_style(&sgr, TERM_plain, false), run);
	term_text_append(&styled, 0, styled.bytes.len, &row);
	assert_null(strstr(buf_str(&row.text).ptr, "…"));
	assert_non_null(strstr(buf_str(&row.text).ptr, want));
	term_text_finish(&styled);
	term_row_finish(&row);
}

static void a_cluster_is_not_divided_by_styles(void **state)
{
#define MARKED "e\x1b[1m\xcc\x81\x1b[22m"
	(void)state;
	check_width(MARKED MARKED MARKED MARKED MARKED MARKED MARKED MARKED MARKED "Z", "Z");
	check_width("\xf0\x9f\x91\xa8\xe2\x80\x8d\x1b[3m\xf0\x9f\x91\xa9\x1b[m12345678", "12345678");
	check_width("\x1b[1m\xe6\xbc\xa2\x1b[3m\xe5\xad\x97\x1b[mabcdef", "abcdef");
}

static void check_cut(size_t len, const char *want, size_t spans)
{
	struct term_text text;
	struct term_row row;
	term_text_init(&text);
	term_row_init(&row, 20, false);
	term_text_add_c(&text, TERM_plain, "one");
	term_text_add_c(&text, TERM_bold, "two");
	term_text_cut(&text, len);
	term_text_append(&text, 0, text.bytes.len, &row);
	assert_string_equal(buf_str(&row.text).ptr, want);
	assert_int_equal(text.spans.count, spans);
	term_text_finish(&text);
	term_row_finish(&row);
}

static void a_text_is_cut_with_its_styles(void **state)
{
	(void)state;
	check_cut(9, "one\x1b[1mtwo\x1b[0m", 2);
	check_cut(6, "one\x1b[1mtwo\x1b[0m", 2);
	check_cut(4, "one\x1b[1mt\x1b[0m", 2);
	check_cut(3, "one", 1);
	check_cut(1, "o", 1);
	check_cut(0, "", 0);
}

/* The last test: the background stays known. */
static void text_in_the_colour_of_the_background_is_plain(void **state)
{
	(void)state;
	check("\x1b[30mx\x1b[97my\x1b[37mz", "30:x|97:y|37:z|");
	term_sgr_set_ground(false);
	check("\x1b[1;30mx\x1b[38;5;16my\x1b[38;2;8;8;8mz", "1:x|1:y|1:z|");
	check("\x1b[38;5;232mx\x1b[38;5;235my\x1b[38;5;236mz", ":x|:y|38;5;236:z|");
	check("\x1b[90mx\x1b[97my\x1b[34mz\x1b[38;5;231mv", "90:x|97:y|34:z|38;5;231:v|");
	check("\x1b[30;47mx\x1b[49;7my", "30;47:x|7:y|"); /* inverse text would be as hidden */
	term_sgr_set_ground(true);
	check("\x1b[37mx\x1b[97my\x1b[38;5;231mz\x1b[38;2;255;255;255mv", ":x|:y|:z|:v|");
	check("\x1b[38;5;255mx\x1b[38;5;252my\x1b[38;5;251mz", ":x|:y|38;5;251:z|");
	check("\x1b[30mx\x1b[37;40my", "30:x|37;40:y|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(colours_and_looks_are_kept),
		cmocka_unit_test(what_is_no_colour_is_text),
		cmocka_unit_test(without_colour_looks_remain),
		cmocka_unit_test(a_row_ends_in_the_plain_style),
		cmocka_unit_test(a_text_is_cut_with_its_styles),
		cmocka_unit_test(a_colour_at_the_end_of_the_values_is_incomplete),
		cmocka_unit_test(colours_that_hide_the_text_do_not_count),
		cmocka_unit_test(a_cluster_is_not_divided_by_styles),
		cmocka_unit_test(text_in_the_colour_of_the_background_is_plain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
