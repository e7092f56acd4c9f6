/* Locks itself as the host of scripts does, then tries what a script must not be able to do. Prints a line for each
 * that works, and the last line "locked". */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host_lock.h"

static void check(const char *what, long result)
{
	char line[64];
	int len = snprintf(line, sizeof(line), "%s\n", what);
	if (result >= 0 && write(STDOUT_FILENO, line, (size_t)len) < 0)
		_exit(1);
}

static void *sleep_in_thread(void *done)
{
	*(int *)done = 1;
	return NULL;
}

static void try_all(pid_t parent)
{
	static char name[] = "true";
	char *const argv[] = {name, NULL};
	char stolen[64];
	struct iovec part = {stolen, sizeof(stolen)};
	check("open", open("/etc/passwd", O_RDONLY));
	check("open /proc", open("/proc/self/maps", O_RDONLY));
	check("create", open("/tmp/codex-lock-probe", O_WRONLY | O_CREAT, 0600));
	check("socket", socket(AF_INET, SOCK_STREAM, 0));
	check("unix socket", socket(AF_UNIX, SOCK_STREAM, 0));
	check("exec", execv("/bin/true", argv));
	check("fork", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	check("ptrace", ptrace(PTRACE_ATTACH, parent, 0, 0));
	check("kill", kill(parent, 0));
	check("tgkill", syscall(SYS_tgkill, parent, parent, 0));
	check("read memory", process_vm_readv(parent, &part, 1, &part, 1, 0));
	check("unlink", unlink("/tmp/codex-lock-probe"));
	check("chdir", chdir("/"));
	check("memfd", memfd_create("x", 0));
	check("signal by descriptor", fcntl(STDOUT_FILENO, F_SETOWN, parent));
	check("seccomp", syscall(SYS_seccomp, 1, 0, NULL));
	check("io_uring", syscall(SYS_io_uring_setup, 1, NULL));
	check("bpf", syscall(SYS_bpf, 0, NULL, 0));
}

int main(void)
{
	pthread_t thread;
	int done = 0;
	host_lock_limits();
	if (!host_lock())
		return 4;
	try_all(getppid());
	pthread_create(&thread, NULL, sleep_in_thread, &done);
	pthread_join(thread, NULL);
	check("locked", done - 1);
	return 0;
}
