/* epoll always reports a hang-up, so the watch requests only an event that never occurs: urgent data. It watches a
 * duplicate, because a descriptor can be in an epoll set only once and the stream uses the original. */
#include "loop/hangup.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"

struct hangup {
	uv_poll_t uv;
	int fd;
	loop_run_fn on_hangup;
	void *self;
};

static bool has_hung_up(int fd)
{
	struct pollfd poll_fd = {.fd = fd};
	return poll(&poll_fd, 1, 0) > 0 && (poll_fd.revents & (POLLHUP | POLLERR));
}

static void on_poll(uv_poll_t *uv, int status, int events)
{
	struct hangup *hangup = container_of(uv, struct hangup, uv);
	(void)status, (void)events;
	uv_poll_stop(uv); /* it would be reported again and again */
	if (has_hung_up(hangup->fd))
		hangup->on_hangup(hangup->self);
}

static void on_closed(uv_handle_t *handle)
{
	struct hangup *hangup = container_of((uv_poll_t *)handle, struct hangup, uv);
	close(hangup->fd);
	free(hangup);
}

struct hangup *hangup_watch(struct loop *loop, int fd, loop_run_fn on_hangup, void *self, struct error *err)
{
	struct hangup *hangup = xnew(struct hangup);
	*hangup = (struct hangup){.fd = fcntl(fd, F_DUPFD_CLOEXEC, 0), .on_hangup = on_hangup, .self = self};
	int status = hangup->fd < 0 ? -errno : uv_poll_init(loop_uv(loop), &hangup->uv, hangup->fd);
	if (status < 0) {
		if (hangup->fd >= 0)
			close(hangup->fd);
		free(hangup);
		error_sys(err, -status, "cannot watch the descriptor");
		return NULL;
	}
	uv_poll_start(&hangup->uv, UV_PRIORITIZED, on_poll);
	uv_unref((uv_handle_t *)&hangup->uv);
	return hangup;
}

void hangup_destroy(struct hangup *hangup)
{
	if (hangup)
		uv_close((uv_handle_t *)&hangup->uv, on_closed);
}
