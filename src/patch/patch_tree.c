/* The engine applies patches in its own process, outside any sandbox. Two things confine its writes: permission is
 * given for the real path, and each write walks that path again and refuses symbolic links. openat2 walks it
 * atomically; where the kernel or a container's filter lacks it, openat walks one name at a time.
 *
 * A file is replaced by renaming a complete one over it: no reader sees half of it, and a full disk does no harm. But a
 * rename creates a new inode. If that would be visible (hard links, another owner, access lists, a folder that takes no
 * new files), the old inode is overwritten instead, after its space is reserved. In both cases the target is first
 * opened for writing: folder permissions must not allow replacing a read-only file. */
#include "patch/patch_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.h"
#include "base/host.h"
#include "base/mem.h"
#include "patch/patch_error.h"
#include "patch/patch_limits.h"

const char *patch_path(struct arena *arena, const char *cwd, struct str name)
{
	auto_free char *relative = str_dup(name);
	auto_free char *joined = path_join(cwd, relative);
	auto_free char *path = path_normalize(joined);
	return arena_cstr(arena, str_of(path));
}

static char *resolve(const char *path, int links);

/* Resolves the folder and appends the last name unchanged. */
static char *resolve_folder(const char *path, int links)
{
	auto_free char *folder = str_dup(path_dir(path)), *name = str_dup(path_name(path));
	if (name[0] == '\0')
		return xstrdup("/");
	auto_free char *real = resolve(folder, links);
	return real ? path_join(real, name) : NULL;
}

/* Returns the target of a link as an absolute path, which may contain further links. */
static char *read_link(const char *path)
{
	char target[PATH_MAX];
	ssize_t len = readlink(path, target, sizeof(target) - 1);
	if (len < 0)
		return NULL;
	target[len] = '\0';
	auto_free char *folder = str_dup(path_dir(path));
	return path_join(folder, target);
}

/* Like realpath, but the last names need not exist. Returns an owned path, or NULL and errno. */
static char *resolve(const char *path, int links)
{
	char *real = realpath(path, NULL);
	if (real || (errno != ENOENT && errno != ENOTDIR))
		return real;
	auto_free char *target = read_link(path);
	if (!target)
		return resolve_folder(path, links);
	if (links == 0) {
		errno = ELOOP;
		return NULL;
	}
	return resolve(target, links - 1);
}

static const char *keep(struct arena *arena, char *resolved)
{
	auto_free char *path = resolved;
	if (!path)
		return NULL;
	auto_free char *normal = path_normalize(path);
	return arena_cstr(arena, str_of(normal));
}

const char *patch_real(struct arena *arena, const char *path)
{
	return keep(arena, resolve(path, LIMIT_PATCH_LINKS));
}

const char *patch_entry(struct arena *arena, const char *path)
{
	return keep(arena, resolve_folder(path, LIMIT_PATCH_LINKS));
}

