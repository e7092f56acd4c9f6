/* The outside: a process of the same user, servers of all kinds, shared memory. It counts who gets through, and says so
 * when its input ends. */
#include "escape.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static volatile sig_atomic_t signals;

static void on_signal(int signal)
{
	(void)signal;
	signals++;
}

static int inet_listen(int family, int type, int *ret_port)
{
	struct sockaddr_storage address = {.ss_family = (sa_family_t)family};
	socklen_t len = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
	int fd = socket(family, type, 0);
	if (family == AF_INET)
		((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	else
		((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
	*ret_port = 0;
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, len) != 0)
		return -1;
	if (type == SOCK_STREAM)
		listen(fd, 16);
	getsockname(fd, (struct sockaddr *)&address, &len);
	*ret_port = ntohs(family == AF_INET ? ((struct sockaddr_in *)&address)->sin_port
	                                    : ((struct sockaddr_in6 *)&address)->sin6_port);
	return fd;
}

/* A name without a slash is an abstract one. */
static int unix_listen(const char *name, int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	bool is_abstract = !strchr(name, '/');
	snprintf(address.sun_path + is_abstract, sizeof(address.sun_path) - 1, "%s", name);
	int fd = socket(AF_UNIX, type, 0);
	if (bind(fd, (struct sockaddr *)&address,
	         (socklen_t)(offsetof(struct sockaddr_un, sun_path) + is_abstract + strlen(name))) != 0)
		return -1;
	if (type == SOCK_STREAM)
		listen(fd, 16);
	return fd;
}

static void answer(int fd)
{
	char bytes[64];
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	int client = accept(fd, NULL, NULL);
	if (client >= 0)
		close(client);
	else if (recvfrom(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&from, &len) > 0 && len)
		sendto(fd, "y", 1, 0, (struct sockaddr *)&from, len);
}

static int serve(struct pollfd *fds, int count)
{
	int visits = 0;
	char bytes[64];
	while (poll(fds, (nfds_t)count, -1) >= 0 || signals) {
		for (int i = 1; i < count; i++) {
			if (!(fds[i].revents & POLLIN))
				continue;
			answer(fds[i].fd);
			visits++;
		}
		if (fds[0].revents && read(0, bytes, sizeof(bytes)) <= 0)
			break;
	}
	return visits;
}

static int place(const char *file)
{
	FILE *out = fopen(file, "w");
	if (!out)
		return 1;
	fprintf(out, "%d %d %d %d %s %s %d\n", getpid(), target.tcp4, target.tcp6, target.udp4, target.abstract,
	        target.shared_memory, target.system_v_key);
	fclose(out);
	puts("ready");
	fflush(stdout);
	return 0;
}

int victim_main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	snprintf(target.workspace, sizeof(target.workspace), "%s", argv[2]);
	snprintf(target.outside, sizeof(target.outside), "%s", argv[3]);
	snprintf(target.abstract, sizeof(target.abstract), "codex-escape-%d", getpid());
	snprintf(target.shared_memory, sizeof(target.shared_memory), "codex-escape-%d", getpid());
	target.system_v_key = 0x0c0de000 + getpid();
	signal(SIGUSR1, on_signal);
	dup2(open(in_outside("file"), O_WRONLY), 9);
	int memory = shmget(target.system_v_key, 4096, IPC_CREAT | 0600);
	int shared = shm_open(target.shared_memory, O_CREAT | O_RDWR, 0600);
	struct pollfd fds[] = {
		{.fd = 0, .events = POLLIN},
		{.fd = inet_listen(AF_INET, SOCK_STREAM, &target.tcp4), .events = POLLIN},
		{.fd = inet_listen(AF_INET6, SOCK_STREAM, &target.tcp6), .events = POLLIN},
		{.fd = inet_listen(AF_INET, SOCK_DGRAM, &target.udp4), .events = POLLIN},
		{.fd = unix_listen(in_outside("stream.sock"), SOCK_STREAM), .events = POLLIN},
		{.fd = unix_listen(in_workspace("stream.sock"), SOCK_STREAM), .events = POLLIN},
		{.fd = unix_listen(in_workspace("datagram.sock"), SOCK_DGRAM), .events = POLLIN},
		{.fd = unix_listen(target.abstract, SOCK_STREAM), .events = POLLIN},
	};
	if (place(argv[4]) != 0)
		return 1;
	int visits = serve(fds, (int)(sizeof(fds) / sizeof(fds[0])));
	printf("%d visits, %d signals\n", visits, (int)signals);
	shmctl(memory, IPC_RMID, NULL);
	shm_unlink(target.shared_memory);
	close(shared);
	return 0;
}
