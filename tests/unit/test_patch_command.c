/* Commands that are recognised as patches instead of being run by a shell, and similar ones that are not. */
#include "test.h"

#include "base/mem.h"
#include "patch/patch_command.h"

#define PATCH "*** Begin Patch\n*** Delete File: $x `y` \\z\n*** End Patch"

static struct patch_command find(const char *program, const char *flag, const char *script)
{
	struct str argv[] = {str_of(program), str_of(flag), str_of(script)};
	return patch_command_find(argv, script ? 3 : flag ? 2 : 1);
}

static void a_direct_call_is_always_a_patch(void **state)
{
	(void)state;
	struct patch_command found = find("apply_patch", PATCH, NULL);
	assert_int_equal(found.kind, PATCH_COMMAND_APPLY);
	assert_str(found.patch, PATCH);
	assert_null(found.folder.ptr);
	found = find("applypatch", "nonsense", NULL);
	assert_int_equal(found.kind, PATCH_COMMAND_APPLY);
	assert_str(found.patch, "nonsense");
	assert_int_equal(find("apply_patch", PATCH, "more").kind, PATCH_COMMAND_NONE);
	assert_int_equal(find("./apply_patch", PATCH, NULL).kind, PATCH_COMMAND_NONE);
	assert_int_equal(patch_command_find(NULL, 0).kind, PATCH_COMMAND_NONE);
}

static void a_heredoc_is_a_patch(void **state)
{
	(void)state;
	static const struct {
		const char *shell, *flag, *script, *folder;
	} rows[] = {
		{"bash", "-lc", "apply_patch <<'EOF'\n" PATCH "\nEOF\n", NULL},
		{"/usr/bin/zsh", "-c", "apply_patch <<EOF\n" PATCH "\nEOF", NULL},
		{"SH.exe", "-lc", "\n applypatch<< \"PATCH_1\"  \n" PATCH "\n\n\nPATCH_1\n\n  \n", NULL},
		{"bash", "-lc", "cd a/b-c.d && apply_patch <<'EOF'\n" PATCH "\nEOF", "a/b-c.d"},
		{"bash", "-lc", "cd \"a b\" &&\n  apply_patch <<'EOF'\n" PATCH "\nEOF", "a b"},
		{"bash", "-lc", "cd  'a;b'&&apply_patch <<'EOF'\n" PATCH "\nEOF", "a;b"},
		{"bash", "-lc", "cd /\u00fc && apply_patch <<'EOF'\n" PATCH "\nEOF", "/\u00fc"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		struct patch_command found = find(rows[i].shell, rows[i].flag, rows[i].script);
		if (found.kind != PATCH_COMMAND_APPLY)
			fail_msg("not recognised: %s", rows[i].script);
		assert_str(found.patch, PATCH);
		assert_true(str_eq(found.folder, str_of(rows[i].folder)));
	}
}

static void scripts_that_do_more_are_left_to_the_shell(void **state)
{
	(void)state;
	static const char *const scripts[] = {
		"",
		"ls",
		"apply_patch",
		"apply_patch <<'EOF'",
		"apply_patch <<'EOF'\n" PATCH "\n",
		"apply_patch <<'EOF'\n" PATCH "\n EOF",
		"apply_patch <<'EOF'\n" PATCH "\nEOF\nls",
		"apply_patch <<'EOF' && ls\n" PATCH "\nEOF",
		"apply_patch <<'EOF' | cat\n" PATCH "\nEOF",
		"apply_patch <<'EOF' > log\n" PATCH "\nEOF",
		"apply_patch <<'EOF';\n" PATCH "\nEOF",
		"apply_patch -v <<'EOF'\n" PATCH "\nEOF",
		"apply_patch <<-'EOF'\n" PATCH "\nEOF",
		"apply_patch <<<'EOF'\n" PATCH "\nEOF",
		"apply_patch <<'EOF\"\n" PATCH "\nEOF",
		"apply_patch <<E'O'F\n" PATCH "\nEOF",
		"apply_patch <<\\EOF\n" PATCH "\nEOF",
		"apply_patch <<''\n" PATCH "\n\n",
		"apply_patch '" PATCH "'",
		"apply_patches <<'EOF'\n" PATCH "\nEOF",
		"X=1 apply_patch <<'EOF'\n" PATCH "\nEOF",
		"ls && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd a; apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd a || apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd a | apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd a & apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd a b && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd -P a && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd - && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd ~/a && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd $HOME && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd \"$HOME\" && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd `pwd` && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd a* && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd a\\ b && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd 'a'b && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd '' && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"cd a && cd b && apply_patch <<'EOF'\n" PATCH "\nEOF",
		"# cd a\napply_patch <<'EOF'\n" PATCH "\nEOF",
	};
	for (size_t i = 0; i < countof(scripts); i++) {
		if (find("bash", "-lc", scripts[i]).kind != PATCH_COMMAND_NONE)
			fail_msg("taken for a patch: %s", scripts[i]);
	}
	assert_int_equal(find("fish", "-c", "apply_patch <<'EOF'\n" PATCH "\nEOF").kind, PATCH_COMMAND_NONE);
	assert_int_equal(find("bash", "-x", "apply_patch <<'EOF'\n" PATCH "\nEOF").kind, PATCH_COMMAND_NONE);
}

static void a_patch_without_a_command_is_recognised(void **state)
{
	(void)state;
	assert_int_equal(find(PATCH, NULL, NULL).kind, PATCH_COMMAND_BARE);
	assert_int_equal(find("bash", "-lc", " " PATCH "\n").kind, PATCH_COMMAND_BARE);
	assert_int_equal(find("bash", "-lc", "<<'EOF'\n" PATCH "\nEOF").kind, PATCH_COMMAND_BARE);
	assert_int_equal(find("ls", NULL, NULL).kind, PATCH_COMMAND_NONE);
	assert_int_equal(find("bash", "-lc", "*** Begin Patch\nfoo\n*** End Patch").kind, PATCH_COMMAND_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_direct_call_is_always_a_patch),
		cmocka_unit_test(a_heredoc_is_a_patch),
		cmocka_unit_test(scripts_that_do_more_are_left_to_the_shell),
		cmocka_unit_test(a_patch_without_a_command_is_recognised),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
