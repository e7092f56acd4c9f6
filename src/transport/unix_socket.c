/* A socket address has room for 107 bytes of path. A file with a longer path is reached through its folder's
 * descriptor, as /proc/self/fd/N/NAME: a temporary link could be left over, or replaced by another user. */
#include "transport/unix_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"

struct unix_address {
	struct sockaddr_un un;
	int folder; /* the descriptor of the folder while the address is in use, or -1 */
};

static bool put_path(struct unix_address *address, const char *path)
{
	size_t size = sizeof(address->un.sun_path);
	return (size_t)snprintf(address->un.sun_path, size, "%s", path) < size;
}

static int address_open(struct unix_address *address, const char *path, struct error *err)
{
	*address = (struct unix_address){.un.sun_family = AF_UNIX, .folder = -1};
	if (!*path)
		return error_set(err, ERR_usage, "unix://: a path is missing");
	if (put_path(address, path))
		return 0;
	auto_free char *folder = str_dup(path_dir(path)), *name = str_dup(path_name(path));
	address->folder = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (address->folder < 0)
		return error_sys(err, errno, "cannot open %s", folder);
	auto_free char *detour = xasprintf("/proc/self/fd/%d/%s", address->folder, name);
	if (put_path(address, detour))
		return 0;
	return error_set(err, ERR_usage, "unix://%s: the file's name is too long", path);
}

static void address_close(struct unix_address *address)
{
	if (address->folder >= 0)
		close(address->folder);
}

static int open_socket(struct error *err)
{
	int fd = host_socket_nonblocking(AF_UNIX, SOCK_STREAM);
	if (fd < 0)
		error_sys(err, errno, "cannot make a socket");
	return fd;
}

static int dial(int fd, const struct unix_address *address)
{
	return connect(fd, (const struct sockaddr *)&address->un, sizeof(address->un));
}

/* Removes a socket file that no process listens on, such as one that a killed program has left. */
static void remove_stale(const struct unix_address *address)
{
	struct stat info;
	if (lstat(address->un.sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
		return;
	auto_close int fd = open_socket(NULL);
	if (fd >= 0 && dial(fd, address) != 0 && errno == ECONNREFUSED)
		unlink(address->un.sun_path);
}

static int listen_at(int fd, const struct unix_address *address, int backlog)
{
	remove_stale(address);
	/* The socket's mode becomes that of the file, so that other users can never connect. */
	if (fchmod(fd, 0600) != 0)
		return -1;
	int status = bind(fd, (const struct sockaddr *)&address->un, sizeof(address->un));
	return status == 0 ? listen(fd, backlog) : status;
}

void unix_socket_remove(const char *path, const struct stat *own)
{
	struct stat now;
	if (lstat(path, &now) == 0 && now.st_dev == own->st_dev && now.st_ino == own->st_ino)
		unlink(path);
}

int unix_socket_listen(const char *path, int backlog, struct error *err)
{
	struct unix_address address;
	auto_close int fd = open_socket(err);
	if (fd < 0)
		return -1;
	bool is_open = address_open(&address, path, err) == 0;
	bool listens = is_open && listen_at(fd, &address, backlog) == 0;
	if (is_open && !listens)
		error_sys(err, errno, "cannot listen on unix://%s", path);
	address_close(&address);
	return listens ? steal_fd(&fd) : -1;
}

static int dial_for(int fd, const struct unix_address *address, uint64_t wait_ms)
{
	const struct timeval limit = {.tv_sec = (time_t)(wait_ms / 1000),
	                              .tv_usec = (suseconds_t)(wait_ms % 1000) * 1000};
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return dial(fd, address);
}

/* Waits in connect for a place in the listener's queue; a non-blocking one would fail at once. The limit of the
 * socket's sends counts for it. A signal, also one that stops and continues the process, ends the call. */
static int dial_waiting(int fd, const struct unix_address *address, unsigned wait_ms)
{
	const struct timeval none = {0};
	int flags = fcntl(fd, F_GETFL), status;
	uint64_t now = clock_now_ms(), end = now + wait_ms;
	fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
	while ((status = dial_for(fd, address, end - now)) != 0 && errno == EINTR && (now = clock_now_ms()) < end)
		;
	int failure = errno == EINTR ? EAGAIN : errno;
	fcntl(fd, F_SETFL, flags);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &none, sizeof(none));
	errno = failure;
	return status;
}

int unix_socket_connect(const char *path, unsigned wait_ms, struct error *err)
{
	struct unix_address address;
	auto_close int fd = open_socket(err);
	if (fd < 0)
		return -1;
	bool is_open = address_open(&address, path, err) == 0;
	bool is_connected = is_open && dial(fd, &address) == 0;
	if (is_open && !is_connected && errno == EAGAIN && wait_ms)
		is_connected = dial_waiting(fd, &address, wait_ms) == 0;
	if (is_open && !is_connected && errno == EAGAIN) {
		error_set(err, ERR_timeout, "the server at unix://%s accepts no connection: it hangs or has too many",
		          path);
	} else if (is_open && !is_connected) {
		error_sys(err, errno, "failed to connect to socket at %s", path);
		if (err)
			err->code = ERR_connect;
	}
	address_close(&address);
	return is_connected ? steal_fd(&fd) : -1;
}
