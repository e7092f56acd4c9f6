/* git_delta.h — computes the difference between a work tree and its remote repositories: the last common commit, and
 * a patch from there to the current files, including untracked ones.
 *
 * git runs on a stage (git_stage.h): it executes nothing of the repository and changes nothing in it. So no filter
 * runs (a changed file of git-lfs is in the patch as it is in the work tree), the patch has only the commit of a
 * submodule, and an untracked repository inside the work tree is omitted.
 *
 * Owns: the stage, and the running git. Thread: the loop's. on_done runs once, never inside git_delta_create and not
 * after destroy; it may destroy the delta. Its err is NULL on success (ERR_not_found: no repository, or no remote
 * has its commits); sha and patch are borrowed. */
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
