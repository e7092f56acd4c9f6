/* The script has a session of its own, without the terminal: git and ssh would ask for passwords on it, across the
 * screen. The worker waits for git. A cancelled run is killed and its output dropped; the lock keeps the worker from
 * reaping the process, whose number another process could have then, between the two. */
#include "ui/tui/tui_git.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/host.h"
#include "base/limits.h"
#include "loop/loop.h"
#include "ui/tui/tui_limits.h"

extern char **environ;

#define GIT "git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.quotepath=false"

struct tui_git {
	char *cwd, *script, *argument, *second;
	unsigned wait_ms;
	pthread_mutex_t lock;
	pid_t pid;         /* under lock: the process to kill, 0: none */
	bool is_cancelled; /* under lock */
	struct buf output, errors;
	bool is_ok, is_strict;
	tui_git_done_fn on_done; /* NULL: cancelled */
	void *self;
};

static pid_t start(const struct tui_git *git, int out, int errors)
{
	auto_free char *script = xasprintf("GIT='" GIT "'; cd -- \"$1\" || exit 9; %s", git->script);
	const char *argv[] = {"sh", "-c", script, "sh", git->cwd, git->argument, git->second, NULL};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t all;
	pid_t pid = -1;
	sigfillset(&all);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	if (git->is_strict)
		posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
	else
		posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &all);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
	if (posix_spawnp(&pid, "sh", &actions, &attributes, (char *const *)argv, environ) != 0)
		pid = -1;
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return pid;
}

/* Reads what there is. At the end the descriptor becomes -1, which poll ignores. */
static void read_some(struct pollfd *end, struct buf *to)
{
	char bytes[16 * KIB];
	ssize_t n = end->revents ? read(end->fd, bytes, sizeof(bytes)) : -1;
	if (n > 0 && !to->over)
		buf_append(to, bytes, (size_t)n);
	if (n == 0 || (n < 0 && end->revents && errno != EINTR && errno != EAGAIN))
		end->fd = -1;
}

/* Reads until the end, the limit, or the time; true at the end. */
static bool read_all(struct tui_git *git, int in, int errors)
{
	uint64_t until = clock_now_ms() + git->wait_ms, now;
	struct pollfd ends[] = {{.fd = in, .events = POLLIN}, {.fd = errors, .events = POLLIN}};
	while ((ends[0].fd >= 0 || ends[1].fd >= 0) && !git->output.over) {
		if ((now = clock_now_ms()) >= until ||
		    (poll(ends, countof(ends), (int)(until - now)) < 0 && errno != EINTR))
			return false;
		read_some(&ends[0], &git->output);
		read_some(&ends[1], &git->errors);
	}
	return !git->output.over;
}

/* Starts the script unless it is cancelled; from here on a cancellation kills it. */
static pid_t start_killable(struct tui_git *git, int out, int errors)
{
	pthread_mutex_lock(&git->lock);
	pid_t pid = git->is_cancelled ? -1 : start(git, out, errors);
	git->pid = pid > 0 ? pid : 0;
	pthread_mutex_unlock(&git->lock);
	return pid;
}

/* Waits for a script that was started. */
static void judge(struct tui_git *git, pid_t pid, bool is_whole)
{
	int status = 0;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	bool is_end = pid > 0 && is_whole && WIFEXITED(status);
	if (git->is_strict)
		git->is_ok = is_end && WEXITSTATUS(status) == 0;
	else
		git->is_ok = pid > 0 && (git->output.over || (is_end && WEXITSTATUS(status) <= 1));
	if (git->is_strict && !git->is_ok)
		buf_append_str(&git->output, buf_str(&git->errors));
}

static void on_work(void *self)
{
	struct tui_git *git = self;
	int out[2], errors[2];
	if (host_pipe(out) != 0)
		return;
	if (host_pipe(errors) != 0) {
		close(out[0]);
		close(out[1]);
		return;
	}
	pid_t pid = start_killable(git, out[1], errors[1]);
	close(out[1]);
	close(errors[1]);
	bool is_whole = pid > 0 && read_all(git, out[0], errors[0]);
	close(out[0]);
	close(errors[0]);
	if (pid > 0 && !is_whole)
		kill(-pid, SIGKILL);
	pthread_mutex_lock(&git->lock);
	git->pid = 0;
	pthread_mutex_unlock(&git->lock);
	judge(git, pid, is_whole);
}

static void on_end(void *self)
{
	struct tui_git *git = self;
	if (git->on_done)
		git->on_done(buf_str(&git->output), git->is_ok, git->self);
	buf_finish(&git->output);
	buf_finish(&git->errors);
	pthread_mutex_destroy(&git->lock);
	free(git->cwd);
	free(git->script);
	free(git->argument);
	free(git->second);
	free(git);
}

struct tui_git *tui_git_start(struct loop *loop, const char *cwd, const struct tui_git_script *script,
                              tui_git_done_fn on_done, void *self)
{
	struct tui_git *git = xnew(struct tui_git);
	git->cwd = xstrdup(cwd);
	git->script = xstrdup(script->text);
	git->argument = script->argument ? xstrdup(script->argument) : NULL;
	git->is_strict = script->is_strict;
	buf_init(&git->errors, LIMIT_TUI_GIT_ERRORS);
	git->second = script->second ? xstrdup(script->second) : NULL;
	git->wait_ms = script->wait_ms ? script->wait_ms : LIMIT_TUI_GIT_MS;
	pthread_mutex_init(&git->lock, NULL);
	git->on_done = on_done;
	git->self = self;
	buf_init(&git->output, LIMIT_TUI_GIT_OUTPUT);
	worker_run(loop, on_work, on_end, git);
	return git;
}

void tui_git_cancel(struct tui_git *git)
{
	if (!git)
		return;
	git->on_done = NULL;
	pthread_mutex_lock(&git->lock);
	git->is_cancelled = true;
	if (git->pid)
		kill(-git->pid, SIGKILL);
	pthread_mutex_unlock(&git->lock);
}
