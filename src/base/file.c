/* Blocking by design: used at start-up and for files of the engine (config, auth). Access to a user's disk during a
 * turn goes through loop/worker. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

char *path_join(const char *base, const char *name)
{
	if (name[0] == '/')
		return xstrdup(name);
	size_t len = strlen(base), name_size = strlen(name) + 1;
	bool has_slash = len && base[len - 1] == '/';
	char *path = xmalloc(len + !has_slash + name_size); /* by hand: a start of a thread joins 22 paths */
	memcpy(path, base, len);
	if (!has_slash)
		path[len++] = '/';
	memcpy(path + len, name, name_size);
	return path;
}

char *path_normalize(const char *path)
{
	VEC(struct str) parts = {0};
	struct str rest = str_of(path), part;
	while (str_next_part(&rest, '/', &part)) {
		if (part.len == 0 || str_is(part, "."))
			continue;
		if (!str_is(part, ".."))
			vec_push(&parts, part);
		else if (parts.count)
			parts.count--;
	}
	struct buf out;
	buf_init(&out, strlen(path) + 1);
	vec_for_each(it, &parts) {
		buf_append_char(&out, '/');
		buf_append_str(&out, *it);
	}
	if (parts.count == 0)
		buf_append_char(&out, '/');
	vec_finish(&parts);
	return buf_take(&out);
}

struct str path_dir(const char *path)
{
	const char *slash = strrchr(path, '/');
	if (!slash)
		return STR(".");
	return slash == path ? STR("/") : str_n(path, (size_t)(slash - path));
}

struct str path_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return str_of(slash ? slash + 1 : path);
}

bool path_is_inside(const char *path, const char *dir)
{
	size_t len = strlen(dir);
	if (len == 1 && dir[0] == '/')
		return path[0] == '/';
	return strncmp(path, dir, len) == 0 && (path[len] == '\0' || path[len] == '/');
}

/* True if the call must be repeated: it was interrupted, or another process made the shared descriptor (a terminal, for
 * example) non-blocking and it is ready now. */
static bool is_to_be_repeated(int fd, short events)
{
	if (errno == EINTR)
		return true;
	if (errno != EAGAIN && errno != EWOULDBLOCK)
		return false;
	struct pollfd poll_fd = {.fd = fd, .events = events};
	return poll(&poll_fd, 1, -1) >= 0 || errno == EINTR;
}

int fd_read_all(int fd, struct buf *out, const char *what, struct error *err)
{
	for (;;) {
		char chunk[16384];
		ssize_t got = read(fd, chunk, sizeof(chunk));
		if (got < 0 && is_to_be_repeated(fd, POLLIN))
			continue;
		if (got < 0)
			return error_sys(err, errno, "cannot read %s", what);
		if (got == 0)
			return 0;
		buf_append(out, chunk, (size_t)got);
		if (out->over)
			return error_set(err, ERR_limit, "%s is larger than %zu bytes", what, out->max);
	}
}

int file_read(const char *path, struct buf *out, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", path);
	struct stat st;
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode))
		return error_sys(err, EISDIR, "cannot read %s", path);
	if (S_ISREG(st.st_mode) && st.st_size > 0 && (size_t)st.st_size <= out->max - out->len)
		buf_reserve(out, (size_t)st.st_size);
	return fd_read_all(fd, out, path, err);
}

int file_read_regular(const char *path, struct buf *out, struct error *err)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", path);
	struct stat st;
	if (fstat(fd, &st) != 0)
		return error_sys(err, errno, "cannot read %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_invalid, "%s is not a regular file", path);
	return fd_read_all(fd, out, path, err);
}

int fd_write_all(int fd, const void *bytes, size_t len, struct error *err)
{
	const char *at = bytes;
	while (len) {
		ssize_t put = write(fd, at, len);
		if (put < 0 && is_to_be_repeated(fd, POLLOUT))
			continue;
		if (put < 0)
			return error_sys(err, errno, "cannot write");
		at += put;
		len -= (size_t)put;
	}
	return 0;
}

bool fd_breaks_off(int fd)
{
	char last;
	off_t size = lseek(fd, 0, SEEK_END);
	return size > 0 && pread(fd, &last, 1, size - 1) == 1 && last != '\n';
}

static int write_and_sync(int fd, struct str bytes, bool durable, struct error *err)
{
	int status = fd_write_all(fd, bytes.ptr, bytes.len, err);
	if (status == 0 && durable && fsync(fd) != 0)
		status = error_sys(err, errno, "cannot sync");
	return status;
}

int file_write_atomic(const char *path, struct str bytes, mode_t mode, bool durable, struct error *err)
{
	static _Atomic unsigned count; /* makes names unique: two threads may write the same file */
	auto_free char *temporary = xasprintf("%s.tmp.%d.%u", path, (int)getpid(), count++);
	auto_close int fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
	if (fd < 0)
		return error_sys(err, errno, "cannot create %s", temporary);
	int status = write_and_sync(fd, bytes, durable, err);
	if (status == 0 && rename(temporary, path) != 0)
		status = error_sys(err, errno, "cannot replace it");
	if (status != 0) {
		unlink(temporary);
		return error_wrap(err, "%s", path);
	}
	return 0;
}

int dir_make(const char *path, mode_t mode, struct error *err)
{
	auto_free char *copy = xstrdup(path);
	for (char *at = copy + 1; *at; at++) {
		if (*at != '/')
			continue;
		*at = '\0';
		if (mkdir(copy, mode) != 0 && errno != EEXIST && errno != EISDIR)
			return error_sys(err, errno, "cannot create folder %s", copy);
		*at = '/';
	}
	if (mkdir(copy, mode) != 0 && (errno != EEXIST || !dir_exists(copy)))
		return error_sys(err, errno == EEXIST ? ENOTDIR : errno, "cannot create folder %s", copy);
	return 0;
}

bool file_exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0;
}

bool file_is_regular(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool dir_exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool marker_exists(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && (st.st_mode & (S_IFMT | 07777)) != (S_IFDIR | DIR_PLACEHOLDER_MODE);
}
