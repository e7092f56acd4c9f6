/* Every attempt runs in a child, as some of them, where they work, leave a process that can do nothing else. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct target target;

enum { ATTEMPT_SECONDS = 20, OUT = 255 };

static const char *below(const char *folder, const char *name)
{
	static char paths[4][2048];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

const char *in_workspace(const char *name)
{
	return below(target.workspace, name);
}

const char *in_outside(const char *name)
{
	return below(target.outside, name);
}

bool can_write(const char *path, int flags)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC | flags, 0600);
	return fd >= 0 && write(fd, "x", 1) == 1;
}

bool was_heard(long result)
{
	return result >= 0 || (errno != EPERM && errno != EACCES && errno != ENOSYS);
}

static void run(const struct attempt *attempt)
{
	int status = 0;
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		setpgid(0, 0);
		alarm(ATTEMPT_SECONDS);
		errno = 0;
		_exit(attempt->run() ? OUT : errno);
	}
	waitpid(pid, &status, 0);
	kill(-pid, SIGKILL);
	if (WIFSIGNALED(status))
		printf("%s\tended by signal %d\n", attempt->name, WTERMSIG(status));
	else if (WEXITSTATUS(status) == OUT)
		printf("%s\tout\n", attempt->name);
	else
		printf("%s\t%s\n", attempt->name, WEXITSTATUS(status) ? strerror(WEXITSTATUS(status)) : "no effect");
}

static int read_target(char **argv)
{
	snprintf(target.workspace, sizeof(target.workspace), "%s", argv[2]);
	snprintf(target.outside, sizeof(target.outside), "%s", argv[3]);
	FILE *file = fopen(argv[4], "r");
	if (!file)
		return -1;
	int got = fscanf(file, "%d %d %d %d %63s %63s %d", &target.pid, &target.tcp4, &target.tcp6, &target.udp4,
	                 target.abstract, target.shared_memory, &target.system_v_key);
	fclose(file);
	return got == 7 ? 0 : -1;
}

int main(int argc, char **argv)
{
	const struct attempt *const all[] = {attempts_on_files, attempts_on_guarded, attempts_on_network,
	                                     attempts_on_processes, attempts_on_kernel};
	if (argc > 1 && strcmp(argv[1], "victim") == 0)
		return victim_main(argc, argv);
	if (argc != 5 || strcmp(argv[1], "try") != 0 || read_target(argv) != 0) {
		fputs("usage: escape try WORKSPACE OUTSIDE VICTIM\n", stderr);
		return 2;
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		for (const struct attempt *it = all[i]; it->name; it++)
			run(it);
	}
	return 0;
}
