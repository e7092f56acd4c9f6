/* Commands, their pipes and their descendants. This program also acts as the commands that /bin/sh cannot be: called as
 * `test_process daemon` it leaves its session, its parents and (with `bare`) its environment. */
#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/supervisor.h"
#include "process/output.h"
#include "process/process.h"
#include "process/process_tree.h"
#include "process/spawn.h"

enum { GUARD_MS = 60000, ROOM = 64 * MIB };

static char self_path[4096];

struct world {
	struct loop *loop;
	struct loop_timer *guard; /* makes a test that hangs fail */
};

struct run {
	struct world *world;
	struct process *process;
	struct buf out[2];
	struct process_result result;
	char error[256]; /* text of result.error; "" without an error */
	int ends;
	bool pause_at_output, destroy_at_output, destroy_at_end;
	bool is_merged, has_input;
};

static void on_guard(void *self)
{
	(void)self;
	fprintf(stderr, "the test waited too long\n");
	abort();
}

static int world_create(void **state)
{
	struct world *world = xnew(struct world);
	world->loop = loop_create(NULL);
	world->guard = loop_timer_create(world->loop, on_guard, NULL);
	loop_timer_start(world->guard, GUARD_MS);
	*state = world;
	return 0;
}

/* Every test must end without remaining processes and zombies. */
static int world_destroy(void **state)
{
	struct world *world = *state;
	size_t left = process_reaper_stop();
	bool has_children = waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD;
	loop_timer_destroy(world->guard);
	loop_destroy(world->loop);
	free(world);
	return left || has_children ? -1 : 0;
}

static void turn(struct world *world)
{
	uv_run(loop_uv(world->loop), UV_RUN_ONCE);
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct run *run = self;
	buf_append_str(&run->out[stream], bytes);
	if (run->pause_at_output)
		process_pause(run->process);
	if (run->destroy_at_output)
		process_destroy(steal(run->process));
}

static void on_end(const struct process_result *result, void *self)
{
	struct run *run = self;
	run->result = *result;
	snprintf(run->error, sizeof(run->error), "%s", result->error ? result->error->text : "");
	run->ends++;
	if (run->destroy_at_end)
		process_destroy(steal(run->process));
}

static const struct process_handler handler = {.on_output = on_output, .on_end = on_end};
static const char *const plain_env[] = {"PATH=/usr/bin:/bin", "GREETING=hello", NULL};

static void run_init(struct run *run, struct world *world)
{
	*run = (struct run){.world = world};
	buf_init(&run->out[0], ROOM);
	buf_init(&run->out[1], ROOM);
}

static void run_finish(struct run *run)
{
	process_destroy(run->process);
	buf_finish(&run->out[0]);
	buf_finish(&run->out[1]);
}

static void run_start(struct run *run, const struct process_spec *spec)
{
	struct error err = {0};
	run->process = process_start(run->world->loop, spec, &handler, run, &err);
	if (!run->process)
		fail_msg("%s", err.text);
}

static void run_start_sh(struct run *run, const char *script)
{
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	struct process_spec spec = {.argv = argv, .env = plain_env, .drain_ms = PROCESS_DRAIN_MS};
	spec.merge_output = run->is_merged;
	spec.stdin_open = run->has_input;
	run_start(run, &spec);
}

static void run_until_end(struct run *run)
{
	while (!run->ends)
		turn(run->world);
}

static struct str run_out(const struct run *run)
{
	return buf_str(&run->out[exec_stream_stdout]);
}

static struct str run_err(const struct run *run)
{
	return buf_str(&run->out[exec_stream_stderr]);
}

/* Runs a script to its end. */
static void run_sh(struct run *run, struct world *world, const char *script)
{
	run_init(run, world);
	run_start_sh(run, script);
	run_until_end(run);
}

static void run_until_output(struct run *run)
{
	while (!run_out(run).len || run_out(run).ptr[run_out(run).len - 1] != '\n')
		turn(run->world);
}

/* Returns the pid that the command printed. */
static pid_t run_printed_pid(struct run *run)
{
	run_until_output(run);
	return (pid_t)strtol(run_out(run).ptr, NULL, 10);
}

static bool is_there(pid_t pid)
{
	return kill(pid, 0) == 0;
}

static void on_death(uv_poll_t *poll, int status, int events)
{
	(void)status, (void)events;
	uv_close((uv_handle_t *)poll, NULL);
}

/* The engine gets no report of its end; the supervisor reaps it at once. */
static void run_until_gone(struct run *run, pid_t pid)
{
	uv_poll_t death;
	auto_close int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd >= 0) {
		uv_poll_init(loop_uv(run->world->loop), &death, fd);
		uv_poll_start(&death, UV_READABLE, on_death);
		while (!uv_is_closing((uv_handle_t *)&death))
			turn(run->world);
		uv_run(loop_uv(run->world->loop), UV_RUN_NOWAIT);
	}
	while (is_there(pid))
		sched_yield();
}

static size_t count_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	size_t count = 0;
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

/* The supervisor is the only child, and alive. */
static void assert_no_dead_child(void)
{
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
}

static void expect_failure(struct world *world, const struct process_spec *spec, const char *want)
{
	struct run first, run;
	run_sh(&first, world, ":"); /* starts the supervisor */
	run_finish(&first);
	turn(world);
	size_t fds = count_fds();
	run_init(&run, world);
	run_start(&run, spec);
	run_until_end(&run);
	assert_string_equal(run.error, want);
	assert_int_equal(run.result.exit_code, -1);
	run_finish(&run);
	turn(world);
	assert_int_equal(count_fds(), fds);
	assert_no_dead_child();
}

/* The file systems of the folder and the program may not answer, so the caller's thread does not access them. */
static void an_error_of_the_folder_or_the_program_is_reported_as_an_end(void **state)
{
	const char *const missing[] = {"no-such-program", NULL}, *const no_file[] = {"/no/such/file", NULL};
	const char *const no_script[] = {"/etc/passwd", NULL}, *const fine[] = {"sh", NULL};
	const char *const blocked[] = {"passwd", NULL}, *const folder[] = {"tmp", NULL};
	const char *const etc[] = {"PATH=/no/such:/:/etc", NULL};
	expect_failure(*state, &(struct process_spec){.argv = missing, .env = plain_env},
	               "cannot run no-such-program: No such file or directory");
	expect_failure(*state, &(struct process_spec){.argv = no_file, .env = plain_env},
	               "cannot run /no/such/file: No such file or directory");
	expect_failure(*state, &(struct process_spec){.argv = no_script, .env = plain_env},
	               "cannot run /etc/passwd: Permission denied");
	expect_failure(*state, &(struct process_spec){.argv = fine, .env = plain_env, .cwd = "/no/such"},
	               "cannot run sh in /no/such: No such file or directory");
	expect_failure(*state, &(struct process_spec){.argv = blocked, .env = etc},
	               "cannot run passwd: Permission denied");
	expect_failure(*state, &(struct process_spec){.argv = folder, .env = etc},
	               "cannot run tmp: No such file or directory");
}

static void an_empty_command_is_refused(void **state)
{
	struct world *world = *state;
	const char *const none[] = {NULL};
	struct error err = {0};
	assert_null(process_start(world->loop, &(struct process_spec){.argv = none}, &handler, NULL, &err));
	assert_string_equal(err.text, "cannot run an empty command");
}

/* A file that cannot be executed does not hide an executable one in a later folder of PATH; relative folders are those
 * of the command's folder. */
