/* The child shares the engine's memory, because the cost of a copy grows with the engine. Unlike with vfork, the engine
 * does not stop until the child executes its file, which takes as long as the file systems of the folder and the file
 * take. So the child runs on a stack of its own, makes raw system calls only (raw_syscall.h) and reads nothing that
 * changes. All signals are blocked meanwhile; otherwise a handler of the engine could run in the child, on the engine's
 * data. Without raw system calls it is a fork.
 *
 * A failure in the child is reported through a pipe that exec closes. The kernel releases the shared memory before it
 * closes descriptors, at an exec as at an exit: after the end of the pipe nothing uses that memory. */
#include "process/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "process/raw_syscall.h"

struct child {
	const struct spawn_plan *plan;
	pid_t parent;
	int report;
};

RAW_CODE static __attribute__((noreturn)) void child_exit(void)
{
	for (;;)
		raw_syscall(SYS_exit_group, 127, 0, 0, 0);
}

RAW_CODE static __attribute__((noreturn)) void child_fail(int fd, enum spawn_step step, long result)
{
	struct spawn_failure failure = {step, (int)-result};
	raw_syscall(SYS_write, fd, (long)&failure, sizeof(failure), 0);
	child_exit();
}

enum { KERNEL_SIGSET = 8, KERNEL_SIGACTION = 4 };

/* Resets handlers and the signal mask, which the program must not inherit. */
RAW_CODE static void child_reset_signals(void)
{
	long fallback[KERNEL_SIGACTION] = {(long)SIG_DFL, 0, 0, 0};
	for (int sig = 1; sig < NSIG; sig++)
		raw_syscall(SYS_rt_sigaction, sig, (long)fallback, 0, KERNEL_SIGSET);
}

RAW_CODE static void child_unblock_signals(void)
{
	uint64_t none = 0;
	raw_syscall(SYS_rt_sigprocmask, SIG_SETMASK, (long)&none, 0, KERNEL_SIGSET);
}

/* Moves fd above the targets' numbers; otherwise it could be overwritten before it is used. */
RAW_CODE static int child_raise_fd(int fd)
{
	return fd > SPAWN_EXTRA_FD ? fd : (int)raw_syscall(SYS_fcntl, fd, F_DUPFD_CLOEXEC, SPAWN_EXTRA_FD + 1, 0);
}

/* Closes every other descriptor before the exec. An exec can take long, and a reader of the engine's pipes would
 * wait for it. If the system refuses close_range, only FD_CLOEXEC closes them. *report gets a new number. */
RAW_CODE static void child_close_rest(int first, int *report)
{
	if (*report != first && raw_syscall(SYS_dup3, *report, first, O_CLOEXEC, 0) == first)
		*report = first;
	if (*report == first)
		raw_syscall(SYS_close_range, first + 1, (long)UINT_MAX, 0, 0);
}

RAW_CODE static long child_set_fds(const struct spawn_plan *plan, int *report)
{
	int source[SPAWN_EXTRA_FD + 1], count = plan->extra_fd ? SPAWN_EXTRA_FD + 1 : SPAWN_EXTRA_FD;
	for (int i = 0; i < count; i++) {
		source[i] = child_raise_fd(i < SPAWN_EXTRA_FD ? plan->fds[i] : plan->extra_fd);
		if (source[i] < 0)
			return source[i];
	}
	for (int i = 0; i < count; i++) {
		long status = raw_syscall(SYS_dup3, source[i], i, 0, 0);
		if (status < 0)
			return status;
	}
	child_close_rest(count, report);
	return 0;
}

