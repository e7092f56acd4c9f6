/* Why a process between the engine and its commands: the kernel gives orphans to the nearest living ancestor that is a
 * subreaper, and gives them up when that one is gone. As long as the engine itself was that ancestor, its death by
 * SIGKILL set every daemon free, and no other process could have known which they were.
 *
 * The fork shares the engine's memory copy-on-write; the keeper touches a few pages of it. Asking it to start a
 * command costs one message each way, and its own fork is cheap because it is small. */
#include "process/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/keeper_priv.h"
#include "sandbox/sandbox_placeholder.h"
#include "process/spawn.h"

enum { EXITS_AT_ONCE = 64, LEAVE_MS = LIMIT_HURRY_MS / 2 };

struct keeper {
	pid_t pid;
	int requests, exits;
	uv_poll_t poll; /* on exits; kept up by running commands only */
	struct list children;
	size_t running;
};

static _Thread_local struct keeper *keeper;

/* ---- its end ---- */

static void on_poll_closed(uv_handle_t *handle)
{
	struct keeper *it = container_of((uv_poll_t *)handle, struct keeper, poll);
	mem_close_slot(&it->exits);
	free(it);
}

/* Lets go of a keeper that has been waited for. */
static void keeper_destroy(struct keeper *it)
{
	if (keeper == it)
		keeper = NULL;
	mem_close_slot(&it->requests);
	uv_close((uv_handle_t *)&it->poll, on_poll_closed);
}

static void child_done(struct keeper_child *child)
{
	struct keeper *it = child->keeper;
	list_remove(&child->link);
	child->keeper = NULL;
	child->is_running = false;
	if (it && --it->running == 0)
		uv_unref((uv_handle_t *)&it->poll);
}

static void wait_for(pid_t pid, int *ret_status)
{
	while (waitpid(pid, ret_status, 0) < 0 && errno == EINTR)
		continue;
}

/* It was killed, or answers no more. */
static void keeper_lost(struct keeper *it)
{
	struct list orphans;
	struct keeper_child *child;
	kill(it->pid, SIGKILL);
	wait_for(it->pid, NULL);
	list_init(&orphans);
	while ((child = list_first(&it->children, struct keeper_child, link))) {
		list_remove(&child->link);
		list_append(&orphans, &child->link);
		child->keeper = NULL;
	}
	keeper_destroy(it);
	while ((child = list_first(&orphans, struct keeper_child, link))) {
		child_done(child);
		child->on_exit(SIGKILL, child->self);
	}
}

/* False if it took too long. */
static bool wait_for_end(pid_t pid, int patience_ms)
{
	auto_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	int status;
	do {
		status = pidfd < 0 ? 1 : poll(&end, 1, patience_ms);
	} while (status < 0 && errno == EINTR);
	return status != 0;
}

/* Asks it to end everything and itself. */
static void dismiss(struct keeper *it)
{
	struct keeper_child *child;
	while ((child = list_first(&it->children, struct keeper_child, link)))
		child_done(child);
	shutdown(it->requests, SHUT_RDWR);
	kill(it->pid, SIGCONT); /* somebody may have stopped it */
}

bool keeper_leave(void)
{
	struct keeper *it = keeper;
	if (!it)
		return true;
	dismiss(it);
	bool has_ended = wait_for_end(it->pid, LEAVE_MS);
	if (has_ended)
		wait_for(it->pid, NULL);
	keeper_destroy(it);
	return has_ended;
}

size_t keeper_end(void)
{
	struct keeper *it = keeper;
	int status = 0;
	if (!it)
		return 0;
	dismiss(it);
	if (!wait_for_end(it->pid, LIMIT_KEEPER_END_MS))
		kill(it->pid, SIGKILL);
	wait_for(it->pid, &status);
	keeper_destroy(it);
	return WIFEXITED(status) ? (size_t)WEXITSTATUS(status) : 1;
}

/* ---- what it tells ---- */

