/* git_stage.h — how the engine runs git on a work tree without running anything that the work tree brings along.
 *
 * A repository's configuration names programs: filters of contents, hooks, a file system monitor, diff and text
 * converters, transports. A sandboxed command may have written that configuration, and submodules bring their own. So
 * git never reads it: a stage is a git folder that we make, mode 0700, below CODEX_HOME. It has a detached HEAD, a copy
 * of the index, links to the refs and packs, and a configuration with nothing but how file contents are compared. Every
 * git that the engine starts gets its words from git_stage_words and its environment from git_stage_env; the caller
 * must not use commands that enter submodules (git add, git status; git diff without --ignore-submodules).
 *
 * Owns: the folder, and a lock on it: a stage that a killed engine left behind is removed by the next one.
 * Creating and destroying block: for a worker. */
#ifndef WORKSPACE_GIT_STAGE_H
#define WORKSPACE_GIT_STAGE_H

#include "base/str.h"

struct env;
struct error;
struct git_stage;

/* home: CODEX_HOME; cwd: a folder of the work tree. ERR_not_found outside a repository and before the first commit. */
struct git_stage *git_stage_create(const char *home, const char *cwd, struct error *err);
void git_stage_destroy(struct git_stage *stage); /* NULL is fine */

const char *git_stage_root(const struct git_stage *stage);   /* of the work tree: where git runs */
const char *git_stage_commit(const struct git_stage *stage); /* of HEAD, in hex */

/* The first words of each command. */
#define GIT_STAGE_WORDS "git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"

/* What git is started with. The user's own configuration may name programs, too, by paths within a repository, so git
 * reads it in one command alone, which runs nothing: GIT_READ_USER, for `git config`. */
enum git_reads { GIT_READ_STAGE, GIT_READ_USER };
void git_stage_env(const struct git_stage *stage, enum git_reads reads, struct env *env);
/* Takes over what `git config -z --get-regexp` printed of the user's configuration; other keys than those that say how
 * file contents are compared, or which files are ignored, are passed over. */
int git_stage_take_user(struct git_stage *stage, struct str entries, struct error *err);

#endif
