/* Watches folders, not files: editors replace a file by a rename, and a watch on the old inode would not see the new
 * one. */
#include "loop/watch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/mem.h"
#include "loop/loop.h"

struct watch {
	uv_fs_event_t uv;
	watch_change_fn on_change;
	void *self;
};

static void on_event(uv_fs_event_t *uv, const char *name, int events, int status)
{
	struct watch *watch = container_of(uv, struct watch, uv);
	(void)events;
	watch->on_change(status == 0 ? name : NULL, watch->self);
}

static void on_closed(uv_handle_t *handle)
{
	free(container_of((uv_fs_event_t *)handle, struct watch, uv));
}

struct watch *watch_create(struct loop *loop, const char *folder, watch_change_fn on_change, void *self,
                           struct error *err)
{
	struct watch *watch = xnew(struct watch);
	watch->on_change = on_change;
	watch->self = self;
	uv_fs_event_init(loop_uv(loop), &watch->uv);
	int status = uv_fs_event_start(&watch->uv, on_event, folder, 0);
	if (status == 0)
		return watch;
	error_sys(err, -status, "cannot watch %s", folder);
	watch_destroy(watch);
	return NULL;
}

void watch_destroy(struct watch *watch)
{
	if (watch)
		uv_close((uv_handle_t *)&watch->uv, on_closed);
}

/* ---- a descriptor ---- */

/* epoll always reports a hang-up, so this watch requests only an event that never occurs: urgent data. It watches a
 * duplicate, because a descriptor can be in an epoll set only once and the stream uses the original. */
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
	uv_poll_stop(uv); /* otherwise libuv would report the hang-up again and again */
	if (has_hung_up(hangup->fd))
		hangup->on_hangup(hangup->self);
}

static void on_hangup_closed(uv_handle_t *handle)
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
		uv_close((uv_handle_t *)&hangup->uv, on_hangup_closed);
}
