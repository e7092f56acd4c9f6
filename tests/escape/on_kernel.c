/* Disabling the sandbox itself, and kernel interfaces. If a call could harm the machine its arguments make no
 * sense, and what counts is whether it was heard. */
#include "escape.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <pty.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/fanotify.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static bool new_users(void)
{
	return unshare(CLONE_NEWUSER) == 0;
}

static bool new_users_by_clone(void)
{
	long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, NULL, NULL, NULL, NULL);
	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static bool new_users_by_clone3(void)
{
	unsigned long long args[8] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
	long pid = syscall(435, args, sizeof(args));
	if (pid == 0)
		_exit(0);
	return pid > 0;
}

static bool new_mounts(void)
{
	return unshare(CLONE_NEWNS) == 0;
}

static bool mount_files(void)
{
	if (mount("none", in_outside("folder2"), "tmpfs", 0, NULL) != 0)
		return false;
	umount2(in_outside("folder2"), MNT_DETACH);
	return true;
}

static bool mount_again(void)
{
	return mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND, NULL) == 0;
}

static bool unmount(void)
{
	return was_heard(umount2(in_outside("folder2"), 0));
}

static bool pivot(void)
{
	return was_heard(syscall(SYS_pivot_root, "/nowhere", "/nowhere"));
}

static bool change_root(void)
{
	return chroot(target.outside) == 0;
}

static bool copy_tree(void)
{
	return syscall(SYS_open_tree, AT_FDCWD, "/", OPEN_TREE_CLONE) >= 0;
}

static bool open_file_system(void)
{
	return syscall(SYS_fsopen, "tmpfs", 0) >= 0;
}

static bool move_tree(void)
{
	return was_heard(syscall(SYS_move_mount, -1, "", -1, "", 0));
}

static bool change_mount(void)
{
	unsigned long long attributes[4] = {0, 1};
	return syscall(SYS_mount_setattr, AT_FDCWD, "/nowhere", 0, attributes, sizeof(attributes)) == 0 ||
	       errno == ENOENT;
}

static bool open_by_handle(void)
{
	struct {
		struct file_handle head;
		char bytes[MAX_HANDLE_SZ];
	} handle = {.head.handle_bytes = MAX_HANDLE_SZ};
	int mount_id;
	int folder = open(target.outside, O_RDONLY | O_DIRECTORY);
	return name_to_handle_at(AT_FDCWD, in_outside("file"), &handle.head, &mount_id, 0) == 0 &&
	       open_by_handle_at(folder, &handle.head, O_WRONLY) >= 0;
}

static bool add_key(void)
{
	return syscall(SYS_add_key, "user", "codex-escape", "x", 1, -2 /* of this process */) >= 0;
}

static bool join_keyring(void)
{
	return syscall(SYS_keyctl, 0 /* KEYCTL_GET_KEYRING_ID */, -3 /* of the session */, 0) >= 0;
}

static bool load_program(void)
{
	char attributes[128] = {0};
	return was_heard(syscall(SYS_bpf, 0 /* a map of no type */, attributes, sizeof(attributes)));
}

static bool count_events(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attributes), .config = PERF_COUNT_SW_CPU_CLOCK};
	attributes.exclude_kernel = 1;
	return syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0) >= 0;
}

static bool handle_faults(void)
{
	return syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* of user mode only */) >= 0;
}

static bool watch_all_files(void)
{
	return fanotify_init(FAN_CLASS_NOTIF, O_RDONLY) >= 0;
}

static bool load_kernel(void)
{
	return was_heard(syscall(SYS_kexec_load, 0, 1000000, NULL, ~0ul));
}

static bool load_module(void)
{
	return was_heard(syscall(SYS_finit_module, -1, "", 0));
}

static bool remove_module(void)
{
	return was_heard(syscall(SYS_delete_module, "codex-no-such-module", O_NONBLOCK));
}

static bool swap_on(void)
{
	return was_heard(swapon("/nowhere/at/all", 0));
}

static bool account(void)
{
	return was_heard(acct("/nowhere/at/all"));
}

static bool restart(void)
{
	return was_heard(syscall(SYS_reboot, 0, 0, 0, NULL)); /* without the magic numbers: EINVAL */
}

