/* A file appears at its name by a rename that does not replace, so that neither a crash nor another writer leaves half
 * of it, and nothing of the user's is lost between a check and the write. */
#include "import/import_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"

int import_tree_open(struct import_tree *tree, const char *path, bool is_real, struct error *err)
{
	struct open_how how = {.flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC};
	if (is_real)
		how.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
	tree->path = path;
	tree->fd = is_real ? (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)) : open(path, (int)how.flags);
	return tree->fd < 0 ? error_sys(err, errno, "cannot open %s", path) : 0;
}

int import_tree_share(struct import_tree *tree, const struct import_tree *other, struct error *err)
{
	tree->path = other->path;
	tree->fd = fcntl(other->fd, F_DUPFD_CLOEXEC, 0);
	return tree->fd < 0 ? error_sys(err, errno, "cannot open %s", other->path) : 0;
}

bool import_tree_is(const struct import_tree *tree, const char *path, const char *other)
{
	struct stat a, b;
	return fstatat(tree->fd, path, &a, AT_SYMLINK_NOFOLLOW) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

void import_tree_close(struct import_tree *tree)
{
	if (tree->fd >= 0)
		close(tree->fd);
	tree->fd = -1;
}

static int open_at(const struct import_tree *tree, const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
	                       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	if (tree->follows_links)
		return openat(tree->fd, path, (int)how.flags);
	return (int)syscall(SYS_openat2, tree->fd, path, &how, sizeof(how));
}

/* Returns an error about errno. */
static int fail(const struct import_tree *tree, const char *path, struct error *err)
{
	if (errno == ELOOP)
		return error_set(err, ERR_denied, "%s/%s is reached by a symbolic link, which is not followed",
		                 tree->path, path);
	if (errno == EEXIST)
		return error_set(err, ERR_exists, "%s/%s exists already", tree->path, path);
	return error_sys(err, errno, "%s/%s", tree->path, path);
}

bool import_tree_has(const struct import_tree *tree, const char *path)
{
	struct stat st;
	if (tree->follows_links)
		return fstatat(tree->fd, path, &st, 0) == 0;
	struct open_how how = {.flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
	                       .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	auto_close int fd = (int)syscall(SYS_openat2, tree->fd, path, &how, sizeof(how));
	return fd >= 0;
}

int import_tree_read(const struct import_tree *tree, const char *path, size_t most, struct arena *arena,
                     struct str *ret, mode_t *ret_mode, struct error *err)
{
	struct stat st;
	auto_buf struct buf text;
	auto_free char *shown = xasprintf("%s/%s", tree->path, path);
	buf_init(&text, most);
	auto_close int fd = open_at(tree, path, O_RDONLY);
	if (fd < 0 || fstat(fd, &st) != 0)
		return fail(tree, path, err);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_invalid, "%s is not a regular file", shown);
	if (fd_read_all(fd, &text, shown, err) != 0)
		return -(int)err->code;
	*ret = arena_str(arena, buf_str(&text));
	if (ret_mode)
		*ret_mode = st.st_mode & 07777;
	return 0;
}

struct import_source import_source_read(const struct import_tree *tree, const char *path, size_t most,
                                        struct arena *arena)
{
	struct str text;
	struct import_source source = {0};
	if (import_tree_read(tree, path, most, arena, &text, NULL, &source.err) != 0)
		return source;
	source.json = json_parse(arena, text, &source.err);
	if (source.json && source.json->type != JSON_object) {
		source.json = NULL;
		best_effort(error_set(&source.err, ERR_invalid, "it is no object"));
	}
	if (!source.json)
		best_effort(error_wrap(&source.err, "%s/%s", tree->path, path));
	return source;
}

int import_source_check(const struct import_source *source, struct error *err)
{
	bool is_usable = source->json || !source->err.text[0] || source->err.code == ERR_not_found;
	return is_usable ? 0 : error_set(err, source->err.code, "%s", source->err.text);
}

static int compare(const void *a, const void *b)
{
	return str_compare(*(const struct str *)a, *(const struct str *)b);
}

/* Takes the descriptor. */
static int list(const struct import_tree *tree, const char *path, int fd, const char *suffix, struct arena *arena,
                struct import_names *names, struct error *err)
{
	size_t count = 0, before = names->count;
	DIR *dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return fail(tree, path, err);
	}
	for (const struct dirent *entry; (entry = readdir(dir)) && count < LIMIT_IMPORT_SCANNED; count++) {
		struct str name = str_of(entry->d_name);
		if (name.ptr[0] == '.' || !str_has_suffix(name, suffix))
			continue;
		if (names->count - before == LIMIT_IMPORT_ENTRIES) {
			count = LIMIT_IMPORT_SCANNED;
			break;
		}
		name.len -= strlen(suffix);
		vec_push(names, arena_str(arena, name));
	}
	closedir(dir);
	if (names->count > before)
		qsort(names->items + before, names->count - before, sizeof(*names->items), compare);
	return count < LIMIT_IMPORT_SCANNED ? 0
	                                    : error_set(err, ERR_limit, "%s/%s has more than %d entries", tree->path,
	                                                path, LIMIT_IMPORT_ENTRIES);
}

