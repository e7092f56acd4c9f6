/* The kernel gives orphans to the nearest living ancestor that is a subreaper, and to init when that one has ended.
 * If the engine itself were that ancestor, its death by SIGKILL would release all daemons, and no other process
 * could identify them. So a separate process is that ancestor.
 *
 * The fork shares the engine's memory copy-on-write; the supervisor writes to a few pages of it. Starting a command
 * costs one message in each direction. */
#include "process/supervisor.h"

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
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/supervisor_priv.h"
#include "process/supervisor_requests.h"
#include "process/spawn.h"
#include "process/placeholder.h"

/* A start in the last EXPIRY_MARGIN_MS before its deadline could not be reported in time. */
enum { REPORTS_AT_ONCE = 64, LEAVE_MS = LIMIT_HURRY_MS / 2, EXPIRY_MARGIN_MS = LIMIT_SUPERVISOR_MS / 20 };

struct supervisor {
	pid_t pid;
	struct supervisor_requests requests;
	int reports;                /* the reading end of the pipe of reports; -1: closed */
	uv_poll_t poll;             /* watches reports; referenced while commands run */
	struct list children;       /* commands in the order of their requests */
	struct loop_timer *silence; /* runs while a command has no process yet */
	size_t running, asked;
	uint32_t last_id;
	unsigned handles; /* handles that libuv has not closed yet */
};

static _Thread_local struct supervisor *supervisor;

/* ---- end ---- */

static void handle_closed(struct supervisor *it)
{
	if (--it->handles == 0)
		free(it);
}

static void on_poll_closed(uv_handle_t *handle)
{
	handle_closed(container_of((uv_poll_t *)handle, struct supervisor, poll));
}

static void on_requests_closed(uv_handle_t *handle)
{
	handle_closed(container_of((uv_poll_t *)handle, struct supervisor, requests.poll));
}

/* Closes the pipe of reports, so that a supervisor that still writes to it does not wait for a reader. */
static void stop_reports(struct supervisor *it)
{
	uv_poll_stop(&it->poll);
	mem_close_slot(&it->reports);
	it->reports = -1;
}

/* Called after the supervisor has been reaped. */
static void supervisor_destroy(struct supervisor *it)
{
	if (supervisor == it)
		supervisor = NULL;
	stop_reports(it);
	loop_timer_destroy(it->silence);
	supervisor_requests_finish(&it->requests, on_requests_closed);
	uv_close((uv_handle_t *)&it->poll, on_poll_closed);
}

/* Called when the child has a process, or will never have one. */
static void child_answered(struct supervisor_child *child)
{
	struct supervisor *it = child->supervisor;
	if (it && --it->asked == 0)
		loop_timer_stop(it->silence);
}

