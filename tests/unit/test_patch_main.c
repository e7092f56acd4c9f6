/* The apply_patch program: exit status and output, each run in its own process. */
#include "temp.h"

#include <sys/wait.h>

#include "patch/patch_main.h"

#define PATCH "*** Begin Patch\n*** Add File: a\n+1\n*** End Patch\n"

static int open_output(const char *name)
{
	return open(temp_path(name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static _Noreturn void run_child(char **argv, struct str input)
{
	int argc = 0;
	while (argv[argc])
		argc++;
	temp_put("stdin", input);
	int in = open(temp_path("stdin"), O_RDONLY | O_CLOEXEC);
	int out = open_output("stdout"), err = open_output("stderr");
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0 || mkdir(temp_path("cwd"), 0700) < 0 ||
	    chdir(temp_path("cwd")) != 0)
		_exit(99);
	int status = patch_main_wants(argc, argv) ? patch_main(argc, argv) : 98;
	fflush(NULL);
	_exit(status);
}

/* Checks one run in an empty folder; %s in want_err is the folder's path. */
static void check_run(char **argv, struct str input, int want_status, const char *want_out, const char *want_err)
{
	assert_int_equal(temp_make(NULL), 0);
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		run_child(argv, input);
	int status = 0;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	auto_free char *out = temp_get(temp_path("stdout")), *err = temp_get(temp_path("stderr"));
	char want[4096];
	snprintf(want, sizeof(want), want_err, temp_root);
	assert_string_equal(err, want);
	assert_string_equal(out, want_out);
	assert_int_equal(WIFEXITED(status) ? WEXITSTATUS(status) : -1, want_status);
	temp_remove(NULL);
}

#define ARGV(...) ((char **)(uintptr_t)(const char *[]){__VA_ARGS__, NULL})
#define DONE "Success. Updated the following files:\nA a\n"

static void a_patch_is_read_from_an_argument_or_stdin(void **state)
{
	(void)state;
	check_run(ARGV("apply_patch", PATCH), STR(""), 0, DONE, "");
	check_run(ARGV("/usr/bin/applypatch", PATCH), STR("ignored"), 0, DONE, "");
	check_run(ARGV("apply_patch"), STR(PATCH), 0, DONE, "");
	check_run(ARGV("codex", "--codex-run-as-apply-patch", PATCH), STR(""), 0, DONE, "");
}

static void failures_are_reported_on_stderr_with_status_1(void **state)
{
	(void)state;
	check_run(ARGV("apply_patch", "x"), STR(""), 1, "",
	          "Invalid patch: The first line of the patch must be '*** Begin Patch'\n");
	check_run(ARGV("apply_patch", "*** Begin Patch\nx\n*** End Patch"), STR(""), 1, "",
	          "Invalid patch hunk on line 2: 'x' is not a valid hunk header. Valid hunk headers: "
	          "'*** Add File: {path}', '*** Delete File: {path}', '*** Update File: {path}'\n");
	check_run(ARGV("apply_patch", "*** Begin Patch\n*** End Patch"), STR(""), 1, "", "No files were modified.\n");
	check_run(ARGV("apply_patch", "*** Begin Patch\n*** Delete File: no\n*** End Patch"), STR(""), 1, "",
	          "Failed to delete file %s/cwd/no\n");
	check_run(ARGV("apply_patch", "*** Begin Patch\n*** Update File: no\n@@\n+x\n*** End Patch"), STR(""), 1, "",
	          "Failed to read file to update %s/cwd/no: No such file or directory (os error 2)\n");
}

static void misuse_ends_with_2(void **state)
{
	(void)state;
	check_run(ARGV("apply_patch"), STR(""), 2, "",
	          "Usage: apply_patch 'PATCH'\n       echo 'PATCH' | apply_patch\n");
	check_run(ARGV("apply_patch", PATCH, "x"), STR(""), 2, "",
	          "Error: apply_patch accepts exactly one argument.\n");
}

static void only_utf8_is_a_patch(void **state)
{
	(void)state;
	check_run(ARGV("apply_patch", "\xff"), STR(""), 1, "", "Error: apply_patch requires a UTF-8 PATCH argument.\n");
	check_run(ARGV("apply_patch"), STR("\xff"), 1, "",
	          "Error: Failed to read PATCH from stdin.\nstream did not contain valid UTF-8\n");
	check_run(ARGV("codex", "--codex-run-as-apply-patch"), STR(PATCH), 1, "",
	          "Error: --codex-run-as-apply-patch requires a UTF-8 PATCH argument.\n");
}

static void other_command_lines_are_not_its_own(void **state)
{
	(void)state;
	assert_false(patch_main_wants(1, ARGV("codex")));
	assert_false(patch_main_wants(3, ARGV("codex", "exec", "--codex-run-as-apply-patch")));
	assert_false(patch_main_wants(1, ARGV("my_apply_patch")));
	assert_false(patch_main_wants(0, ARGV("x")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_patch_is_read_from_an_argument_or_stdin),
		cmocka_unit_test(failures_are_reported_on_stderr_with_status_1),
		cmocka_unit_test(misuse_ends_with_2),
		cmocka_unit_test(only_utf8_is_a_patch),
		cmocka_unit_test(other_command_lines_are_not_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
