/* A port to another system replaces this file. Flags such as SOCK_CLOEXEC set the property in the same call, because
 * another thread may start a process between two calls. */
#include "base/host.h"

#include <malloc.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
#ifndef STATX_BTIME /* musl before 1.2.5 has neither the struct nor the call */
#include <linux/stat.h>
#endif

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/str.h"

enum { STATM_MAX = 4 * KIB, STATUS_MAX = 64 * KIB, MOUNT_TABLE_MAX = MIB, MOUNT_POINT = 5 /* its field in a line */ };

void host_random(void *ret, size_t len)
{
	char *at = ret;
	while (len) {
		ssize_t got = getrandom(at, len, 0);
		if (got <= 0)
			continue;
		at += got;
		len -= (size_t)got;
	}
}

int host_pipe(int ret_ends[2])
{
	return pipe2(ret_ends, O_CLOEXEC);
}

int host_socket(int family, int type, int protocol)
{
	return socket(family, type | SOCK_CLOEXEC, protocol);
}

int host_socket_nonblocking(int family, int type)
{
	return socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

int host_accept(int listener)
{
	return accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
}

bool host_peer_pid(int fd, pid_t *ret)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0)
		return false;
	*ret = peer.pid;
	return true;
}

/* Returns a number in /proc/PID/status, or -1. */
static long status_number(struct str status, const char *name)
{
	struct str line;
	while (str_next_line(&status, &line)) {
		uint64_t value;
		if (str_cut_prefix(&line, name))
			return str_to_u64(str_trim(line), &value) ? (long)value : -1;
	}
	return -1;
}

static bool read_status(const char *path, struct buf *out)
{
	buf_init(out, STATUS_MAX);
	return file_read(path, out, NULL) == 0;
}

/* A process in a sandbox can get new privileges no more, and usually has filters of system calls. Its descendants
 * inherit both. */
bool host_peer_is_own(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);
	auto_buf struct buf own = {0}, other = {0};
	char path[32];
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid() || peer.pid <= 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)peer.pid);
	if (!read_status("/proc/self/status", &own) || !read_status(path, &other))
		return false;
	long is_bound = status_number(buf_str(&other), "NoNewPrivs:");
	return is_bound >= 0 && is_bound <= status_number(buf_str(&own), "NoNewPrivs:") &&
	       status_number(buf_str(&other), "Seccomp_filters:") <= status_number(buf_str(&own), "Seccomp_filters:");
}

void host_close_on_exec(int first)
{
	if (syscall(SYS_close_range, first, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	for (long fd = first, end = sysconf(_SC_OPEN_MAX); fd < end; fd++)
		fcntl((int)fd, F_SETFD, FD_CLOEXEC);
}

static bool read_link(const char *link, char *ret, size_t ret_size)
{
	ssize_t len = readlink(link, ret, ret_size);
	bool fits = len > 0 && (size_t)len < ret_size;
	if (fits)
		ret[len] = '\0';
	return fits;
}

bool host_fd_path(int fd, char *ret, size_t ret_size)
{
	char link[32];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return read_link(link, ret, ret_size);
}

/* Takes numbers, because the struct that holds them has no name in older releases of musl. */
static int64_t stamp_ms(int64_t seconds, uint32_t nanoseconds)
{
	return seconds * 1000 + nanoseconds / 1000000;
}

int host_status_read(const char *path, bool follows_links, struct host_status *ret)
{
	struct statx found;
	int flags = follows_links ? 0 : AT_SYMLINK_NOFOLLOW;
	if (syscall(SYS_statx, AT_FDCWD, path, flags, STATX_BASIC_STATS | STATX_BTIME, &found) != 0)
		return -1;
	*ret = (struct host_status){
		.mode = found.stx_mode,
		.created_ms =
			found.stx_mask & STATX_BTIME ? stamp_ms(found.stx_btime.tv_sec, found.stx_btime.tv_nsec) : 0,
		.changed_ms = stamp_ms(found.stx_mtime.tv_sec, found.stx_mtime.tv_nsec),
	};
	return 0;
}

int host_rename_new(const char *from, const char *to)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE);
}

bool host_is_proc_file(int fd)
{
	struct statfs system;
	return fstatfs(fd, &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

bool host_is_local(long type)
{
	enum { ZFS = 0x2fc12fc1, BCACHEFS = (int)0xca451a4e };
	static const int known[] = {
		EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC, F2FS_SUPER_MAGIC, TMPFS_MAGIC, ZFS, BCACHEFS};
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if ((int)type == known[i])
			return true;
	}
	return false;
}

const char *host_program(void)
{
	return "/proc/self/exe";
}

bool host_program_path(char *ret, size_t ret_size)
{
	return read_link(host_program(), ret, ret_size);
}

/* The second number of statm counts pages. */
bool host_memory(int64_t *ret_bytes)
{
	auto_buf struct buf text;
	struct str rest, part;
	uint64_t pages;
	buf_init(&text, STATM_MAX);
	if (file_read("/proc/self/statm", &text, NULL) != 0)
		return false;
	rest = buf_str(&text);
	if (!str_next_part(&rest, ' ', &part) || !str_next_part(&rest, ' ', &part) || !str_to_u64(part, &pages))
		return false;
	*ret_bytes = (int64_t)pages * sysconf(_SC_PAGESIZE);
	return true;
}

void host_adopt_orphans(void)
{
	prctl(PR_SET_CHILD_SUBREAPER, 1);
}

bool host_has_proc(void)
{
	return access("/proc/self", F_OK) == 0;
}

/* In such a chroot no mount of the table is at "/". */
bool host_is_chroot(void)
{
	auto_buf struct buf mounts;
	struct str text, line;
	buf_init(&mounts, MOUNT_TABLE_MAX);
	if (file_read("/proc/self/mountinfo", &mounts, NULL) != 0)
		return false;
	text = buf_str(&mounts);
	while (str_next_line(&text, &line)) {
		struct str field = STR("");
		for (size_t i = 0; i < MOUNT_POINT; i++)
			str_next_part(&line, ' ', &field);
		if (str_is(field, "/"))
			return false;
	}
	return true;
}

/* ---- the process ---- */

/* With dynamic thresholds glibc serves large blocks from the heap after the first large message is freed, which
 * fragments it. Fixed thresholds return the memory of a message to the system when it is freed, which reduces the
 * peak of a long response by a third. */
void host_configure_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_MMAP_THRESHOLD, 256 * 1024);
	mallopt(M_TRIM_THRESHOLD, 1024 * 1024);
#endif
}

/* If a standard stream is closed, the next opened file would get its descriptor and receive printed output. /dev/null
 * takes its place, opened in the opposite direction, so that reads and writes still fail. */
void host_keep_standard_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) < 0)
			_exit(1);
	}
}