static void child_done(struct supervisor_child *child)
{
	struct supervisor *it = child->supervisor;
	list_remove(&child->link);
	if (!child->pid)
		child_answered(child);
	child->supervisor = NULL;
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

/* Called when the supervisor was killed or its pipe has failed. */
static void supervisor_lost(struct supervisor *it)
{
	struct list orphans;
	struct supervisor_child *child;
	kill(it->pid, SIGKILL);
	wait_for(it->pid, NULL);
	list_init(&orphans);
	while ((child = list_first(&it->children, struct supervisor_child, link))) {
		list_remove(&child->link);
		list_append(&orphans, &child->link);
		child->is_unsent = supervisor_requests_drop(&it->requests, child->id);
		child->supervisor = NULL;
	}
	supervisor_destroy(it);
	while ((child = list_first(&orphans, struct supervisor_child, link))) {
		struct error err;
		error_set(&err, ERR_io, "cannot run %s: the process that supervises commands was ended; try again",
		          child->name);
		child_done(child);
		child->handler->on_end(SIGKILL, child->is_unsent ? &err : NULL, child->self);
	}
}

/* Waits for the process to end; false after the timeout. */
static bool wait_for_end(pid_t pid, int timeout_ms)
{
	auto_close int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	struct pollfd end = {.fd = pidfd, .events = POLLIN};
	int status;
	do {
		status = pidfd < 0 ? 1 : poll(&end, 1, timeout_ms);
	} while (status < 0 && errno == EINTR);
	return status != 0;
}

/* Makes the supervisor terminate all commands and itself. */
static void request_end(struct supervisor *it)
{
	struct supervisor_child *child;
	while ((child = list_first(&it->children, struct supervisor_child, link)))
		child_done(child);
	shutdown(it->requests.socket, SHUT_RDWR);
	stop_reports(it);
	kill(it->pid, SIGCONT); /* the supervisor may have been stopped */
}

bool supervisor_leave(void)
{
	struct supervisor *it = supervisor;
	if (!it)
		return true;
	request_end(it);
	bool has_ended = wait_for_end(it->pid, LEAVE_MS);
	if (has_ended)
		wait_for(it->pid, NULL);
	supervisor_destroy(it);
	return has_ended;
}

size_t supervisor_end(void)
{
	struct supervisor *it = supervisor;
	int status = 0;
	if (!it)
		return 0;
	request_end(it);
	if (!wait_for_end(it->pid, LIMIT_SUPERVISOR_END_MS))
		kill(it->pid, SIGKILL);
	wait_for(it->pid, &status);
	supervisor_destroy(it);
	return WIFEXITED(status) ? (size_t)WEXITSTATUS(status) : 1;
}

/* ---- reports ---- */

static void report_end(struct supervisor_child *child, const struct supervisor_report *report)
{
	struct spawn_failure failure = {(enum spawn_step)report->value, report->sys};
	struct error err;
	bool has_failed = report->event == SUPERVISOR_FAILED;
	if (has_failed)
		best_effort(spawn_failure_error(&failure, child->name, child->cwd, &err));
	if (!child->pid)
		supervisor_requests_answered(&child->supervisor->requests);
	child_done(child);
	child->handler->on_end(report->value, has_failed ? &err : NULL, child->self);
}

static void report_start(struct supervisor_child *child, const struct supervisor_report *report)
{
	child->pid = report->value;
	child->is_reaped = report->sys;
	child_answered(child);
	supervisor_requests_answered(&child->supervisor->requests);
	child->handler->on_start(child->self);
}

static void dispatch(struct supervisor *it, const struct supervisor_report *report)
{
	struct supervisor_child *child;
	list_for_each(child, &it->children, link) {
		if (child->id != report->id)
			continue;
		if (report->event == SUPERVISOR_STARTED)
			report_start(child, report);
		else if (report->event == SUPERVISOR_RUNS)
			child->handler->on_run(child->self);
		else
			report_end(child, report);
		return;
	}
}

/* Reads reports; false if nothing can be read now, or the supervisor has ended. */
static bool take_reports(struct supervisor *it)
{
	struct supervisor_report reports[REPORTS_AT_ONCE];
	ssize_t got = read(it->reports, reports, sizeof(reports));
	if (got < 0 && (errno == EINTR || errno == EAGAIN))
		return false;
	if (got <= 0)
		supervisor_lost(it);
	for (size_t i = 0; got > 0 && i < (size_t)got / sizeof(reports[0]) && supervisor == it; i++)
		dispatch(it, &reports[i]);
	return supervisor == it;
}

static void on_reports(uv_poll_t *poll, int status, int events)
{
	(void)status, (void)events;
	take_reports(container_of(poll, struct supervisor, poll));
}

/* Returns the first child without a process that was requested before this time. */
static struct supervisor_child *find_waiting(struct supervisor *it, uint64_t asked_before_ms)
{
	struct supervisor_child *child;
	list_for_each(child, &it->children, link) {
		if (!child->pid && !child->is_overdue && child->asked_ms <= asked_before_ms)
			return child;
	}
	return NULL;
}

/* Fails the child now. If its request has been sent, the supervisor refuses it later (not_after_ms). */
static void give_up(struct supervisor *it, struct supervisor_child *child)
{
	struct error err;
	error_set(&err, ERR_io,
	          "cannot run %s: the process that supervises commands (%d) does not answer; was it stopped?",
	          child->name, (int)it->pid);
	if (supervisor_requests_drop(&it->requests, child->id)) {
		child_done(child);
		child->handler->on_end(0, &err, child->self);
		return;
	}
	child->is_overdue = true;
	child->handler->on_silence(&err, child->self);
}

/* Reads pending reports first, because the loop may have been busy. */
static void on_silence(void *self)
{
	struct supervisor *it = self;
	struct supervisor_child *child;
	while (take_reports(it))
		continue;
	uint64_t now = clock_now_ms();
	while (supervisor == it && (child = find_waiting(it, now - LIMIT_SUPERVISOR_MS)))
		give_up(it, child);
	if (supervisor == it && (child = find_waiting(it, UINT64_MAX)))
		loop_timer_start(it->silence, child->asked_ms + LIMIT_SUPERVISOR_MS - now);
}

/* ---- start ---- */

/* Moves fd above 2: an engine that was started without its standard streams would get one of them. */
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
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, requests) != 0 || host_pipe(reports) != 0 ||
	    !raise_fd(&requests[0]) || !raise_fd(&reports[0]))
		return error_sys(err, errno, "cannot start the process that supervises commands");
	fcntl(reports[0], F_SETFL, O_NONBLOCK);
	return 0;
}