/* True if the error allows trying the next folder of PATH. */
RAW_CODE static bool child_may_try_next(long status)
{
	switch (-status) {
	case ENOENT:
	case ENOTDIR:
	case EACCES:
	case ENAMETOOLONG:
	case ELOOP:
	case ESTALE:
	case ENODEV:
	case ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

/* True if the path exists and is not a folder. */
RAW_CODE static bool child_has_file(const char *path)
{
	long fd = raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_PATH, 0);
	if (fd < 0)
		return false;
	raw_syscall(SYS_close, fd, 0, 0, 0);
	fd = raw_syscall(SYS_openat, AT_FDCWD, (long)path, O_PATH | O_DIRECTORY, 0);
	if (fd >= 0)
		raw_syscall(SYS_close, fd, 0, 0, 0);
	return fd < 0;
}

/* Returns 0 if one of the files is executable. */
RAW_CODE static long child_check(const char *const *paths)
{
	bool is_blocked = false;
	for (; *paths; paths++) {
		if (!child_has_file(*paths))
			continue;
		if (raw_syscall(SYS_faccessat, AT_FDCWD, (long)*paths, X_OK, 0) == 0)
			return 0;
		is_blocked = true;
	}
	return is_blocked ? -EACCES : -ENOENT;
}

/* Executes the plan's file and returns only on failure, with the error: that of the only file, or of the last one
 * that stopped the search, or EACCES if a file was found that must not be executed. */
RAW_CODE static long child_exec(const struct spawn_plan *plan)
{
	long status = -ENOENT;
	bool is_blocked = false;
	for (const char *const *path = plan->paths; *path; path++) {
		status = raw_syscall(SYS_execve, (long)*path, (long)plan->argv, (long)plan->env, 0);
		if (!plan->paths[1] || !child_may_try_next(status))
			return status;
		is_blocked = is_blocked || (status == -EACCES && child_has_file(*path));
	}
	return is_blocked ? -EACCES : -ENOENT;
}

RAW_CODE static int child_run(void *self)
{
	const struct child *child = self;
	const struct spawn_plan *plan = child->plan;
	int report = child_raise_fd(child->report);
	child_reset_signals();
	raw_syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGTERM, 0, 0);
	if (plan->adopts_orphans)
		raw_syscall(SYS_prctl, PR_SET_CHILD_SUBREAPER, 1, 0, 0);
	/* the parent ended before prctl, so no signal follows */
	if (raw_syscall(SYS_getppid, 0, 0, 0, 0) != child->parent)
		child_exit();
	raw_syscall(SYS_setsid, 0, 0, 0, 0);
	long status = child_set_fds(plan, &report);
	if (status == 0 && plan->has_terminal)
		status = raw_syscall(SYS_ioctl, 0, TIOCSCTTY, 0, 0);
	if (status < 0)
		child_fail(report, SPAWN_setup, status);
	if (plan->cwd && (status = raw_syscall(SYS_chdir, (long)plan->cwd, 0, 0, 0)) < 0)
		child_fail(report, SPAWN_cwd, status);
	if (plan->wanted && (status = child_check(plan->wanted)) < 0)
		child_fail(report, SPAWN_exec, status);
	child_unblock_signals();
	status = child_exec(plan);
	child_fail(report, SPAWN_exec, status);
}

/* struct child is at the low end of the stack. */
static pid_t child_create(const struct spawn_plan *plan, void *stack, int report)
{
	struct child *child = stack;
	*child = (struct child){plan, getpid(), report};
#if HAS_RAW_SYSCALL
	return clone(child_run, (char *)stack + SPAWN_STACK, CLONE_VM | SIGCHLD, child);
#else
	pid_t pid = fork();
	if (pid == 0)
		child_run(child);
	return pid;
#endif
}

pid_t spawn_begin(const struct spawn_plan *plan, void *stack, int *ret_report)
{
	int report[2];
	sigset_t all, before;
	if (pipe2(report, O_CLOEXEC | O_NONBLOCK) != 0)
		return -1;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = child_create(plan, stack, report[1]);
	int sys = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	close(report[1]);
	*ret_report = pid < 0 ? -1 : report[0];
	if (pid < 0)
		close(report[0]);
	errno = sys;
	return pid;
}

enum spawn_state spawn_poll(int report, struct spawn_failure *ret_failure)
{
	ssize_t got;
	do {
		got = read(report, ret_failure, sizeof(*ret_failure));
	} while (got < 0 && errno == EINTR);
	if (got < 0 && errno == EAGAIN)
		return SPAWN_STARTS;
	return got == sizeof(*ret_failure) ? SPAWN_FAILED : SPAWN_RUNS;
}

