/* Connections to the outside through sockets of any kind. */
#include "escape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_in address4(int port)
{
	return (struct sockaddr_in){
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static bool connect_tcp4(void)
{
	struct sockaddr_in address = address4(target.tcp4);
	return connect(socket(AF_INET, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address)) == 0;
}

static bool connect_tcp6(void)
{
	struct sockaddr_in6 address = {
		.sin6_family = AF_INET6, .sin6_port = htons((uint16_t)target.tcp6), .sin6_addr = in6addr_loopback};
	return connect(socket(AF_INET6, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address)) == 0;
}

static bool open_tcp_fast(void)
{
	struct sockaddr_in address = address4(target.tcp4);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	return sendto(fd, "x", 1, MSG_FASTOPEN, (struct sockaddr *)&address, sizeof(address)) == 1;
}

static bool echo_udp(void)
{
	char byte;
	struct sockaddr_in address = address4(target.udp4);
	struct timeval patience = {.tv_usec = 300000};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	sendto(fd, "x", 1, 0, (struct sockaddr *)&address, sizeof(address));
	return recv(fd, &byte, 1, 0) == 1;
}

static socklen_t unix_address(struct sockaddr_un *address, const char *name)
{
	bool is_abstract = !strchr(name, '/');
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(address->sun_path + is_abstract, sizeof(address->sun_path) - 1, "%s", name);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(name));
}

static bool connect_unix(const char *name)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, name);
	return connect(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, len) == 0;
}

static bool connect_outside(void)
{
	return connect_unix(in_outside("stream.sock"));
}

static bool connect_inside(void)
{
	return connect_unix(in_workspace("stream.sock"));
}

static bool connect_abstract(void)
{
	return connect_unix(target.abstract);
}

static bool send_datagram(void)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, in_workspace("datagram.sock"));
	return sendto(socket(AF_UNIX, SOCK_DGRAM, 0), "x", 1, 0, (struct sockaddr *)&address, len) == 1;
}

/* A pair needs no address, but a message on it may have one. */
static bool send_from_pair(void)
{
	int ends[2];
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, in_workspace("datagram.sock"));
	char byte = 'x';
	struct iovec part = {.iov_base = &byte, .iov_len = 1};
	struct msghdr message = {.msg_name = &address, .msg_namelen = len, .msg_iov = &part, .msg_iovlen = 1};
	return socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) == 0 && sendmsg(ends[0], &message, 0) == 1;
}

static bool bind_outside(void)
{
	struct sockaddr_un address;
	socklen_t len = unix_address(&address, in_outside("bound.sock"));
	return bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, len) == 0;
}

static bool see_devices(void)
{
	struct if_nameindex *list = if_nameindex();
	for (struct if_nameindex *it = list; it && it->if_index; it++) {
		if (strcmp(it->if_name, "lo") != 0)
			return true;
	}
	return false;
}

static bool hear_kernel_events(void)
{
	struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
	char mine[64] = "", outer[64] = "";
	ssize_t got = readlink("/proc/self/ns/net", mine, sizeof(mine) - 1);
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/ns/net", target.pid);
	if (got <= 0 || readlink(path, outer, sizeof(outer) - 1) <= 0 || strcmp(mine, outer) != 0)
		return false;
	return bind(socket(AF_NETLINK, SOCK_RAW, NETLINK_KOBJECT_UEVENT), (struct sockaddr *)&address,
	            sizeof(address)) == 0;
}

static bool read_packets(void)
{
	return socket(AF_PACKET, SOCK_RAW, htons(3)) >= 0;
}

static bool send_raw(void)
{
	return socket(AF_INET, SOCK_RAW, IPPROTO_ICMP) >= 0;
}

static bool reach_machine(void)
{
	return socket(AF_VSOCK, SOCK_STREAM, 0) >= 0;
}

static bool ask_crypto(void)
{
	return socket(AF_ALG, SOCK_SEQPACKET, 0) >= 0;
}

static bool use_ring(void)
{
	unsigned char params[120] = {0};
	return syscall(SYS_io_uring_setup, 4, params) >= 0;
}

const struct attempt attempts_on_network[] = {
	{"connect by TCP over IPv4", connect_tcp4},
	{"connect by TCP over IPv6", connect_tcp6},
	{"connect by TCP fast open", open_tcp_fast},
	{"exchange datagrams", echo_udp},
	{"connect to a socket outside", connect_outside},
	{"connect to a socket in the workspace", connect_inside},
	{"connect to an abstract socket", connect_abstract},
	{"send to a socket of datagrams", send_datagram},
	{"send from one of a pair", send_from_pair},
	{"bind a socket outside", bind_outside},
	{"see network devices", see_devices},
	{"hear the kernel's events", hear_kernel_events},
	{"open a packet socket", read_packets},
	{"open a raw socket", send_raw},
	{"open a socket to the host machine", reach_machine},
	{"open a socket of the kernel's ciphers", ask_crypto},
	{"set up an io_uring", use_ring},
	{0},
};
