/* Watches folders, never files: editors replace a file by a rename, and a watch on the old inode would not see the new
 * one. */
#include "loop/watch.h"

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
