/* The lock is on the folder itself (flock), shared by all who count on it; who gets it alone may take the folder away.
 * Between finding a folder and locking it somebody else may have removed it, so after locking one looks again.
 * What somebody else put there meanwhile stays. */
#include "process/placeholder.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"

enum { TRIES = 100 };

struct placeholder {
	char *path;
	int fd;           /* with a shared lock */
	pid_t supervisor; /* that holds it, too; 0: none */
};

static _Thread_local VEC(struct placeholder) held;

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

/* In one step: nobody may see the folder without its mode. */
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

/* A locked descriptor, or -1 and errno. */
static int make_and_lock(const char *path)
{
	for (int i = 0; i < TRIES; i++) {
		errno = make(path);
		if (errno != 0)
			return -1;
		auto_close int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 && errno != ENOENT)
			return -1;
		if (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) == 0 && is_same(fd, path))
			return steal_fd(&fd);
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
		return error_sys(err, errno, "cannot keep commands from making %s", path);
	vec_push(&held, (struct placeholder){.path = xstrdup(path), .fd = fd});
	*ret_is_there = true;
	return 0;
}

/* Somebody's own folder, if something lies in it by now: it gets an ordinary mode. */
static void take_away(const struct placeholder *it)
{
	struct stat st;
	if (flock(it->fd, LOCK_EX | LOCK_NB) != 0 || lstat(it->path, &st) != 0 || !placeholder_is(&st))
		return;
	if (rmdir(it->path) != 0 && errno == ENOTEMPTY)
		fchmod(it->fd, 0755);
}

void placeholders_drop(void)
{
	vec_for_each(it, &held) {
		close(it->fd);
		free(it->path);
	}
	vec_finish(&held);
}

void placeholders_release(void)
{
	vec_for_each(it, &held)
		take_away(it);
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
	vec_push(&held, (struct placeholder){.path = xstrdup(path), .fd = fd});
}

void placeholders_forget(void)
{
	vec_for_each(it, &held)
		free(it->path);
	vec_finish(&held);
}
