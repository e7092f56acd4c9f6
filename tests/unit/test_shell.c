/* Quoting like Rust's shlex, and the user's shell. */
#include "test.h"

#include <sys/wait.h>

#include "base/mem.h"
#include "command/shell.h"

static void words_are_quoted_in_the_simplest_style(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"", "''"},
		{"foobar", "foobar"},
		{"-+./:@]_aZ09", "-+./:@]_aZ09"},
		{"foo bar", "'foo bar'"},
		{"a=b", "'a=b'"},
		{"a,b", "'a,b'"},
		{"50%", "'50%'"},
		{"~", "'~'"},
		{"$HOME", "'$HOME'"},
		{"hi!", "'hi!'"},
		{"'\"", "\"'\\\"\""},
		{"it's", "\"it's\""},
		{"a\\b", "\"a\\\\b\""},
		{"echo 'x'", "\"echo 'x'\""},
		{"a\nb", "'a\nb'"},
		{"é", "'é'"},
		{"\xa1", "'\xa1'"},
		{"'$x'", "\"'\"'$x'\"'\""},
		{"it's $5", "\"it's \"'$5'"},
		{"^a", "'^a'"},
		{"a^b", "a'^b'"},
		{"^^", "'^''^'"},
		{"^'", "'^'\"'\""},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_buf struct buf out;
		buf_init(&out, 256);
		shell_quote(&out, str_of(rows[i][0]));
		assert_string_equal(buf_str(&out).ptr, rows[i][1]);
	}
}

static void vectors_are_joined_by_blanks(void **state)
{
	(void)state;
	const char *argv[SHELL_ARGC + 1];
	auto_buf struct buf out;
	buf_init(&out, 256);
	shell_argv("/bin/bash", "echo hi", true, argv);
	shell_join(&out, argv);
	assert_str(buf_str(&out), "/bin/bash -lc 'echo hi'");
	buf_clear(&out);
	shell_argv("/bin/zsh", "ls", false, argv);
	shell_join(&out, argv);
	assert_str(buf_str(&out), "/bin/zsh -c ls");
}

/* Any bytes survive a real shell. */
static void a_shell_reads_quoted_words_back(void **state)
{
	(void)state;
	char word[255];
	for (int i = 0; i < 255; i++)
		word[i] = (char)(i + 1);
	auto_buf struct buf command;
	buf_init(&command, 4096);
	buf_append_c(&command, "printf %s ");
	shell_quote(&command, str_n(word, sizeof(word)));
	FILE *pipe = NULL;
	int fds[2];
	assert_int_equal(pipe2(fds, 0), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(fds[1], 1);
		execl("/bin/sh", "sh", "-c", command.data, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	pipe = fdopen(fds[0], "r");
	char got[300];
	size_t len = fread(got, 1, sizeof(got), pipe);
	fclose(pipe);
	waitpid(pid, NULL, 0);
	assert_int_equal(len, sizeof(word));
	assert_memory_equal(got, word, sizeof(word));
}

static void shells_have_base_names(void **state)
{
	(void)state;
	assert_string_equal(shell_base_name("/usr/bin/zsh"), "zsh");
	assert_string_equal(shell_base_name("sh"), "sh");
	assert_true(shell_is_known("/usr/local/bin/bash"));
	assert_false(shell_is_known("/usr/bin/fish"));
	assert_false(shell_is_known("/usr/sbin/nologin"));
}

static void the_users_shell_can_be_run(void **state)
{
	(void)state;
	const char *shell = shell_user();
	assert_int_equal(access(shell, X_OK), 0);
	assert_true(shell_is_known(shell));
	assert_ptr_equal(shell, shell_user());
}

static void a_line_splits_into_words(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *line, *words; /* separated by bars; NULL: cannot be split */
	} rows[] = {
		{"", ""}, {"  ", ""}, {" a  b ", "a|b"}, {"a'b c'd \"e\\\"f\"", "ab cd|e\"f"}, {"'' x", "|x"},
		{"a\\ b $c", "a b|$c"}, {"'a\\b' \"a\\b\"", "a\\b|a\\b"}, {"a\\", "a\\"}, {"'a", NULL}, {"b \"a", NULL},
	};
	/* clang-format on */
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		auto_arena struct arena arena = {0};
		const char **argv = NULL;
		char got[64] = "";
		assert_int_equal(shell_split(str_of(rows[i].line), &arena, &argv), rows[i].words != NULL);
		for (size_t at = 0; argv && argv[at]; at++) {
			size_t used = strlen(got);
			snprintf(got + used, sizeof(got) - used, "%s%s", at ? "|" : "", argv[at]);
		}
		assert_string_equal(got, rows[i].words ? rows[i].words : "");
	}
}

static void of_a_trusted_shell_the_script_is_shown(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"/bin/bash -lc 'echo hi'", "echo hi"},
		{"bash -c \"it's\"", "it's"},
		{"/bin/sh -c 'a\nb'", "a\nb"},
		{"/bin/bash -lc 'echo hi' more", "/bin/bash -lc 'echo hi' more"},
		{"/bin/bash -xc 'echo hi'", "/bin/bash -xc 'echo hi'"},
		{"./bash -lc 'echo hi'", "./bash -lc 'echo hi'"},
		{"python3 -c 'print(1)'", "python3 -c 'print(1)'"},
		{"/bin/bash  -lc 'echo hi'", "/bin/bash  -lc 'echo hi'"},
		{"/bin/bash -lc 'echo", "/bin/bash -lc 'echo"},
		{"/bin/bash -lc echo' hi'", "/bin/bash -lc echo' hi'"},
		{"", ""},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_buf struct buf out;
		buf_init(&out, 256);
		shell_show_line(&out, str_of(rows[i][0]));
		assert_string_equal(buf_str(&out).ptr, rows[i][1]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_splits_into_words),
		cmocka_unit_test(words_are_quoted_in_the_simplest_style),
		cmocka_unit_test(of_a_trusted_shell_the_script_is_shown),
		cmocka_unit_test(vectors_are_joined_by_blanks),
		cmocka_unit_test(a_shell_reads_quoted_words_back),
		cmocka_unit_test(shells_have_base_names),
		cmocka_unit_test(the_users_shell_can_be_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
