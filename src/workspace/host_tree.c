/* Operations on trees work by descriptors: every folder is opened once, relative to its parent and without following
 * a link, and its entries are named relative to it. So swapping a folder for a link cannot redirect the operation. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "workspace/host_files.h"
#include "workspace/workspace_limits.h"

enum { COPY_PIECE = 1 * MIB };

struct work {
	const atomic_bool *stop;
	struct error *err;
	dev_t copy_dev; /* root of the copy, which must not be copied into itself */
	ino_t copy_ino;
};

static void close_folder(DIR **folder)
{
	if (*folder)
		closedir(*folder);
}
#define auto_folder __attribute__((cleanup(close_folder)))

static DIR *open_folder(struct work *work, int at, const char *name, int depth)
{
	if (depth > LIMIT_TREE_DEPTH) {
		error_set(work->err, ERR_limit, "the folder is deeper than %d levels", LIMIT_TREE_DEPTH);
		return NULL;
	}
	auto_close int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
	if (folder)
		fd = -1;
	else
		error_sys(work->err, errno, "cannot open %s", name);
	return folder;
}

/* Returns the next name; false at the end, and with err set if the work was stopped. */
static bool next_name(struct work *work, DIR *folder, const char **ret)
{
	struct dirent *found;
	do {
		if (atomic_load(work->stop)) {
			error_set(work->err, ERR_cancelled, "the client disconnected");
			return false;
		}
		found = readdir(folder);
	} while (found && (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0));
	*ret = found ? found->d_name : NULL;
	return found != NULL;
}

/* ---- remove ---- */

static int remove_at(struct work *work, int at, const char *name, int depth);

static int remove_content(struct work *work, int at, const char *name, int depth)
{
	auto_folder DIR *folder = open_folder(work, at, name, depth);
	const char *inner;
	if (!folder)
		return -(int)work->err->code;
	while (next_name(work, folder, &inner)) {
		int status = remove_at(work, dirfd(folder), inner, depth + 1);
		if (status != 0)
			return status;
	}
	return -(int)work->err->code;
}

