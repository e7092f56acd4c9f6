/* The new server reports through a pipe that it is ready; the end of the pipe reports its death, so nothing polls. A
 * server is signalled through a pidfd that was opened while it still held the connection to this process, so that
 * the signal cannot hit another process. */
#include "app_server/app_server_daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "net/http_head.h"
#include "transport/unix_socket.h"

static const char folder_name[] = "app-server-daemon";
enum { READY_FD = 3 };

static char *file_path(const struct app_server_daemon *daemon, const char *name)
{
	return xasprintf("%s/%s/%s", daemon->home, folder_name, name);
}

static bool wait_readable(int fd, int timeout_ms)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	int status;
	while ((status = poll(&wait, 1, timeout_ms)) < 0 && errno == EINTR)
		;
	return status > 0;
}

/* ---- who is there ---- */

/* Asks the server for its version. Another version may not answer; the version is then unknown. */
static void ask_version(struct app_server_daemon *daemon, int fd)
{
	static const char request[] = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";
	char bytes[4 * KIB];
	struct http_head head;
	if (fd_write_all(fd, request, sizeof(request) - 1, NULL) != 0 || !wait_readable(fd, LIMIT_DAEMON_ANSWER_MS))
		return;
	ssize_t count = read(fd, bytes, sizeof(bytes));
	struct str server = STR_NONE;
	if (count > 0 && http_head_parse_answer(&head, str_n(bytes, (size_t)count)))
		server = http_head_get(&head, "server");
	if (server.ptr && str_cut_prefix(&server, "codex/"))
		snprintf(daemon->version, sizeof(daemon->version), "%.*s", STR_ARG(server));
	if (count > 0)
		http_head_finish(&head);
}

/* Connects to the socket and finds the pid of the listener; -1 if no server is running, and ERR_timeout if one is that
 * accepts no connection. */
static int find(struct app_server_daemon *daemon, struct error *err)
{
	daemon->pid = 0;
	daemon->version[0] = '\0';
	int fd = unix_socket_connect(daemon->socket, LIMIT_DAEMON_ANSWER_MS, err);
	if (fd >= 0)
		host_peer_pid(fd, &daemon->pid);
	else if (err->code == ERR_timeout)
		error_set(err, ERR_timeout,
		          "the server at %s accepts no connection; if it hangs, end the process in %s/%s/daemon.pid",
		          daemon->socket, daemon->home, folder_name);
	return fd;
}

char *app_server_daemon_socket(const char *home)
{
	return path_join(home, "app-server-control/app-server-control.sock");
}

bool app_server_daemon_find(struct app_server_daemon *daemon, struct error *err)
{
	auto_close int fd = find(daemon, err);
	if (fd >= 0)
		ask_version(daemon, fd);
	return fd >= 0;
}

static int lock(const struct app_server_daemon *daemon, struct error *err)
{
	auto_free char *folder = path_join(daemon->home, folder_name);
	auto_free char *path = file_path(daemon, "daemon.lock");
	if (dir_make(folder, 0700, err) != 0)
		return -1;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0 && flock(fd, LOCK_EX) == 0)
		return fd;
	error_sys(err, errno, "cannot lock %s", path);
	if (fd >= 0)
		close(fd);
	return -1;
}

/* ---- start ---- */

static int open_log(const struct app_server_daemon *daemon, struct error *err)
{
	auto_free char *path = file_path(daemon, "daemon.stderr.log");
	auto_free char *old = xasprintf("%s.old", path);
	struct stat st;
	if (stat(path, &st) == 0 && st.st_size > LIMIT_DAEMON_LOG)
		rename(path, old);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		error_sys(err, errno, "cannot open %s", path);
	return fd;
}

static int spawn(const struct app_server_daemon *daemon, int log, int ready, pid_t *ret_pid)
{
	VEC(const char *) argv = {0};
	static const char *const words[] = {"codex", "app-server", "--listen", "unix://", "--ready-fd", "3"};
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	for (size_t i = 0; i < countof(words); i++)
		vec_push(&argv, words[i]);
	for (size_t i = 0; i < daemon->override_count; i++) {
		vec_push(&argv, "-c");
		vec_push(&argv, daemon->overrides[i]);
	}
	vec_push(&argv, NULL);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, log, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, log, STDERR_FILENO);
	posix_spawn_file_actions_adddup2(&actions, ready, READY_FD);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	int failure =
		posix_spawn(ret_pid, host_program(), &actions, &attributes, (char **)(uintptr_t)argv.items, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	vec_finish(&argv);
	return failure;
}

/* Moves a descriptor above those of the new process, so that dup2 overwrites none. */
static void move_up(int *fd)
{
	int above = fcntl(*fd, F_DUPFD_CLOEXEC, READY_FD + 1);
	if (above < 0)
		return;
	close(*fd);
	*fd = above;
}

