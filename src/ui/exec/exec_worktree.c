/* git checks the files out, so the repository must not name programs that would run meanwhile: filters, hooks and
 * monitors. Its hooks are switched off, and a repository with other programs is refused. */
#include "ui/exec/exec_worktree.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config_env.h"
#include "workspace/git_inert.h"
#include "workspace/git_info.h"

extern char **environ;

/* Runs git, whose messages appear on stderr. */
static int run_git(const char *const *argv, struct error *err)
{
	pid_t pid;
	int status;
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	int failure = posix_spawnp(&pid, "git", &actions, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (failure)
		return error_sys(err, failure, "--worktree: cannot run git");
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return error_sys(err, errno, "--worktree: git");
	}
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return error_set(err, ERR_io, "--worktree: `git worktree add` failed; its message is above");
}

/* Returns a folder that does not exist yet: HOME/worktrees/XXXXXXXX/NAME. */
static char *choose_folder(const char *root, struct error *err)
{
	enum { DIGITS = 8 }; /* the last ones, which are random */
	char id[UUID_TEXT_SIZE];
	auto_free char *home = config_env_home(err);
	if (!home)
		return NULL;
	uuid_v7(id);
	auto_free char *folder = xasprintf("%s/worktrees/%s", home, id + UUID_TEXT_SIZE - 1 - DIGITS);
	if (dir_make(folder, 0700, err) != 0)
		return NULL;
	return path_join(folder, path_name(root).len ? path_name(root).ptr : "root"); /* ptr ends root */
}

static int check(const char *cwd, const char *root, struct error *err)
{
	char git[PATH_MAX];
	if (!root)
		return error_set(err, ERR_not_found, "a worktree needs a git repository, and %s is in none", cwd);
	if (git_is_inert(root, git))
		return 0;
	return error_set(err, ERR_denied,
	                 "a checkout of %s could run programs that its git configuration names (filters, "
	                 "hooks). Run `git worktree add` yourself and use --cd",
	                 root);
}

char *exec_worktree_choose(const char *cwd, char **ret_root, struct error *err)
{
	auto_free char *root = git_info_find_root(cwd);
	if (check(cwd, root, err) != 0)
		return NULL;
	char *folder = choose_folder(root, err);
	if (folder)
		*ret_root = steal(root);
	return folder;
}

char *exec_worktree_inside(const char *cwd, const char *root, const char *folder)
{
	auto_free char *inside = xasprintf("%s%s", folder, cwd + strlen(root));
	return dir_exists(inside) ? steal(inside) : xstrdup(folder);
}

int exec_worktree_enter(char **cwd, struct error *err)
{
	auto_free char *root = NULL;
	auto_free char *folder = exec_worktree_choose(*cwd, &root, err);
	if (!folder)
		return -(int)err->code;
	const char *const argv[] = {"git",
	                            "-C",
	                            root,
	                            "-c",
	                            "core.hooksPath=/dev/null",
	                            "-c",
	                            "core.fsmonitor=false",
	                            "worktree",
	                            "add",
	                            "--quiet",
	                            "--detach",
	                            folder,
	                            "HEAD",
	                            NULL};
	if (run_git(argv, err) != 0)
		return -(int)err->code;
	char *inside = exec_worktree_inside(*cwd, root, folder);
	free(*cwd);
	*cwd = inside;
	return 0;
}
