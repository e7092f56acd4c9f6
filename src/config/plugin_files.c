/* A repository may have paths that are longer than a system call takes. */
#include "config/plugin_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"

enum { MOVED_NAME = 16 };

bool plugin_is_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool is_fine = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
		               (i && c && strchr("-_.", c));
		if (!is_fine)
			return false;
	}
	return name.len > 0 && name.len <= LIMIT_PLUGIN_NAME;
}

bool plugin_is_url(const char *source)
{
	return strncmp(source + strcspn(source, ":/"), "://", 3) == 0 || strncmp(source, "git@", 4) == 0;
}

static bool is_full(void)
{
	return errno == ENOTEMPTY || errno == EEXIST;
}

/* Moves a folder to a name in `up` that is free there. */
static int move_up(int at, const char *name, int up, unsigned *next)
{
	int status;
	do {
		char to[MOVED_NAME];
		snprintf(to, sizeof(to), "%u", (*next)++);
		status = renameat(at, name, up, to);
	} while (status != 0 && (is_full() || errno == ENOTDIR));
	return status;
}

/* Removes what a folder has; those of its folders that are not empty move up. up -1: it is the one to which they move.
 * So no path gets longer than a name, and the depth takes neither stack nor descriptors. */
static int remove_entries(int at, const char *path, int up, unsigned *next)
{
	int status = 0, fd = openat(at, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return -1;
	}
	while (status == 0 && (entry = readdir(dir)) != NULL) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(fd, name, 0) == 0 ||
		    (errno == EISDIR && unlinkat(fd, name, AT_REMOVEDIR) == 0))
			continue;
		if (!is_full())
			status = -1;
		else if (up >= 0)
			status = move_up(fd, name, up, next);
		else if ((status = remove_entries(fd, name, fd, next)) == 0)
			status = unlinkat(fd, name, AT_REMOVEDIR);
	}
	int failure = errno;
	closedir(dir);
	errno = failure;
	return status;
}

int plugin_remove_tree(const char *path, struct error *err)
{
	unsigned next = 0;
	while (remove(path) != 0) {
		if (!is_full() || remove_entries(AT_FDCWD, path, -1, &next) != 0)
			return error_sys(err, errno, "cannot remove %s", path);
	}
	return 0;
}