static int open_folder(int parent, const char *name)
{
	return openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Creates a folder and records its path. It is not an error if it exists by now. */
static int make_folder(int parent, const char *name, struct str path, struct patch_folders *made)
{
	if (mkdirat(parent, name, 0777) == 0) {
		if (made)
			vec_push(&made->list, str_dup(path));
	} else if (errno != EEXIST) {
		return -1;
	}
	return open_folder(parent, name);
}

/* Opens the folder of an absolute path without following links; -1 and errno on failure. */
static int walk(const char *path, bool is_making, struct patch_folders *made)
{
	auto_close int at = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct str rest = str_of(path + 1), name;
	while (at >= 0 && str_next_part(&rest, '/', &name) && rest.ptr) {
		auto_free char *folder = str_dup(name);
		int next = open_folder(at, folder);
		if (next < 0 && errno == ENOENT && is_making)
			next = make_folder(at, folder, str_n(path, (size_t)(rest.ptr - path) - 1), made);
		int sys = errno;
		close(at);
		at = next;
		errno = sys;
	}
	return steal_fd(&at);
}

/* Opens a folder without following links; a link fails with ELOOP, as openat reports it. */
static int open_beneath_root(const char *path)
{
	struct open_how how = {
		.flags = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	auto_close int root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -1 : (int)syscall(SYS_openat2, root, path[1] ? path + 1 : ".", &how, sizeof(how));
}

/* Opens the folder of a real or entry path for the *at calls and points *ret_name at the last name. -1 and errno on
 * failure. */
static int open_folder_of(const char *real, const char **ret_name)
{
	*ret_name = path_name(real).ptr;
	auto_free char *folder = str_dup(path_dir(real));
	int fd = open_beneath_root(folder);
	bool is_refused = fd < 0 && (errno == ENOSYS || errno == EPERM || errno == EAGAIN);
	return is_refused ? walk(real, false, NULL) : fd;
}

int patch_folders_make(const char *real, struct patch_folders *made, const char *path, struct patch_error *err)
{
	auto_close int folder = walk(real, true, made);
	/* If there is a file in place of the folder, the following write reports it. */
	if (folder >= 0 || errno == ENOTDIR)
		return 0;
	return patch_error_sys(err, errno, "Failed to create parent directories for %s", path);
}

void patch_folders_unmake(struct patch_folders *made)
{
	while (made->list.count) {
		auto_free char *path = made->list.items[--made->list.count];
		const char *name;
		auto_close int folder = open_folder_of(path, &name);
		if (folder >= 0)
			unlinkat(folder, name, AT_REMOVEDIR);
	}
}

void patch_folders_finish(struct patch_folders *made)
{
	vec_for_each(it, &made->list)
		free(*it);
	vec_finish(&made->list);
}

int patch_entry_remove(const char *entry)
{
	const char *name;
	auto_close int folder = open_folder_of(entry, &name);
	return folder >= 0 && unlinkat(folder, name, 0) == 0 ? 0 : errno;
}

int patch_entry_rename(const char *entry, const char *to)
{
	const char *name;
	auto_close int folder = open_folder_of(entry, &name);
	return folder >= 0 && renameat(folder, name, folder, to) == 0 ? 0 : errno;
}

char *patch_entry_name(void)
{
	uint64_t unique;
	host_random(&unique, sizeof(unique));
	return xasprintf(".codex-patch-%016llx", (unsigned long long)unique);
}

bool patch_is_same_file(const char *entry, const char *real)
{
	struct stat a, b;
	if (strcmp(entry, real) == 0)
		return true;
	return lstat(entry, &a) == 0 && lstat(real, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino &&
	       a.st_nlink == 1;
}

/* ---- replacing a file ---- */

enum { PARTS_AT_ONCE = 1024 /* the value of IOV_MAX on Linux */ };

static size_t total_len(const struct patch_stage *stage)
{
	size_t len = 0;
	for (size_t i = 0; i < stage->part_count; i++)
		len += stage->parts[i].iov_len;
	return len;
}

/* Writes one batch of parts completely; returns 0 or errno. Modifies batch. */
static int write_batch(int fd, struct iovec *batch, int count)
{
	while (count) {
		ssize_t put = writev(fd, batch, count);
		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return errno;
		while (count && (size_t)put >= batch->iov_len) {
			put -= (ssize_t)batch->iov_len;
			batch++;
			count--;
		}
		if (count) {
			batch->iov_base = (char *)batch->iov_base + put;
			batch->iov_len -= (size_t)put;
		}
	}
	return 0;
}

static int write_parts(const struct patch_stage *stage, int fd)
{
	struct iovec batch[PARTS_AT_ONCE];
	for (size_t at = 0; at < stage->part_count; at += PARTS_AT_ONCE) {
		size_t count = stage->part_count - at < PARTS_AT_ONCE ? stage->part_count - at : PARTS_AT_ONCE;
		memcpy(batch, stage->parts + at, count * sizeof(*batch));
		int sys = write_batch(fd, batch, (int)count);
		if (sys != 0)
			return sys;
	}
	return 0;
}

/* True if the file has access lists or other attributes that a new file would lack. SELinux labels do not count: a new
 * file in the same folder gets the same one. */
static bool has_attributes(int fd)
{
	static const char label[] = "security.selinux";
	char names[256];
	ssize_t len = flistxattr(fd, names, sizeof(names));
	if (len < 0)
		return errno == ERANGE;
	return len > 0 && (len != sizeof(label) || memcmp(names, label, sizeof(label)) != 0);
}

static bool is_replaceable(int fd, const struct stat *st)
{
	return st->st_nlink == 1 && st->st_uid == geteuid() && st->st_gid == getegid() && !has_attributes(fd);
}

static int open_target(int folder, const char *name)
{
	return openat(folder, name, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
}

/* Writes the content to a new file in the folder; returns 0 or errno. mode as for patch_stage_write. */
static int write_temporary(struct patch_stage *stage, int folder, mode_t mode)
{
	auto_free char *name = patch_entry_name();
	int flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW;
	auto_close int fd = openat(folder, name, flags, mode ? 0600 : 0666);
	if (fd < 0)
		return errno;
	int sys = write_parts(stage, fd);
	if (sys == 0 && mode && fchmod(fd, mode & 07777) != 0)
		sys = errno;
	if (sys == 0)
		stage->temporary = steal(name);
	else
		unlinkat(folder, name, 0);
	return sys;
}

static int reserve(const struct patch_stage *stage, int fd)
{
	off_t len = (off_t)total_len(stage);
	if (len == 0 || fallocate(fd, FALLOC_FL_KEEP_SIZE, 0, len) == 0)
		return 0;
	/* Any other error means that this file system cannot reserve space. */
	return errno == ENOSPC || errno == EDQUOT || errno == EFBIG ? errno : 0;
}

static int stage_existing(struct patch_stage *stage, int folder, int fd)
{
	struct stat st;
	if (fstat(fd, &st) != 0)
		return errno;
	if (!S_ISREG(st.st_mode))
		return EINVAL;
	if (is_replaceable(fd, &st)) {
		int sys = write_temporary(stage, folder, st.st_mode);
		if (sys != EACCES && sys != EPERM && sys != EROFS)
			return sys;
	}
	return reserve(stage, fd);
}

static int stage_content(struct patch_stage *stage, mode_t mode)
{
	const char *name;
	auto_close int folder = open_folder_of(stage->real, &name);
	if (folder < 0)
		return errno;
	auto_close int fd = open_target(folder, name);
	if (fd < 0)
		return errno == ENOENT ? write_temporary(stage, folder, mode) : errno;
	return stage_existing(stage, folder, fd);
}

static int fail(const struct patch_stage *stage, int sys, struct patch_error *err)
{
	return patch_error_sys(err, sys, "Failed to write file %s", stage->path);
}

int patch_stage_write(struct patch_stage *ret, const char *real, const char *path, const struct iovec *parts,
                      size_t count, mode_t mode, struct patch_error *err)
{
	struct patch_stage stage = {.real = real, .path = path, .parts = parts, .part_count = count};
	int sys = stage_content(&stage, mode);
	if (sys != 0)
		return fail(&stage, sys, err);
	*ret = stage;
	return 0;
}

static int overwrite(struct patch_stage *stage)
{
	const char *name;
	auto_close int folder = open_folder_of(stage->real, &name);
	auto_close int fd = folder < 0 ? -1 : open_target(folder, name);
	if (fd < 0)
		return errno;
	stage->is_touched = true;
	int sys = write_parts(stage, fd);
	if (sys == 0 && ftruncate(fd, (off_t)total_len(stage)) != 0)
		sys = errno;
	return sys;
}

static int replace(struct patch_stage *stage)
{
	const char *name;
	auto_close int folder = open_folder_of(stage->real, &name);
	if (folder < 0)
		return errno;
	if (renameat(folder, stage->temporary, folder, name) == 0) {
		free(steal(stage->temporary));
		stage->is_touched = true;
		return 0;
	}
	/* A file that is a mount point cannot be replaced. */
	return errno == EBUSY || errno == EXDEV ? overwrite(stage) : errno;
}

int patch_stage_commit(struct patch_stage *stage, struct patch_error *err)
{
	int sys = stage->temporary ? replace(stage) : overwrite(stage);
	return sys ? fail(stage, sys, err) : 0;
}

void patch_stage_finish(struct patch_stage *stage)
{
	if (!stage || !stage->temporary)
		return;
	const char *name;
	auto_close int folder = open_folder_of(stage->real, &name);
	if (folder >= 0)
		unlinkat(folder, stage->temporary, 0);
	free(steal(stage->temporary));
}
