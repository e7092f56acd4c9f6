/* Uses plain sockets with a uv_poll_t instead of uv_listen, because a connection is needed as two descriptors: the
 * client may close its sending side, which ends reading, while events are still sent to it. */
#include "transport/transport_listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/error.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/str.h"
#include "loop/loop.h"
#include "transport/inherited_socket.h"
#include "transport/unix_socket.h"

enum { BACKLOG = 128 };

struct transport_listener {
	uv_poll_t poll;
	bool is_polled; /* poll was initialised */
	int fd;
	/* a reserve, closed to accept and refuse a connection when no other descriptor is left; -1: none */
	int spare_fd;
	bool is_remote; /* other machines can connect */
	char *path;     /* the file of a Unix socket, which this listener removes; NULL: a TCP socket */
	struct stat file;
	char *address; /* as shown in messages */
	transport_connect_fn on_connect;
	void *self;
};

/* Accepts one connection and closes it: a pending one would wake the loop again and again. */
static void refuse_one(struct transport_listener *listener)
{
	if (listener->spare_fd < 0)
		return;
	close(listener->spare_fd);
	int fd = host_accept(listener->fd);
	if (fd >= 0)
		close(fd);
	listener->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* TCP keepalive after 60 s, to detect dead peers. */
static void watch_peer(int fd)
{
	const int on = 1, idle_s = 60;
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct transport_listener *listener = container_of(poll, struct transport_listener, poll);
	(void)status, (void)events;
	int fd = host_accept(listener->fd);
	if (fd >= 0 && listener->is_remote)
		watch_peer(fd);
	if (fd >= 0)
		listener->on_connect(fd, listener->self);
	else if (errno == EMFILE || errno == ENFILE)
		refuse_one(listener);
}

static int socket_open(struct transport_listener *listener, int family, struct error *err)
{
	listener->fd = host_socket_nonblocking(family, SOCK_STREAM);
	return listener->fd >= 0 ? 0 : error_sys(err, errno, "cannot make a socket");
}

static int listen_unix(struct transport_listener *listener, const char *path, struct error *err)
{
	listener->fd = unix_socket_listen(path, BACKLOG, err);
	if (listener->fd < 0)
		return -(int)err->code;
	if (lstat(path, &listener->file) == 0)
		listener->path = xstrdup(path);
	listener->address = xasprintf("unix://%s", path);
	return 0;
}

union ip_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool parse_port(struct str text, in_port_t *ret)
{
	uint64_t port;
	if (!text.len || text.ptr[0] == '+' || !str_to_u64(text, &port) || port > UINT16_MAX)
		return false;
	*ret = htons((uint16_t)port);
	return true;
}

/* Parses IP:PORT or [IP]:PORT, a numeric address. */
static bool parse_ip(struct str text, union ip_address *ret)
{
	in_port_t port;
	ptrdiff_t colon = str_rfind_char(text, ':');
	if (colon < 0 || !parse_port(str_skip(text, (size_t)colon + 1), &port))
		return false;
	struct str host = str_n(text.ptr, (size_t)colon);
	bool is_v6 = host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
	auto_free char *name = str_dup(is_v6 ? str_n(host.ptr + 1, host.len - 2) : host);
	*ret = (union ip_address){0};
	if (is_v6) {
		ret->v6.sin6_family = AF_INET6;
		ret->v6.sin6_port = port;
		return inet_pton(AF_INET6, name, &ret->v6.sin6_addr) == 1;
	}
	ret->v4.sin_family = AF_INET;
	ret->v4.sin_port = port;
	return inet_pton(AF_INET, name, &ret->v4.sin_addr) == 1;
}

static bool is_loopback(const union ip_address *address)
{
	if (address->any.sa_family == AF_INET)
		return ntohl(address->v4.sin_addr.s_addr) >> 24 == 127;
	return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
}

static bool read_ip(const char *address, union ip_address *ret)
{
	struct str rest = str_of(address);
	return (str_cut_prefix(&rest, "tcp://") || str_cut_prefix(&rest, "ws://")) && parse_ip(rest, ret);
}

bool transport_listener_is_address(const char *address)
{
	union ip_address ip;
	return read_ip(address, &ip);
}

bool transport_listener_is_local(const char *address)
{
	union ip_address ip;
	if (read_ip(address, &ip))
		return is_loopback(&ip);
	return str_has_prefix(str_of(address), "unix://");
}

static int bind_ip(struct transport_listener *listener, const char *text, union ip_address *address, struct error *err)
{
	const int on = 1;
	bool is_v6 = address->any.sa_family == AF_INET6;
	socklen_t len = is_v6 ? sizeof(address->v6) : sizeof(address->v4);
	if (socket_open(listener, address->any.sa_family, err) != 0)
		return -(int)err->code;
	setsockopt(listener->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(listener->fd, &address->any, len) != 0 || getsockname(listener->fd, &address->any, &len) != 0)
		return error_sys(err, errno, "cannot listen on %s", text);
	if (listen(listener->fd, BACKLOG) != 0)
		return error_sys(err, errno, "cannot listen on %s", text);
	const char *colon = strrchr(text, ':');
	listener->address = xasprintf("%.*s:%u", (int)(colon - text), text,
	                              ntohs(is_v6 ? address->v6.sin6_port : address->v4.sin_port));
	return 0;
}

/* rest: the address without its scheme */
static int listen_ip(struct transport_listener *listener, const char *text, struct str rest, struct error *err)
{
	union ip_address address;
	if (!parse_ip(rest, &address))
		return error_set(err, ERR_usage, "%s: expected %.*sIP:PORT with a numeric address", text,
		                 (int)(rest.ptr - text), text);
	listener->is_remote = !is_loopback(&address);
	return bind_ip(listener, text, &address, err);
}

/* The file of a Unix socket stays: it belongs to the process that has opened the socket. */
static int listen_inherited(struct transport_listener *listener, const char *text, struct str rest, struct error *err)
{
	uint64_t fd;
	if (!str_to_u64(rest, &fd) || fd > INT_MAX)
		return error_set(err, ERR_usage, "%s: want fd://NUMBER", text);
	listener->address = inherited_socket_open((int)fd, err);
	if (!listener->address)
		return -(int)err->code;
	listener->fd = (int)fd;
	listener->is_remote = !transport_listener_is_local(listener->address);
	return 0;
}

static int listen_on(struct transport_listener *listener, const char *address, struct error *err)
{
	struct str rest = str_of(address);
	int status;
	if (str_cut_prefix(&rest, "unix://"))
		status = listen_unix(listener, rest.ptr, err);
	else if (str_cut_prefix(&rest, "tcp://") || str_cut_prefix(&rest, "ws://"))
		status = listen_ip(listener, address, rest, err);
	else if (str_cut_prefix(&rest, "fd://"))
		status = listen_inherited(listener, address, rest, err);
	else
		status = error_set(err, ERR_usage, "%s: expected unix://PATH or tcp://127.0.0.1:PORT", address);
	return status;
}

struct transport_listener *transport_listener_create(struct loop *loop, const char *address,
                                                     transport_connect_fn on_connect, void *self, struct error *err)
{
	struct transport_listener *listener = xnew(struct transport_listener);
	listener->fd = -1;
	listener->spare_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
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
		unix_socket_remove(listener->path, &listener->file);
	if (listener->is_polled)
		uv_poll_stop(&listener->poll);
	if (listener->fd >= 0)
		close(listener->fd);
	if (listener->spare_fd >= 0)
		close(listener->spare_fd);
	if (listener->is_polled)
		uv_close((uv_handle_t *)&listener->poll, on_closed);
	else
		listener_free(listener);
}