static int wait_ready(const struct app_server_daemon *daemon, int ready, pid_t pid, struct error *err)
{
	char word[16];
	auto_free char *log = file_path(daemon, "daemon.stderr.log");
	bool has_spoken = wait_readable(ready, LIMIT_DAEMON_START_MS);
	if (has_spoken && read(ready, word, sizeof(word)) > 0)
		return 0;
	if (has_spoken)
		return error_set(err, ERR_io, "the server did not start; see the end of %s", log);
	kill(pid, SIGKILL); /* the pid is still that of our child, which was not waited for */
	return error_set(err, ERR_timeout,
	                 "the server was not ready after %d s and was terminated; its messages are in %s",
	                 LIMIT_DAEMON_START_MS / 1000, log);
}

static void write_pid(const struct app_server_daemon *daemon)
{
	char text[64];
	auto_free char *path = file_path(daemon, "daemon.pid");
	snprintf(text, sizeof(text), "{\"pid\":%d}\n", (int)daemon->pid);
	/* best effort: the file is for information only */
	best_effort(file_write_atomic(path, str_of(text), 0600, false, NULL));
}

static int launch(struct app_server_daemon *daemon, struct error *err)
{
	int ready[2];
	pid_t pid;
	auto_close int log = open_log(daemon, err);
	if (log < 0)
		return -(int)err->code;
	if (host_pipe(ready) != 0)
		return error_sys(err, errno, "cannot make a pipe");
	move_up(&log);
	move_up(&ready[1]);
	int failure = spawn(daemon, log, ready[1], &pid);
	close(ready[1]);
	int status =
		failure ? error_sys(err, failure, "cannot start the server") : wait_ready(daemon, ready[0], pid, err);
	close(ready[0]);
	return status;
}

int app_server_daemon_start(struct app_server_daemon *daemon, bool *ret_ran, struct error *err)
{
	auto_close int held = lock(daemon, err);
	if (held < 0)
		return -(int)err->code;
	*ret_ran = app_server_daemon_find(daemon, err);
	if (*ret_ran)
		return 0;
	if (err->code == ERR_timeout)
		return -ERR_timeout;
	if (launch(daemon, err) != 0)
		return -(int)err->code;
	struct error ignored;
	best_effort(app_server_daemon_find(daemon, &ignored)); /* for the pid */
	write_pid(daemon);
	return 0;
}

/* ---- stop ---- */

/* Opens a pidfd of the peer. The peer can have exited and its pid been reused since the pid was read, but not while
 * the connection is open. */
static int open_process(int fd, pid_t pid, struct error *err)
{
	char byte;
	int process = (int)syscall(SYS_pidfd_open, pid, 0);
	if (process < 0 && errno != ESRCH)
		return error_sys(err, errno, "cannot open process %d", (int)pid), -1;
	bool is_gone = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
	if (process >= 0 && is_gone)
		close(process);
	return process < 0 || is_gone ? (error_set(err, ERR_not_found, "the server has already exited"), -1) : process;
}

static int end_process(int process, struct error *err)
{
	static const struct {
		int number, timeout_ms;
	} signals[] = {{SIGTERM, LIMIT_DAEMON_STOP_MS}, {SIGKILL, LIMIT_DAEMON_STOP_MS}};
	for (size_t i = 0; i < countof(signals); i++) {
		if (syscall(SYS_pidfd_send_signal, process, signals[i].number, NULL, 0) != 0 && errno != ESRCH)
			return error_sys(err, errno, "cannot signal the server");
		if (wait_readable(process, signals[i].timeout_ms))
			return 0;
	}
	return error_set(err, ERR_timeout, "the server does not exit");
}

static int stop_at(struct app_server_daemon *daemon, int fd, struct error *err)
{
	auto_close int process = open_process(fd, daemon->pid, err);
	if (process < 0)
		return err->code == ERR_not_found ? 0 : -(int)err->code;
	return end_process(process, err);
}

int app_server_daemon_stop(struct app_server_daemon *daemon, bool *ret_ran, struct error *err)
{
	struct error failure;
	auto_free char *pid_file = file_path(daemon, "daemon.pid");
	auto_close int held = lock(daemon, err);
	if (held < 0)
		return -(int)err->code;
	auto_close int fd = find(daemon, &failure);
	*ret_ran = fd >= 0;
	if (!*ret_ran && failure.code == ERR_timeout) {
		*err = failure;
		return -ERR_timeout;
	}
	if (*ret_ran && stop_at(daemon, fd, &failure) != 0) {
		*err = failure;
		return -(int)err->code;
	}
	unlink(pid_file);
	return 0;
}
