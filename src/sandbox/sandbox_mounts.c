/* Trees are copied before anything becomes read-only and attached afterwards, parents before children: writable paths
 * cover the read-only file system, and protected paths cover writable ones. This uses the mount calls that work on
 * descriptors (Linux 5.12), which every kernel with the required Landlock has.
 *
 * A copied mount has no writers yet, so making it read-only cannot fail because of a file that is open for writing in
 * the original. */
#include "sandbox/sandbox_mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/mount.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "sandbox/sandbox_plan.h"

#ifndef MS_PRIVATE
#define MS_PRIVATE (1 << 18)
#endif

static int attributes_set(int fd, const char *path, unsigned flags, struct mount_attr attributes)
{
	return (int)syscall(SYS_mount_setattr, fd, path, flags | AT_RECURSIVE, &attributes, sizeof(attributes));
}

static int tree_copy(const char *path)
{
	return (int)syscall(SYS_open_tree, AT_FDCWD, path,
	                    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
}

static int tree_place(int fd, const char *path)
{
	return (int)syscall(SYS_move_mount, fd, "", AT_FDCWD, path, MOVE_MOUNT_F_EMPTY_PATH);
}

static int write_text(const char *path, const char *text, struct error *err)
{
	auto_close int fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", path);
	return fd_write_all(fd, text, strlen(text), err);
}

/* Maps the user and the group to themselves. */
static int map_ids(uid_t uid, gid_t gid, struct error *err)
{
	char map[64];
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	int status = write_text("/proc/self/uid_map", map, err);
	if (status == 0)
		status = write_text("/proc/self/setgroups", "deny", err);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return status == 0 ? write_text("/proc/self/gid_map", map, err) : status;
}

static int namespaces_enter(const struct sandbox_plan *plan, bool has_user_namespace, struct error *err)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int flags = CLONE_NEWNS | CLONE_NEWIPC | (plan->has_network ? 0 : CLONE_NEWNET) |
	            (has_user_namespace ? CLONE_NEWUSER : 0);
	if (unshare(flags) != 0)
		return error_sys(err, errno, "cannot create namespaces");
	return has_user_namespace ? map_ids(uid, gid, err) : 0;
}

/* Enables the loopback interface, for tests and servers that connect to themselves. */
static int loopback_start(struct error *err)
{
	struct ifreq request = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	auto_close int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || ioctl(fd, SIOCSIFFLAGS, &request) != 0)
		return error_sys(err, errno, "cannot start the loopback device");
	return 0;
}

static bool is_everything(const struct sandbox_path *path)
{
	return strcmp(path->path, "/") == 0;
}

static int copy_trees(const struct sandbox_plan *plan, int *trees, struct error *err)
{
	const struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
	for (size_t i = 0; i < plan->paths.count; i++) {
		const struct sandbox_path *path = &plan->paths.items[i];
		trees[i] = -1;
		if (is_everything(path) || path->is_missing)
			continue;
		trees[i] = tree_copy(path->path);
		if (trees[i] < 0 && errno == ENOENT && path->is_fleeting)
			continue;
		if (trees[i] < 0)
			return error_sys(err, errno, "cannot open %s for the sandbox", path->path);
		if (!path->is_writable && attributes_set(trees[i], "", AT_EMPTY_PATH, read_only) != 0)
			return error_sys(err, errno, "cannot make %s read-only", path->path);
	}
	return 0;
}

static int place_trees(const struct sandbox_plan *plan, const int *trees, struct error *err)
{
	for (size_t i = 0; i < plan->paths.count; i++) {
		const struct sandbox_path *path = &plan->paths.items[i];
		if (trees[i] < 0 || tree_place(trees[i], path->path) == 0)
			continue;
		if (errno != ENOENT || !path->is_fleeting)
			return error_sys(err, errno, "cannot mount %s in the sandbox", path->path);
	}
	return 0;
}

struct place {
	const char *path, *type, *key, *value;
	unsigned attributes;
};

/* Mounts an empty file system over a folder. A folder that does not exist needs none. */
static int fresh_place(const struct place *place, struct error *err)
{
	const char *path = place->path;
	if (!dir_exists(path))
		return 0;
	auto_close int context = (int)syscall(SYS_fsopen, place->type, FSOPEN_CLOEXEC);
	if (context < 0 || syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, place->key, place->value, 0) != 0 ||
	    syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) != 0)
		return error_sys(err, errno, "cannot create a private %s", path);
	auto_close int fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, place->attributes);
	if (fd < 0 || tree_place(fd, path) != 0)
		return error_sys(err, errno, "cannot mount a private %s", path);
	return 0;
}

/* Gives the command its own /dev/shm and terminals: a process that can open the terminals of the user can read what
 * is typed there and write input to them. */
static int private_places(struct error *err)
{
	static const struct place memory = {"/dev/shm", "tmpfs", "mode", "1777",
	                                    MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC};
	static const struct place terminals = {"/dev/pts", "devpts", "ptmxmode", "0666",
	                                       MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC};
	int status = fresh_place(&memory, err);
	return status == 0 ? fresh_place(&terminals, err) : status;
}

static int view_build(const struct sandbox_plan *plan, int *trees, struct error *err)
{
	bool is_all_writable =
		plan->paths.count && is_everything(&plan->paths.items[0]) && plan->paths.items[0].is_writable;
	struct mount_attr read_only = {.attr_set = MOUNT_ATTR_RDONLY};
	if (attributes_set(AT_FDCWD, "/", 0, (struct mount_attr){.propagation = MS_PRIVATE}) != 0)
		return error_sys(err, errno, "cannot make the mounts private");
	int status = copy_trees(plan, trees, err);
	if (status == 0 && !is_all_writable && attributes_set(AT_FDCWD, "/", 0, read_only) != 0)
		status = error_sys(err, errno, "cannot make the file system read-only");
	if (status == 0)
		status = place_trees(plan, trees, err);
	return status == 0 ? private_places(err) : status;
}

/* Enters the working folder again, because the old one is hidden below the new mounts. */
static int folder_enter_again(const char *cwd, struct error *err)
{
	return chdir(cwd) == 0 ? 0 : error_sys(err, errno, "cannot enter %s in the sandbox", cwd);
}

int sandbox_mounts_enter(const struct sandbox_plan *plan, bool has_user_namespace, struct error *err)
{
	char cwd[PATH_MAX];
	if (!getcwd(cwd, sizeof(cwd)))
		return error_sys(err, errno, "cannot determine the current folder");
	int status = namespaces_enter(plan, has_user_namespace, err);
	if (status == 0 && !plan->has_network)
		status = loopback_start(err);
	if (status != 0)
		return status;
	auto_free int *trees = xcalloc(plan->paths.count + 1, sizeof(*trees));
	status = view_build(plan, trees, err);
	for (size_t i = 0; i < plan->paths.count; i++) {
		if (trees[i] > 0)
			close(trees[i]);
	}
	return status == 0 ? folder_enter_again(cwd, err) : status;
}