static void a_program_is_searched_in_path(void **state)
{
	struct run run;
	const char *const argv[] = {"sh", "-c", "echo $0", NULL};
	const char *const env[] = {"PATH=/no/such:/etc/passwd:etc:usr/bin:bin", NULL};
	run_init(&run, *state);
	run_start(&run, &(struct process_spec){.argv = argv, .env = env, .cwd = "/"});
	run_until_end(&run);
	assert_string_equal(run.error, "");
	assert_str(run_out(&run), "sh\n");
	run_finish(&run);
}

static void a_path_beyond_the_limit_is_refused(void **state)
{
	struct world *world = *state;
	struct error err = {0};
	enum { FOLDERS = 64 * KIB, NAME = 4 * KIB };
	auto_free char *path = xmalloc(FOLDERS + 6), *name = xmalloc(NAME + 1);
	memcpy(path, "PATH=", 5);
	memset(path + 5, ':', FOLDERS);
	path[FOLDERS + 5] = '\0';
	memset(name, 'x', NAME);
	name[NAME] = '\0';
	const char *const argv[] = {name, NULL}, *const env[] = {path, NULL};
	assert_null(process_start(world->loop, &(struct process_spec){.argv = argv, .env = env}, &handler, NULL, &err));
	assert_non_null(strstr(err.text, "Argument list too long"));
}

/* A launch is executed in place of argv and cannot report that argv[0] does not exist. */
static void a_launch_of_a_missing_program_fails_as_the_program(void **state)
{
	const char *const missing[] = {"no-such-program", NULL}, *const there[] = {"env", NULL};
	const char *const instead[] = {"/bin/echo", "ran", NULL};
	const struct launch launch = {.argv = instead, .env = plain_env};
	struct process_spec spec = {.argv = missing, .env = plain_env, .launch = &launch, .checks_program = true};
	struct run run;
	expect_failure(*state, &spec, "cannot run no-such-program: No such file or directory");
	spec.argv = there;
	run_init(&run, *state);
	run_start(&run, &spec);
	run_until_end(&run);
	assert_str(run_out(&run), "ran\n");
	run_finish(&run);
}

static void exit_codes_and_signals_are_reported(void **state)
{
	struct run run;
	run_sh(&run, *state, "exit 42");
	assert_int_equal(run.result.exit_code, 42);
	assert_int_equal(run.result.signal, 0);
	assert_false(run.result.is_cut);
	assert_false(process_is_running(run.process));
	run_finish(&run);
	run_sh(&run, *state, "kill -9 $$");
	assert_int_equal(run.result.exit_code, -1);
	assert_int_equal(run.result.signal, SIGKILL);
	run_finish(&run);
}

static void streams_are_kept_apart_or_merged(void **state)
{
	struct run run;
	run_sh(&run, *state, "echo out; echo err >&2");
	assert_str(run_out(&run), "out\n");
	assert_str(run_err(&run), "err\n");
	run_finish(&run);
	run_init(&run, *state);
	const char *const argv[] = {"/bin/sh", "-c", "echo 1; echo 2 >&2; echo 3", NULL};
	run_start(&run, &(struct process_spec){.argv = argv, .env = plain_env, .merge_output = true});
	run_until_end(&run);
	assert_str(run_out(&run), "1\n2\n3\n");
	assert_str(run_err(&run), "");
	run_finish(&run);
}

static void environment_and_folder_are_as_given(void **state)
{
	struct run run;
	run_init(&run, *state);
	const char *const argv[] = {"sh", "-c", "pwd; echo $GREETING; echo ${HOME-none} ${#CODEX_EXEC_ID}", NULL};
	const char *const env[] = {"CODEX_EXEC_ID=outer", "GREETING=hello", "PATH=/no/such:bin", NULL};
	run_start(&run, &(struct process_spec){.argv = argv, .env = env, .cwd = "/usr/.."});
	run_until_end(&run);
	assert_str(run_out(&run), "/\nhello\nnone 16\n");
	run_finish(&run);
}

static void nothing_of_the_engine_is_inherited(void **state)
{
	struct run run;
	int leaked = fcntl(0, F_DUPFD, 50); /* without O_CLOEXEC, as some libraries do */
	char script[512];
	snprintf(script, sizeof(script),
	         "[ -e /proc/self/fd/%d ] && echo leaked; "
	         "while read -r key value; do case $key in SigBlk:|SigIgn:) echo $value;; esac; done "
	         "</proc/self/status; "
	         "read -r line || echo no input; "
	         "read -r pid name state parent group session rest </proc/$$/stat; [ $session = $$ ] && echo leader",
	         leaked);
	signal(SIGINT, SIG_IGN);
	sigset_t block;
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	sigprocmask(SIG_BLOCK, &block, NULL);
	run_init(&run, *state);
	run_start_sh(&run, script);
	sigprocmask(SIG_UNBLOCK, &block, NULL);
	signal(SIGINT, SIG_DFL);
	run_until_end(&run);
	close(leaked);
	assert_str(run_out(&run), "0000000000000000\n0000000000000000\nno input\nleader\n");
	run_finish(&run);
}

/* An engine started without stdin and stdout: its pipes get the descriptors that the child needs. */
static void low_descriptors_do_not_collide(void **state)
{
#ifdef __SANITIZE_THREAD__
	skip(); /* it turns vfork into fork; libuv then opens a pipe at the number that the test needs free */
#endif
	struct run run;
	run_sh(&run, *state,
	       ":"); /* libuv keeps a descriptor from its first stream on, which must not have a low number */
	run_finish(&run);
	process_reaper_stop(); /* the next supervisor gets low descriptors */
	int in = fcntl(0, F_DUPFD_CLOEXEC, 10), out = fcntl(1, F_DUPFD_CLOEXEC, 10);
	close(0);
	close(1);
	run_sh(&run, *state, "echo out; echo err >&2; read -r line || echo eof");
	dup2(in, 0);
	dup2(out, 1);
	close(in);
	close(out);
	assert_str(run_out(&run), "out\neof\n");
	assert_str(run_err(&run), "err\n");
	run_finish(&run);
}

static void input_is_written_and_closed(void **state)
{
	struct run run;
	run_init(&run, *state);
	const char *const argv[] = {"cat", NULL};
	run_start(&run, &(struct process_spec){.argv = argv, .env = plain_env, .stdin_open = true});
	auto_free char *big = xmalloc(LIMIT_EXEC_STDIN);
	memset(big, 'x', LIMIT_EXEC_STDIN);
	struct error err = {0};
	assert_int_equal(process_write_stdin(run.process, STR("first "), NULL), 0);
	assert_int_equal(process_write_stdin(run.process, str_n(big, LIMIT_EXEC_STDIN - 6), NULL), 0);
	/* the pipe may have taken some of it */
	assert_int_equal(process_write_stdin(run.process, str_n(big, LIMIT_EXEC_STDIN), &err), -ERR_busy);
	process_close_stdin(run.process);
	assert_int_equal(process_write_stdin(run.process, STR("z"), &err), -ERR_io);
	run_until_end(&run);
	assert_int_equal(run_out(&run).len, LIMIT_EXEC_STDIN);
	assert_true(str_has_prefix(run_out(&run), "first xxx"));
	run_finish(&run);
}

static void a_command_that_ignores_its_input_blocks_no_other(void **state)
{
	struct run run;
	run_init(&run, *state);
	const char *const argv[] = {"sh", "-c", "exec 0<&-; echo closed; read -r line </dev/null; sleep 0.05", NULL};
	run_start(&run, &(struct process_spec){.argv = argv, .env = plain_env, .stdin_open = true});
	run_until_output(&run);
	assert_int_equal(process_write_stdin(run.process, STR("into the void"), NULL), 0);
	run_until_end(&run);
	assert_int_equal(run.result.signal, 0);
	assert_int_equal(process_write_stdin(run.process, STR("again"), NULL), -ERR_io);
	run_finish(&run);
}

