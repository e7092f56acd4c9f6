/* A blocking connect with a timeout: its callers have nothing else to do until it returns, and Ctrl-C ends them.
 * transport_listen.c, in contrast, must not block. */
#include "transport/transport_connect.h"

#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"

/* Returns a connected socket, or -errno. */
static int connect_socket(int family, const struct sockaddr *address, socklen_t len)
{
	auto_close int fd = host_socket(family, SOCK_STREAM, 0);
	const struct timeval limit = {.tv_sec = LIMIT_CONNECT_MS / 1000};
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, address, len) != 0)
		return errno == EINPROGRESS || errno == EAGAIN ? -ETIMEDOUT : -errno;
	return steal_fd(&fd);
}

static int connect_error(struct error *err, int failure, const char *address)
{
	error_sys(err, -failure, "cannot connect to %s", address);
	if (err)
		err->code = ERR_connect;
	return -(int)ERR_connect;
}

static int connect_unix(const char *text, const char *path, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return error_set(err, ERR_usage, "%s: the path must have 1 to %zu bytes", text,
		                 sizeof(address.sun_path) - 1);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	int fd = connect_socket(AF_UNIX, (const struct sockaddr *)&address, sizeof(address));
	return fd >= 0 ? fd : connect_error(err, fd, text);
}

static int connect_tcp(const char *text, struct str rest, struct error *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	ptrdiff_t colon = str_rfind_char(rest, ':');
	if (colon <= 0 || (size_t)colon + 1 == rest.len)
		return error_set(err, ERR_usage, "%s: want tcp://HOST:PORT", text);
	struct str host_text = str_n(rest.ptr, (size_t)colon);
	if (host_text.ptr[0] == '[' && host_text.ptr[host_text.len - 1] == ']' && host_text.len > 2)
		host_text = str_n(host_text.ptr + 1, host_text.len - 2);
	auto_free char *host = str_dup(host_text);
	int status = getaddrinfo(host, rest.ptr + colon + 1, &hints, &found);
	if (status != 0)
		return error_set(err, ERR_connect, "cannot connect to %s: %s", text, gai_strerror(status));
	int fd = -ECONNREFUSED;
	for (const struct addrinfo *it = found; it && fd < 0; it = it->ai_next)
		fd = connect_socket(it->ai_family, it->ai_addr, it->ai_addrlen);
	freeaddrinfo(found);
	return fd >= 0 ? fd : connect_error(err, fd, text);
}

int transport_connect(const char *address, struct error *err)
{
	struct str rest = str_of(address);
	if (str_cut_prefix(&rest, "unix://"))
		return connect_unix(address, rest.ptr, err);
	if (str_cut_prefix(&rest, "tcp://"))
		return connect_tcp(address, rest, err);
	return error_set(err, ERR_usage, "%s: expected unix://PATH or tcp://HOST:PORT", address);
}
