/* exec_worktree.h — a checkout of its own for one run: --worktree. Blocking, before a loop runs. */
#ifndef UI_EXEC_WORKTREE_H
#define UI_EXEC_WORKTREE_H

#include "base/error.h"

/* Adds a work tree of the repository around *cwd (absolute, owned) at HEAD, below $CODEX_HOME/worktrees, and replaces
 * *cwd by the same folder in it. The user's files do not change; the work tree stays until `git worktree remove`.
 * ERR_not_found: no repository, or it has no commit; ERR_denied: git would run programs that the repository names. */
must_check int exec_worktree_enter(char **cwd, struct error *err);

#endif