static void large_output_passes_in_bounded_memory(void **state)
{
	struct run run;
	struct output kept;
	output_init(&kept, LIMIT_EXEC_CAPTURE);
	run_sh(&run, *state, "head -c 52428800 /dev/zero; echo done");
	output_append(&kept, run_out(&run));
	assert_int_equal(kept.total, 52428805);
	assert_int_equal(kept.dropped, 52428805 - LIMIT_EXEC_CAPTURE);
	output_finish(&kept);
	run_finish(&run);
}

static void a_paused_command_waits(void **state)
{
	struct run run, other;
	run_init(&run, *state);
	run.pause_at_output = true;
	run_start_sh(&run, "echo first; head -c 300000 /dev/zero");
	while (!run_out(&run).len)
		turn(run.world);
	size_t before = run_out(&run).len;
	run_sh(&other, *state, "echo other");
	run_finish(&other);
	assert_int_equal(run_out(&run).len, before);
	assert_int_equal(run.ends, 0);
	run.pause_at_output = false;
	process_resume(run.process);
	run_until_end(&run);
	assert_int_equal(run_out(&run).len, 300006);
	run_finish(&run);
}

/* A command that has printed and ended is not read while it is paused. */
static void the_end_of_a_paused_command_waits(void **state)
{
	struct run run, other;
	run_init(&run, *state);
	run.is_merged = run.has_input = true;
	run_start_sh(&run, "echo $$; read -r line; echo last >&2");
	run_until_output(&run);
	size_t before = run_out(&run).len;
	process_pause(run.process);
	process_close_stdin(run.process);
	while (process_is_running(run.process))
		turn(run.world);
	run_sh(&other, *state, ":");
	run_finish(&other);
	assert_int_equal(run.ends, 0);
	assert_int_equal(run_out(&run).len, before);
	process_resume(run.process);
	run_until_end(&run);
	assert_int_equal(run_out(&run).len, before + strlen("last\n"));
	assert_false(run.result.is_cut);
	run_finish(&run);
}

static bool has_descriptor(pid_t pid, int fd)
{
	char path[64];
	struct stat info;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)pid, fd);
	return lstat(path, &info) == 0;
}

/* The end of merged output is taken with the end of the command: it does not wake the loop of its own. */
static void merged_output_ends_with_its_command(void **state)
{
	struct run run;
	run_init(&run, *state);
	run.is_merged = run.has_input = true;
	run_start_sh(&run, "echo $$; read -r line; exec >&- 2>&-; read -r line; exit 7");
	pid_t pid = run_printed_pid(&run);
	assert_int_equal(process_write_stdin(run.process, STR("go\n"), NULL), 0);
	while (process_has_input(run.process))
		turn(run.world);
	while (has_descriptor(pid, 1) || has_descriptor(pid, 2))
		sched_yield();
	uv_run(loop_uv(run.world->loop), UV_RUN_NOWAIT);
	struct pollfd wake = {.fd = uv_backend_fd(loop_uv(run.world->loop)), .events = POLLIN};
	assert_int_equal(poll(&wake, 1, 0), 0);
	process_close_stdin(run.process);
	run_until_end(&run);
	assert_int_equal(run.result.exit_code, 7);
	assert_false(run.result.is_cut);
	run_finish(&run);
}

static void many_commands_leave_nothing(void **state)
{
	struct run run;
	run_sh(&run, *state, ":");
	run_finish(&run);
	turn(*state);
	size_t fds = count_fds();
	for (int i = 0; i < 200; i++) {
		run_init(&run, *state);
		run.is_merged = i % 2;
		run_start_sh(&run, "echo $GREETING");
		run_until_end(&run);
		assert_str(run_out(&run), "hello\n");
		run_finish(&run);
	}
	turn(*state);
	assert_int_equal(count_fds(), fds);
	assert_no_dead_child();
}

static void commands_run_beside_each_other(void **state)
{
	struct run runs[20];
	for (size_t i = 0; i < countof(runs); i++) {
		run_init(&runs[i], *state);
		run_start_sh(&runs[i], "read -r line; echo $PPID; exit 3");
	}
	for (size_t i = 0; i < countof(runs); i++) {
		run_until_end(&runs[i]);
		assert_int_equal(runs[i].ends, 1);
		assert_int_equal(runs[i].result.exit_code, 3);
		assert_int_equal(run_printed_pid(&runs[i]), supervisor_pid());
		run_finish(&runs[i]);
	}
}

static void handlers_may_destroy(void **state)
{
	struct run run;
	run_init(&run, *state);
	run.destroy_at_end = true;
	run_start_sh(&run, "echo x");
	run_until_end(&run);
	assert_null(run.process);
	run_finish(&run);
	run_init(&run, *state);
	run.destroy_at_output = true;
	run_start_sh(&run, "echo $$; sleep 1000");
	pid_t pid = run_printed_pid(&run);
	run_until_gone(&run, pid);
	assert_int_equal(run.ends, 0);
	run_finish(&run);
	/* The output of a merged command may be read when its end is reported. */
	run_init(&run, *state);
	run.is_merged = run.destroy_at_output = true;
	run_start_sh(&run, "printf x");
	while (run.process)
		turn(run.world);
	assert_str(run_out(&run), "x");
	assert_int_equal(run.ends, 0);
	run_finish(&run);
}

static void a_tree_that_ignores_term_is_killed(void **state)
{
	struct run run;
	run_init(&run, *state);
	run_start_sh(&run, "trap '' TERM; (sh -c 'echo $$; while :; do sleep 1000; done'; :); :");
	pid_t grandchild = run_printed_pid(&run);
	process_kill(run.process);
	process_kill(run.process);
	run_until_end(&run);
	assert_int_equal(run.result.signal, SIGKILL);
	assert_int_equal(run.ends, 1);
	run_until_gone(&run, grandchild);
	run_finish(&run);
}

static void run_start_daemon(struct run *run, const char *mode)
{
	const char *const argv[] = {self_path, mode, NULL};
	run_start(run, &(struct process_spec){.argv = argv, .env = plain_env, .drain_ms = PROCESS_DRAIN_MS});
}

static void expect_daemon_dies(struct world *world, const char *mode)
{
	struct run run;
	run_init(&run, world);
	run_start_daemon(&run, mode);
	pid_t daemon = run_printed_pid(&run);
	run_until_end(&run); /* the daemon has no pipe open */
	assert_int_equal(run.result.exit_code, 0);
	assert_true(is_there(daemon));
	process_kill(run.process);
	run_until_gone(&run, daemon);
	run_finish(&run);
}

static void daemons_die_with_their_command(void **state)
{
	expect_daemon_dies(*state, "daemon");
}

static void daemons_without_environment_die_with_their_command(void **state)
{
	expect_daemon_dies(*state, "bare");
}

static void a_killed_supervisor_is_a_killed_command(void **state)
{
	struct run run, next;
	run_init(&run, *state);
	run_start_sh(&run, "trap '' TERM; (setsid sh -c 'echo $$; while :; do sleep 1000; done'); :");
	struct pollfd death = {.events = POLLIN};
	death.fd = (int)syscall(SYS_pidfd_open, run_printed_pid(&run), 0);
	kill(supervisor_pid(), SIGKILL);
	run_until_end(&run);
	assert_int_equal(run.result.signal, SIGKILL);
	assert_int_equal(poll(&death, 1, GUARD_MS), 1);
	close(death.fd);
	run_finish(&run);
	run_sh(&next, *state, "echo again");
	assert_str(run_out(&next), "again\n");
	run_finish(&next);
}

