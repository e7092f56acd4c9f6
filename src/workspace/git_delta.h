/* git_delta.h — what a work tree has that its remote repositories do not have: the commit that both know, and a patch
 * from there to the files as they are, including those that git does not track.
 *
 * git runs on a stage (git_stage.h): nothing of the repository is executed, and nothing in it changes. So no filter
 * runs (a changed file of git-lfs is in the patch as it lies in the work tree), and the patch has only the commit of a
 * submodule; an untracked repository inside the work tree is left out.
 * Owns: the stage, and the git that runs. Loop thread only. on_done runs once, never inside git_delta_create, unless
 * the delta is destroyed before; it may destroy it. err there (ERR_not_found: no repository, or no remote knows its
 * commits) is NULL when all went well; sha and patch are borrowed. Source: app-server-wire 22, gitDiffToRemote. */
#ifndef WORKSPACE_GIT_DELTA_H
#define WORKSPACE_GIT_DELTA_H

#include "base/str.h"

struct error;
struct git_delta;
struct loop;

typedef void (*git_delta_done_fn)(struct str sha, struct str patch, const struct error *err, void *self);

/* home: CODEX_HOME; cwd: a folder of the work tree. */
struct git_delta *git_delta_create(struct loop *loop, const char *home, const char *cwd, git_delta_done_fn on_done,
                                   void *self);
void git_delta_destroy(struct git_delta *delta); /* NULL is fine */

#endif
