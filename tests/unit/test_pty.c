/* Commands with a terminal. */
#include "test.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/process.h"

enum { GUARD_MS = 60000 };

static const struct pty_size size = {20, 70};

struct run {
	struct loop *loop;
	struct loop_timer *guard;
	struct process *process;
	struct buf out;
	struct process_result result;
	int ends;
};

static void on_guard(void *self)
{
	(void)self;
	fprintf(stderr, "the test waited too long\n");
	abort();
}

static int setup(void **state)
{
	struct run *run = xnew(struct run);
	run->loop = loop_create(NULL);
	run->guard = loop_timer_create(run->loop, on_guard, NULL);
	loop_timer_start(run->guard, GUARD_MS);
	buf_init(&run->out, MIB);
	*state = run;
	return 0;
}

static int teardown(void **state)
{
	struct run *run = *state;
	process_destroy(run->process);
	size_t left = process_reaper_stop();
	loop_timer_destroy(run->guard);
	loop_destroy(run->loop);
	buf_finish(&run->out);
	free(run);
	return left ? -1 : 0;
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct run *run = self;
	assert_int_equal(stream, exec_stream_stdout);
	buf_append_str(&run->out, bytes);
}

static void on_end(const struct process_result *result, void *self)
{
	struct run *run = self;
	run->result = *result;
	run->ends++;
}

static void start(struct run *run, const char *script, bool stdin_open)
{
	static const struct process_handler handler = {on_output, on_end};
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	const char *const env[] = {"PATH=/usr/bin:/bin", NULL};
	struct process_spec spec = {
		.argv = argv,
		.env = env,
		.stdin_open = stdin_open,
		.terminal = &size,
		.drain_ms = PROCESS_DRAIN_MS,
	};
	struct error err;
	run->process = process_start(run->loop, &spec, &handler, run, &err);
	if (!run->process)
		fail_msg("%s", err.text);
}

static void until(struct run *run, const char *text)
{
	while (!run->ends && str_find(buf_str(&run->out), str_of(text)) < 0)
		uv_run(loop_uv(run->loop), UV_RUN_ONCE);
	assert_true(str_find(buf_str(&run->out), str_of(text)) >= 0);
}

static void until_end(struct run *run)
{
	while (!run->ends)
		uv_run(loop_uv(run->loop), UV_RUN_ONCE);
}

/* Only the engine has the master side: a command that had it, too, would prevent the hangup of its own terminal. */
static void a_command_has_three_descriptors_of_its_terminal(void **state)
{
	struct run *run = *state;
	start(run, "for fd in 0 1 2; do test -t $fd || echo no $fd; done; ls -1 /proc/$$/fd; :", true);
	until_end(run);
	assert_str(buf_str(&run->out), "0\r\n1\r\n2\r\n");
}

static void a_command_owns_its_terminal(void **state)
{
	struct run *run = *state;
	start(run, "stty size; : >/dev/tty && echo mine; stty size </dev/null || exit 5", false);
	until_end(run);
	assert_str(buf_str(&run->out), "20 70\r\nmine\r\nstty: 'standard input': Inappropriate ioctl for device\r\n");
	assert_int_equal(run->result.exit_code, 5);
	assert_int_not_equal(process_resize(run->process, &size, NULL), 0);
}

static void a_new_size_reaches_the_command(void **state)
{
	struct run *run = *state;
	start(run, "echo ready; read x; stty size", true);
	until(run, "ready");
	assert_int_equal(process_resize(run->process, &(struct pty_size){33, 99}, NULL), 0);
	assert_int_equal(process_write_stdin(run->process, STR("go\n"), NULL), 0);
	until_end(run);
	assert_true(str_find(buf_str(&run->out), STR("33 99\r\n")) >= 0);
}

static void the_end_of_input_is_typed(void **state)
{
	struct run *run = *state;
	start(run, "stty -echo; echo ready; cat; echo; cat; echo end", true);
	until(run, "ready");
	assert_int_equal(process_write_stdin(run->process, STR("an open line"), NULL), 0);
	process_close_stdin(run->process);
	assert_int_not_equal(process_write_stdin(run->process, STR("more"), NULL), 0);
	until(run, "an open line\r\n");
	process_kill_now(run->process);
	until_end(run);
	assert_int_equal(run->result.signal, 9);
}

static void keys_are_signals(void **state)
{
	struct run *run = *state;
	start(run, "exec cat", true);
	assert_int_equal(process_write_stdin(run->process, STR("\x03"), NULL), 0);
	until_end(run);
	assert_int_equal(run->result.signal, 2);
}

static void pipes_have_no_size(void **state)
{
	struct run *run = *state;
	static const struct process_handler handler = {on_output, on_end};
	const char *const argv[] = {"/bin/true", NULL};
	struct process_spec spec = {.argv = argv, .drain_ms = PROCESS_DRAIN_MS};
	struct error err = {0};
	run->process = process_start(run->loop, &spec, &handler, run, &err);
	assert_int_not_equal(process_resize(run->process, &size, &err), 0);
	assert_int_equal(err.code, ERR_unsupported);
	until_end(run);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_command_has_three_descriptors_of_its_terminal),
		TEST(a_command_owns_its_terminal),
		TEST(a_new_size_reaches_the_command),
		TEST(the_end_of_input_is_typed),
		TEST(keys_are_signals),
		TEST(pipes_have_no_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
