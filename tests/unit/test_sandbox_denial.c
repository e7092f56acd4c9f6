/* Recognises commands that failed because of the sandbox. */
#include "test.h"

#include <signal.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sandbox/sandbox_denial.h"

static bool is_denial(int exit_code, const char *out, const char *err)
{
	struct sandbox_outcome outcome = {.exit_code = exit_code, .out = str_of(out), .err = str_of(err)};
	return sandbox_denial_is_likely(&outcome, NULL);
}

static void messages_of_sandboxed_programs_are_recognised(void **state)
{
	(void)state;
	assert_true(is_denial(1, "", "touch: cannot touch '/etc/x': Read-only file system\n"));
	assert_true(is_denial(1, "sh: 1: cannot create /etc/x: Permission denied", ""));
	assert_true(is_denial(7, "", "curl: (7) socket: OPERATION NOT PERMITTED"));
	assert_true(is_denial(2, "error: failed to write file src/a.c", ""));
	assert_true(is_denial(125, "", "codex: the sandbox could not be set up"));
	assert_true(is_denial(1, "xseccomp", ""));
	assert_true(is_denial(1, "Landlock", ""));
}

static void an_ordinary_failure_is_not_a_denial(void **state)
{
	(void)state;
	assert_false(is_denial(1, "", ""));
	assert_false(is_denial(127, "", "sh: 1: nosuch: not found"));
	assert_false(is_denial(1, "permission\ndenied", "read-only file syste"));
	assert_false(is_denial(2, "", "make: *** [all] Error 1"));
}

static void success_is_not_a_denial(void **state)
{
	(void)state;
	assert_false(is_denial(0, "permission denied", "sandbox"));
}

static void the_signal_of_a_filter_is_recognised(void **state)
{
	(void)state;
	struct sandbox_outcome outcome = {.exit_code = -1, .signal = SIGSYS, .out = STR(""), .err = STR("")};
	assert_true(sandbox_denial_is_likely(&outcome, NULL));
	outcome.signal = SIGKILL;
	assert_false(sandbox_denial_is_likely(&outcome, NULL));
	assert_true(is_denial(128 + SIGSYS, "", ""));
	assert_false(is_denial(128 + SIGKILL, "", ""));
}

static void the_evidence_is_the_line_that_says_so(void **state)
{
	(void)state;
	struct str evidence;
	struct sandbox_outcome outcome = {
		.exit_code = 1, .out = STR("one\n  cp: a: Permission denied\r\nthree"), .err = STR("")};
	assert_true(sandbox_denial_is_likely(&outcome, &evidence));
	assert_true(str_is(evidence, "cp: a: Permission denied"));
	outcome = (struct sandbox_outcome){.exit_code = 128 + SIGSYS, .out = STR(""), .err = STR("")};
	assert_true(sandbox_denial_is_likely(&outcome, &evidence));
	assert_null(evidence.ptr);
}

static void an_endless_line_is_cut(void **state)
{
	(void)state;
	auto_buf struct buf text;
	struct str evidence;
	buf_init(&text, 4 * MIB);
	for (int i = 0; i < 100000; i++)
		buf_append_c(&text, "pppppppp");
	buf_append_c(&text, "permission denied");
	for (int i = 0; i < 100000; i++)
		buf_append_c(&text, "ssssssss");
	struct sandbox_outcome outcome = {.exit_code = 1, .out = buf_str(&text), .err = STR("")};
	assert_true(sandbox_denial_is_likely(&outcome, &evidence));
	assert_true(evidence.len <= SANDBOX_EVIDENCE_MAX);
	assert_true(str_find(evidence, STR("permission denied")) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_of_sandboxed_programs_are_recognised),
		cmocka_unit_test(an_ordinary_failure_is_not_a_denial),
		cmocka_unit_test(success_is_not_a_denial),
		cmocka_unit_test(the_signal_of_a_filter_is_recognised),
		cmocka_unit_test(the_evidence_is_the_line_that_says_so),
		cmocka_unit_test(an_endless_line_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