int import_tree_list(const struct import_tree *tree, const char *path, const char *suffix, struct arena *arena,
                     struct import_names *names, struct error *err)
{
	int fd = open_at(tree, path, O_RDONLY | O_DIRECTORY);
	if (fd >= 0)
		return list(tree, path, fd, suffix, arena, names, err);
	return errno == ENOENT || errno == ENOTDIR ? 0 : fail(tree, path, err);
}

/* ---- writing ---- */

int import_tree_folder(const struct import_tree *tree, const char *path, mode_t mode, struct error *err)
{
	auto_close int at = open_at(tree, path, O_RDONLY | O_DIRECTORY);
	if (at >= 0)
		return steal_fd(&at);
	if (errno != ENOENT || !mode)
		return fail(tree, path, err);
	struct str rest = str_of(path), name;
	at = dup(tree->fd);
	while (at >= 0 && str_next_part(&rest, '/', &name)) {
		auto_free char *folder = str_dup(name);
		bool is_there = mkdirat(at, folder, mode) == 0 || errno == EEXIST;
		int next = is_there ? openat(at, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
		int sys = errno;
		close(at);
		at = next;
		errno = sys;
	}
	return at >= 0 ? steal_fd(&at) : fail(tree, path, err);
}

/* Opens the folder of the file, and makes a name beside it. */
static int begin(const struct import_tree *tree, const struct import_file *file, char **ret_name, struct error *err)
{
	uint64_t unique;
	host_random(&unique, sizeof(unique));
	*ret_name = xasprintf(".%s.import-%016llx", file->name, (unsigned long long)unique);
	return import_tree_folder(tree, file->folder, file->mode & 077 ? 0777 : 0700, err);
}

static int publish(int folder, const char *from, const struct import_file *file)
{
	if (file->replaces)
		return renameat(folder, from, folder, file->name);
	if (syscall(SYS_renameat2, folder, from, folder, file->name, 1 /* RENAME_NOREPLACE */) == 0)
		return 0;
	/* A file system of a network may lack that. */
	return errno == EINVAL && linkat(folder, from, folder, file->name, 0) == 0 ? unlinkat(folder, from, 0) : -1;
}

int import_tree_write(const struct import_tree *tree, const struct import_file *file, struct str text,
                      struct error *err)
{
	auto_free char *temporary = NULL;
	auto_close int folder = begin(tree, file, &temporary, err);
	if (folder < 0)
		return -(int)err->code;
	auto_free char *path = xasprintf("%s/%s", file->folder, file->name);
	auto_close int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file->mode);
	if (fd < 0)
		return fail(tree, path, err);
	int status = fd_write_all(fd, text.ptr, text.len, err);
	if (status == 0 && ((file->replaces && fchmod(fd, file->mode) != 0) || fsync(fd) != 0 ||
	                    publish(folder, temporary, file) != 0))
		status = fail(tree, path, err);
	if (status != 0)
		unlinkat(folder, temporary, 0);
	return status;
}

/* ---- folders ---- */

struct copying {
	size_t files, bytes;
	unsigned left, depth;
	mode_t mask; /* of the target's modes */
	bool follows_links;
};

static int copy_folder(struct copying *copying, int from, int to, struct error *err);

static int copy_bytes(struct copying *copying, int from, int to, struct error *err)
{
	ssize_t sent;
	while ((sent = sendfile(to, from, NULL, LIMIT_IMPORT_TREE)) > 0) {
		copying->bytes += (size_t)sent;
		if (copying->bytes > LIMIT_IMPORT_TREE)
			return error_set(err, ERR_limit, "the folder has more than %d MiB",
			                 (int)(LIMIT_IMPORT_TREE / MIB));
	}
	return sent < 0 ? error_sys(err, errno, "cannot copy") : 0;
}

