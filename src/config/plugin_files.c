/* Nothing of a repository runs while it is cloned: git gets no hooks, no submodules, and no
 * protocol for which it would look for a program by the URL. */
#include "config/plugin_files.h"

#include <errno.h>
#include <ftw.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "base/limits.h"
#include "base/mem.h"

extern char **environ;

enum { OPEN_FILES = 16 };

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

int plugin_clone(const char *url, const char *ref, const char *folder, struct error *err)
{
	auto_free char *branch = xasprintf("--branch=%s", ref ? ref : "");
	const char *const words[] = {
		"clone", "--quiet", "--depth", "1", "--no-recurse-submodules", ref ? branch : "--single-branch",
		"--",    url,       folder,    NULL};
	return plugin_git(NULL, words, err);
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

int plugin_remove_tree(const char *path, struct error *err)
{
	return nftw(path, remove_entry, OPEN_FILES, FTW_DEPTH | FTW_PHYS) == 0
	               ? 0
	               : error_sys(err, errno, "cannot remove %s", path);
}