/* All signals are blocked during the fork, so that no handler of the engine runs in the supervisor. */
static pid_t fork_supervisor(int requests, int reports)
{
	sigset_t all, before;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = fork();
	if (pid == 0)
		supervisor_main(requests, reports);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

/* Reports that a pending command could not be sent. */
static void on_refused(uint32_t id, int sys, void *self)
{
	struct supervisor *it = self;
	struct supervisor_child *child;
	struct error err;
	list_for_each(child, &it->children, link) {
		if (child->id != id)
			continue;
		if (sys == ETOOMANYREFS)
			error_set(&err, ERR_busy, "cannot run %s: %s", child->name, SUPERVISOR_IN_TRANSIT);
		else
			error_sys(&err, sys, "cannot run %s", child->name);
		child_done(child);
		child->handler->on_end(0, &err, child->self);
		return;
	}
}

static void close_both(const int fds[2])
{
	mem_close_slot(&fds[0]);
	mem_close_slot(&fds[1]);
}

static struct supervisor *supervisor_create(struct loop *loop, struct error *err)
{
	int requests[2] = {-1, -1}, reports[2] = {-1, -1};
	pid_t pid = -1;
	if (open_ends(requests, reports, err) == 0 && (pid = fork_supervisor(requests[1], reports[1])) < 0)
		error_sys(err, errno, "cannot start the process that supervises commands");
	if (pid < 0) {
		close_both(requests);
		close_both(reports);
		return NULL;
	}
	close(requests[1]);
	close(reports[1]);
	struct supervisor *it = xnew(struct supervisor);
	*it = (struct supervisor){.pid = pid, .reports = reports[0], .handles = 2};
	list_init(&it->children);
	supervisor_requests_init(&it->requests, loop, requests[0], on_refused, it);
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

static const char *name_of(const struct spawn_plan *plan)
{
	return plan->name ? plan->name : plan->argv[0];
}

static int write_request(const struct spawn_plan *plan, uint32_t id, struct buf *out, struct error *err)
{
	struct supervisor_request request = {
		.not_after_ms = clock_now_ms() + LIMIT_SUPERVISOR_MS - EXPIRY_MARGIN_MS,
		.id = id,
		.timeout_ms = plan->timeout_ms ? plan->timeout_ms : LIMIT_START_MS,
		.has_cwd = plan->cwd != NULL,
		.has_wanted = plan->wanted != NULL,
		.has_terminal = plan->has_terminal,
		.reports_run = plan->reports_run || plan->has_terminal,
	};
	buf_append(out, (const char *)&request, sizeof(request));
	if (plan->cwd)
		buf_append(out, plan->cwd, strlen(plan->cwd) + 1);
	add_texts(out, plan->paths, &request.path_count);
	add_texts(out, plan->wanted, &request.wanted_count);
	add_texts(out, plan->argv, &request.argc);
	add_texts(out, plan->env, &request.envc);
	if (out->over)
		return error_sys(err, E2BIG, "cannot run %.64s", name_of(plan));
	request.len = (uint32_t)(out->len - sizeof(request));
	memcpy(out->data, &request, sizeof(request));
	return 0;
}

static bool give_placeholder(const char *path, int fd, void *self)
{
	struct supervisor *it = self;
	auto_buf struct buf request;
	buf_init(&request, LIMIT_SPAWN);
	struct supervisor_request head = {.len = (uint32_t)strlen(path) + 1, .is_placeholder = true};
	buf_append(&request, (const char *)&head, sizeof(head));
	buf_append(&request, path, head.len);
	return supervisor_requests_put(&it->requests, buf_str(&request), &fd, 1, 0, NULL) == 0;
}

/* Sends a request. A supervisor that accepts nothing has been killed; after the end of its pipe is noticed, the next
 * command gets a new one. */
static int ask(struct supervisor *it, const struct spawn_plan *plan, uint32_t id, struct error *err)
{
	const int fds[SUPERVISOR_FDS] = {plan->fds[0], plan->fds[1], plan->fds[2], plan->extra_fd};
	auto_buf struct buf request;
	buf_init(&request, LIMIT_SPAWN);
	if (write_request(plan, id, &request, err) != 0)
		return -(int)ERR_limit;
	if (!placeholders_give(it->pid, give_placeholder, it))
		return error_set(err, ERR_io,
		                 "cannot run %s: its sandbox cannot be handed to the process that supervises commands; "
		                 "try again",
		                 name_of(plan));
	int status = supervisor_requests_put(&it->requests, buf_str(&request), fds,
	                                     plan->extra_fd ? SUPERVISOR_FDS : SUPERVISOR_FDS - 1, id, err);
	return status == 0 ? 0 : error_wrap(err, "cannot run %s", name_of(plan));
}

static void add_child(struct supervisor *it, struct supervisor_child *child, const struct spawn_plan *plan)
{
	child->pid = 0;
	child->is_running = true;
	child->is_overdue = child->is_reaped = false;
	child->supervisor = it;
	child->name = xstrdup(name_of(plan));
	child->cwd = plan->cwd ? xstrdup(plan->cwd) : NULL;
	child->asked_ms = clock_now_ms();
	list_init(&child->link);
	list_append(&it->children, &child->link);
	if (it->running++ == 0)
		uv_ref((uv_handle_t *)&it->poll);
	if (it->asked++ == 0)
		loop_timer_start(it->silence, LIMIT_SUPERVISOR_MS);
}

int supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                     const struct supervisor_handler *handler, void *self, struct error *err)
{
	if (!supervisor && !(supervisor = supervisor_create(loop, err)))
		return -(int)ERR_io;
	if (supervisor->running >= LIMIT_COMMANDS)
		return error_set(err, ERR_busy, "cannot run %s: %d commands run already; wait for one to end",
		                 name_of(plan), LIMIT_COMMANDS);
	child->handler = handler;
	child->self = self;
	child->id = ++supervisor->last_id;
	int status = ask(supervisor, plan, child->id, err);
	if (status == 0)
		add_child(supervisor, child, plan);
	return status;
}

void supervisor_forget(struct supervisor_child *child)
{
	if (child->is_running)
		child_done(child);
}

pid_t supervisor_pid(void)
{
	return supervisor ? supervisor->pid : 0;
}
