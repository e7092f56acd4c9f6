/* The prompt of `codex exec`: from its argument, from standard input in any encoding with a byte order mark, or
 * both. */
#include "test.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "ui/exec/exec_prompt.h"

/* Puts these bytes on standard input: a pipe with its writing end closed. */
static void pipe_in(struct str bytes)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fd_write_all(ends[1], bytes.ptr, bytes.len, NULL), 0);
	close(ends[1]);
	assert_true(dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
	close(ends[0]);
}

static void null_in(void)
{
	int fd = open("/dev/null", O_RDONLY);
	assert_true(fd >= 0 && dup2(fd, STDIN_FILENO) == STDIN_FILENO);
	close(fd);
}

static void reads(const char *argument, struct str want)
{
	struct error err = {0};
	auto_buf struct buf prompt;
	buf_init(&prompt, LIMIT_PROMPT * 2);
	if (exec_prompt_read(argument, &prompt, &err) != 0)
		fail_msg("%s", err.text);
	if (!str_eq(buf_str(&prompt), want))
		fail_msg("got \"%.*s\", want \"%.*s\"", STR_ARG(buf_str(&prompt)), STR_ARG(want));
}

static void refuses(const char *argument, const char *want)
{
	struct error err = {0};
	auto_buf struct buf prompt;
	buf_init(&prompt, LIMIT_PROMPT * 2);
	assert_int_equal(exec_prompt_read(argument, &prompt, &err), -ERR_invalid);
	assert_string_equal(err.text, want);
}

static void test_argument_alone(void **state)
{
	(void)state;
	null_in();
	reads("do it", STR("do it"));
	reads(" two\nlines ", STR(" two\nlines "));
}

static void test_stdin_alone(void **state)
{
	(void)state;
	pipe_in(STR("from stdin\n"));
	reads(NULL, STR("from stdin\n"));
	pipe_in(STR("from stdin\n"));
	reads("-", STR("from stdin\n"));
}

static void test_both(void **state)
{
	(void)state;
	pipe_in(STR("data\n"));
	reads("sum", STR("sum\n\n<stdin>\ndata\n</stdin>"));
	pipe_in(STR("data"));
	reads("sum", STR("sum\n\n<stdin>\ndata\n</stdin>"));
	pipe_in(STR(" \n"));
	reads("sum", STR("sum"));
	pipe_in(STR("data"));
	reads("", STR("\n\n<stdin>\ndata\n</stdin>"));
}

static void test_a_file_as_stdin(void **state)
{
	(void)state;
	int fd = open("/tmp", O_RDWR | O_TMPFILE, 0600);
	if (fd < 0)
		skip();
	assert_int_equal(fd_write_all(fd, "text", 4, NULL), 0);
	assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
	reads("sum", STR("sum\n\n<stdin>\ntext\n</stdin>"));
}

