/* The engine applies patches in its own process, outside any sandbox. Two things confine its writes: permission is
 * given for the real path, and each write walks that path again and refuses symbolic links. openat2 walks it
 * atomically; where the kernel or a container's filter lacks it, openat walks one name at a time. */
#include "patch/patch_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "patch/patch_error.h"

enum { LINKS_MAX = 40 /* as many as Linux follows */ };

const char *patch_path(struct arena *arena, const char *cwd, struct str name)
{
	auto_free char *relative = str_dup(name);
	auto_free char *joined = path_join(cwd, relative);
	auto_free char *path = path_normalize(joined);
	return arena_cstr(arena, str_of(path));
}

static char *resolve(const char *path, int links);

/* Resolves the folder and keeps the last name. */
static char *resolve_folder(const char *path, int links)
{
	auto_free char *folder = str_dup(path_dir(path)), *name = str_dup(path_name(path));
	if (name[0] == '\0')
		return xstrdup("/");
	auto_free char *real = resolve(folder, links);
	return real ? path_join(real, name) : NULL;
}

/* The target of a link as an absolute path, which may contain further links. */
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

/* Like realpath, but the last names need not exist. Owned; NULL and errno. */
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
	return keep(arena, resolve(path, LINKS_MAX));
}

const char *patch_entry(struct arena *arena, const char *path)
{
	return keep(arena, resolve_folder(path, LINKS_MAX));
}

static int open_folder(int parent, const char *name)
{
	return openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Creates one folder and records its path. A folder that exists by now is fine. */
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

/* Opens the folder of an absolute path without following links. -1 and errno. */
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

int patch_folder_open(const char *real, const char **ret_name)
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
	/* If a file is in the folder's place, the following write reports it in the usual words. */
	if (folder >= 0 || errno == ENOTDIR)
		return 0;
	return patch_error_sys(err, errno, "Failed to create parent directories for %s", path);
}

void patch_folders_unmake(struct patch_folders *made)
{
	while (made->list.count) {
		auto_free char *path = made->list.items[--made->list.count];
		const char *name;
		auto_close int folder = patch_folder_open(path, &name);
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
	auto_close int folder = patch_folder_open(entry, &name);
	return folder >= 0 && unlinkat(folder, name, 0) == 0 ? 0 : errno;
}

int patch_entry_rename(const char *entry, const char *to)
{
	const char *name;
	auto_close int folder = patch_folder_open(entry, &name);
	return folder >= 0 && renameat(folder, name, folder, to) == 0 ? 0 : errno;
}

char *patch_entry_name(void)
{
	uint64_t unique;
	random_bytes(&unique, sizeof(unique));
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
