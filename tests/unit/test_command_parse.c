/* Shell text is parsed to plain commands, or rejected. */
#include "test.h"

#include "../command_read.h"
#include "base/buf.h"
#include "base/limits.h"

/* Writes words separated by commas, and commands by bars: "ls,-l|wc". A word with a pattern is in parentheses:
 * "ls,(*.c)". */
static const char *read_as(const char *script)
{
	static char text[4096];
	auto_arena struct arena arena = {0};
	struct command_list list;
	if (!script_read(script, &arena, &list))
		return "?";
	auto_buf struct buf out;
	buf_init(&out, sizeof(text));
	for (size_t i = 0; i < list.count; i++) {
		for (size_t at = 0; at < list.commands[i].count; at++) {
			const struct command_word *word = &list.commands[i].words[at];
			buf_printf(&out, word->can_vary ? "%s(%s)" : "%s%s", at ? "," : i ? "|" : "", word->text);
		}
	}
	snprintf(text, sizeof(text), "%.*s", STR_ARG(buf_str(&out)));
	return text;
}

struct row {
	const char *script, *words;
};

static void expect_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(read_as(rows[i].script), rows[i].words) != 0)
			fail_msg("\"%s\" is read as \"%s\", not \"%s\"", rows[i].script, read_as(rows[i].script),
			         rows[i].words);
}
#define EXPECT_ROWS(rows) expect_rows(rows, sizeof(rows) / sizeof(*(rows)))

static void plain_commands_are_understood(void **state)
{
	(void)state;
	static const struct row rows[] = {
		{"ls", "ls"},
		{"  ls\t-l  ", "ls,-l"},
		{"ls && pwd", "ls|pwd"},
		{"ls||pwd;id|wc -l", "ls|pwd|id|wc,-l"},
		{"ls;", "ls"},
		{"ls\n\npwd\n", "ls|pwd"},
		{"ls &&\n  pwd", "ls|pwd"},
		{"ls # all of them && rm x\npwd", "ls|pwd"},
		{"# nothing\nls", "ls"},
		{"grep -rn \"two words\" 'src dir'", "grep,-rn,two words,src dir"},
		{"echo a\"b c\"'d e'f", "echo,ab cd ef"},
		{"echo '' \"\"", "echo,,"},
		{"echo '$HOME `x` \\'", "echo,$HOME `x` \\"},
		{"echo \"it's; | & > *\"", "echo,it's; | & > *"},
		{"git diff a=b HEAD^ c#d", "git,diff,a=b,HEAD^,c#d"},
		{"ls ~/src", "ls,~/src"},
		{"cat 'gr\xc3\xb6\xc3\x9f"
	         "e'",
	         "cat,gr\xc3\xb6\xc3\x9f"
	         "e"},
		{"rg x -- src/*.c *.h", "rg,x,--,(src/*.c),(*.h)"},
		{"ls \"\"*.c", "ls,(*.c)"},
		{"echo a'\n'b", "echo,a\nb"},
	};
	EXPECT_ROWS(rows);
}

static void everything_else_is_not(void **state)
{
	(void)state;
	/* clang-format off */
	static const char *const scripts[] = {
		"", " ", "\n", "# only words", ";", "ls;;", "; ls", "ls && ", "&& ls", "ls && && pwd",
		"ls | ; pwd",
		"ls &", "ls & pwd", "ls |& wc", "ls &&& pwd", "ls |||pwd",
		"echo $HOME", "echo ${x}", "echo $(id)", "echo `id`", "echo \"$x\"", "echo \"`id`\"",
		"echo $'a'", "echo $",
		"ls > x", "ls>x", "ls 2>&1", "cat < x", "cat <<E\nx\nE", "cat <<<x", "diff <(ls) x",
		"ls >| x",
		"(ls)", "{ ls; }", "ls {a,b}", "f() { ls; }", "function f", "[[ a ]]", "[ a ]", "! ls",
		"if true", "time ls",
		"for i in a", "while true", "case a in", "coproc ls", "export A=b", "declare x", "then",
		"A=b", "A=b ls", "A+=b ls", "a[1]=b", "=ls", "ls =rm", "*ls", "~/bin/x", "./a*",
		"echo a\\ b", "echo \\$x", "echo \"a\\\"b\"", "echo \"\\", "echo 'a", "echo \"a", "echo a'b",
		"ls\r", "ls\v-l", "echo \xc2\xa0x", "echo !x", "echo ^a", "ls *(e:id:)", "ls @(a|b)",
		"ls {", "ls }",
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		if (strcmp(read_as(scripts[i]), "?") != 0)
			fail_msg("\"%s\" is read as \"%s\"", scripts[i], read_as(scripts[i]));
}

static void long_text_is_not_read(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct command_list list;
	static char text[LIMIT_COMMAND_PARSE + 2];
	memset(text, 'x', LIMIT_COMMAND_PARSE);
	assert_true(script_read(text, &arena, &list));
	text[LIMIT_COMMAND_PARSE] = 'x';
	assert_false(script_read(text, &arena, &list));
}

static size_t count_commands(const char *const *argv)
{
	auto_arena struct arena arena = {0};
	struct command_list list;
	return command_parse_argv(argv, &arena, &list) ? list.count : 0;
}

static void a_vector_is_one_command_or_a_shells_script(void **state)
{
	(void)state;
	assert_int_equal(count_commands((const char *[]){"ls", "a;b", NULL}), 1);
	assert_int_equal(count_commands((const char *[]){"/bin/bash", "-lc", "ls; pwd", NULL}), 2);
	assert_int_equal(count_commands((const char *[]){"zsh", "-c", "ls", NULL}), 1);
	assert_int_equal(count_commands((const char *[]){"./sh", "-c", "ls", NULL}), 0);
	assert_int_equal(count_commands((const char *[]){"/tmp/bash", "-lc", "ls", NULL}), 0);
	assert_int_equal(count_commands((const char *[]){"/bin/../tmp/bash", "-lc", "ls", NULL}), 0);
	assert_int_equal(count_commands((const char *[]){"sh", "-c", "ls > x", NULL}), 0);
	assert_int_equal(count_commands((const char *[]){"sh", "-c", "ls", "name", NULL}), 0);
	assert_int_equal(count_commands((const char *[]){"sh", "-x", "ls", NULL}), 0);
	assert_int_equal(count_commands((const char *[]){"sh", NULL}), 0);
	assert_int_equal(count_commands((const char *[]){NULL}), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_commands_are_understood),
		cmocka_unit_test(everything_else_is_not),
		cmocka_unit_test(long_text_is_not_read),
		cmocka_unit_test(a_vector_is_one_command_or_a_shells_script),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
