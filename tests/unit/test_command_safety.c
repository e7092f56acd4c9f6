/* Which commands are harmless, and which dangerous (core 2.1, 2.2). */
#include "test.h"

#include "process/command_safety.h"

#define ROWS(rows) (rows), sizeof(rows) / sizeof(*(rows))

static void expect_safe(const char *const *scripts, size_t count, bool is_safe)
{
	for (size_t i = 0; i < count; i++)
		if (command_is_safe((const char *[]){"bash", "-lc", scripts[i], NULL}) != is_safe)
			fail_msg("\"%s\" should %sbe safe", scripts[i], is_safe ? "" : "not ");
}

static void expect_dangerous(const char *const *scripts, size_t count, bool is_dangerous)
{
	for (size_t i = 0; i < count; i++)
		if (command_is_dangerous((const char *[]){"bash", "-lc", scripts[i], NULL}) != is_dangerous)
			fail_msg("\"%s\" should %sbe dangerous", scripts[i], is_dangerous ? "" : "not ");
}

static void what_only_reads_is_safe(void **state)
{
	(void)state;
	static const char *const scripts[] = {
		"cat a | head -n 3 | wc -l", "cd src && ls -la", "echo hi", "/usr/bin/grep -rn x .",
		"pwd; whoami; id",
		"base64 a", "base64 -d a", "find . -name '*.c' -type f", "find", "rg -n x src", "rg --files",
		"sed -n 1,20p a.c", "sed -n 7p", "uniq", "uniq -c a", "seq 1 3", "stat a", "tac a",
		"numfmt 1",
		"git status", "git log --oneline -5", "git diff HEAD -- a", "git show HEAD", "git branch",
		"git branch -vv --format=x", "git branch --list", "ls *.c", "cat *", "which git",
		"tail -n 3 a",
	};
	expect_safe(ROWS(scripts), true);
}

static void what_acts_is_not(void **state)
{
	(void)state;
	static const char *const scripts[] = {
		"make", "ls && make", "./ls", "bin/ls", "/tmp/ls", "/usr/bin/../../tmp/ls", "sh -c ls",
		"sudo ls",
		"base64 -o x a", "base64 -ox a", "base64 --output=x a", "base64 --outp x a",
		"find . -exec ls", "find . -delete", "find . -ok ls", "find . -fprint x", "find *",
		"rg --pre=sh x", "rg --pre sh x", "rg -z x", "rg -nz x", "rg --search-zip x",
		"rg --hostname-bin=x y", "rg *",
		"sed -n 1p -i", "sed -i s/a/b/ x", "sed -n p x", "sed -n 1,p x", "sed -n 1,2p a b",
		"sed 1p x", "sed -n '1w x' y",
		"uniq a b", "uniq a *", "git -c a=b status", "git -C x status", "git commit", "git",
		"git push",
		"git diff --output=x", "git diff --outp=x", "git diff --ext-diff", "git log --textconv",
		"git show --exec=x",
		"git branch new", "git branch -d x", "git branch -m x", "git diff *", "tee x", "xargs ls",
		"env ls",
		"ls > x", "echo $(make)", "ls &", "A=b ls", "cat <x",
	};
	expect_safe(ROWS(scripts), false);
}

static void a_shell_of_the_repository_is_not_safe(void **state)
{
	(void)state;
	assert_true(command_is_safe((const char *[]){"/bin/sh", "-c", "ls", NULL}));
	assert_false(command_is_safe((const char *[]){"./bash", "-lc", "ls", NULL}));
	assert_false(command_is_safe((const char *[]){NULL}));
}

static void what_destroys_is_dangerous(void **state)
{
	(void)state;
	static const char *const scripts[] = {
		"rm -f x", "rm -rf x", "rm -Rf x", "rm -fr x", "rm --force x", "rm -r -f x",
		"ls; rm -rf x", "/bin/rm -rf x",
		"sudo rm -rf x", "sudo -u root rm -f x", "sudo sudo rm -f x", "git reset --hard",
		"git rm x", "/usr/bin/git reset",
		"git -C x reset", "git --no-pager -c a=b rm x", "git branch -D x", "git branch --delete x",
		"git push --force",
		"git push origin +main", "git push -f", "git push --delete origin x",
		"git push --force-with-lease=x", "git clean -fdx",
		"git clean --force",
	};
	expect_dangerous(ROWS(scripts), true);
}

static void the_rest_is_not_dangerous(void **state)
{
	(void)state;
	static const char *const scripts[] = {
		"rm x", "rm -r x", "rm -- -f", "rm", "sudo", "sudo ls", "git", "git -C", "git status",
		"git push origin main",
		"git branch x", "git clean -n", "echo rm -rf x", "ls", "echo $(rm -rf x)",
	};
	expect_dangerous(ROWS(scripts), false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_only_reads_is_safe),
		cmocka_unit_test(what_acts_is_not),
		cmocka_unit_test(a_shell_of_the_repository_is_not_safe),
		cmocka_unit_test(what_destroys_is_dangerous),
		cmocka_unit_test(the_rest_is_not_dangerous),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
