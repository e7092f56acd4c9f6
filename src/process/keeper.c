/* Why a process between the engine and its commands: the kernel gives orphans to the nearest living ancestor that is a
 * subreaper, and gives them up when that one is gone. As long as the engine itself was that ancestor, its death by
 * SIGKILL set every daemon free, and no other process could have known which they were.
 *
 * The fork shares the engine's memory copy-on-write; the keeper touches a few pages of it. Asking it to start a
 * command costs one message each way. */
#include "process/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/keeper_priv.h"
#include "process/keeper_requests.h"
#include "process/spawn.h"
#include "process/placeholder.h"

enum { REPORTS_AT_ONCE = 64, LEAVE_MS = LIMIT_HURRY_MS / 2 };

struct keeper {
	pid_t pid;
	struct keeper_requests requests;
	int reports;                /* -1: closed */
	uv_poll_t poll;             /* on reports; kept up by running commands only */
	struct list children;       /* in the order in which they were asked for */
	struct loop_timer *silence; /* while a command has no process yet */
	size_t running, asked;
	uint32_t last_id;
	unsigned handles; /* not closed yet */
};

static _Thread_local struct keeper *keeper;

/* ---- its end ---- */

static void handle_closed(struct keeper *it)
{
	if (--it->handles == 0)
		free(it);
}

static void on_poll_closed(uv_handle_t *handle)
{
	handle_closed(container_of((uv_poll_t *)handle, struct keeper, poll));
}

static void on_requests_closed(uv_handle_t *handle)
{
	handle_closed(container_of((uv_poll_t *)handle, struct keeper, requests.poll));
}

/* It is told nothing any more: a keeper that still has much to report must not wait for a reader. */
static void stop_reports(struct keeper *it)
{
	uv_poll_stop(&it->poll);
	mem_close_slot(&it->reports);
	it->reports = -1;
}

/* Lets go of a keeper that has been waited for. */
static void keeper_destroy(struct keeper *it)
{
	if (keeper == it)
		keeper = NULL;
	stop_reports(it);
	loop_timer_destroy(it->silence);
	keeper_requests_finish(&it->requests, on_requests_closed);
	uv_close((uv_handle_t *)&it->poll, on_poll_closed);
}

/* It has a process, or never will. */
static void child_answered(struct keeper_child *child)
{
	struct keeper *it = child->keeper;
	if (it && --it->asked == 0)
		loop_timer_stop(it->silence);
}

static void child_done(struct keeper_child *child)
{
	struct keeper *it = child->keeper;
	list_remove(&child->link);
	if (!child->pid)
		child_answered(child);
	child->keeper = NULL;
	child->is_running = false;
	free(steal(child->name));
	free(steal(child->cwd));
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
		struct error err;
		error_set(&err, ERR_io, "cannot run %s: the process that watches over commands was ended; try again",
		          child->name);
		child_done(child);
		child->handler->on_end(SIGKILL, child->pid ? NULL : &err, child->self);
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
	shutdown(it->requests.socket, SHUT_RDWR);
	stop_reports(it);
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

/* ---- what it reports ---- */

static void tell_end(struct keeper_child *child, const struct keeper_report *report)
{
	struct spawn_failure failure = {(enum spawn_step)report->value, report->sys};
	struct error err;
	bool has_failed = report->event == KEEPER_FAILED;
	if (has_failed)
		spawn_failure_error(&failure, child->name, child->cwd, &err);
	if (!child->pid)
		keeper_requests_answered(&child->keeper->requests);
	child_done(child);
	child->handler->on_end(report->value, has_failed ? &err : NULL, child->self);
}

static void tell_start(struct keeper_child *child, pid_t pid)
{
	child->pid = pid;
	child_answered(child);
	keeper_requests_answered(&child->keeper->requests);
	child->handler->on_start(child->self);
}

static void tell(struct keeper *it, const struct keeper_report *report)
{
	struct keeper_child *child;
	list_for_each(child, &it->children, link) {
		if (child->id != report->id)
			continue;
		if (report->event == KEEPER_STARTED)
			tell_start(child, report->value);
		else if (report->event == KEEPER_RUNS)
			child->handler->on_run(child->self);
		else
			tell_end(child, report);
		return;
	}
}

/* False if there is nothing to read for now, or the keeper is gone. */
static bool take_reports(struct keeper *it)
{
	struct keeper_report reports[REPORTS_AT_ONCE];
	ssize_t got = read(it->reports, reports, sizeof(reports));
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (got <= 0)
		keeper_lost(it);
	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(reports[0]) && keeper == it; i++)
		tell(it, &reports[i]);
	return keeper == it;
}

static void on_reports(uv_poll_t *poll, int status, int events)
{
	(void)status, (void)events;
	take_reports(container_of(poll, struct keeper, poll));
}

/* The first that has waited too long, or at least waits. */
static struct keeper_child *find_waiting(struct keeper *it, uint64_t asked_before_ms)
{
	struct keeper_child *child;
	list_for_each(child, &it->children, link) {
		if (!child->pid && !child->is_overdue && child->asked_ms <= asked_before_ms)
			return child;
	}
	return NULL;
}

