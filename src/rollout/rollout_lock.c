/* A lock file is used instead of the rollout itself, because a thread may have several files, and because codex 0.169
 * uses it. 0.169 removes stale lock files while holding .coordination.lock; here they are removed under the same lock,
 * or kept if that lock is taken. A lock is therefore valid only while its name still refers to the locked inode, which
 * is checked after locking. */
#include "rollout/rollout_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_path.h"

enum { FLAG_EXITING = 4 /* the kernel's PF_EXITING */ };

struct rollout_lock {
	int fd;
	char *folder;
	char *path;
};

/* Parses a line of /proc/locks: "13: FLOCK  ADVISORY  WRITE 15164 fe:00:11101349 0 EOF". */
static bool find_pid(struct str line, const struct stat *st, long *ret)
{
	unsigned major_id, minor_id;
	unsigned long inode;
	long pid;
	char text[256];
	snprintf(text, sizeof(text), "%.*s", STR_ARG(line));
	if (sscanf(text, "%*s FLOCK %*s %*s %ld %x:%x:%lu", &pid, &major_id, &minor_id, &inode) != 4 ||
	    inode != st->st_ino || major_id != major(st->st_dev) || minor_id != minor(st->st_dev))
		return false;
	*ret = pid;
	return true;
}

/* Returns the process that holds fd's flock, or 0 if the system does not report it. */
static long holder_of(int fd)
{
	auto_buf struct buf locks;
	buf_init(&locks, LIMIT_PROC_LOCKS);
	struct stat st;
	long pid = 0;
	if (fstat(fd, &st) != 0 || file_read("/proc/locks", &locks, NULL) != 0)
		return 0;
	struct str rest = buf_str(&locks), line;
	while (str_next_line(&rest, &line) && !find_pid(line, &st, &pid))
		;
	return pid;
}

bool rollout_lock_find_holder(const char *path, long *ret_pid)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	*ret_pid = fd < 0 ? 0 : holder_of(fd);
	return *ret_pid != 0;
}

/* True if the process is dead or exiting. */
static bool is_ending(long pid)
{
	char path[64], state = 'X';
	unsigned long flags = 0;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROC_STAT);
	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	if (pid == 0 || file_read(path, &text, NULL) != 0)
		return true;
	ptrdiff_t name_end = str_rfind_char(buf_str(&text), ')');
	if (name_end < 0 || sscanf(text.data + name_end + 1, " %c %*d %*d %*d %*d %*d %lu", &state, &flags) != 2)
		return false;
	return state == 'Z' || state == 'X' || (flags & FLAG_EXITING);
}

static bool is_held_by_living(const char *path)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	bool is_held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	return is_held && !is_ending(holder_of(fd));
}

bool rollout_lock_is_ending(const char *rollout_path)
{
	struct rollout_file_name name;
	auto_free char *home = rollout_path_home(rollout_path);
	if (is_held_by_living(rollout_path))
		return false;
	if (!home || !rollout_path_parse(path_name(rollout_path), &name))
		return true;
	auto_free char *path = xasprintf("%s/thread-writer-locks/%.*s.lock", home, STR_ARG(name.thread_id));
	return !is_held_by_living(path);
}

static int fail_busy(int fd, const char *what, struct error *err)
{
	long pid = holder_of(fd);
	if (pid == 0)
		return error_set(err, ERR_busy, "%s is being written by another process; end that one first", what);
	char path[64], name[64] = "?";
	snprintf(path, sizeof(path), "/proc/%ld/comm", pid);
	auto_buf struct buf comm;
	buf_init(&comm, sizeof(name));
	if (file_read(path, &comm, NULL) == 0)
		snprintf(name, sizeof(name), "%.*s", STR_ARG(str_trim(buf_str(&comm))));
	return error_set(err, ERR_busy, "%s is being written by process %ld (%s); end that one first", what, pid, name);
}

int rollout_lock_fd(int fd, const char *path, struct error *err)
{
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	return errno == EWOULDBLOCK ? fail_busy(fd, path, err) : 0;
}

static int open_lock_file(const char *folder, const char *path, struct error *err)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0 && errno == ENOENT) {
		int status = dir_make(folder, 0700, err);
		if (status < 0)
			return status;
		fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	}
	return fd < 0 ? error_sys(err, errno, "cannot create %s", path) : fd;
}

static bool is_current(int fd, const char *path)
{
	struct stat held, named;
	return fstat(fd, &held) == 0 && stat(path, &named) == 0 && held.st_ino == named.st_ino &&
	       held.st_dev == named.st_dev;
}

/* Locks the file at path, again if another process removes it between open and flock. */
static int lock_file(const char *folder, const char *path, const char *what, struct error *err)
{
	for (int tries = 0; tries < 16; tries++) {
		auto_close int fd = open_lock_file(folder, path, err);
		if (fd < 0)
			return fd;
		int status = rollout_lock_fd(fd, what, err);
		if (status < 0)
			return status;
		if (is_current(fd, path))
			return steal_fd(&fd);
	}
	return error_set(err, ERR_busy, "other processes repeatedly open and close %s; try again", what);
}

struct rollout_lock *rollout_lock_create(const char *home, struct str thread_id, struct error *err)
{
	auto_free char *folder = path_join(home, "thread-writer-locks");
	auto_free char *path = xasprintf("%s/%.*s.lock", folder, STR_ARG(thread_id));
	auto_free char *what = xasprintf("session %.*s", STR_ARG(thread_id));
	int fd = lock_file(folder, path, what, err);
	if (fd < 0)
		return NULL;
	struct rollout_lock *lock = xnew(struct rollout_lock);
	*lock = (struct rollout_lock){.fd = fd, .folder = steal(folder), .path = steal(path)};
	return lock;
}

void rollout_lock_destroy(struct rollout_lock *lock)
{
	if (!lock)
		return;
	auto_free char *path = path_join(lock->folder, ".coordination.lock");
	auto_close int coordination = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOCTTY, 0600);
	if (coordination >= 0 && flock(coordination, LOCK_EX | LOCK_NB) == 0)
		unlink(lock->path);
	close(lock->fd);
	free(lock->folder);
	free(lock->path);
	free(lock);
}
