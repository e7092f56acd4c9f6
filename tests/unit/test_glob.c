/* Patterns of ignore files and of variable names. */
#include "test.h"

#include "base/buf.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/mem.h"

static void patterns_cover_whole_texts(void **state)
{
	(void)state;
	static const struct {
		const char *pattern, *text;
		bool fits;
	} cases[] = {
		{"*.c", "a.c", true},
		{"*.c", "a/b.c", false},
		{"**/b.c", "b.c", true},
		{"**/b.c", "x/y/b.c", true},
		{"a/**", "a/b/c", true},
		{"a/**", "a", false},
		{"a/**/z", "a/z", true},
		{"a/**/z", "a/b/c/z", true},
		{"a?c", "abc", true},
		{"a?c", "a/c", false},
		{"[a-c]x", "bx", true},
		{"[!a-c]x", "bx", false},
		{"[]]", "]", true},
		{"[a", "[a", true},
		{"\\*", "*", true},
		{"\\*", "x", false},
		{"", "", true},
		{"*", "", true},
		{"**/a*c/**/z", "b/a/abc/y/z", true},
		{"**/a*c/**/z", "b/a/abd/y/z", false},
		{"*a*b", "xaxb/ab", false},
		{"**a*b", "xa/ab", false},
		{"**a*b", "xayb", true},
		{"**/b", "xb", false},
		{"a**b*c", "a/x/bb/bc", false},
		{"a**b*c", "axbbc", true},
		{"**/a**/b", "ac/ab", false},
	};
	for (size_t i = 0; i < countof(cases); i++) {
		size_t steps = 1000;
		if (glob_match(str_of(cases[i].pattern), str_of(cases[i].text), GLOB_PATH, &steps) != cases[i].fits)
			fail_msg("%s against %s", cases[i].pattern, cases[i].text);
	}
}

static void a_pattern_costs_no_more_than_its_steps(void **state)
{
	(void)state;
	char pattern[129], text[256];
	size_t steps = 300;
	for (size_t i = 0; i < 128; i += 2)
		memcpy(pattern + i, "*a", 2);
	pattern[128] = '\0';
	memset(text, 'a', 255);
	text[255] = '\0';
	text[254] = 'b';
	assert_false(glob_match(str_of(pattern), str_of(text), GLOB_PATH, &steps));
	assert_int_equal(steps, 0);
	steps = 100 * 1000;
	assert_false(glob_match(str_of(pattern), str_of(text), GLOB_PATH, &steps));
	assert_true(steps > 0);
}

static void a_bracket_costs_its_length(void **state)
{
	(void)state;
	auto_buf struct buf pattern;
	size_t steps = 1000;
	buf_init(&pattern, MIB);
	buf_append_c(&pattern, "*[");
	for (int i = 0; i < 10000; i++)
		buf_append_char(&pattern, 'x');
	assert_false(glob_match(buf_str(&pattern), STR("aaaaaaaaaa"), GLOB_PATH, &steps));
	assert_int_equal(steps, 0);
}

static void names_match_without_case(void **state)
{
	(void)state;
	static const struct {
		struct str pattern, name;
		bool matches;
	} rows[] = {
		{STR("*KEY*"), STR("api_key_2"), true},
		{STR("*KEY*"), STR("KE"), false},
		{STR("AWS_*"), STR("aws_region"), true},
		{STR("AWS_*"), STR("XAWS_"), false},
		{STR("a?c"), STR("ABC"), true},
		{STR("a?c"), STR("AC"), false},
		{STR("*"), STR(""), true},
		{STR(""), STR(""), true},
		{STR(""), STR("A"), false},
		{STR("*a*b*c"), STR("xxaxxbxxbxc"), true},
		{STR("*a*b*c"), STR("xxaxxbxxbx"), false},
		{STR("a*"), STR("a"), true},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		size_t steps = 1000;
		if (glob_match(rows[i].pattern, rows[i].name, GLOB_NAME, &steps) != rows[i].matches)
			fail_msg("row %zu: %s against %s", i, rows[i].pattern.ptr, rows[i].name.ptr);
	}
}

static void a_hostile_pattern_for_names_ends(void **state)
{
	(void)state;
	char pattern[2001], name[2001];
	size_t steps = SIZE_MAX;
	for (size_t i = 0; i < 2000; i++) {
		pattern[i] = i % 2 ? 'a' : '*';
		name[i] = 'a';
	}
	assert_false(glob_match(str_n(pattern, 2000), str_n(name, 500), GLOB_NAME, &steps));
	assert_true(glob_match(str_n(pattern, 2000), str_n(name, 2000), GLOB_NAME, &steps));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_cover_whole_texts),
		cmocka_unit_test(a_pattern_costs_no_more_than_its_steps),
		cmocka_unit_test(a_bracket_costs_its_length),
		cmocka_unit_test(names_match_without_case),
		cmocka_unit_test(a_hostile_pattern_for_names_ends),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