static void test_byte_order_marks(void **state)
{
	(void)state;
	pipe_in(STR("\xef\xbb\xbfhi"));
	reads("-", STR("hi"));
	pipe_in(STR("\xff\xfeh\0\xe9\0\xac\x20\x3d\xd8\x00\xde"));
	reads("-", STR("h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
	pipe_in(STR("\xfe\xff\0h\0\xe9\x20\xac\xd8\x3d\xde\x00"));
	reads("-", STR("h\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
	pipe_in(STR("\xff\xfeh\0"));
	reads("say", STR("say\n\n<stdin>\nh\n</stdin>"));
}

static void test_utf8_is_kept_as_it_is(void **state)
{
	(void)state;
	pipe_in(STR("z\xc3\xa9ro\0\xf0\x9f\x98\x80\r\n"));
	reads("-", STR("z\xc3\xa9ro\0\xf0\x9f\x98\x80\r\n"));
}

static void test_wrong_encodings(void **state)
{
	static const char broken[] = "the prompt on stdin is not valid UTF-16";
	static const char cut[] = "the prompt on stdin is cut off in a UTF-16 character";
	static const char utf32[] = "the prompt on stdin is UTF-32; convert it to UTF-8, for example with iconv";
	const struct {
		struct str bytes;
		const char *text;
	} cases[] = {
		{STR("caf\xe9"), "the prompt on stdin is not UTF-8; convert it, for example with iconv"},
		{STR("\xff\xfe\0\0h\0\0\0"), utf32},
		{STR("\0\0\xfe\xff\0\0\0h"), utf32},
		{STR("\xff\xfeh\0i"), cut},           /* ends inside a code unit */
		{STR("\xff\xfeh\0\x3d\xd8"), cut},    /* ends inside a surrogate pair */
		{STR("\xff\xfe\x00\xdeh\0"), broken}, /* a low surrogate without a high one */
		{STR("\xff\xfe\x3d\xd8h\0"), broken}, /* a high surrogate without a low one */
		{STR("\xff\xfe\x3d\xd8\x3d\xd8"), broken},
	};
	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		pipe_in(cases[i].bytes);
		refuses("-", cases[i].text);
	}
	null_in();
	refuses("caf\xe9", "the prompt is not UTF-8; convert it, for example with iconv");
}

static void test_nothing_to_do(void **state)
{
	static const char *const blanks[] = {"", " \n\t", "\xef\xbb\xbf", "\xff\xfe \0"};
	static const size_t lengths[] = {0, 3, 3, 4};
	(void)state;
	for (size_t i = 0; i < countof(blanks); i++) {
		pipe_in(str_n(blanks[i], lengths[i]));
		refuses("-", "No prompt provided via stdin.");
		pipe_in(str_n(blanks[i], lengths[i]));
		refuses(NULL, "No prompt provided via stdin.");
	}
	null_in();
	refuses("", "No prompt provided: the argument is empty.");
	refuses(" \n", "No prompt provided: the argument is empty.");
}

/* Writes the second half after the first was read, so that the reader finds the pipe empty once. */
static void write_halves(int fd)
{
	int left = 1;
	assert_int_equal(fd_write_all(fd, "first ", 6, NULL), 0);
	while (ioctl(fd, FIONREAD, &left) == 0 && left)
		sched_yield();
	assert_int_equal(fd_write_all(fd, "second", 6, NULL), 0);
}

static void test_a_descriptor_that_does_not_wait(void **state)
{
	int ends[2];
	(void)state;
	assert_int_equal(pipe2(ends, O_NONBLOCK), 0);
	pid_t child = fork();
	if (child == 0) {
		write_halves(ends[1]);
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	reads("-", STR("first second"));
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Replaces standard input with a pipe that a child writes to; returns the child. */
static pid_t write_in(size_t total, bool stays_open)
{
	static char block[64 * KIB];
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	pid_t child = fork();
	if (child == 0) {
		signal(SIGPIPE, SIG_IGN);
		close(ends[0]);
		close(STDIN_FILENO); /* closes the read end of an earlier pipe */
		for (size_t at = 0; at < total; at += sizeof(block)) {
			if (fd_write_all(ends[1], block, sizeof(block), NULL) != 0)
				_exit(1);
		}
		if (stays_open)
			pause();
		_exit(0);
	}
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	return child;
}

/* Returns how the writer ended after the read end was closed. */
static int end_of(pid_t child)
{
	int status;
	null_in();
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static void test_remaining_input_is_drained(void **state)
{
	(void)state;
	pid_t child = write_in(2 * MIB, false);
	exec_prompt_drain();
	assert_int_equal(end_of(child), 0);
}

static void test_draining_has_bounds(void **state)
{
	(void)state;
	pid_t child = write_in((size_t)LIMIT_DRAIN * 2, false);
	exec_prompt_drain();
	int status = end_of(child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	child = write_in(MIB, true); /* a writer that neither writes nor ends */
	exec_prompt_drain();
	kill(child, SIGKILL);
	end_of(child);
}

static void test_input_over_the_limit_is_refused(void **state)
{
	struct error err = {0};
	auto_buf struct buf prompt;
	(void)state;
	buf_init(&prompt, LIMIT_PROMPT);
	for (int i = 0; i < LIMIT_INPUT_CHARS; i++)
		buf_append_str(&prompt, STR("\xc3\xa9"));
	assert_int_equal(exec_prompt_check(&prompt, &err), 0);
	buf_append_char(&prompt, 'x');
	assert_int_equal(exec_prompt_check(&prompt, &err), -ERR_limit);
	assert_non_null(strstr(err.text, "maximum length of 1048576 characters: the prompt has 1048577"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_argument_alone),
		cmocka_unit_test(test_stdin_alone),
		cmocka_unit_test(test_both),
		cmocka_unit_test(test_a_file_as_stdin),
		cmocka_unit_test(test_byte_order_marks),
		cmocka_unit_test(test_utf8_is_kept_as_it_is),
		cmocka_unit_test(test_wrong_encodings),
		cmocka_unit_test(test_nothing_to_do),
		cmocka_unit_test(test_a_descriptor_that_does_not_wait),
		cmocka_unit_test(test_remaining_input_is_drained),
		cmocka_unit_test(test_draining_has_bounds),
		cmocka_unit_test(test_input_over_the_limit_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
