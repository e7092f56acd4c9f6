/* cost.c — runs a command and prints what it cost on descriptor 3: user and system microseconds with the
 * children it waited for, peak KiB of the largest, wall microseconds, exit status.
 *
 * A program of its own because a peak is inherited over exec: measured from a Python process, every
 * command would seem to need at least Python's memory. */
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

extern char **environ;

static long long micros(struct timeval t)
{
	return t.tv_sec * 1000000LL + t.tv_usec;
}

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

int main(int argc, char **argv)
{
	pid_t pid;
	int status;
	struct rusage usage;
	long long started = now();
	if (argc < 2 || posix_spawnp(&pid, argv[1], NULL, NULL, argv + 1, environ) != 0)
		return 127;
	if (wait4(pid, &status, 0, &usage) != pid)
		return 127;
	int exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	dprintf(3, "%lld %lld %ld %lld %d\n", micros(usage.ru_utime), micros(usage.ru_stime), usage.ru_maxrss,
		now() - started, exit_status);
	return 0;
}