/* Of these commands it is not known whether they ran, apart from the one whose request was not sent. */
static void commands_that_a_killed_supervisor_may_have_run_are_killed(void **state)
{
	enum { ASKED = LIMIT_SUPERVISOR_REQUESTS + 1 };
	static struct run asked[ASKED];
	run_sh(&asked[0], *state, ":");
	run_finish(&asked[0]);
	kill(supervisor_pid(), SIGSTOP);
	for (size_t i = 0; i < ASKED; i++) {
		run_init(&asked[i], *state);
		run_start_sh(&asked[i], ":");
	}
	kill(supervisor_pid(), SIGKILL);
	for (size_t i = 0; i < ASKED; i++) {
		bool is_sent = i < LIMIT_SUPERVISOR_REQUESTS;
		run_until_end(&asked[i]);
		assert_int_equal(asked[i].result.signal, is_sent ? SIGKILL : 0);
		assert_true(!asked[i].error[0] == is_sent);
		run_finish(&asked[i]);
	}
}

static void leaving_does_not_wait_for_a_daemon_that_is_deaf_to_TERM(void **state)
{
	struct run run;
	run_sh(&run, *state,
	       "(trap '' TERM; exec setsid sh -c 'echo $$; exec >/dev/null 2>&1; while :; do "
	       "sleep 1000; done') &");
	struct pollfd death = {.events = POLLIN};
	death.fd = (int)syscall(SYS_pidfd_open, run_printed_pid(&run), 0);
	run_finish(&run);
	pid_t supervisor = supervisor_pid();
	assert_false(process_reaper_leave()); /* the supervisor does it by itself */
	assert_int_equal(supervisor_pid(), 0);
	assert_int_equal(poll(&death, 1, GUARD_MS), 1);
	close(death.fd);
	assert_int_equal(waitpid(supervisor, NULL, 0), supervisor);
	assert_true(process_reaper_leave());
}

static void on_no_start(void *self)
{
	(void)self;
}

static void on_no_end(int wait_status, const struct error *err, void *self)
{
	(void)wait_status, (void)err, (void)self;
}

static void on_no_silence(const struct error *err, void *self)
{
	(void)err, (void)self;
}

/* A command counts until its end is reported, which takes an iteration of the loop; none runs here. Queued commands
 * hold descriptors. */
static void commands_beyond_the_limit_are_refused(void **state)
{
	static const struct supervisor_handler nothing = {on_no_start, on_no_start, on_no_end, on_no_silence};
	struct world *world = *state;
	struct error err;
	static struct supervisor_child children[LIMIT_COMMANDS + 1];
	struct rlimit files, most;
	getrlimit(RLIMIT_NOFILE, &files);
	most = (struct rlimit){files.rlim_max, files.rlim_max};
	setrlimit(RLIMIT_NOFILE, &most);
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *const argv[] = {"true", NULL};
	const char *const paths[] = {"/bin/true", NULL};
	struct spawn_plan plan = {.paths = paths, .argv = argv, .env = plain_env, .fds = {null, null, null}};
	for (size_t i = 0; i < LIMIT_COMMANDS; i++) {
		if (supervisor_spawn(world->loop, &plan, &children[i], &nothing, NULL, &err) != 0)
			fail_msg("%zu: %s", i, err.text);
	}
	pid_t supervisor = supervisor_pid();
	int status = supervisor_spawn(world->loop, &plan, &children[LIMIT_COMMANDS], &nothing, NULL, &err);
	assert_int_equal(status, -ERR_busy);
	assert_non_null(strstr(err.text, "4096 commands run already; wait for one to end"));
	assert_int_equal(supervisor_pid(), supervisor);
	close(null);
	assert_int_equal(process_reaper_stop(), 0);
	setrlimit(RLIMIT_NOFILE, &files);
}

/* All queued commands are started, each with its own descriptors, although the supervisor accepts a few at a time. */
static void a_burst_of_commands_is_started_whole(void **state)
{
	static struct run runs[100];
	for (size_t i = 0; i < countof(runs); i++) {
		char script[32];
		snprintf(script, sizeof(script), "echo %zu", i);
		run_init(&runs[i], *state);
		run_start_sh(&runs[i], script);
	}
	for (size_t i = 0; i < countof(runs); i++) {
		char want[32];
		snprintf(want, sizeof(want), "%zu\n", i);
		run_until_end(&runs[i]);
		assert_true(str_is(run_out(&runs[i]), want));
		run_finish(&runs[i]);
	}
}

/* More than the buffer of the socket to the supervisor. */
static void a_large_environment_arrives_whole(void **state)
{
	enum { VARS = 10, SIZE = 100 * KIB };
	struct run run, next;
	char *env[VARS + 1] = {NULL};
	for (size_t i = 0; i < VARS; i++) {
		env[i] = xmalloc(SIZE + 1);
		memset(env[i], 'x', SIZE);
		memcpy(env[i], (char[]){'V', (char)('0' + i), '='}, 3);
		env[i][SIZE] = '\0';
	}
	const char *const argv[] = {"/bin/sh", "-c", "echo ${#V0} ${#V9}", NULL};
	run_init(&run, *state);
	run_start(&run, &(struct process_spec){.argv = argv, .env = (const char *const *)env});
	run_sh(&next, *state, "echo next");
	run_until_end(&run);
	assert_str(run_out(&run), "102397 102397\n");
	assert_str(run_out(&next), "next\n");
	run_finish(&run);
	run_finish(&next);
	for (size_t i = 0; i < VARS; i++)
		free(env[i]);
}

/* ---- a system that transfers no further descriptors ---- */