/* First what it has reported meanwhile: it may be us who did not listen. */
static void on_silence(void *self)
{
	struct keeper *it = self;
	struct keeper_child *child;
	while (take_reports(it))
		continue;
	uint64_t now = clock_now_ms();
	while (keeper == it && (child = find_waiting(it, now - LIMIT_KEEPER_MS))) {
		struct error err;
		error_set(&err, ERR_io,
		          "cannot run %s: the process that watches over commands (%d) does not answer; "
		          "was it stopped?",
		          child->name, (int)it->pid);
		child->is_overdue = true;
		child->handler->on_silence(&err, child->self);
	}
	if (keeper == it && (child = find_waiting(it, UINT64_MAX)))
		loop_timer_start(it->silence, child->asked_ms + LIMIT_KEEPER_MS - now);
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

static int open_ends(int requests[2], int reports[2], struct error *err)
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, requests) != 0 || pipe2(reports, O_CLOEXEC) != 0 ||
	    !raise_fd(&requests[0]) || !raise_fd(&reports[0]))
		return error_sys(err, errno, "cannot watch over commands");
	fcntl(reports[0], F_SETFL, O_NONBLOCK);
	return 0;
}

/* No handler of ours may run in the keeper. */
static pid_t fork_keeper(int requests, int reports)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0)
		keeper_main(requests, reports);
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
	int requests[2] = {-1, -1}, reports[2] = {-1, -1};
	pid_t pid = -1;
	if (open_ends(requests, reports, err) == 0 && (pid = fork_keeper(requests[1], reports[1])) < 0)
		error_sys(err, errno, "cannot watch over commands");
	if (pid < 0) {
		close_both(requests);
		close_both(reports);
		return NULL;
	}
	close(requests[1]);
	close(reports[1]);
	struct keeper *it = xnew(struct keeper);
	*it = (struct keeper){.pid = pid, .reports = reports[0], .handles = 2};
	list_init(&it->children);
	keeper_requests_init(&it->requests, loop, requests[0]);
	it->silence = loop_timer_create(loop, on_silence, it);
	uv_poll_init(loop_uv(loop), &it->poll, it->reports);
	uv_poll_start(&it->poll, UV_READABLE, on_reports);
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

static int write_request(const struct spawn_plan *plan, uint32_t id, struct buf *out, struct error *err)
{
	struct keeper_request request = {.id = id, .has_cwd = plan->cwd != NULL, .has_terminal = plan->has_terminal};
	request.patience_ms = plan->patience_ms ? plan->patience_ms : LIMIT_START_MS;
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

static bool give_placeholder(const char *path, int fd, void *self)
{
	struct keeper *it = self;
	auto_buf struct buf request;
	buf_init(&request, LIMIT_SPAWN);
	struct keeper_request head = {.len = (uint32_t)strlen(path) + 1, .is_placeholder = true};
	buf_append(&request, (const char *)&head, sizeof(head));
	buf_append(&request, path, head.len);
	return keeper_requests_put(&it->requests, buf_str(&request), &fd, 1, false, NULL) == 0;
}

/* A keeper that takes nothing has been killed; once that is noticed the next command gets another. */
static int ask(struct keeper *it, const struct spawn_plan *plan, uint32_t id, struct error *err)
{
	const int fds[KEEPER_FDS] = {plan->fds[0], plan->fds[1], plan->fds[2], plan->extra_fd};
	auto_buf struct buf request;
	buf_init(&request, LIMIT_SPAWN);
	if (write_request(plan, id, &request, err) != 0)
		return -(int)ERR_limit;
	if (!placeholders_give(it->pid, give_placeholder, it))
		return error_set(err, ERR_io, "cannot run %s: its sandbox cannot be watched over; try again",
		                 plan->argv[0]);
	int status = keeper_requests_put(&it->requests, buf_str(&request), fds,
	                                 plan->extra_fd ? KEEPER_FDS : KEEPER_FDS - 1, true, err);
	return status == 0 ? 0 : error_wrap(err, "cannot run %s", plan->argv[0]);
}

static void add_child(struct keeper *it, struct keeper_child *child, const struct spawn_plan *plan)
{
	child->pid = 0;
	child->is_running = true;
	child->is_overdue = false;
	child->keeper = it;
	child->name = xstrdup(plan->argv[0]);
	child->cwd = plan->cwd ? xstrdup(plan->cwd) : NULL;
	child->asked_ms = clock_now_ms();
	list_init(&child->link);
	list_append(&it->children, &child->link);
	if (it->running++ == 0)
		uv_ref((uv_handle_t *)&it->poll);
	if (it->asked++ == 0)
		loop_timer_start(it->silence, LIMIT_KEEPER_MS);
}

int keeper_spawn(struct loop *loop, const struct spawn_plan *plan, struct keeper_child *child,
                 const struct keeper_handler *handler, void *self, struct error *err)
{
	if (!keeper && !(keeper = keeper_create(loop, err)))
		return -(int)ERR_io;
	if (keeper->running >= LIMIT_COMMANDS)
		return error_set(err, ERR_busy, "cannot run %s: %d commands run already; wait for one to end",
		                 plan->argv[0], LIMIT_COMMANDS);
	child->handler = handler;
	child->self = self;
	child->id = ++keeper->last_id;
	int status = ask(keeper, plan, child->id, err);
	if (status == 0)
		add_child(keeper, child, plan);
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
