/* A moved folder would need all paths below it changed, and its number stays the same, so it ends the watch; a removed
 * one is empty by then. The kernel reports nothing about a folder on which another file system is mounted, but a poll
 * of the mount table shows that the table has changed. */
#include "workspace/folder_watch.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "workspace/folder_rules.h"
#include "workspace/workspace_limits.h"

enum {
	NAMES = IN_CREATE | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO,
	OF_FOLDER = NAMES | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_MASK_CREATE,
	OF_FILE = IN_MODIFY | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF,
	ENDED = IN_UNMOUNT | IN_Q_OVERFLOW | IN_MODIFY | IN_MOVE_SELF,
};

struct folder_watch {
	int changes, mounts;
	atomic_int count;
};

struct folder_watch *folder_watch_create(void)
{
	int changes = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	if (changes < 0)
		return NULL;
	struct folder_watch *watch = xnew(struct folder_watch);
	watch->changes = changes;
	watch->mounts = open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC);
	if (watch->mounts >= 0)
		return watch;
	folder_watch_destroy(watch);
	return NULL;
}

void folder_watch_destroy(struct folder_watch *watch)
{
	if (!watch)
		return;
	close(watch->changes);
	if (watch->mounts >= 0)
		close(watch->mounts);
	free(watch);
}

static bool is_local(int fd)
{
	struct statfs fs;
	return fstatfs(fd, &fs) == 0 && (host_is_local(fs.f_type) || (int)fs.f_type == OVERLAYFS_SUPER_MAGIC);
}

int folder_watch_add(struct folder_watch *watch, int fd, bool is_file)
{
	char path[32];
	if (!is_local(fd) || atomic_fetch_add(&watch->count, 1) >= LIMIT_SEARCH_WATCHES)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return inotify_add_watch(watch->changes, path, is_file ? OF_FILE : OF_FOLDER);
}

/* Reports one change; false if it ends the watch. */
static bool report(const struct inotify_event *event, folder_watch_fn on_change, void *self)
{
	bool is_inside = event->len > 0;
	if (event->mask & ENDED || (event->mask & IN_ATTRIB && (!is_inside || event->mask & IN_ISDIR)))
		return false;
	if (event->mask & IN_ISDIR && event->mask & (IN_MOVED_FROM | IN_MOVED_TO))
		return false;
	if (is_inside && event->mask & NAMES && folder_rules_find(event->name) != RULES_FILES)
		return false;
	if (event->mask & IN_DELETE_SELF)
		on_change(event->wd, FOLDER_vanished, NULL, self);
	if (is_inside && event->mask & IN_ISDIR && event->mask & IN_DELETE)
		on_change(event->wd, FOLDER_removed, event->name, self);
	if (event->mask & NAMES)
		on_change(event->wd, FOLDER_names, NULL, self);
	return true;
}

static bool has_mounted(struct folder_watch *watch)
{
	struct pollfd mounts = {.fd = watch->mounts, .events = POLLPRI};
	return poll(&mounts, 1, 0) != 0;
}

bool folder_watch_read(struct folder_watch *watch, folder_watch_fn on_change, void *self)
{
	alignas(struct inotify_event) char bytes[16 * KIB];
	ssize_t len;
	int queued = 0;
	if (has_mounted(watch) || ioctl(watch->changes, FIONREAD, &queued) != 0)
		return false;
	for (; queued > 0 && (len = read(watch->changes, bytes, sizeof(bytes))) > 0; queued -= (int)len) {
		for (const char *at = bytes; at < bytes + len;) {
			const struct inotify_event *event = (const void *)at;
			if (!report(event, on_change, self))
				return false;
			at += sizeof(*event) + event->len;
		}
	}
	return true;
}
