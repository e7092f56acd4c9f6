/* Nothing of a repository runs while it is cloned: git gets no hooks, no filters of its
 * attributes, no submodules, and no protocol for which it would look for a program by the URL. */
#include "config/plugin_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"

extern char **environ;

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

int plugin_git(const char *folder, const char *const *words, struct error *err)
{
	const char *const first[] = {"env",
	                             "GIT_ALLOW_PROTOCOL=https:ssh:file:http:git",
	                             "git",
	                             "-C",
	                             folder ? folder : ".",
	                             "-c",
	                             "core.hooksPath=/dev/null"};
	pid_t pid;
	int status;
	size_t count = 0;
	while (words[count])
		count++;
	auto_free const char **argv = xcalloc(countof(first) + count + 1, sizeof(*argv));
	memcpy(argv, first, sizeof(first));
	memcpy(argv + countof(first), words, count * sizeof(*argv));
	int failure = posix_spawnp(&pid, first[0], NULL, NULL, (char *const *)(uintptr_t)argv, environ);
	if (failure)
		return error_sys(err, failure, "cannot run git");
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return error_sys(err, errno, "git");
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : error_set(err, ERR_io, "`git %s` failed", words[0]);
}

int plugin_checkout(const char *folder, struct error *err)
{
	static const char *const words[] = {"checkout", "--quiet", NULL};
	auto_free char *info = path_join(folder, ".git/info"), *path = path_join(info, "attributes");
	if (mkdir(info, 0700) != 0 && errno != EEXIST)
		return error_sys(err, errno, "cannot create %s", info);
	if (file_write_atomic(path, STR("* -filter\n"), 0600, false, err) != 0)
		return -(int)err->code;
	return plugin_git(folder, words, err);
}

int plugin_clone(const char *url, const char *ref, const char *folder, struct error *err)
{
	auto_free char *branch = xasprintf("--branch=%s", ref ? ref : "");
	const char *const words[] = {"clone",
	                             "--quiet",
	                             "--no-checkout",
	                             "--depth",
	                             "1",
	                             "--no-recurse-submodules",
	                             ref ? branch : "--single-branch",
	                             "--",
	                             url,
	                             folder,
	                             NULL};
	return plugin_git(NULL, words, err) == 0 ? plugin_checkout(folder, err) : -(int)err->code;
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