/* Opens a file or a folder that is nothing special; -1 and errno 0 for others. A device is not opened. Of links, only
 * those to files are followed, and only among the user's own files. */
static int open_entry(const struct copying *copying, int from, const char *name, struct stat *ret)
{
	if (fstatat(from, name, ret, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	bool is_followed = S_ISLNK(ret->st_mode) && copying->follows_links && fstatat(from, name, ret, 0) == 0 &&
	                   S_ISREG(ret->st_mode);
	mode_t kind = ret->st_mode & S_IFMT;
	auto_close int fd = -1;
	if ((kind == S_IFDIR || kind == S_IFREG))
		fd = openat(from, name, O_RDONLY | (is_followed ? 0 : O_NOFOLLOW) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	else
		errno = 0;
	if (fd >= 0 && (fstat(fd, ret) != 0 || (ret->st_mode & S_IFMT) != kind)) {
		errno = 0; /* replaced meanwhile */
		return -1;
	}
	return steal_fd(&fd);
}

static int copy_entry(struct copying *copying, int from, int to, const char *name, struct error *err)
{
	struct stat st;
	auto_close int source = open_entry(copying, from, name, &st);
	if (source < 0 && !errno)
		return copying->left++, 0;
	bool is_folder = source >= 0 && S_ISDIR(st.st_mode);
	if (source < 0 || (is_folder && mkdirat(to, name, 0777 & copying->mask) != 0))
		return error_sys(err, errno, "%s", name);
	int flags = is_folder ? O_RDONLY | O_DIRECTORY : O_WRONLY | O_CREAT | O_EXCL;
	auto_close int target =
		openat(to, name, flags | O_NOFOLLOW | O_CLOEXEC, (st.st_mode & 0100 ? 0777 : 0666) & copying->mask);
	if (target < 0)
		return error_sys(err, errno, "%s", name);
	return is_folder ? copy_folder(copying, source, target, err) : copy_bytes(copying, source, target, err);
}

static int copy_folder(struct copying *copying, int from, int to, struct error *err)
{
	int status = 0, again = dup(from);
	DIR *dir = again < 0 ? NULL : fdopendir(again);
	if (!dir) {
		status = error_sys(err, errno, "cannot read the folder");
		if (again >= 0)
			close(again);
		return status;
	}
	copying->depth++;
	for (const struct dirent *entry; status == 0 && (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++copying->files > LIMIT_IMPORT_ENTRIES || copying->depth > LIMIT_IMPORT_DEPTH)
			status = error_set(err, ERR_limit, "the folder has more than %d files or %d levels",
			                   LIMIT_IMPORT_ENTRIES, LIMIT_IMPORT_DEPTH);
		else
			status = copy_entry(copying, from, to, entry->d_name, err);
	}
	copying->depth--;
	closedir(dir);
	return status;
}

static void remove_folder(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir)
		return;
	for (const struct dirent *entry; (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (unlinkat(fd, entry->d_name, 0) != 0)
			remove_folder(fd, entry->d_name);
	}
	closedir(dir);
	unlinkat(parent, name, AT_REMOVEDIR);
}

int import_tree_copy(const struct import_tree *from, const char *from_folder, const struct import_tree *to,
                     const struct import_file *target, unsigned *ret_left, struct error *err)
{
	struct copying copying = {.mask = target->mode & 077 ? 0777 : 0700, .follows_links = from->follows_links};
	auto_free char *temporary = NULL;
	auto_close int source = import_tree_folder(from, from_folder, 0, err);
	if (source < 0)
		return -(int)err->code;
	auto_close int folder = begin(to, target, &temporary, err);
	if (folder < 0)
		return -(int)err->code;
	if (mkdirat(folder, temporary, 0777 & copying.mask) != 0)
		return fail(to, target->folder, err);
	auto_close int copy = openat(folder, temporary, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int status = copy < 0 ? fail(to, target->folder, err) : copy_folder(&copying, source, copy, err);
	if (status == 0 && publish(folder, temporary, target) != 0)
		status = fail(to, target->folder, err);
	if (status != 0)
		remove_folder(folder, temporary);
	*ret_left = copying.left;
	return status;
}
