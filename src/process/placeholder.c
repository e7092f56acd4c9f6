/* The lock (flock) is on the folder itself: shared by all engines that rely on it, exclusive for the process that
 * removes it. Another process may remove the folder between open and flock, so its identity is checked after
 * locking. The exclusive lock is held for two system calls only; an engine that needs the folder waits that long. */
#include "process/placeholder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/page_vec.h"

enum { TRIES = 1000, PAUSE_NS = 1000000 };

struct placeholder {
	int fd;           /* holds the shared lock */
	pid_t supervisor; /* the supervisor that holds the lock, too; 0: none */
	char path[PATH_MAX];
};

static _Thread_local VEC(struct placeholder) held; /* base/page_vec.h, because the supervisor has no heap */

bool placeholder_is(const struct stat *st)
{
	return (st->st_mode & (S_IFMT | 07777)) == (S_IFDIR | DIR_PLACEHOLDER_MODE);
}

static bool is_held(const char *path)
{
	vec_for_each(it, &held) {
		if (strcmp(it->path, path) == 0)
			return true;
	}
	return false;
}

/* Creates the folder with its mode from the start, because other processes recognise it by the mode. */
static int make(const char *path)
{
	return mkdir(path, DIR_PLACEHOLDER_MODE) == 0 || errno == EEXIST ? 0 : errno;
}

static bool is_same(int fd, const char *path)
{
	struct stat ours, now;
	return fstat(fd, &ours) == 0 && lstat(path, &now) == 0 && ours.st_dev == now.st_dev &&
	       ours.st_ino == now.st_ino;
}

/* Waits about a second, in case the process that removes the folder was suspended. */
static void wait_for_remover(void)
{
	nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

/* Returns a locked descriptor; or -1 and errno, EBUSY if a process that removes the folder makes no progress. */
static int make_and_lock(const char *path)
{
	for (int i = 0; i < TRIES; i++) {
		errno = make(path);
		if (errno != 0)
			return -1;
		auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT)
			return -1;
		bool is_locked = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0;
		if (is_locked && is_same(fd, path))
			return steal_fd(&fd);
		if (fd >= 0 && !is_locked)
			wait_for_remover();
	}
	errno = EBUSY;
	return -1;
}

int placeholder_hold(const char *path, bool *ret_is_there, struct error *err)
{
	*ret_is_there = is_held(path) && dir_exists(path);
	if (*ret_is_there)
		return 0;
	int fd = make_and_lock(path);
	if (fd < 0 && (errno == EACCES || errno == EPERM || errno == EROFS))
		return 0;
	if (fd < 0)
		return error_sys(err, errno, "cannot reserve %s, which commands must not create", path);
	placeholder_take(path, fd);
	*ret_is_there = true;
	return 0;
}

/* Removes the folder unless another process holds its lock. A folder with content has become the user's own and gets
 * an ordinary mode. A folder that has replaced the placeholder since may be another engine's and is left alone. */
static void remove_unless_shared(const struct placeholder *it)
{
	struct stat st;
	if (flock(it->fd, LOCK_EX | LOCK_NB) != 0)
		return;
	if (is_same(it->fd, it->path) && lstat(it->path, &st) == 0 && placeholder_is(&st) && rmdir(it->path) != 0 &&
	    errno == ENOTEMPTY)
		fchmod(it->fd, 0755);
	flock(it->fd, LOCK_UN);
}

void placeholders_drop(void)
{
	vec_for_each(it, &held)
		close(it->fd);
	page_vec_finish(&held);
}

void placeholders_release(void)
{
	vec_for_each(it, &held)
		remove_unless_shared(it);
	placeholders_drop();
}

bool placeholders_give(pid_t supervisor, placeholder_give_fn give, void *self)
{
	vec_for_each(it, &held) {
		if (it->supervisor == supervisor)
			continue;
		if (!give(it->path, it->fd, self))
			return false;
		it->supervisor = supervisor;
	}
	return true;
}

void placeholder_take(const char *path, int fd)
{
	struct placeholder it = {.fd = fd};
	snprintf(it.path, sizeof(it.path), "%s", path); /* it is a path of the system, so it fits */
	page_vec_push(&held, it);
}

void placeholders_forget(void)
{
	page_vec_finish(&held);
}
