/* exec_worktree.h — a checkout of its own for one run: --worktree and, in the terminal, /worktree. */
#ifndef UI_EXEC_WORKTREE_H
#define UI_EXEC_WORKTREE_H

#include "base/error.h"

/* Blocking, before a loop runs. Adds a work tree of the repository around *cwd (absolute, owned) at HEAD, below
 * $CODEX_HOME/worktrees, and replaces *cwd by the same folder in it. The user's files do not change; the work tree
 * stays until `git worktree remove`. ERR_not_found: no repository, or it has no commit; ERR_denied: git would run
 * programs that the repository names. */
must_check int exec_worktree_enter(char **cwd, struct error *err);

/* The parts of exec_worktree_enter around git. choose: returns the folder for a work tree of the repository around cwd,
 * which it refuses as above, and the repository's root; both owned. inside: returns the folder in the work tree that
 * corresponds to cwd, owned. */
must_check char *exec_worktree_choose(const char *cwd, char **ret_root, struct error *err);
char *exec_worktree_inside(const char *cwd, const char *root, const char *folder);

#endif
