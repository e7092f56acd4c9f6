/* One inotify instance for all folders. IN_MODIFY of a folder reports writes through the names in that folder only, and
 * none by other machines: hence the list of file systems. After an overflow nothing is known, so the watch has ended.
 */
#include "rollout/rollout_watch.h"

#include <errno.h>
#include <limits.h>
#include <stdalign.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rollout/rollout_limits.h"

enum {
	CONTENT = IN_MODIFY | IN_ATTRIB,
	NAMES = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF,
	ENDED = NAMES | IN_UNMOUNT | IN_Q_OVERFLOW | IN_IGNORED,
};

struct rollout_watch {
	int fd;
	VEC(int) folders; /* the kernel's numbers, ascending */
};

struct rollout_watch *rollout_watch_create(void)
{
	int fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (fd < 0)
		return NULL;
	struct rollout_watch *watch = xnew(struct rollout_watch);
	watch->fd = fd;
	return watch;
}

void rollout_watch_destroy(struct rollout_watch *watch)
{
	if (!watch)
		return;
	close(watch->fd);
	vec_finish(&watch->folders);
	free(watch);
}

static bool is_local(const char *folder)
{
	struct statfs fs;
	return statfs(folder, &fs) == 0 && host_is_local(fs.f_type);
}

bool rollout_watch_add(struct rollout_watch *watch, const char *folder)
{
	size_t count = watch->folders.count;
	if (count == LIMIT_ROLLOUT_WATCHED || !is_local(folder))
		return false;
	int number = inotify_add_watch(watch->fd, folder, CONTENT | NAMES | IN_ONLYDIR | IN_EXCL_UNLINK);
	if (number < 0 || (count && number <= watch->folders.items[count - 1]))
		return false; /* a lower number is that of a folder that was added before, under another name */
	vec_push(&watch->folders, number);
	return true;
}

static int by_number(const void *a, const void *b)
{
	int left = *(const int *)a, right = *(const int *)b;
	return left < right ? -1 : left > right;
}

static bool report(struct rollout_watch *watch, const struct inotify_event *event, rollout_watch_fn on_change,
                   void *self)
{
	if (event->mask & ENDED)
		return false;
	const int *folder =
		bsearch(&event->wd, watch->folders.items, watch->folders.count, sizeof(event->wd), by_number);
	if (folder && event->len)
		on_change((size_t)(folder - watch->folders.items), event->name, self);
	return true;
}

/* Reports the events of a block; false as rollout_watch_read. */
static bool report_all(struct rollout_watch *watch, const char *block, size_t len, rollout_watch_fn on_change,
                       void *self)
{
	bool is_good = true;
	for (size_t at = 0; at < len && is_good;) {
		const struct inotify_event *event = (const struct inotify_event *)(const void *)(block + at);
		is_good = report(watch, event, on_change, self);
		at += sizeof(*event) + event->len;
	}
	return is_good;
}

bool rollout_watch_read(struct rollout_watch *watch, rollout_watch_fn on_change, void *self)
{
	alignas(struct inotify_event) char block[16 * KIB];
	for (;;) {
		ssize_t got = read(watch->fd, block, sizeof(block));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 && errno == EAGAIN;
		if (!report_all(watch, block, (size_t)got, on_change, self))
			return false;
	}
}