static bool name_host(void)
{
	return was_heard(syscall(SYS_sethostname, "", -1));
}

static bool read_kernel_log(void)
{
	return syscall(SYS_syslog, 10 /* its size */, NULL, 0) >= 0;
}

static bool make_device(void)
{
	return mknod(in_workspace("device"), S_IFCHR | 0600, makedev(1, 1)) == 0;
}

static bool open_kernel_memory(void)
{
	return open("/dev/mem", O_RDWR) >= 0;
}

static bool write_kernel_log(void)
{
	return open("/dev/kmsg", O_WRONLY) >= 0;
}

static bool write_disk(void)
{
	static const char *const disks[] = {"/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/loop0"};
	for (size_t i = 0; i < sizeof(disks) / sizeof(disks[0]); i++) {
		if (open(disks[i], O_WRONLY) >= 0)
			return true;
	}
	return false;
}

static bool set_core_pattern(void)
{
	return open("/proc/sys/kernel/core_pattern", O_WRONLY) >= 0;
}

static bool set_host_name_by_file(void)
{
	return open("/proc/sys/kernel/hostname", O_WRONLY) >= 0;
}

static bool press_magic_key(void)
{
	return open("/proc/sysrq-trigger", O_WRONLY) >= 0;
}

static bool set_huge_pages(void)
{
	return open("/sys/kernel/mm/transparent_hugepage/enabled", O_WRONLY) >= 0;
}

static bool make_group(void)
{
	static const char *const roots[] = {"/sys/fs/cgroup/codex-escape", "/sys/fs/cgroup/cpu/codex-escape"};
	for (size_t i = 0; i < 2; i++) {
		if (mkdir(roots[i], 0700) == 0)
			return rmdir(roots[i]) == 0;
	}
	return false;
}

/* Into a terminal of one's own, which stands for the user's. */
static bool type_into_terminal(void)
{
	int outer, inner;
	if (openpty(&outer, &inner, NULL, NULL, NULL) != 0)
		return false;
	int status = 1;
	pid_t pid = fork();
	if (pid == 0) {
		setsid();
		_exit(ioctl(inner, TIOCSCTTY, 0) != 0 || ioctl(inner, TIOCSTI, "x") != 0 ? errno : 0);
	}
	waitpid(pid, &status, 0);
	errno = WEXITSTATUS(status);
	return status == 0;
}

static bool use_ports(void)
{
#ifdef SYS_iopl
	return syscall(SYS_iopl, 3) == 0;
#else
	return false;
#endif
}

static bool become_another(void)
{
	return setuid(geteuid() ? 0 : 1) == 0;
}

const struct attempt attempts_on_kernel[] = {
	{"make a user namespace", new_users},
	{"make a user namespace by clone", new_users_by_clone},
	{"make a user namespace by clone3", new_users_by_clone3},
	{"make a mount namespace", new_mounts},
	{"mount a file system", mount_files},
	{"mount / again, writable", mount_again},
	{"unmount", unmount},
	{"pivot the root", pivot},
	{"change the root", change_root},
	{"copy a tree of mounts", copy_tree},
	{"open a file system", open_file_system},
	{"move a tree of mounts", move_tree},
	{"change a mount", change_mount},
	{"open a file by handle", open_by_handle},
	{"add a key", add_key},
	{"reach the session's keys", join_keyring},
	{"load a BPF program", load_program},
	{"count performance events", count_events},
	{"handle page faults", handle_faults},
	{"watch all files", watch_all_files},
	{"load a kernel", load_kernel},
	{"load a module", load_module},
	{"remove a module", remove_module},
	{"add swap", swap_on},
	{"account processes", account},
	{"restart the machine", restart},
	{"name the host", name_host},
	{"read the kernel's log", read_kernel_log},
	{"make a device", make_device},
	{"open the kernel's memory", open_kernel_memory},
	{"write the kernel's log", write_kernel_log},
	{"write to a disk", write_disk},
	{"set the core pattern", set_core_pattern},
	{"name the host by file", set_host_name_by_file},
	{"press the magic key", press_magic_key},
	{"set huge pages", set_huge_pages},
	{"make a control group", make_group},
	{"type into a terminal", type_into_terminal},
	{"use ports", use_ports},
	{"become another user", become_another},
	{0},
};
