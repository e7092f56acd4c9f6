/* A thought at the beginning of an answer, and its division into pieces. */
#include "test.h"

#include "base/limits.h"
#include "base/mem.h"
#include "model/chat_think.h"

struct parts {
	struct buf thought, answer;
};

static void on_part(bool is_thought, struct str text, void *self)
{
	struct parts *parts = self;
	assert_true(text.len > 0);
	assert_true(!is_thought || !parts->answer.len);
	buf_append_str(is_thought ? &parts->thought : &parts->answer, text);
}

/* Feeds the text in pieces of that size. */
static void check(const char *text, size_t size, const char *thought, const char *answer)
{
	struct chat_think think;
	struct parts parts;
	struct str rest = str_of(text);
	buf_init(&parts.thought, KIB);
	buf_init(&parts.answer, KIB);
	chat_think_init(&think);
	while (rest.len) {
		size_t len = rest.len < size ? rest.len : size;
		chat_think_feed(&think, str_n(rest.ptr, len), on_part, &parts);
		rest = str_skip(rest, len);
	}
	chat_think_end(&think, on_part, &parts);
	assert_true(str_is(buf_str(&parts.thought), thought));
	assert_true(str_is(buf_str(&parts.answer), answer));
	auto_buf struct buf whole;
	buf_init(&whole, KIB);
	buf_append_str(&whole, buf_str(&think.before));
	buf_append_str(&whole, buf_str(&parts.thought));
	buf_append_str(&whole, buf_str(&think.after));
	buf_append_str(&whole, buf_str(&parts.answer));
	assert_true(str_is(buf_str(&whole), text));
	chat_think_finish(&think);
	buf_finish(&parts.thought);
	buf_finish(&parts.answer);
}

/* LIMIT_THINK_BLANKS of them. */
#define BLANKS "                                                                "

static void a_thought_is_found_however_it_is_divided(void **state)
{
	static const char *const rows[][3] = {
		{"<think>a b</think>c", "a b", "c"},
		{" \n<think>\na < b\n</think>\n\nc </think> <think>", "a < b\n", "c </think> <think>"},
		{"<think></think>c", "", "c"},
		{"<think>a</thin </think>", "a</thin ", ""},
		{"<think>a</think", "a</think", ""},
		{"<think>", "", ""},
		{"<think> \n", "", ""},
		{"<think>a</think> \n", "a", ""},
		{"<think>" BLANKS BLANKS "a</think>" BLANKS BLANKS "c", BLANKS "a", BLANKS "c"},
		{"<thinking>c", "", "<thinking>c"},
		{"<thin", "", "<thin"},
		{"c <think>a</think>", "", "c <think>a</think>"},
		{"</think>c", "", "</think>c"},
		{"  ", "", "  "},
		{"", "", ""},
	};
	(void)state;
	for (size_t i = 0; i < countof(rows); i++)
		for (size_t size = 1; size < 20; size++)
			check(rows[i][0], size, rows[i][1], rows[i][2]);
}

static void many_blanks_are_not_held_back(void **state)
{
	struct chat_think think;
	struct parts parts = {0};
	(void)state;
	buf_init(&parts.answer, KIB);
	chat_think_init(&think);
	for (size_t i = 0; i < 100; i++)
		chat_think_feed(&think, STR(" "), on_part, &parts);
	assert_int_equal(parts.answer.len, 100);
	assert_int_equal(think.state, THINK_AFTER);
	chat_think_finish(&think);
	buf_finish(&parts.answer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_thought_is_found_however_it_is_divided),
		cmocka_unit_test(many_blanks_are_not_held_back),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
