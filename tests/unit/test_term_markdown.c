/* Markdown as rows: the same whether it arrives at once or byte by byte; each block once; bounded. */
#include "test.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "term/term_code.h"
#include "term/term_flow.h"
#include "term/term_limits.h"
#include "term/term_markdown.h"

struct screen {
	struct term_row row;
	struct buf text;
	size_t rows;
};

/* Appends the row without its escape sequences. */
static void on_row(const struct term_row *row, void *self)
{
	struct screen *screen = self;
	struct str rest = buf_str(&row->text);
	assert_true(row->columns <= row->width);
	screen->rows++;
	while (rest.len) {
		if (rest.ptr[0] == '\x1b') {
			while (!strchr("GKm", rest.ptr[0]))
				rest = str_skip(rest, 1);
		} else {
			buf_append_char(&screen->text, rest.ptr[0]);
		}
		rest = str_skip(rest, 1);
	}
	while (str_has_suffix(buf_str(&screen->text), " "))
		buf_truncate(&screen->text, screen->text.len - 1);
	buf_append_char(&screen->text, '\n');
}

static void screen_init(struct screen *screen, size_t columns)
{
	*screen = (struct screen){0};
	term_row_init(&screen->row, columns, true);
	buf_init(&screen->text, 64 * MIB);
}

static void screen_finish(struct screen *screen)
{
	term_row_finish(&screen->row);
	buf_finish(&screen->text);
}

static void flow_in_pieces(struct screen *screen, struct str text, size_t piece)
{
	struct term_flow flow;
	struct term_sink sink = {&screen->row, on_row, screen};
	struct screen other;
	struct term_sink aside = {&other.row, on_row, &other};
	screen_init(&other, screen->row.width);
	term_flow_init(&flow, "* ", TERM_dim);
	while (text.len) {
		size_t len = text.len < piece ? text.len : piece;
		term_flow_add(&flow, str_n(text.ptr, len));
		term_flow_commit(&flow, &sink, false);
		term_flow_peek(&flow, &aside);
		assert_true(flow.tail.len <= 2 * LIMIT_TERM_BLOCK + piece);
		text = str_skip(text, len);
	}
	term_flow_commit(&flow, &sink, true);
	term_flow_finish(&flow);
	screen_finish(&other);
}

static void check(const char *markdown, size_t columns, const char *want)
{
	const size_t pieces[] = {100000, 1, 2, 7};
	for (size_t i = 0; i < countof(pieces); i++) {
		struct screen screen;
		screen_init(&screen, columns);
		flow_in_pieces(&screen, str_of(markdown), pieces[i]);
		assert_string_equal(buf_str(&screen.text).ptr, want);
		screen_finish(&screen);
	}
}

static void blocks_become_rows(void **state)
{
	(void)state;
	check("# Title\nText with **bold**, *em*, `code` and ~~old~~.\n\nNext", 60,
	      "* Title\n\n  Text with bold, em, code and old.\n\n  Next\n");
	check("one\ntwo\nthree\n", 60, "* one\n  two\n  three\n");
	check("Setext\n===\ntext", 60, "* Setext\n\n  text\n");
	check("a\n\n---\nb", 12, "* a\n\n  ──────────\n\n  b\n");
	check("> said\n> more\n\nafter", 60, "* │ said\n  │ more\n\n  after\n");
	check("a &amp; b &#65; &lt;c&gt; <b>html</b>", 60, "* a & b A <c> <b>html</b>\n");
}

static void lists_keep_their_shape(void **state)
{
	(void)state;
	check("Items:\n- one\n- two\n  - inner\n  - more\n- [x] done\n- [ ] open\n", 60,
	      "* Items:\n  • one\n  • two\n    • inner\n    • more\n  ✔ done\n  □ open\n");
	check("1. one\n2. two\n\n   more of two\n\n3. three\n\nend", 60,
	      "* 1. one\n  2. two\n\n     more of two\n\n  3. three\n\n  end\n");
	check("- a long item that wraps\n-\n", 14, "* • a long\n    item that\n    wraps\n  •\n");
}

static void code_keeps_its_blanks(void **state)
{
	(void)state;
	check("See:\n```c\nint  main(void)\n{\n\n\treturn 0; /* a\n b */\n}\n```\ndone", 60,
	      "* See:\n\n  int  main(void)\n  {\n\n      return 0; /* a\n   b */\n  }\n\n  done\n");
	check("```\n1234567890\n", 8, "* 123456\n  7890\n");
	check("~~~~md\n```\n**x**\n```\n~~~~\n", 20, "* ```\n  **x**\n  ```\n");
	check("- item\n  ```sh\n  ls\n  ```\n- next", 20, "* • item\n\n    ls\n  • next\n");
}

static void links_show_their_address(void **state)
{
	(void)state;
	check("[text](https://a.example/x) and <https://b.example>", 70,
	      "* text (https://a.example/x) and https://b.example\n");
	check("[https://good.example](https://evil.example/https://good.example)", 80,
	      "* https://good.example (https://evil.example/https://good.example)\n");
	check("![alt](img.png)", 40, "* alt (img.png)\n");
	check("[a]: https://hidden.example\n\n[a]", 60, "* [a]: https://hidden.example\n\n  [a]\n");
}

