/* The actions of commands that clients display; rows were observed with codex 0.169 unless noted. */
#include "test.h"

#include "base/buf.h"
#include "command/command_action.h"

/* Describes actions as "read COMMAND name path", "list COMMAND path", "search COMMAND query path" or "unknown
 * COMMAND", joined by "; ". */
static const char *describe(const char *script)
{
	static char text[2048];
	static const char *const kinds[] = {"unknown", "read", "list", "search"};
	auto_arena struct arena arena = {0};
	struct command_action *actions;
	size_t count = command_actions((const char *[]){"/bin/bash", "-lc", script, NULL}, &arena, &actions);
	auto_buf struct buf out;
	buf_init(&out, sizeof(text));
	for (size_t i = 0; i < count; i++) {
		const struct command_action *action = &actions[i];
		struct str parts[] = {action->name, action->query, action->path};
		buf_printf(&out, "%s%s {%.*s}", i ? "; " : "", kinds[action->kind], STR_ARG(action->command));
		for (size_t at = 0; at < 3; at++)
			if (parts[at].ptr)
				buf_printf(&out, " %.*s", STR_ARG(parts[at]));
	}
	snprintf(text, sizeof(text), "%.*s", STR_ARG(buf_str(&out)));
	return text;
}

static void commands_are_described(void **state)
{
	(void)state;
	static const struct {
		const char *script, *actions;
	} rows[] = {
		{"cat a.txt", "read {cat a.txt} a.txt a.txt"},
		{"cat -n x/a.txt", "read {cat -n x/a.txt} a.txt x/a.txt"},
		{"cat a b", "unknown {cat a b}"},
		{"cat *.c", "unknown {cat *.c}"},
		{"cat ~/x", "unknown {cat ~/x}"},
		{"cat < a", "unknown {cat < a}"},
		{"cat", "unknown {cat}"},
		{"head -n 50 src/a.c", "read {head -n 50 src/a.c} a.c src/a.c"},
		{"tail -n +20 x/y.c", "read {tail -n +20 x/y.c} y.c x/y.c"},
		{"tail -20 x", "unknown {tail -20 x}"},
		{"sed -n 1,20p a.c", "read {sed -n '1,20p' a.c} a.c a.c"},
		{"sed -e s/a/b/ a", "unknown {sed -e s/a/b/ a}"},
		{"sed -n 's/a/b/p' a", "unknown {sed -n 's/a/b/p' a}"},
		{"nl -ba a.c", "read {nl -ba a.c} a.c a.c"},
		{"less +F a", "unknown {less +F a}"},
		{"awk '{print}' a | head", "read {awk '{print}' a} a a"},
		{"cd src && cat a.c", "read {cat a.c} a.c src/a.c"},
		{"cd src && cd lib && cat a.c", "read {cat a.c} a.c src/lib/a.c"},
		{"cd /x && cat /a.c", "read {cat /a.c} a.c /a.c"},
		{"cd src && ls", "list {ls}"},
		{"cd src", ""},
		{"ls --color=never src lib", "list {ls '--color=never' src lib} src"},
		{"tree -L 2 lib/", "list {tree -L 2 lib/} lib"},
		{"find . -name x | head", "search {find . -name x} x ."},
		{"find src -type f", "list {find src -type f} src"},
		{"find", "list {find}"},
		{"fd foo src", "search {fd foo src} foo src"},
		{"fd", "list {fd}"},
		{"rg -n \"foo bar\" src/a", "search {rg -n 'foo bar' src/a} foo bar a"},
		{"rg -A 3 -B 2 foo src", "search {rg -A 3 -B 2 foo src} foo src"},
		{"rg --files src | head -n 5", "list {rg --files src} src"},
		{"rg -l foo -g '*.c' src", "search {rg -l foo -g '*.c' src} foo src"},
		{"rg -- -foo", "search {rg -- -foo} -foo"},
		{"grep -e foo -e bar f", "search {grep -e foo -e bar f} foo f"},
		{"grep -R --include='*.c' foo .", "search {grep -R '--include=*.c' foo .} foo ."},
		{"git grep foo x", "search {git grep foo x} foo x"},
		{"git ls-files", "list {git ls-files}"},
		{"git status", "unknown {git status}"},
		{"git", "unknown {git}"},
		{"cat a | grep x", "read {cat a} a a; search {grep x} x"},
		{"cat 'a b' | sort | uniq", "read {cat 'a b'} a b a b"},
		{"cat a | sed s/a/b/ | wc -l", "read {cat a} a a"},
		{"echo hi && cat a || true", "read {cat a} a a"},
		{"echo hi", "unknown {echo hi}"},
		{"echo hi; printf x", "unknown {echo hi; printf x}"},
		{"ls; make", "unknown {ls; make}"},
		{"ls > x", "unknown {ls > x}"},
		{"du -sh .", "list {du -sh .} ."},
		{"cat /src/build", "read {cat /src/build} /src/build /src/build"},
		/* Differs from 0.169: a program that writes a file is not omitted. */
		{"cat a | sort -o b", "unknown {cat a | sort -o b}"},
		{"cat a && sed -i s/a/b/ x", "unknown {cat a && sed -i s/a/b/ x}"},
		{"cat a | xargs rm", "unknown {cat a | xargs rm}"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strcmp(describe(rows[i].script), rows[i].actions) != 0)
			fail_msg("\"%s\" is \"%s\"", rows[i].script, describe(rows[i].script));
}

static void a_vector_without_a_shell_is_described_too(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct command_action *actions;
	assert_int_equal(command_actions((const char *[]){"cat", "a b", NULL}, &arena, &actions), 1);
	assert_int_equal(actions->kind, ACTION_read);
	assert_str(actions->path, "a b");
	assert_int_equal(command_actions((const char *[]){"make", "a b", NULL}, &arena, &actions), 1);
	assert_int_equal(actions->kind, ACTION_unknown);
	assert_str(actions->command, "make 'a b'");
	assert_int_equal(command_actions((const char *[]){"bash", "x", NULL}, &arena, &actions), 1);
	assert_str(actions->command, "bash x");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commands_are_described),
		cmocka_unit_test(a_vector_without_a_shell_is_described_too),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
