/* Plain sockets behind a uv_poll_t, not uv_listen: a connection is needed as a descriptor, twice, so that reading may
 * end (the client has said all) while events are still being sent. */
#include "transport/transport_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/mem.h"
#include "base/str.h"
#include "loop/loop.h"

enum { BACKLOG = 128 };

struct transport_listener {
	uv_poll_t poll;
	bool is_polled; /* poll was initialised */
	int fd;
	char *path;    /* of a Unix socket that is ours to remove */
	char *address; /* for people */
	transport_connect_fn on_connect;
	void *self;
};

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct transport_listener *listener = container_of(poll, struct transport_listener, poll);
	(void)status, (void)events;
	int fd = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd >= 0)
		listener->on_connect(fd, listener->self);
}

static int socket_open(struct transport_listener *listener, int family, struct error *err)
{
	listener->fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	return listener->fd >= 0 ? 0 : error_sys(err, errno, "cannot make a socket");
}

/* A socket's file that nobody listens on any more is what a killed program left. */
static void remove_stale(const struct sockaddr_un *address)
{
	struct stat info;
	if (lstat(address->sun_path, &info) != 0 || !S_ISSOCK(info.st_mode))
		return;
	auto_close int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof(*address)) != 0 && errno == ECONNREFUSED)
		unlink(address->sun_path);
}

static int listen_unix(struct transport_listener *listener, const char *path, struct error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	if (!*path || strlen(path) >= sizeof(address.sun_path))
		return error_set(err, ERR_usage, "unix://%s: the path must have 1 to %zu bytes", path,
		                 sizeof(address.sun_path) - 1);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	if (socket_open(listener, AF_UNIX, err) != 0)
		return -(int)err->code;
	remove_stale(&address);
	mode_t mask = umask(0177); /* from the first moment on: nobody else may connect */
	int status = bind(listener->fd, (const struct sockaddr *)&address, sizeof(address));
	int failure = errno;
	umask(mask);
	if (status != 0)
		return error_sys(err, failure, "cannot listen on unix://%s", path);
	listener->path = xstrdup(path);
	listener->address = xasprintf("unix://%s", path);
	return 0;
}

union ip_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* HOST:PORT with a loopback address; other machines are let in by nothing here. */
static int parse_ip(const char *text, union ip_address *ret, struct error *err)
{
	uint64_t port;
	struct str host = str_of(text);
	ptrdiff_t colon = str_rfind_char(host, ':');
	if (colon < 0 || !str_to_u64(str_skip(host, (size_t)colon + 1), &port) || port > UINT16_MAX)
		return error_set(err, ERR_usage, "tcp://%s: want tcp://127.0.0.1:PORT", text);
	host.len = (size_t)colon;
	*ret = (union ip_address){0};
	auto_free char *name = str_dup(host);
	if (strcmp(name, "[::1]") == 0) {
		ret->v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)port)};
		ret->v6.sin6_addr = in6addr_loopback;
		return 0;
	}
	ret->v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
	if (inet_pton(AF_INET, name, &ret->v4.sin_addr) != 1 || ntohl(ret->v4.sin_addr.s_addr) >> 24 != 127)
		return error_set(err, ERR_usage,
		                 "tcp://%s: only this machine may connect: use tcp://127.0.0.1:PORT or "
		                 "tcp://[::1]:PORT",
		                 text);
	return 0;
}

static int listen_tcp(struct transport_listener *listener, const char *text, struct error *err)
{
	union ip_address address;
	const int on = 1;
	if (parse_ip(text, &address, err) != 0 || socket_open(listener, address.any.sa_family, err) != 0)
		return -(int)err->code;
	socklen_t len = sizeof(address);
	setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener->fd, &address.any,
	         address.any.sa_family == AF_INET6 ? sizeof(address.v6) : sizeof(address.v4)) != 0 ||
	    getsockname(listener->fd, &address.any, &len) != 0)
		return error_sys(err, errno, "cannot listen on tcp://%s", text);
	const char *colon = strrchr(text, ':');
	bool is_v6 = address.any.sa_family == AF_INET6;
	listener->address = xasprintf("tcp://%.*s:%u", (int)(colon - text), text,
	                              ntohs(is_v6 ? address.v6.sin6_port : address.v4.sin_port));
	return 0;
}

static int listen_on(struct transport_listener *listener, const char *address, struct error *err)
{
	struct str rest = str_of(address);
	int status;
	if (str_cut_prefix(&rest, "unix://"))
		status = listen_unix(listener, rest.ptr, err);
	else if (str_cut_prefix(&rest, "tcp://"))
		status = listen_tcp(listener, rest.ptr, err);
	else
		status = error_set(err, ERR_usage, "%s: want unix://PATH or tcp://127.0.0.1:PORT", address);
	if (status == 0 && listen(listener->fd, BACKLOG) != 0)
		status = error_sys(err, errno, "cannot listen on %s", address);
	return status;
}

struct transport_listener *transport_listener_create(struct loop *loop, const char *address,
                                                     transport_connect_fn on_connect, void *self, struct error *err)
{
	struct transport_listener *listener = xnew(struct transport_listener);
	listener->fd = -1;
	listener->on_connect = on_connect;
	listener->self = self;
	if (listen_on(listener, address, err) != 0) {
		transport_listener_destroy(listener);
		return NULL;
	}
	listener->is_polled = true;
	uv_poll_init(loop_uv(loop), &listener->poll, listener->fd);
	uv_poll_start(&listener->poll, UV_READABLE, on_readable);
	return listener;
}

const char *transport_listener_address(const struct transport_listener *listener)
{
	return listener->address;
}

static void listener_free(struct transport_listener *listener)
{
	free(listener->address);
	free(listener->path);
	free(listener);
}

static void on_closed(uv_handle_t *handle)
{
	listener_free(container_of((uv_poll_t *)handle, struct transport_listener, poll));
}

void transport_listener_destroy(struct transport_listener *listener)
{
	if (!listener)
		return;
	if (listener->path)
		unlink(listener->path);
	if (listener->is_polled)
		uv_poll_stop(&listener->poll);
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->is_polled)
		uv_close((uv_handle_t *)&listener->poll, on_closed);
	else
		listener_free(listener);
}
