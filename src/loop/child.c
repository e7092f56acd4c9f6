/* A pidfd instead of SIGCHLD: no signal handler, no race on recycled ids, and no interference with the children of a
 * program that embeds the library. */
#include "loop/child.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "loop/loop.h"

struct child {
	uv_poll_t poll;
	int pidfd;
	pid_t pid;
	child_exit_fn on_exit;
	void *self;
};

static void on_pidfd(uv_poll_t *poll, int status, int events)
{
	struct child *child = container_of(poll, struct child, poll);
	int wait_status = 0;
	(void)status;
	(void)events;
	pid_t got = waitpid(child->pid, &wait_status, WNOHANG);
	if (got == 0 || (got < 0 && errno == EINTR))
		return;
	uv_poll_stop(poll);
	child->on_exit(wait_status, child->self);
}

struct child *child_create(struct loop *loop, pid_t pid, child_exit_fn on_exit, void *self, struct error *err)
{
	int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pidfd < 0) {
		error_sys(err, errno, "cannot watch process %d", (int)pid);
		return NULL;
	}
	struct child *child = xnew(struct child);
	*child = (struct child){.pidfd = pidfd, .pid = pid, .on_exit = on_exit, .self = self};
	uv_poll_init(loop_uv(loop), &child->poll, pidfd);
	uv_poll_start(&child->poll, UV_READABLE, on_pidfd);
	return child;
}

void child_unref(struct child *child)
{
	uv_unref((uv_handle_t *)&child->poll);
}

static void on_poll_closed(uv_handle_t *handle)
{
	struct child *child = container_of(handle, struct child, poll);
	close(child->pidfd);
	free(child);
}

void child_destroy(struct child *child)
{
	if (child)
		uv_close((uv_handle_t *)&child->poll, on_poll_closed);
}