static void tell_exit(struct keeper *it, const struct keeper_exit *exit)
{
	struct keeper_child *child;
	list_for_each (child, &it->children, link) {
		if (child->pid != exit->pid)
			continue;
		child_done(child);
		child->on_exit(exit->wait_status, child->self);
		return;
	}
}

static void on_exits(uv_poll_t *poll, int status, int events)
{
	struct keeper *it = container_of(poll, struct keeper, poll);
	struct keeper_exit exits[EXITS_AT_ONCE];
	(void)status, (void)events;
	ssize_t got = read(it->exits, exits, sizeof(exits));
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (got <= 0)
		keeper_lost(it);
	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(exits[0]) && keeper == it; i++)
		tell_exit(it, &exits[i]);
}

/* ---- its beginning ---- */

/* Not below 3, where an engine that was started without its standard streams would get them. */
static bool raise_fd(int *fd)
{
	int low = *fd;
	if (low > 2)
		return true;
	*fd = fcntl(low, F_DUPFD_CLOEXEC, 3);
	close(low);
	return *fd >= 0;
}

static int open_ends(int requests[2], int exits[2], struct error *err)
{
	struct timeval patience = {.tv_sec = LIMIT_KEEPER_MS / 1000};
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, requests) != 0 || pipe2(exits, O_CLOEXEC) != 0 ||
	    !raise_fd(&requests[0]) || !raise_fd(&exits[0]))
		return error_sys(err, errno, "cannot watch over commands");
	fcntl(exits[0], F_SETFL, O_NONBLOCK);
	setsockopt(requests[0], SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	setsockopt(requests[0], SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	return 0;
}

/* No handler of ours may run in the keeper. */
static pid_t fork_keeper(int requests, int exits)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0)
		keeper_main(requests, exits);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

static void close_both(const int fds[2])
{
	mem_close_slot(&fds[0]);
	mem_close_slot(&fds[1]);
}

static struct keeper *keeper_create(struct loop *loop, struct error *err)
{
	int requests[2] = {-1, -1}, exits[2] = {-1, -1};
	pid_t pid = -1;
	if (open_ends(requests, exits, err) == 0 && (pid = fork_keeper(requests[1], exits[1])) < 0)
		error_sys(err, errno, "cannot watch over commands");
	if (pid < 0) {
		close_both(requests);
		close_both(exits);
		return NULL;
	}
	close(requests[1]);
	close(exits[1]);
	struct keeper *it = xnew(struct keeper);
	*it = (struct keeper){.pid = pid, .requests = requests[0], .exits = exits[0]};
	list_init(&it->children);
	uv_poll_init(loop_uv(loop), &it->poll, it->exits);
	uv_poll_start(&it->poll, UV_READABLE, on_exits);
	uv_unref((uv_handle_t *)&it->poll);
	return it;
}

/* ---- requests ---- */

static void add_texts(struct buf *texts, const char *const *list, uint32_t *ret_count)
{
	*ret_count = 0;
	for (; list && list[*ret_count]; ++*ret_count)
		buf_append(texts, list[*ret_count], strlen(list[*ret_count]) + 1);
}

static int write_request(const struct spawn_plan *plan, struct buf *out, struct error *err)
{
	struct keeper_request request = {.has_cwd = plan->cwd != NULL, .has_terminal = plan->has_terminal};
	buf_append(out, (const char *)&request, sizeof(request));
	buf_append(out, plan->path, strlen(plan->path) + 1);
	if (plan->cwd)
		buf_append(out, plan->cwd, strlen(plan->cwd) + 1);
	add_texts(out, plan->argv, &request.argc);
	add_texts(out, plan->env, &request.envc);
	if (out->over)
		return error_sys(err, E2BIG, "cannot run %s", plan->argv[0]);
	request.len = (uint32_t)(out->len - sizeof(request));
	memcpy(out->data, &request, sizeof(request));
	return 0;
}

