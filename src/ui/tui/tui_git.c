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

extern char **environ;

#define GIT "git --no-pager --no-optional-locks -c core.fsmonitor=false -c core.quotepath=false"

struct tui_git {
	char *cwd, *script, *argument, *second;
	unsigned wait_ms;
	pthread_mutex_t lock;
	pid_t pid;         /* under lock: the process to kill, 0: none */
	bool is_cancelled; /* under lock */
	struct buf output;
	bool is_ok;
	tui_git_done_fn on_done; /* NULL: cancelled */
	void *self;
};

static pid_t start(const struct tui_git *git, int out)
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

/* Reads until the end, the limit, or the time; true at the end. */
static bool read_all(struct tui_git *git, int in)
{
	uint64_t until = clock_now_ms() + git->wait_ms, now;
	char bytes[16 * KIB];
	while ((now = clock_now_ms()) < until) {
		struct pollfd wait = {.fd = in, .events = POLLIN};
		ssize_t n = poll(&wait, 1, (int)(until - now)) > 0 ? read(in, bytes, sizeof(bytes)) : -1;
		if (n == 0)
			return true;
		if (n > 0)
			buf_append(&git->output, bytes, (size_t)n);
		if (git->output.over || (n < 0 && errno != EINTR && errno != EAGAIN))
			return false;
	}
	return false;
}

/* Starts the script unless it is cancelled; from here on a cancellation kills it. */
static pid_t start_killable(struct tui_git *git, int out)
{
	pthread_mutex_lock(&git->lock);
	pid_t pid = git->is_cancelled ? -1 : start(git, out);
	git->pid = pid > 0 ? pid : 0;
	pthread_mutex_unlock(&git->lock);
	return pid;
}

static void on_work(void *self)
{
	struct tui_git *git = self;
	int pipe[2], status = 0;
	if (host_pipe(pipe) != 0)
		return;
	pid_t pid = start_killable(git, pipe[1]);
	close(pipe[1]);
	bool is_whole = pid > 0 && read_all(git, pipe[0]);
	close(pipe[0]);
	if (pid > 0 && !is_whole)
		kill(-pid, SIGKILL);
	pthread_mutex_lock(&git->lock);
	git->pid = 0;
	pthread_mutex_unlock(&git->lock);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	git->is_ok = pid > 0 && (git->output.over || (is_whole && WIFEXITED(status) && WEXITSTATUS(status) <= 1));
}

static void on_end(void *self)
{
	struct tui_git *git = self;
	if (git->on_done)
		git->on_done(buf_str(&git->output), git->is_ok, git->self);
	buf_finish(&git->output);
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
	git->second = script->second ? xstrdup(script->second) : NULL;
	git->wait_ms = script->wait_ms ? script->wait_ms : GIT_WAIT_MS;
	pthread_mutex_init(&git->lock, NULL);
	git->on_done = on_done;
	git->self = self;
	buf_init(&git->output, GIT_OUTPUT_MAX);
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