static void tables_are_aligned(void **state)
{
	(void)state;
	check("| a | long name |\n|---|--:|\n| 漢字 | 1 |\n| x | 22 |\n\nend", 60,
	      "* a    │ long name\n  ─────┼──────────\n  漢字 │         1\n  x    │        22\n\n  end\n");
	check("|aa bb cc dd|x|\n|---|---|\n|ee ff gg hh|y|\n", 14,
	      "* aa bb cc │ x\n  dd       │\n  ─────────┼──\n  ee ff gg │ y\n  hh       │\n");
	check("|a|b|c|\n|---|---|---|\n|1|2|3|\n|4|5|6|\n", 8, "* a: 1\n  b: 2\n  c: 3\n\n  a: 4\n  b: 5\n  c: 6\n");
}

static void nothing_drives_the_terminal(void **state)
{
	(void)state;
	check("**a\x1b[2J** `\xe2\x80\xae` &#27;[31m &#x202e; [l](x\xe2\x80\xaey)", 80,
	      "* a^[[2J \\u{202e} ^[[31m \\u{202e} l (x\\u{202e}y)\n");
}

static void long_texts_are_bounded(void **state)
{
	struct screen screen;
	auto_buf struct buf text;
	(void)state;
	buf_init(&text, 64 * MIB);
	screen_init(&screen, 80);
	for (size_t i = 0; i < 100000; i++)
		buf_append_c(&text, "0123456789");
	flow_in_pieces(&screen, buf_str(&text), 5000);
	assert_int_equal(screen.rows, (1000000 + 77) / 78);
	screen_finish(&screen);

	buf_clear(&text);
	screen_init(&screen, 80);
	buf_append_c(&text, "|name|value|\n|---|---|\n");
	for (size_t i = 0; i < 10000; i++)
		buf_printf(&text, "|row|%zu|\n", i);
	flow_in_pieces(&screen, buf_str(&text), 5000);
	assert_non_null(strstr(buf_str(&screen.text).ptr, "\n  row  │ 9999\n"));
	assert_int_equal(str_find(buf_str(&screen.text), STR("|row|")), -1);
	screen_finish(&screen);

	buf_clear(&text);
	screen_init(&screen, 80);
	for (size_t i = 0; i < 3000; i++)
		buf_append_c(&text, "[a](b*_`<![x");
	flow_in_pieces(&screen, buf_str(&text), 9000);
	assert_true(screen.rows > 100);
	screen_finish(&screen);
}

static void check_code(const char *name, const char *line, enum term_style first, const char *last_text,
                       enum term_style last)
{
	struct term_text text;
	struct term_code code;
	term_text_init(&text);
	term_code_init(&code, str_of(name));
	term_code_add(&code, str_of(line), &text);
	size_t count = text.spans.count, from = count > 1 ? text.spans.items[count - 2].end : 0;
	assert_string_equal(text.bytes.data, line);
	assert_int_equal(text.spans.items[0].style, first);
	assert_string_equal(text.bytes.data + from, last_text);
	assert_int_equal(text.spans.items[count - 1].style, last);
	term_text_finish(&text);
}

static void languages_are_highlighted(void **state)
{
	(void)state;
	check_code("c", "return 0; // end", TERM_keyword, "// end", TERM_comment);
	check_code("Python", "def f(): 'text\\' more'", TERM_keyword, "'text\\' more'", TERM_string);
	check_code("rs", "let x = 42", TERM_keyword, "42", TERM_number);
	check_code("sql", "SELECT a from b -- note", TERM_keyword, "-- note", TERM_comment);
	check_code("yaml", "key: \"value\"", TERM_keyword, "\"value\"", TERM_string);
	check_code("diff", "+added", TERM_green, "+added", TERM_green);
	check_code("nothing", "return 0;", TERM_plain, "return 0;", TERM_plain);
}

static void a_comment_spans_lines(void **state)
{
	struct term_text text;
	struct term_code code;
	(void)state;
	term_text_init(&text);
	term_code_init(&code, STR("c"));
	term_code_add(&code, STR("a /* b"), &text);
	term_text_clear(&text);
	term_code_add(&code, STR("c */ int"), &text);
	assert_int_equal(text.spans.items[0].style, TERM_comment);
	assert_int_equal(text.spans.items[0].end, 4);
	assert_int_equal(text.spans.items[2].style, TERM_keyword);
	term_text_finish(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_become_rows),     cmocka_unit_test(lists_keep_their_shape),
		cmocka_unit_test(code_keeps_its_blanks),  cmocka_unit_test(links_show_their_address),
		cmocka_unit_test(tables_are_aligned),     cmocka_unit_test(nothing_drives_the_terminal),
		cmocka_unit_test(long_texts_are_bounded), cmocka_unit_test(languages_are_highlighted),
		cmocka_unit_test(a_comment_spans_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