/* The descriptors travel with the first byte. */
static ssize_t send_first(int socket, struct str bytes, const int *fds, size_t count)
{
	union keeper_control control = {{0}};
	size_t size = count * sizeof(int);
	struct iovec part = {(void *)bytes.ptr, bytes.len};
	struct msghdr message = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = CMSG_SPACE(size),
	};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	head->cmsg_level = SOL_SOCKET;
	head->cmsg_type = SCM_RIGHTS;
	head->cmsg_len = CMSG_LEN(size);
	memcpy(CMSG_DATA(head), fds, size);
	return sendmsg(socket, &message, MSG_NOSIGNAL);
}

static bool send_request(int socket, struct str bytes, const int *fds, size_t count)
{
	for (bool is_first = true; bytes.len;) {
		ssize_t put = is_first ? send_first(socket, bytes, fds, count)
		                       : send(socket, bytes.ptr, bytes.len, MSG_NOSIGNAL);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		is_first = false;
		bytes = str_skip(bytes, (size_t)put);
	}
	return true;
}

static bool give_placeholder(const char *path, int fd, void *self)
{
	const struct keeper *it = self;
	auto_buf struct buf request;
	buf_init(&request, LIMIT_SPAWN);
	struct keeper_request head = {.len = (uint32_t)strlen(path) + 1, .is_placeholder = true};
	buf_append(&request, (const char *)&head, sizeof(head));
	buf_append(&request, path, head.len);
	return send_request(it->requests, buf_str(&request), &fd, 1);
}

static bool send_plan(struct keeper *it, struct str request, const struct spawn_plan *plan)
{
	const int fds[KEEPER_FDS] = {plan->fds[0], plan->fds[1], plan->fds[2], plan->extra_fd};
	size_t count = plan->extra_fd ? KEEPER_FDS : KEEPER_FDS - 1;
	return sandbox_placeholders_give(it->pid, give_placeholder, it) &&
	       send_request(it->requests, request, fds, count);
}

static bool receive_reply(int socket, struct keeper_reply *reply)
{
	ssize_t got;
	do {
		got = recv(socket, reply, sizeof(*reply), MSG_WAITALL);
	} while (got < 0 && errno == EINTR);
	return got == sizeof(*reply);
}

static void add_child(struct keeper *it, struct keeper_child *child)
{
	child->is_running = true;
	child->keeper = it;
	list_init(&child->link);
	list_append(&it->children, &child->link);
	if (it->running++ == 0)
		uv_ref((uv_handle_t *)&it->poll);
}

static int ask(struct keeper *it, const struct spawn_plan *plan, pid_t *ret_pid, struct error *err)
{
	struct keeper_reply reply;
	auto_buf struct buf request;
	buf_init(&request, LIMIT_SPAWN);
	if (write_request(plan, &request, err) != 0)
		return -(int)ERR_limit;
	if (!send_plan(it, buf_str(&request), plan) || !receive_reply(it->requests, &reply)) {
		kill(it->pid, SIGKILL);
		/* so on_exits sees it go at once, and the next command gets another */
		wait_for_end(it->pid, LIMIT_KEEPER_END_MS);
		return error_set(err, ERR_io, "cannot run %s: the process that watches over commands was ended or "
		                              "does not answer; try again", plan->argv[0]);
	}
	*ret_pid = reply.pid;
	if (reply.pid == 0 && err)
		*err = reply.err;
	return reply.pid ? 0 : -(int)reply.err.code;
}

int keeper_spawn(struct loop *loop, const struct spawn_plan *plan, struct keeper_child *child, keeper_exit_fn on_exit,
                 void *self, struct error *err)
{
	if (!keeper && !(keeper = keeper_create(loop, err)))
		return -(int)ERR_io;
	if (keeper->running >= LIMIT_COMMANDS)
		return error_set(err, ERR_busy, "cannot run %s: %d commands run already; wait for one to end",
		                 plan->argv[0], LIMIT_COMMANDS);
	child->on_exit = on_exit;
	child->self = self;
	int status = ask(keeper, plan, &child->pid, err);
	if (status == 0)
		add_child(keeper, child);
	return status;
}

void keeper_forget(struct keeper_child *child)
{
	if (child->is_running)
		child_done(child);
}

pid_t keeper_pid(void)
{
	return keeper ? keeper->pid : 0;
}
