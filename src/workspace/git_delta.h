/* git_delta.h — what a work tree has that its remote repositories have not: the commit that both know, and a patch from
 * there to the files as they are, those that git does not track included.
 *
 * Owns: the git that runs, a copy of the repository's index. Nothing of the repository changes but that git may keep an
 * empty blob in it. Loop thread only. on_done runs once, never inside git_delta_create, unless the delta is destroyed
 * before; it may destroy it. err there (ERR_not_found: no repository, or no remote knows its commits) is NULL when all
 * went well; sha and patch are borrowed. Source: app-server-wire 22, gitDiffToRemote. */
#ifndef WORKSPACE_GIT_DELTA_H
#define WORKSPACE_GIT_DELTA_H

#include "base/str.h"

struct error;
struct git_delta;
struct loop;

typedef void (*git_delta_done_fn)(struct str sha, struct str patch, const struct error *err, void *self);

/* cwd: a folder of the work tree. NULL and err if git cannot be started. */
struct git_delta *git_delta_create(struct loop *loop, const char *cwd, git_delta_done_fn on_done, void *self,
                                   struct error *err);
void git_delta_destroy(struct git_delta *delta); /* NULL is fine */

#endif
