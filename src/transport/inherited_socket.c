/* Only one socket is taken, because the server has one address. An inherited descriptor may be anything, so each
 * property that the server relies on is checked. */
#include "transport/inherited_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"

enum { FIRST_FD = 3 }; /* SD_LISTEN_FDS_START */

union any_address {
	struct sockaddr any;
	struct sockaddr_un un;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

int inherited_socket_find(const char *pid, const char *count, struct error *err)
{
	uint64_t owner, passed;
	if (!pid || !count) {
		error_set(err, ERR_usage,
		          "fd:// needs a socket from systemd, but LISTEN_PID and LISTEN_FDS are not set: start the "
		          "program by codex-app-server.socket, or use --listen unix://PATH");
		return -1;
	}
	if (!str_to_u64(str_of(pid), &owner) || owner != (uint64_t)getpid()) {
		error_set(err, ERR_usage,
		          "fd:// needs a socket for this process, but LISTEN_PID is %s and this process is %ld", pid,
		          (long)getpid());
		return -1;
	}
	if (!str_to_u64(str_of(count), &passed) || passed != 1) {
		error_set(err, ERR_usage, "fd:// needs exactly one socket, but LISTEN_FDS is %s", count);
		return -1;
	}
	return FIRST_FD;
}

static bool socket_has(int fd, int option, int wanted)
{
	int value;
	socklen_t len = sizeof(value);
	return getsockopt(fd, SOL_SOCKET, option, &value, &len) == 0 && value == wanted;
}

static char *write_ip(const union any_address *address)
{
	char ip[INET6_ADDRSTRLEN];
	bool is_v6 = address->any.sa_family == AF_INET6;
	const void *bytes = is_v6 ? (const void *)&address->v6.sin6_addr : &address->v4.sin_addr;
	in_port_t port = is_v6 ? address->v6.sin6_port : address->v4.sin_port;
	if (!inet_ntop(address->any.sa_family, bytes, ip, sizeof(ip)))
		return NULL;
	return xasprintf(is_v6 ? "ws://[%s]:%u" : "ws://%s:%u", ip, ntohs(port));
}

/* NULL for a kind of address that is not supported: an abstract Unix socket has no file whose mode limits access. */
static char *write_address(const union any_address *address, socklen_t len)
{
	size_t head = offsetof(struct sockaddr_un, sun_path);
	switch (address->any.sa_family) {
	case AF_INET:
	case AF_INET6:
		return write_ip(address);
	case AF_UNIX:
		if (len <= head || len > sizeof(address->un) || !address->un.sun_path[0])
			return NULL;
		return xasprintf("unix://%.*s", (int)(len - head), address->un.sun_path);
	default:
		return NULL;
	}
}

static int set_flags(int fd)
{
	int status = fcntl(fd, F_GETFL);
	if (status < 0 || fcntl(fd, F_SETFL, status | O_NONBLOCK) != 0)
		return -1;
	return fcntl(fd, F_SETFD, FD_CLOEXEC);
}

char *inherited_socket_open(int fd, struct error *err)
{
	union any_address address = {0};
	socklen_t len = sizeof(address);
	if (getsockname(fd, &address.any, &len) != 0 || set_flags(fd) != 0) {
		error_set(err, ERR_usage, "fd://: descriptor %d is not a socket: %s", fd, strerror(errno));
		return NULL;
	}
	char *text = NULL;
	if (socket_has(fd, SO_TYPE, SOCK_STREAM) && socket_has(fd, SO_ACCEPTCONN, 1))
		text = write_address(&address, len);
	if (!text)
		error_set(err, ERR_usage,
		          "fd://: descriptor %d must be a listening stream socket with a path or an IP address", fd);
	return text;
}