static void refuse_sendmsg(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ETOOMANYREFS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {.len = countof(code), .filter = code};
	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

/* Runs in a separate process, because a filter cannot be removed. LIMIT_SUPERVISOR_REQUESTS commands are sent before
 * it is installed. */
static bool is_refusal_reported(void)
{
	enum { COMMANDS = LIMIT_SUPERVISOR_REQUESTS + 1 };
	static struct run runs[COMMANDS];
	struct world world = {.loop = loop_create(NULL)};
	struct error err = {0};
	const char *const argv[] = {"/bin/true", NULL};
	const struct process_spec spec = {.argv = argv, .env = plain_env};
	for (size_t i = 0; i < COMMANDS; i++) {
		run_init(&runs[i], &world);
		run_start(&runs[i], &spec);
	}
	refuse_sendmsg();
	for (size_t i = 0; i < COMMANDS; i++)
		run_until_end(&runs[i]);
	bool is_reported = !runs[COMMANDS - 2].error[0] && strstr(runs[COMMANDS - 1].error, "raise `ulimit -n`");
	is_reported &= !process_start(world.loop, &spec, &handler, NULL, &err) && err.code == ERR_busy &&
	               strstr(err.text, "raise `ulimit -n`");
	for (size_t i = 0; i < COMMANDS; i++)
		run_finish(&runs[i]);
	process_reaper_stop();
	loop_destroy(world.loop);
	return is_reported;
}

static void a_refused_transfer_of_descriptors_fails_the_command(void **state)
{
	(void)state;
	int status = 0;
	pid_t pid = fork();
	if (pid == 0)
		_exit(is_refusal_reported() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- starts that fail late, or hang ---- */

struct program {
	char dir[64], path[80];
	int lease; /* the exec of the program waits until this lease is released; -1: not taken */
};

static void program_create(struct program *it, const char *parent, const char *text)
{
	snprintf(it->dir, sizeof(it->dir), "%s/test-process-XXXXXX", parent);
	assert_non_null(mkdtemp(it->dir));
	snprintf(it->path, sizeof(it->path), "%s/program", it->dir);
	int fd = open(it->path, O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	it->lease = -1;
}

static void program_destroy(struct program *it)
{
	if (it->lease >= 0)
		close(it->lease);
	unlink(it->path);
	rmdir(it->dir);
}

/* Creates a program whose exec hangs, as on a file system that does not respond. False if the file system has no
 * leases. */
static bool program_create_hanging(struct program *it)
{
	static const char *const parents[] = {"/tmp", "/dev/shm"};
	signal(SIGIO, SIG_IGN); /* the kernel signals a broken lease */
	for (size_t i = 0; i < countof(parents); i++) {
		program_create(it, parents[i], "#!/bin/sh\necho $$ late; sleep 1000\n");
		it->lease = open(it->path, O_RDONLY | O_CLOEXEC);
		if (fcntl(it->lease, F_SETLEASE, F_WRLCK) == 0)
			return true;
		program_destroy(it);
	}
	return false;
}

static void run_start_program(struct run *run, const struct program *program)
{
	const char *const argv[] = {program->path, NULL};
	run_start(run, &(struct process_spec){.argv = argv, .env = plain_env, .drain_ms = PROCESS_DRAIN_MS});
}

static size_t count_below_supervisor(pid_t *ret_last)
{
	auto_process_tree struct process_tree tree;
	size_t count = 0;
	assert_int_equal(process_tree_read(&tree, supervisor_pid(), NULL), 0);
	vec_for_each(entry, &tree.entries) {
		if (!process_tree_is_below(&tree, entry))
			continue;
		count++;
		*ret_last = entry->pid;
	}
	return count;
}

/* Returns the process of the only command once it exists. */
static pid_t run_until_pid(struct run *run)
{
	pid_t pid = 0;
	while (count_below_supervisor(&pid) == 0)
		turn(run->world);
	return pid;
}

static void a_file_that_cannot_be_executed_fails_after_the_start(void **state)
{
	struct program program;
	struct run run;
	run_sh(&run, *state, ":");
	run_finish(&run);
	turn(*state);
	size_t fds = count_fds();
	program_create(&program, "/tmp",
	               "\x7f"
	               "ELF and nothing else");
	run_init(&run, *state);
	run_start_program(&run, &program);
	run_until_end(&run);
	assert_non_null(strstr(run.error, "/program: Exec format error"));
	assert_int_equal(run.result.exit_code, -1);
	assert_int_equal(run.result.signal, 0);
	assert_int_equal(run.ends, 1);
	assert_false(process_is_running(run.process));
	run_finish(&run);
	turn(*state);
	assert_int_equal(count_fds(), fds);
	assert_no_dead_child();
	program_destroy(&program);
}

static void a_hanging_start_blocks_no_other(void **state)
{
	struct program program;
	struct run stuck, runs[20];
	if (!program_create_hanging(&program))
		skip();
	run_init(&stuck, *state);
	run_start_program(&stuck, &program);
	pid_t pid = run_until_pid(&stuck), supervisor = supervisor_pid();
	for (size_t i = 0; i < countof(runs); i++) {
		run_sh(&runs[i], *state, "echo $GREETING");
		assert_str(run_out(&runs[i]), "hello\n");
		run_finish(&runs[i]);
	}
	assert_int_equal(stuck.ends, 0);
	assert_int_equal(supervisor_pid(), supervisor);
	fcntl(program.lease, F_SETLEASE, F_UNLCK);
	assert_int_equal(run_printed_pid(&stuck), pid); /* the start was only delayed */
	run_finish(&stuck);
	program_destroy(&program);
}

struct ended {
	int wait_status;
	bool has_ended;
	char error[512];
};

static void on_stuck_end(int wait_status, const struct error *err, void *self)
{
	struct ended *ended = self;
	*ended = (struct ended){.wait_status = wait_status, .has_ended = true};
	snprintf(ended->error, sizeof(ended->error), "%s", err ? err->text : "");
}

static void a_start_that_hangs_fails_alone(void **state)
{
	static const struct supervisor_handler stuck_handler = {on_no_start, on_no_start, on_stuck_end, on_no_silence};
	struct world *world = *state;
	struct program program;
	struct supervisor_child child = {0};
	struct ended ended = {0};
	struct run run;
	if (!program_create_hanging(&program))
		skip();
	run_init(&run, world);
	run_start_sh(&run, "echo $$; read -r line </dev/null; sleep 1000");
	pid_t other = run_printed_pid(&run), supervisor = supervisor_pid();
	auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *const argv[] = {"stuck", NULL};
	const char *const paths[] = {program.path, NULL};
	struct spawn_plan plan = {.paths = paths,
	                          .argv = argv,
	                          .env = plain_env,
	                          .cwd = program.dir,
	                          .fds = {null, null, null},
	                          .timeout_ms = 20};
	assert_int_equal(supervisor_spawn(world->loop, &plan, &child, &stuck_handler, &ended, NULL), 0);
	while (!ended.has_ended)
		turn(world);
	assert_non_null(strstr(ended.error, "cannot run stuck in /"));
	assert_non_null(strstr(ended.error, "the system did not start it in time"));
	run_until_gone(&run, child.pid);
	assert_true(is_there(other));
	assert_int_equal(run.ends, 0);
	assert_int_equal(supervisor_pid(), supervisor);
	run_finish(&run);
	run_sh(&run, world, "echo next");
	assert_str(run_out(&run), "next\n");
	run_finish(&run);
	program_destroy(&program);
}

static void a_start_that_hangs_can_be_interrupted(void **state)
{
	struct program program;
	struct run run, other;
	if (!program_create_hanging(&program))
		skip();
	run_init(&run, *state);
	run_start_program(&run, &program);
	run_until_pid(&run);
	process_kill(run.process);
	run_until_end(&run);
	assert_int_equal(run.result.exit_code, -1);
	assert_true(run.result.signal == SIGTERM || run.result.signal == SIGKILL);
	run_finish(&run);
	run_init(&run, *state);
	run_start_program(&run, &program);
	process_destroy(steal(run.process)); /* before it has a process */
	run_finish(&run);
	while (count_below_supervisor(&(pid_t){0})) {
		run_sh(&other, *state, ":");
		run_finish(&other);
	}
	program_destroy(&program);
}

static void a_hanging_start_does_not_survive_the_engine(void **state)
{
	struct program program;
	struct run run;
	if (!program_create_hanging(&program))
		skip();
	run_init(&run, *state);
	run_start_program(&run, &program);
	pid_t pid = run_until_pid(&run);
	assert_int_equal(process_reaper_stop(), 0);
	assert_false(is_there(pid));
	run_finish(&run);
	program_destroy(&program);
}

/* Kills are sent before the process leads a group, after that, and during the exec. */
static void a_kill_at_any_moment_of_the_start_ends_it(void **state)
{
	for (int i = 0; i < 100; i++) {
		struct run run;
		run_init(&run, *state);
		run_start_sh(&run, "sleep 1000");
		if (i % 2)
			run_until_pid(&run);
		for (int delay = 0; delay < i; delay++)
			sched_yield();
		process_kill_now(run.process);
		run_until_end(&run);
		assert_string_equal(run.error, "");
		assert_int_equal(run.result.signal, SIGKILL);
		run_finish(&run);
	}
}

/* The report of the start may come after the first output, and after the kill that follows it. */
static void a_command_that_is_killed_early_can_end_by_itself(void **state)
{
	for (int i = 0; i < 20; i++) {
		struct run run;
		run_init(&run, *state);
		run_start_sh(&run, "trap 'echo bye; exit 3' TERM; echo ready; while :; do :; done");
		run_until_output(&run);
		process_kill(run.process);
		run_until_end(&run);
		assert_str(run_out(&run), "ready\nbye\n");
		assert_int_equal(run.result.exit_code, 3);
		run_finish(&run);
	}
}

/* Without its mark the command is not found before its start is reported; its child is, unless it just executes. */
static void a_command_without_a_mark_that_is_killed_early_can_end_by_itself(void **state)
{
#define WITHOUT_MARK "exec env -i /bin/sh -c 'trap \"exit 3\" TERM; echo ready; while :; do :; done'"
	struct run run, other;
	run_init(&other, *state);
	run_start_sh(&other, "sleep 1000");
	for (int i = 0; i < 20; i++) {
		run_init(&run, *state);
		run_start_sh(&run, i % 2 ? WITHOUT_MARK : "sleep 1000 & " WITHOUT_MARK);
		run_until_output(&run);
		process_kill(run.process);
		run_until_end(&run);
		assert_int_equal(run.result.exit_code, 3);
		run_finish(&run);
	}
	run_finish(&other);
}

static size_t count_fds_of(pid_t pid)
{
	char path[32];
	struct dirent *entry;
	size_t count = 0;
	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	DIR *dir = opendir(path);
	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += entry->d_name[0] != '.';
	closedir(dir);
	return count;
}

/* New commands fail, those that wait in the engine, too; running ones and the loop continue. The failed ones do not run
 * when the supervisor continues, and it keeps none of their descriptors. */
static void a_stopped_supervisor_fails_new_commands(void **state)
{
	enum { ASKED = LIMIT_SUPERVISOR_REQUESTS + 2 };
	static struct run asked[ASKED];
	struct run before, after;
	struct program marker;
	char script[128];
	program_create(&marker, "/tmp", "");
	unlink(marker.path);
	snprintf(script, sizeof(script), "echo ran >>%s", marker.path);
	run_init(&before, *state);
	run_start_sh(&before, "echo $$; sleep 1000");
	pid_t pid = run_printed_pid(&before), supervisor = supervisor_pid();
	run_sh(&after, *state, ":");
	run_finish(&after);
	size_t fds = count_fds_of(supervisor);
	kill(supervisor, SIGSTOP);
	for (size_t i = 0; i < ASKED; i++) {
		run_init(&asked[i], *state);
		run_start_sh(&asked[i], script);
	}
	for (size_t i = 0; i < ASKED; i++) {
		run_until_end(&asked[i]);
		assert_non_null(strstr(asked[i].error, "does not answer; was it stopped?"));
		assert_int_equal(asked[i].result.exit_code, -1);
	}
	/* Requests that were not sent need no answer. */
	assert_true(process_is_running(asked[0].process));
	assert_false(process_is_running(asked[ASKED - 1].process));
	for (size_t i = 0; i < ASKED; i++)
		run_finish(&asked[i]);
	assert_true(is_there(pid));
	assert_int_equal(before.ends, 0);
	kill(supervisor, SIGCONT);
	run_sh(&after, *state, "echo after");
	assert_str(run_out(&after), "after\n");
	run_finish(&after);
	assert_int_equal(access(marker.path, F_OK), -1);
	assert_int_equal(supervisor_pid(), supervisor);
	assert_int_equal(count_fds_of(supervisor), fds);
	assert_true(is_there(pid));
	run_finish(&before);
	program_destroy(&marker);
	while (count_below_supervisor(&(pid_t){0})) {
		run_sh(&after, *state, ":");
		run_finish(&after);
	}
}

/* Each report would wake the engine; those of requests that the supervisor finds together come together. */
static void requests_that_come_at_once_are_reported_at_once(void **state)
{
	static const struct supervisor_handler quiet = {on_no_start, on_no_start, on_no_end, on_no_silence};
	static const char *const paths[] = {"/bin/sh", NULL}, *const argv[] = {"sh", "-c", "sleep 1000", NULL};
	static struct supervisor_child asked[LIMIT_SUPERVISOR_REQUESTS];
	struct world *world = *state;
	struct run before;
	auto_close int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	struct spawn_plan plan = {.paths = paths, .argv = argv, .env = plain_env, .fds = {null, null, null}};
	run_sh(&before, world, ":");
	run_finish(&before);
	kill(supervisor_pid(), SIGSTOP);
	for (size_t i = 0; i < countof(asked); i++)
		assert_int_equal(supervisor_spawn(world->loop, &plan, &asked[i], &quiet, NULL, NULL), 0);
	kill(supervisor_pid(), SIGCONT);
	while (!asked[0].pid)
		turn(world);
	for (size_t i = 0; i < countof(asked); i++) {
		assert_true(asked[i].pid > 0);
		kill(asked[i].pid, SIGKILL);
	}
	for (size_t i = 0; i < countof(asked); i++) {
		while (asked[i].is_running)
			turn(world);
	}
}

static void a_supervisor_without_memory_fails_one_command(void **state)
{
	struct run before, run;
	struct rlimit least = {0}, usual;
	run_init(&before, *state);
	run_start_sh(&before, "echo $$; sleep 1000");
	pid_t pid = run_printed_pid(&before), supervisor = supervisor_pid();
	run_sh(&run, *state, ":");
	run_finish(&run);
	size_t fds = count_fds_of(supervisor);
	assert_int_equal(prlimit(supervisor, RLIMIT_AS, NULL, &usual), 0);
	least.rlim_max = usual.rlim_max;
	assert_int_equal(prlimit(supervisor, RLIMIT_AS, &least, NULL), 0);
	run_sh(&run, *state, "echo never");
	assert_string_equal(run.error, "cannot run /bin/sh: Cannot allocate memory");
	run_finish(&run);
	assert_int_equal(prlimit(supervisor, RLIMIT_AS, &usual, NULL), 0);
	run_sh(&run, *state, "echo next");
	assert_str(run_out(&run), "next\n");
	run_finish(&run);
	assert_int_equal(supervisor_pid(), supervisor);
	assert_int_equal(count_fds_of(supervisor), fds);
	assert_true(is_there(pid));
	assert_int_equal(before.ends, 0);
	run_finish(&before);
}

static void a_supervisor_without_descriptors_fails_one_command(void **state)
{
	struct run before, run;
	struct rlimit least, usual;
	run_init(&before, *state);
	run_start_sh(&before, "echo $$; sleep 1000");
	pid_t pid = run_printed_pid(&before), supervisor = supervisor_pid();
	run_sh(&run, *state, ":");
	run_finish(&run);
	size_t fds = count_fds_of(supervisor);
	assert_int_equal(prlimit(supervisor, RLIMIT_NOFILE, NULL, &usual), 0);
	for (size_t room = 0; room < 3; room++) { /* fewer descriptors than a command has */
		least = (struct rlimit){.rlim_cur = fds + room, .rlim_max = usual.rlim_max};
		assert_int_equal(prlimit(supervisor, RLIMIT_NOFILE, &least, NULL), 0);
		run_sh(&run, *state, "echo never");
		assert_string_equal(run.error, "cannot run /bin/sh: Too many open files");
		run_finish(&run);
	}
	assert_int_equal(prlimit(supervisor, RLIMIT_NOFILE, &usual, NULL), 0);
	run_sh(&run, *state, "echo next");
	assert_str(run_out(&run), "next\n");
	run_finish(&run);
	assert_int_equal(supervisor_pid(), supervisor);
	assert_int_equal(count_fds_of(supervisor), fds);
	assert_true(is_there(pid));
	assert_int_equal(before.ends, 0);
	run_finish(&before);
}

/* The pid has been reused since the snapshot, which the start time shows. */
static void a_pid_that_belongs_to_another_process_by_now_gets_no_signal(void **state)
{
	(void)state;
	pid_t pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	auto_process_tree struct process_tree tree;
	assert_int_equal(process_tree_read(&tree, 0, NULL), 0);
	struct process_entry *entry = NULL;
	vec_for_each(it, &tree.entries)
		entry = it->pid == pid ? it : entry;
	assert_non_null(entry);
	struct process_entry earlier = *entry;
	earlier.started--;
	assert_false(process_entry_signal(&earlier, SIGKILL));
	int status;
	assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
	assert_false(process_tree_lists(&tree, &earlier));
	assert_true(process_tree_lists(&tree, entry));
	assert_true(process_entry_signal(entry, SIGTERM));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGTERM); /* it was not ended by the SIGKILL for another process */
}

static void a_stopped_supervisor_does_not_stop_the_end(void **state)
{
	struct run run;
	run_sh(&run, *state, "sleep 1000 >/dev/null 2>&1 & echo $!");
	pid_t background = run_printed_pid(&run);
	run_finish(&run);
	kill(supervisor_pid(), SIGSTOP);
	assert_int_equal(process_reaper_stop(), 0);
	assert_false(is_there(background));
}

/* Kills a command, then runs another one, so that processes that got a signal by mistake have ended. */
static void kill_some_command(struct world *world)
{
	struct run run;
	run_init(&run, world);
	run_start_sh(&run, "echo ready; sleep 1000");
	run_until_output(&run);
	process_kill(run.process);
	run_until_end(&run);
	run_finish(&run);
	run_sh(&run, world, "sleep 0.01");
	run_finish(&run);
}

/* A daemon without an environment mark, whose command has ended (with and without an entry in the table). */
static void another_commands_daemon_is_left_alone(void **state)
{
	struct run run;
	run_init(&run, *state);
	run_start_daemon(&run, "bare");
	struct pollfd death = {.events = POLLIN};
	death.fd = (int)syscall(SYS_pidfd_open, run_printed_pid(&run), 0);
	run_until_end(&run);
	kill_some_command(*state);
	assert_int_equal(poll(&death, 1, 0), 0);
	run_finish(&run);
	kill_some_command(*state);
	assert_int_equal(poll(&death, 1, 0), 0);
	assert_int_equal(process_reaper_stop(), 0);
	assert_int_equal(poll(&death, 1, 0), 1);
	close(death.fd);
}

/* A daemon without an environment mark that started while two commands ran: its command is unknown. */
static void a_daemon_of_one_of_two_commands_is_left_to_the_end(void **state)
{
	struct run first, second;
	run_init(&first, *state);
	run_init(&second, *state);
	run_start_sh(&first, "echo ready; sleep 1000");
	run_start_daemon(&second, "bare");
	struct pollfd death = {.events = POLLIN};
	death.fd = (int)syscall(SYS_pidfd_open, run_printed_pid(&second), 0);
	run_until_end(&second);
	process_kill(first.process);
	run_until_end(&first);
	run_finish(&first);
	run_sh(&first, *state, "sleep 0.01");
	assert_int_equal(poll(&death, 1, 0), 0);
	run_finish(&first);
	run_finish(&second);
	assert_int_equal(process_reaper_stop(), 0);
	assert_int_equal(poll(&death, 1, 0), 1);
	close(death.fd);
}

static void background_work_lives_until_the_engine_ends(void **state)
{
	struct run run;
	run_sh(&run, *state, "sleep 1000 >/dev/null 2>&1 & echo $!");
	pid_t background = run_printed_pid(&run);
	assert_int_equal(run.result.exit_code, 0);
	run_finish(&run);
	run_sh(&run, *state, "echo next");
	run_finish(&run);
	assert_true(is_there(background));
	assert_int_equal(process_reaper_stop(), 0);
	assert_false(is_there(background));
}

static void dead_orphans_are_reaped(void **state)
{
	struct run run;
	run_sh(&run, *state, "(sleep 0.02 & echo $!; sleep 0.01)");
	pid_t orphan = run_printed_pid(&run);
	run_finish(&run);
	struct run other = {.world = *state};
	run_until_gone(&other, orphan);
}

static void a_held_pipe_does_not_hold_the_end(void **state)
{
	struct run run;
	const char *const argv[] = {"/bin/sh", "-c", "sleep 1000 & echo $!", NULL};
	for (int i = 0; i < 2; i++) {
		run_init(&run, *state);
		const struct process_spec spec = {
			.argv = argv, .env = plain_env, .drain_ms = 20, .merge_output = i > 0};
		run_start(&run, &spec);
		run_until_end(&run);
		assert_true(run.result.is_cut);
		assert_int_equal(run.result.exit_code, 0);
		pid_t background = run_printed_pid(&run);
		assert_true(is_there(background));
		process_kill(run.process);
		run_until_gone(&run, background);
		run_finish(&run);
	}
}

/* `server &` must be able to write to its output after its command has ended, without SIGPIPE. */
static void late_output_is_dropped_not_refused(void **state)
{
	struct run run;
	char dir[] = "/tmp/test-process-XXXXXX", script[512], done[64], go[64];
	assert_non_null(mkdtemp(dir));
	snprintf(done, sizeof(done), "%s/done", dir);
	snprintf(go, sizeof(go), "%s/go", dir);
	assert_int_equal(mkfifo(go, 0600), 0);
	snprintf(script, sizeof(script),
	         "(read -r line <%s; head -c 1000000 /dev/zero && echo fine >%s.tmp; mv %s.tmp %s) & exit 0", go, done,
	         done, done);
	run_init(&run, *state);
	const char *const argv[] = {"/bin/sh", "-c", script, NULL};
	run_start(&run, &(struct process_spec){.argv = argv, .env = plain_env, .drain_ms = 1});
	run_until_end(&run);
	assert_true(run.result.is_cut);
	run_finish(&run);
	int fd = open(go, O_WRONLY);
	assert_int_equal(write(fd, "go\n", 3), 3);
	close(fd);
	struct run next;
	while (access(done, F_OK) != 0) {
		run_sh(&next, *state, ":");
		run_finish(&next);
	}
	struct stat st;
	assert_int_equal(stat(done, &st), 0);
	assert_int_equal(st.st_size, 5);
	unlink(done);
	unlink(go);
	rmdir(dir);
}

static void a_tree_that_grows_is_killed_whole(void **state)
{
	struct run run;
	run_init(&run, *state);
	run_start_sh(&run,
	             "trap '' TERM; echo ready; i=0; while [ $i -lt 300 ]; do sleep 1000 & i=$((i+1)); done; wait");
	run_until_output(&run);
	process_destroy(steal(run.process));
	run_finish(&run);
	assert_int_equal(process_reaper_stop(), 0);
}

static void the_reaper_may_stop_under_a_running_command(void **state)
{
	struct run run;
	run_init(&run, *state);
	run_start_sh(&run, "trap '' TERM; echo $$; while :; do sleep 1000; done");
	pid_t pid = run_printed_pid(&run);
	assert_int_equal(process_reaper_stop(), 0);
	assert_false(is_there(pid));
	assert_int_equal(run.ends, 0);
	run_finish(&run);
}

/* ---- the supervisor of an engine with threads ---- */

static void *use_heap(void *is_over)
{
	while (!atomic_load((atomic_bool *)is_over)) {
		void *parts[64];
		for (size_t i = 0; i < countof(parts); i++)
			parts[i] = xmalloc(256 + 640 * i);
		for (size_t i = 0; i < countof(parts); i++)
			free(parts[i]);
	}
	return NULL;
}

/* A lock of the allocator that one of the threads holds during the fork stays locked in the supervisor. */
static void a_supervisor_ends_commands_whatever_other_threads_did_during_its_fork(void **state)
{
	static atomic_bool is_over; /* the threads outlive a failed test */
	pthread_t threads[2];
	for (size_t i = 0; i < countof(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use_heap, &is_over), 0);
	for (int i = 0; i < 20; i++) {
		struct run run;
		run_init(&run, *state);
		run_start_sh(&run, "echo $$; exec sleep 1000");
		pid_t pid = run_printed_pid(&run);
		assert_int_equal(process_reaper_stop(), 0);
		assert_false(is_there(pid));
		run_finish(&run);
	}
	atomic_store(&is_over, true);
	for (size_t i = 0; i < countof(threads); i++)
		pthread_join(threads[i], NULL);
}

/* Starts this program with a variable of that many bytes before the mark, and returns after its exec. */
static pid_t start_marked(size_t before, char *mark)
{
	int ends[2];
	char line[32];
	auto_free char *filler = xmalloc(before + 1);
	memset(filler, 'x', before);
	filler[before] = '\0';
	char *const argv[] = {self_path, (char *)"stay", NULL}, *const env[] = {filler, mark, NULL};
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (pid == 0) {
		dup2(ends[1], 1);
		execve(self_path, argv, env);
		_exit(127);
	}
	close(ends[1]);
	assert_true(read(ends[0], line, sizeof(line)) > 0);
	close(ends[0]);
	return pid;
}

/* The environment is read in parts of 4,096 bytes. */
static void a_mark_is_found_wherever_it_is_in_the_environment(void **state)
{
	(void)state;
	struct process_mark mark, other;
	char text[PROCESS_MARK_ENV_SIZE];
	process_mark_init(&mark);
	process_mark_init(&other);
	process_mark_env(&mark, text);
	for (size_t before = 4040; before < 4110; before += 3) {
		auto_process_tree struct process_tree tree;
		pid_t pid = start_marked(before, text);
		struct process_entry *entry = NULL;
		assert_int_equal(process_tree_read(&tree, 0, NULL), 0);
		vec_for_each(it, &tree.entries)
			entry = it->pid == pid ? it : entry;
		assert_non_null(entry);
		assert_true(process_tree_has(&tree, entry, &mark));
		assert_false(process_tree_has(&tree, entry, &other));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
}

/* Acts as a daemon: prints its pid and sleeps. */
static void be_daemon(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
	int null = open("/dev/null", O_RDWR);
	dup2(null, 1);
	dup2(null, 2);
	for (;;)
		pause();
}

static int leave_everything(bool bare)
{
	char *const argv[] = {self_path, (char *)"stay", NULL}, *const env[] = {NULL};
	if (fork() > 0) {
		wait(NULL);
		return 0;
	}
	setsid();
	if (fork() > 0)
		_exit(0);
	if (bare)
		execve(self_path, argv, env);
	signal(SIGTERM, SIG_IGN);
	be_daemon();
	return 1;
}

int main(int argc, char **argv)
{
	ssize_t len = readlink("/proc/self/exe", self_path, sizeof(self_path) - 1);
	self_path[len < 0 ? 0 : len] = '\0';
	if (argc > 1 && strcmp(argv[1], "stay") == 0)
		be_daemon();
	if (argc > 1)
		return leave_everything(strcmp(argv[1], "bare") == 0);
#define IN_WORLD(test) cmocka_unit_test_setup_teardown(test, world_create, world_destroy)
	const struct CMUnitTest tests[] = {
		IN_WORLD(an_error_of_the_folder_or_the_program_is_reported_as_an_end),
		cmocka_unit_test(a_refused_transfer_of_descriptors_fails_the_command),
		IN_WORLD(an_empty_command_is_refused),
		IN_WORLD(a_program_is_searched_in_path),
		IN_WORLD(a_path_beyond_the_limit_is_refused),
		IN_WORLD(a_launch_of_a_missing_program_fails_as_the_program),
		IN_WORLD(exit_codes_and_signals_are_reported),
		IN_WORLD(streams_are_kept_apart_or_merged),
		IN_WORLD(environment_and_folder_are_as_given),
		IN_WORLD(nothing_of_the_engine_is_inherited),
		IN_WORLD(low_descriptors_do_not_collide),
		IN_WORLD(input_is_written_and_closed),
		IN_WORLD(a_command_that_ignores_its_input_blocks_no_other),
		IN_WORLD(large_output_passes_in_bounded_memory),
		IN_WORLD(a_paused_command_waits),
		IN_WORLD(the_end_of_a_paused_command_waits),
		IN_WORLD(merged_output_ends_with_its_command),
		IN_WORLD(many_commands_leave_nothing),
		IN_WORLD(commands_run_beside_each_other),
		IN_WORLD(handlers_may_destroy),
		IN_WORLD(a_tree_that_ignores_term_is_killed),
		IN_WORLD(daemons_die_with_their_command),
		IN_WORLD(daemons_without_environment_die_with_their_command),
		IN_WORLD(a_killed_supervisor_is_a_killed_command),
		IN_WORLD(commands_that_a_killed_supervisor_may_have_run_are_killed),
		IN_WORLD(a_stopped_supervisor_does_not_stop_the_end),
		IN_WORLD(leaving_does_not_wait_for_a_daemon_that_is_deaf_to_TERM),
		IN_WORLD(commands_beyond_the_limit_are_refused),
		IN_WORLD(a_burst_of_commands_is_started_whole),
		IN_WORLD(a_large_environment_arrives_whole),
		IN_WORLD(a_file_that_cannot_be_executed_fails_after_the_start),
		IN_WORLD(a_hanging_start_blocks_no_other),
		IN_WORLD(a_start_that_hangs_fails_alone),
		IN_WORLD(a_start_that_hangs_can_be_interrupted),
		IN_WORLD(a_hanging_start_does_not_survive_the_engine),
		IN_WORLD(a_kill_at_any_moment_of_the_start_ends_it),
		IN_WORLD(a_command_that_is_killed_early_can_end_by_itself),
		IN_WORLD(a_command_without_a_mark_that_is_killed_early_can_end_by_itself),
		IN_WORLD(a_stopped_supervisor_fails_new_commands),
		IN_WORLD(requests_that_come_at_once_are_reported_at_once),
		IN_WORLD(a_supervisor_without_memory_fails_one_command),
		IN_WORLD(a_supervisor_without_descriptors_fails_one_command),
		IN_WORLD(a_pid_that_belongs_to_another_process_by_now_gets_no_signal),
		IN_WORLD(another_commands_daemon_is_left_alone),
		IN_WORLD(a_daemon_of_one_of_two_commands_is_left_to_the_end),
		IN_WORLD(background_work_lives_until_the_engine_ends),
		IN_WORLD(dead_orphans_are_reaped),
		IN_WORLD(a_held_pipe_does_not_hold_the_end),
		IN_WORLD(late_output_is_dropped_not_refused),
		IN_WORLD(a_tree_that_grows_is_killed_whole),
		IN_WORLD(the_reaper_may_stop_under_a_running_command),
		IN_WORLD(a_supervisor_ends_commands_whatever_other_threads_did_during_its_fork),
		cmocka_unit_test(a_mark_is_found_wherever_it_is_in_the_environment),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
