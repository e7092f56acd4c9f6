/* Locks itself as the host of scripts does, then tries what a script must not be able to do. Prints a line for each
 * that works, and the last line "locked". */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
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

static int open_of(pid_t pid, const char *name)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY);
}

static void try_all(pid_t parent)
{
	static char name[] = "true";
	char *const argv[] = {name, NULL};
	char stolen[64];
	struct iovec part = {stolen, sizeof(stolen)};
	struct open_how how = {.flags = O_RDONLY};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
	struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
	int pair[2];
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
	check("openat2", syscall(SYS_openat2, AT_FDCWD, "/etc/passwd", &how, sizeof(how)));
	check("write /proc", open("/proc/self/mem", O_RDWR));
	check("parent's environment", open_of(parent, "environ"));
	check("parent's descriptors", open_of(parent, "fd/0"));
	check("link", symlink("/etc/passwd", "/tmp/codex-lock-probe"));
	check("rename", rename("/tmp/codex-lock-probe", "/tmp/codex-lock-probe2"));
	check("stat", syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", stolen, 0));
	check("list", open("/", O_RDONLY | O_DIRECTORY));
	check("chmod", chmod("/tmp", 0777));
	check("mount", mount("none", "/mnt", "tmpfs", 0, NULL));
	check("chroot", chroot("/"));
	check("netlink", socket(AF_NETLINK, SOCK_RAW, 0));
	check("packets", socket(AF_PACKET, SOCK_RAW, 0));
	check("socket pair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair));
	check("send a descriptor", sendmsg(STDOUT_FILENO, &message, 0));
	check("vfork", syscall(SYS_clone, CLONE_VFORK | CLONE_VM | SIGCHLD, 0, 0, 0, 0));
	check("clone3", syscall(SYS_clone3, stolen, sizeof(stolen)));
	check("name space", unshare(CLONE_NEWUSER));
	check("write memory", process_vm_writev(parent, &part, 1, &part, 1, 0));
	check("take a descriptor", syscall(SYS_pidfd_open, parent, 0));
	check("signal to all", kill(-1, 0));
	check("queue a signal", syscall(SYS_rt_sigqueueinfo, parent, SIGTERM, stolen));
	check("seize", ptrace(PTRACE_SEIZE, parent, 0, 0));
	check("limits of others", prlimit(parent, RLIMIT_CPU, NULL, &limit));
	check("own limits", setrlimit(RLIMIT_DATA, &limit));
	check("priority of others", setpriority(PRIO_PROCESS, (id_t)parent, 19));
	check("user", setuid(0));
	check("dumpable", prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	check("life after the parent", prctl(PR_SET_PDEATHSIG, 0, 0, 0, 0));
	check("performance events", syscall(SYS_perf_event_open, stolen, 0, -1, -1, 0));
	check("page faults", syscall(SYS_userfaultfd, 0));
	check("keys", syscall(SYS_add_key, "user", "x", "y", 1, -1));
	check("shared memory", shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600));
	check("message queue", msgget(IPC_PRIVATE, IPC_CREAT | 0600));
	check("watch files", inotify_init1(0));
	check("duplicate a descriptor", dup(STDIN_FILENO));
	check("change a descriptor", ioctl(STDOUT_FILENO, FIONREAD, stolen));
	check("host name", sethostname("x", 1));
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
