/* floor.c — the least work that has the effect of a row of bench/check.py: a bound from below, measured in the same
 * run on the same machine. It reads no configuration, keeps no history and handles no error but by exiting.
 *
 *   floor nothing                  starts and ends
 *   floor copy FROM TO             reads a file and writes it
 *   floor run COUNT PROGRAM ARG…   starts a program COUNT times, one after the other
 *   floor relay HOST PORT          posts an empty request to a model and writes the response to standard output
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static char block[1 << 16];

static void pump(int from, int to)
{
	ssize_t got;
	while ((got = read(from, block, sizeof(block))) > 0) {
		if (write(to, block, (size_t)got) != got)
			exit(1);
	}
	if (got < 0)
		exit(1);
}

static void copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	if (in < 0 || out < 0)
		exit(1);
	pump(in, out);
}

static void run(int count, char **argv)
{
	for (int i = 0; i < count; i++) {
		pid_t pid;
		int status;
		if (posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ) != 0 || waitpid(pid, &status, 0) != pid ||
		    status != 0)
			exit(1);
	}
}

static void relay(const char *host, const char *port)
{
	static const char request[] = "POST /v1/responses HTTP/1.1\r\nhost: floor\r\ncontent-type: application/json\r\n"
				      "connection: close\r\ncontent-length: 2\r\n\r\n{}";
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((unsigned short)atoi(port))};
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	if (inet_pton(AF_INET, host, &at.sin_addr) != 1 || connect(fd, (struct sockaddr *)&at, sizeof(at)) != 0 ||
	    write(fd, request, strlen(request)) != (ssize_t)strlen(request))
		exit(1);
	pump(fd, STDOUT_FILENO);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	if (strcmp(what, "copy") == 0 && argc == 4)
		copy(argv[2], argv[3]);
	else if (strcmp(what, "run") == 0 && argc > 3)
		run(atoi(argv[2]), argv + 3);
	else if (strcmp(what, "relay") == 0 && argc == 4)
		relay(argv[2], argv[3]);
	else
		return strcmp(what, "nothing") != 0;
	return 0;
}
