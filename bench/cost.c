/* cost.c — runs a command and prints its cost on descriptor 3: microseconds of CPU of its own, the same with all its
 * children, peak KiB of the largest process, wall microseconds, exit status.
 *
 * Orphans of the command are adopted (subreaper), so that a command does not look cheap because it does not wait for
 * its children; those that have not ended after two seconds are not counted.
 *
 * It is a program of its own because the peak is inherited over exec: measured from a Python process, every command
 * would seem to need at least Python's memory. */
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* The CPU time of an ended process that has not been reaped yet. */
static long long cpu_of(pid_t pid)
{
	clockid_t clock;
	struct timespec t;
	if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
		return 0;
	return t.tv_sec * 1000000LL + t.tv_nsec / 1000;
}

static void on_alarm(int number)
{
	(void)number;
}

static void wait_for_orphans(void)
{
	struct sigaction action = {.sa_handler = on_alarm}; /* no SA_RESTART: it ends the wait */
	sigaction(SIGALRM, &action, NULL);
	alarm(2);
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	pid_t pid;
	int status;
	struct rusage usage;
	long long started = now();
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (argc < 2 || posix_spawnp(&pid, argv[1], NULL, NULL, argv + 1, environ) != 0)
		return 127;
	siginfo_t info;
	if (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0)
		return 127;
	long long wall = now() - started, own = cpu_of(pid);
	if (waitpid(pid, &status, 0) != pid)
		return 127;
	wait_for_orphans();
	getrusage(RUSAGE_CHILDREN, &usage);
	long long all = micros(usage.ru_utime) + micros(usage.ru_stime);
	dprintf(3, "%lld %lld %ld %lld %d\n", own, all, usage.ru_maxrss, wall,
	        WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	return 0;
}
