/* vfork, because its cost does not grow with the engine's memory: the child borrows our address space
 * until it executes, so it may only make system calls and must not touch what we rely on. All signals
 * stay blocked meanwhile; otherwise a handler of ours could run in the child, on our data.
 *
 * A failure in the child comes back through a pipe that exec closes. (Writing it to the shared memory
 * would do on a real vfork, but under tools that turn vfork into fork it would be lost.) */
#include "process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

enum spawn_step { STEP_setup, STEP_cwd, STEP_exec };

struct spawn_failure {
	enum spawn_step step;
	int sys;
};

static void child_fail(int fd, enum spawn_step step)
{
	struct spawn_failure failure = {step, errno};
	ssize_t put = write(fd, &failure, sizeof(failure));
	(void)put;
	_exit(127);
}

/* Ours to lose: no descriptor, handler or mask of the engine goes further than this. */
static void child_reset_signals(void)
{
	struct sigaction fallback = {.sa_handler = SIG_DFL};
	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &fallback, NULL);
}

/* A source among the targets would be overwritten before it is used. */
static int child_raise_fd(int fd)
{
	return fd > SPAWN_EXTRA_FD ? fd : fcntl(fd, F_DUPFD_CLOEXEC, SPAWN_EXTRA_FD + 1);
}

static int child_set_fds(const struct spawn_plan *plan)
{
	int source[SPAWN_EXTRA_FD + 1], count = plan->extra_fd ? SPAWN_EXTRA_FD + 1 : SPAWN_EXTRA_FD;
	for (int i = 0; i < count; i++) {
		source[i] = child_raise_fd(i < SPAWN_EXTRA_FD ? plan->fds[i] : plan->extra_fd);
		if (source[i] < 0)
			return -1;
	}
	for (int i = 0; i < count; i++) {
		if (dup2(source[i], i) < 0)
			return -1;
	}
	/* Everything in the engine is opened with O_CLOEXEC; this is for descriptors that libraries leave open.
	 * Where a system refuses the call, the flag alone must do. */
	close_range((unsigned)count, ~0u, CLOSE_RANGE_CLOEXEC);
	return 0;
}

static __attribute__((noreturn)) void child_run(const struct spawn_plan *plan, pid_t parent, int report)
{
	sigset_t none;
	report = child_raise_fd(report);
	child_reset_signals();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (plan->adopts_orphans)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (getppid() != parent) /* it ended before prctl: no signal will come */
		_exit(127);
	setsid();
	if (child_set_fds(plan) != 0 || (plan->has_terminal && ioctl(0, TIOCSCTTY, 0) != 0))
		child_fail(report, STEP_setup);
	if (plan->cwd && chdir(plan->cwd) != 0)
		child_fail(report, STEP_cwd);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(plan->path, (char *const *)plan->argv, (char *const *)plan->env);
	child_fail(report, STEP_exec);
	__builtin_unreachable();
}

/* A function of its own, so that the borrowed stack frame holds nothing the parent still needs. */
static __attribute__((noinline)) pid_t fork_and_run(const struct spawn_plan *plan, pid_t parent, int report)
{
	pid_t pid = vfork();
	if (pid == 0)
		child_run(plan, parent, report);
	return pid;
}

static int failure_error(const struct spawn_plan *plan, const struct spawn_failure *failure, struct error *err)
{
	switch (failure->step) {
	case STEP_cwd:
		return error_sys(err, failure->sys, "cannot run %s in %s", plan->argv[0], plan->cwd);
	case STEP_exec:
		return error_sys(err, failure->sys, "cannot run %s", plan->argv[0]);
	default:
		return error_sys(err, failure->sys, "cannot prepare descriptors for %s", plan->argv[0]);
	}
}

/* Waits for exec to close the pipe, or for what went wrong. */
static int wait_for_exec(const struct spawn_plan *plan, pid_t pid, int report, struct error *err)
{
	struct spawn_failure failure;
	ssize_t got;
	do {
		got = read(report, &failure, sizeof(failure));
	} while (got < 0 && errno == EINTR);
	if (got != sizeof(failure))
		return 0;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	return failure_error(plan, &failure, err);
}

int spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err)
{
	int report[2];
	if (pipe2(report, O_CLOEXEC) != 0)
		return error_sys(err, errno, "cannot run %s", plan->argv[0]);
	auto_close int report_read = report[0];
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork_and_run(plan, getpid(), report[1]);
	int sys = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(report[1]);
	if (pid < 0)
		return error_sys(err, sys, "cannot run %s", plan->argv[0]);
	int status = wait_for_exec(plan, pid, report_read, err);
	if (status == 0)
		*ret_pid = pid;
	return status;
}

static struct str path_of(const char *const *env)
{
	for (size_t i = 0; env && env[i]; i++) {
		struct str var = str_of(env[i]);
		if (str_cut_prefix(&var, "PATH="))
			return var;
	}
	return STR("/usr/local/bin:/usr/bin:/bin");
}

/* "<cwd>/<folder>/<name>"; an empty folder is the cwd, as in every shell. */
static char *candidate(const char *cwd, struct str folder, const char *name)
{
	auto_free char *text = str_dup(folder.len ? folder : STR("."));
	auto_free char *path = path_join(text, name);
	return cwd ? path_join(cwd, path) : steal(path);
}

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *spawn_find_program(const char *name, const char *const *env, const char *cwd, struct error *err)
{
	if (strchr(name, '/'))
		return xstrdup(name);
	struct str rest = path_of(env), folder;
	bool is_blocked = false; /* there is one, but we may not run it */
	while (name[0] && str_next_part(&rest, ':', &folder)) {
		auto_free char *path = candidate(cwd, folder, name);
		if (is_program(path))
			return steal(path);
		is_blocked |= file_exists(path) && !dir_exists(path);
	}
	error_sys(err, is_blocked ? EACCES : ENOENT, "cannot run %s", name);
	return NULL;
}