int spawn_failure_error(const struct spawn_failure *failure, const char *name, const char *cwd, struct error *err)
{
	switch (failure->step) {
	case SPAWN_setup:
		return error_sys(err, failure->sys, "cannot prepare descriptors for %s", name);
	case SPAWN_cwd:
		return error_sys(err, failure->sys, "cannot run %s in %s", name, cwd ? cwd : ".");
	case SPAWN_busy:
		return error_set(err, ERR_busy, "cannot run %s: too many commands run", name);
	case SPAWN_late:
		return error_set(err, ERR_io,
		                 "cannot run %s in %s: the system did not start it in time; is the file or "
		                 "the folder on a file system that does not answer?",
		                 name, cwd ? cwd : ".");
	case SPAWN_expired:
		return error_set(err, ERR_io,
		                 "cannot run %s: the process that supervises commands received the request too late; "
		                 "try again",
		                 name);
	default:
		return error_sys(err, failure->sys, "cannot run %s", name);
	}
}

/* Waits until the program is executed or the start fails. */
static enum spawn_state wait_for_exec(int report, struct spawn_failure *ret_failure)
{
	struct pollfd news = {.fd = report, .events = POLLIN};
	enum spawn_state state;
	while ((state = spawn_poll(report, ret_failure)) == SPAWN_STARTS)
		poll(&news, 1, -1);
	return state;
}

int spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err)
{
	struct spawn_failure failure = {SPAWN_fork, 0};
	auto_close int report = -1;
	void *stack = mmap(NULL, SPAWN_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid = stack == MAP_FAILED ? -1 : spawn_begin(plan, stack, &report);
	if (pid < 0)
		failure.sys = errno;
	enum spawn_state state = pid < 0 ? SPAWN_FAILED : wait_for_exec(report, &failure);
	while (pid > 0 && state == SPAWN_FAILED && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	if (stack != MAP_FAILED)
		munmap(stack, SPAWN_STACK);
	if (state == SPAWN_FAILED)
		return spawn_failure_error(&failure, plan->name ? plan->name : plan->argv[0], plan->cwd, err);
	*ret_pid = pid;
	return 0;
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

const char *const *spawn_paths(const char *name, const char *const *env, struct arena *arena, struct error *err)
{
	VEC(const char *) paths = {0};
	struct str rest = path_of(env), folder;
	size_t room = LIMIT_SPAWN, name_len = strlen(name);
	bool is_path = !name[0] || strchr(name, '/');
	if (is_path)
		vec_push(&paths, name);
	while (!is_path && room && str_next_part(&rest, ':', &folder)) {
		size_t size = folder.len + name_len + 3;
		room = size < room ? room - size : 0;
		if (room) /* an empty folder means cwd, as in shells */
			vec_push(&paths, arena_printf(arena, "%.*s/%s", STR_ARG(folder.len ? folder : STR(".")), name));
	}
	const char **list = arena_array(arena, const char *, paths.count + 1);
	if (paths.count)
		memcpy(list, paths.items, paths.count * sizeof(*list));
	vec_finish(&paths);
	if (room)
		return list;
	error_sys(err, E2BIG, "cannot run %.64s: its PATH", name);
	return NULL;
}

static bool is_program(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *spawn_find_program(const char *name, const char *const *env, const char *cwd, struct error *err)
{
	auto_arena struct arena arena = {0};
	bool is_blocked = false; /* a file exists but is not executable for the engine */
	if (strchr(name, '/'))
		return xstrdup(name);
	const char *const *paths = spawn_paths(name, env, &arena, err);
	for (size_t i = 0; paths && paths[i]; i++) {
		auto_free char *path = cwd ? path_join(cwd, paths[i]) : xstrdup(paths[i]);
		if (is_program(path))
			return steal(path);
		is_blocked |= file_exists(path) && !dir_exists(path);
	}
	if (paths)
		error_sys(err, is_blocked ? EACCES : ENOENT, "cannot run %s", name);
	return NULL;
}
