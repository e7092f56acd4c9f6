/* A file is replaced by renaming a complete one over it: no reader sees half of it, and a full disk does no harm. But a
 * rename creates a new inode. If that would be visible (hard links, another owner, access lists, a folder that takes no
 * new files), the old inode is overwritten instead, after its space is reserved. In both cases the target is first
 * opened for writing: folder permissions must not allow replacing a read-only file. */
#include "patch/patch_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/mem.h"
#include "patch/patch_error.h"
#include "patch/patch_tree.h"

enum { PARTS_AT_ONCE = 1024 /* Linux's IOV_MAX */ };

static size_t total_len(const struct patch_stage *stage)
{
	size_t len = 0;
	for (size_t i = 0; i < stage->part_count; i++)
		len += stage->parts[i].iov_len;
	return len;
}

/* Writes one batch of parts completely; 0 or errno. Modifies batch. */
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

/* Writes the content to a new file in the folder; 0 or errno. mode as for patch_stage_write. */
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
	auto_close int folder = patch_folder_open(stage->real, &name);
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
	auto_close int folder = patch_folder_open(stage->real, &name);
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
	auto_close int folder = patch_folder_open(stage->real, &name);
	if (folder < 0)
		return errno;
	if (renameat(folder, stage->temporary, folder, name) == 0) {
		free(steal(stage->temporary));
		stage->is_touched = true;
		return 0;
	}
	/* A file that is a mount point of its own cannot be replaced. */
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
	auto_close int folder = patch_folder_open(stage->real, &name);
	if (folder >= 0)
		unlinkat(folder, stage->temporary, 0);
	free(steal(stage->temporary));
}