/* An entry that another process removes meanwhile counts as removed. */
static int remove_at(struct work *work, int at, const char *name, int depth)
{
	if (unlinkat(at, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return error_sys(work->err, errno, "cannot remove %s", name);
	if (remove_content(work, at, name, depth) != 0)
		return -(int)work->err->code;
	if (unlinkat(at, name, AT_REMOVEDIR) == 0 || errno == ENOENT)
		return 0;
	return error_sys(work->err, errno, "cannot remove %s", name);
}

int host_remove(const char *path, bool recursive, bool force, const atomic_bool *stop, struct error *err)
{
	struct stat st;
	struct work work = {.stop = stop, .err = err};
	err->code = ERR_none;
	if (lstat(path, &st) != 0)
		return force && errno == ENOENT ? 0 : error_sys(err, errno, "cannot remove %s", path);
	if (S_ISDIR(st.st_mode) && recursive)
		return remove_at(&work, AT_FDCWD, path, 0);
	if ((S_ISDIR(st.st_mode) ? rmdir(path) : unlink(path)) != 0)
		return error_sys(err, errno, "cannot remove %s", path);
	return 0;
}

/* ---- copy ---- */

static int copy_bytes(struct work *work, int from, int to)
{
	for (;;) {
		if (atomic_load(work->stop))
			return error_set(work->err, ERR_cancelled, "the client disconnected");
		ssize_t got = copy_file_range(from, NULL, to, NULL, COPY_PIECE, 0);
		if (got == 0)
			return 0;
		if (got < 0 && errno != EINTR)
			break;
	}
	/* Copies through a buffer, for file systems that cannot copy directly. Both offsets are where the direct
	 * copy stopped. */
	auto_free char *piece = xmalloc(COPY_PIECE);
	ssize_t got;
	while ((got = read(from, piece, COPY_PIECE)) != 0) {
		if (atomic_load(work->stop))
			return error_set(work->err, ERR_cancelled, "the client disconnected");
		if (got < 0 && errno != EINTR)
			return error_sys(work->err, errno, "cannot read");
		if (got > 0 && fd_write_all(to, piece, (size_t)got, work->err) != 0)
			return -(int)work->err->code;
	}
	return 0;
}

static int copy_file(struct work *work, int from_at, const char *from, int to_at, const char *to)
{
	struct stat source, target;
	auto_close int in = openat(from_at, from, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (in < 0 || fstat(in, &source) != 0)
		return error_sys(work->err, errno, "cannot read %s", from);
	auto_close int out = openat(to_at, to, O_WRONLY | O_CREAT | O_NONBLOCK | O_CLOEXEC, source.st_mode & 0777);
	if (out < 0 || fstat(out, &target) != 0)
		return error_sys(work->err, errno, "cannot write %s", to);
	if (!S_ISREG(target.st_mode))
		return error_set(work->err, ERR_invalid, "path `%s` is not a file", to);
	if (source.st_dev == target.st_dev && source.st_ino == target.st_ino)
		return 0; /* both are the same file, which truncating would destroy */
	if (ftruncate(out, 0) != 0 || fchmod(out, source.st_mode & 07777) != 0)
		return error_sys(work->err, errno, "cannot write %s", to);
	return copy_bytes(work, in, out);
}

static int copy_link(struct work *work, int from_at, const char *from, int to_at, const char *to)
{
	char target[4096 + 1];
	ssize_t len = readlinkat(from_at, from, target, sizeof(target) - 1);
	if (len < 0)
		return error_sys(work->err, errno, "cannot read %s", from);
	target[len] = '\0';
	if (symlinkat(target, to_at, to) != 0)
		return error_sys(work->err, errno, "cannot write %s", to);
	return 0;
}

static int copy_at(struct work *work, int from_at, const char *from, int to_at, const char *to, int depth);

static int copy_content(struct work *work, DIR *source, int target, int depth)
{
	const char *inner;
	struct stat st;
	while (next_name(work, source, &inner)) {
		bool is_copy = fstatat(dirfd(source), inner, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		               st.st_dev == work->copy_dev && st.st_ino == work->copy_ino;
		if (!is_copy && copy_at(work, dirfd(source), inner, target, inner, depth + 1) != 0)
			return -(int)work->err->code;
	}
	return -(int)work->err->code;
}

static int copy_folder(struct work *work, int from_at, const char *from, int to_at, const char *to, int depth)
{
	struct stat st;
	auto_folder DIR *source = open_folder(work, from_at, from, depth);
	if (!source)
		return -(int)work->err->code;
	if (mkdirat(to_at, to, 0777) != 0 && errno != EEXIST)
		return error_sys(work->err, errno, "cannot create folder %s", to);
	auto_close int target = openat(to_at, to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (target < 0 || fstat(target, &st) != 0)
		return error_sys(work->err, errno, "cannot open %s", to);
	if (depth == 0) {
		work->copy_dev = st.st_dev;
		work->copy_ino = st.st_ino;
	}
	return copy_content(work, source, target, depth);
}

static int copy_at(struct work *work, int from_at, const char *from, int to_at, const char *to, int depth)
{
	struct stat st;
	if (fstatat(from_at, from, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return error_sys(work->err, errno, "cannot read %s", from);
	if (S_ISDIR(st.st_mode))
		return copy_folder(work, from_at, from, to_at, to, depth);
	if (S_ISREG(st.st_mode))
		return copy_file(work, from_at, from, to_at, to);
	if (S_ISLNK(st.st_mode))
		return copy_link(work, from_at, from, to_at, to);
	return depth ? 0
	             : error_set(work->err, ERR_invalid,
	                         "fs/copy only supports regular files, directories, and symlinks");
}

/* True if the path of `to`, with links resolved as far as it exists, is inside folder. */
static bool is_below(const char *to, const char *folder)
{
	auto_free char *real = realpath(folder, NULL);
	auto_free char *at = str_dup(str_of(to));
	for (;;) {
		auto_free char *found = realpath(at, NULL);
		if (found)
			return real && path_is_inside(found, real);
		char *above = str_dup(path_dir(at));
		free(at);
		at = above;
	}
}

int host_copy(const char *from, const char *to, bool recursive, const atomic_bool *stop, struct error *err)
{
	struct stat st;
	struct work work = {.stop = stop, .err = err};
	err->code = ERR_none;
	if (lstat(from, &st) != 0)
		return error_sys(err, errno, "cannot copy %s", from);
	if (S_ISDIR(st.st_mode) && !recursive)
		return error_set(err, ERR_invalid, "fs/copy requires recursive: true when sourcePath is a directory");
	if (S_ISDIR(st.st_mode) && is_below(to, from))
		return error_set(err, ERR_invalid,
		                 "fs/copy cannot copy a directory to itself or one of its descendants");
	return copy_at(&work, AT_FDCWD, from, AT_FDCWD, to, 0);
}
