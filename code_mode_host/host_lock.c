/* A list of the calls that are allowed: unlike a command, a script needs few, and they are known. All others fail with
 * EPERM, so that an engine can do without them. No file, socket, process or address space of another process can be
 * opened; what is open is the pipes to the engine. */
#include "host_lock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

enum {
	CPU_SECONDS_MAX = 600,
	X32_BIT = 0x40000000,
};

static const int allowed[] = {
	SYS_read,
	SYS_write,
	SYS_readv,
	SYS_writev,
	SYS_close,
	SYS_ppoll,
	SYS_futex,
	SYS_mmap,
	SYS_munmap,
	SYS_mremap,
	SYS_mprotect,
	SYS_madvise,
	SYS_brk,
	SYS_clock_gettime,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_getrandom,
	SYS_exit,
	SYS_exit_group,
	SYS_rt_sigreturn,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_sigaltstack,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_getpid,
	SYS_gettid,
	SYS_getrusage,
	SYS_membarrier,
	SYS_restart_syscall,
	SYS_set_robust_list,
	SYS_epoll_create1,
	SYS_epoll_ctl,
	SYS_epoll_pwait,
	SYS_eventfd2,
	SYS_fstat,
	SYS_lseek,
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_poll
	SYS_poll,
#endif
#ifdef SYS_epoll_wait
	SYS_epoll_wait,
#endif
};

#define COUNT (sizeof(allowed) / sizeof(*allowed))
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(number) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (number))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

void host_lock_limits(void)
{
	const struct rlimit none = {0, 0}, cpu = {CPU_SECONDS_MAX, CPU_SECONDS_MAX};
	setrlimit(RLIMIT_CORE, &none);
	setrlimit(RLIMIT_FSIZE, &none);
	setrlimit(RLIMIT_CPU, &cpu);
	setpriority(PRIO_PROCESS, 0, 5);
}

/* Returns the bytes that count against RLIMIT_DATA now; 0 if they are unknown. */
static rlim_t data_size(void)
{
	char text[256];
	unsigned long pages;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	text[len > 0 ? len : 0] = '\0';
	return sscanf(text, "%*u %*u %*u %*u %*u %lu", &pages) == 1 ? pages * (rlim_t)sysconf(_SC_PAGESIZE) : 0;
}

/* Engines reserve address space when they start, which must not count. */
static bool limit_memory(void)
{
	struct rlimit data;
	rlim_t now = data_size();
	if (!now || getrlimit(RLIMIT_DATA, &data) != 0)
		return false;
	if (data.rlim_max > now + HOST_MEMORY_MAX)
		data.rlim_max = now + HOST_MEMORY_MAX;
	data.rlim_cur = data.rlim_max;
	return setrlimit(RLIMIT_DATA, &data) == 0;
}

/* A thread may be started, a process may not: clone needs CLONE_THREAD, and clone3, whose flags are in memory, does
 * not exist, so that libc uses clone. Signals go to this process alone. */
bool host_lock(void)
{
	struct sock_filter code[COUNT + 32];
	size_t len = 0;
	unsigned self = (unsigned)getpid();
	const struct sock_filter head[] = {
		LOAD(arch),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, X32_BIT, 0, 1),
		REFUSE(EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
		REFUSE(ENOSYS),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
		ALLOW,
		REFUSE(EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, self, 0, 1),
		ALLOW,
		REFUSE(EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 4),
		LOAD(args[1]),
		BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, F_SETFL, 1, 0),
		ALLOW,
		REFUSE(EPERM),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 4),
		LOAD(args[0]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_NAME, 0, 1),
		ALLOW,
		REFUSE(EPERM),
	};
	for (size_t i = 0; i < sizeof(head) / sizeof(*head); i++)
		code[len++] = head[i];
	for (size_t i = 0; i < COUNT; i++)
		code[len++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i],
		                                           (unsigned char)(COUNT - i), 0);
	code[len++] = (struct sock_filter)REFUSE(EPERM);
	code[len++] = (struct sock_filter)ALLOW;
	const struct sock_fprog filter = {(unsigned short)len, code};
	prctl(PR_SET_DUMPABLE, 0);
	return limit_memory() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}
