/* Touching a process outside: by signals, by its memory, its descriptors, its settings, memory that it shares. */
#include "escape.h"

#include <fcntl.h>
#include <linux/kcmp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif

static const char *proc(const char *name)
{
	static char path[128];
	snprintf(path, sizeof(path), "/proc/%d/%s", target.pid, name);
	return path;
}

static bool signal_it(void)
{
	return kill(target.pid, SIGUSR1) == 0;
}

static bool signal_its_thread(void)
{
	return syscall(SYS_tgkill, target.pid, target.pid, SIGUSR1) == 0;
}

static bool signal_any_thread(void)
{
	return syscall(SYS_tkill, target.pid, SIGUSR1) == 0;
}

static bool queue_signal(void)
{
	return sigqueue(target.pid, SIGUSR1, (union sigval){0}) == 0;
}

static bool signal_by_descriptor(void)
{
	int fd = (int)syscall(SYS_pidfd_open, target.pid, 0);
	return fd >= 0 && syscall(SYS_pidfd_send_signal, fd, SIGUSR1, NULL, 0) == 0;
}

static bool signal_its_group(void)
{
	return kill(-target.pid, SIGUSR1) == 0;
}

static bool trace(void)
{
	return ptrace(PTRACE_SEIZE, target.pid, NULL, NULL) == 0;
}

static bool move_memory(bool is_writing)
{
	char byte = 0;
	struct iovec ours = {&byte, 1}, theirs = {&byte, 1}; /* no such place there: heard is EFAULT */
	return was_heard(is_writing ? process_vm_writev(target.pid, &ours, 1, &theirs, 1, 0)
	                            : process_vm_readv(target.pid, &ours, 1, &theirs, 1, 0));
}

static bool read_memory(void)
{
	struct stat st;
	return stat(proc("."), &st) == 0 && move_memory(false);
}

static bool write_memory(void)
{
	struct stat st;
	return stat(proc("."), &st) == 0 && move_memory(true);
}

static bool open_memory(void)
{
	return open(proc("mem"), O_RDWR) >= 0;
}

static bool read_environment(void)
{
	char byte;
	return read(open(proc("environ"), O_RDONLY), &byte, 1) == 1;
}

static bool enter_its_root(void)
{
	char path[4096];
	snprintf(path, sizeof(path), "/proc/%d/root%s", target.pid, in_outside("by-its-root"));
	return can_write(path, O_CREAT);
}

static bool enter_its_folder(void)
{
	return open(proc("cwd"), O_RDONLY | O_DIRECTORY) >= 0;
}

static bool open_its_file(void)
{
	return open(proc("fd/9"), O_WRONLY) >= 0;
}

static bool take_descriptor(void)
{
	int fd = (int)syscall(SYS_pidfd_open, target.pid, 0);
	return fd >= 0 && syscall(SYS_pidfd_getfd, fd, 1, 0) >= 0;
}

static bool compare_descriptors(void)
{
	return syscall(SYS_kcmp, getpid(), target.pid, KCMP_FILES, 0, 0) >= 0;
}

static bool change_limits(void)
{
	struct rlimit limit;
	return prlimit(target.pid, RLIMIT_CORE, NULL, &limit) == 0 &&
	       prlimit(target.pid, RLIMIT_CORE, &limit, NULL) == 0;
}

static bool change_priority(void)
{
	return setpriority(PRIO_PROCESS, (id_t)target.pid, 5) == 0;
}

static bool choose_its_processor(void)
{
	cpu_set_t set;
	return sched_getaffinity(target.pid, sizeof(set), &set) == 0 &&
	       sched_setaffinity(target.pid, sizeof(set), &set) == 0;
}

static bool choose_its_scheduling(void)
{
	struct sched_param param = {0};
	return sched_setscheduler(target.pid, SCHED_BATCH, &param) == 0 || sched_setparam(target.pid, &param) == 0;
}

static bool offer_it_to_the_killer(void)
{
	return open(proc("oom_score_adj"), O_WRONLY) >= 0;
}

static bool share_by_number(void)
{
	int id = shmget(target.system_v_key, 4096, 0);
	return id >= 0 && shmat(id, NULL, 0) != (void *)-1;
}

static bool share_by_name(void)
{
	return shm_open(target.shared_memory, O_RDWR, 0) >= 0;
}

static bool enter_mounts(void)
{
	return setns(open(proc("ns/mnt"), O_RDONLY), CLONE_NEWNS) == 0;
}

static bool enter_network(void)
{
	return setns(open(proc("ns/net"), O_RDONLY), CLONE_NEWNET) == 0;
}

const struct attempt attempts_on_processes[] = {
	{"signal a process", signal_it},
	{"signal a thread of a process", signal_its_thread},
	{"signal a thread", signal_any_thread},
	{"queue a signal", queue_signal},
	{"signal by descriptor", signal_by_descriptor},
	{"signal a group", signal_its_group},
	{"trace a process", trace},
	{"read a process's memory", read_memory},
	{"write a process's memory", write_memory},
	{"open a process's memory", open_memory},
	{"read a process's environment", read_environment},
	{"write by a process's root", enter_its_root},
	{"enter a process's folder", enter_its_folder},
	{"open a process's file", open_its_file},
	{"take a process's descriptor", take_descriptor},
	{"compare descriptors", compare_descriptors},
	{"change a process's limits", change_limits},
	{"change a process's priority", change_priority},
	{"choose a process's processor", choose_its_processor},
	{"choose a process's scheduling", choose_its_scheduling},
	{"offer a process to the killer", offer_it_to_the_killer},
	{"share memory by number", share_by_number},
	{"share memory by name", share_by_name},
	{"enter a process's mounts", enter_mounts},
	{"enter a process's network", enter_network},
	{0},
};
