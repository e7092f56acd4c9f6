/* git_stage.h — runs git on a work tree without executing anything that the work tree contains.
 *
 * The configuration of a repository names programs: content filters, hooks, a file system monitor, diff and text
 * converters, transports. A sandboxed command may have written that configuration, and submodules have their own. So
 * git never reads it. A stage is a git folder with mode 0700 below CODEX_HOME with a detached HEAD, a copy of the
 * index, links to the refs and packs, and a configuration that only says how file contents are compared. Every git
 * command starts with git_stage_words and runs in the environment of git_stage_env. The caller must not use commands
 * that enter submodules (git add, git status, git diff without --ignore-submodules).
 *
 * Owns: the folder and a lock on it. The stage of a killed engine is removed by the next one. Creating and
 * destroying block: for a worker. */
#ifndef WORKSPACE_GIT_STAGE_H
#define WORKSPACE_GIT_STAGE_H

#include "base/error.h"
#include "base/str.h"

struct env;
struct error;
struct git_stage;

/* Creates a stage. home: CODEX_HOME; cwd: a folder of the work tree. ERR_not_found outside a repository and before
 * the first commit. */
must_check struct git_stage *git_stage_create(const char *home, const char *cwd, struct error *err);
void git_stage_destroy(struct git_stage *stage); /* NULL is fine */

const char *git_stage_root(const struct git_stage *stage);   /* the work tree's root, where git runs */
const char *git_stage_commit(const struct git_stage *stage); /* the commit of HEAD, in hex */

/* The first words of each git command. */
#define GIT_STAGE_WORDS "git", "--no-pager", "-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"

/* Fills env for git. The user's own configuration may name programs too, by paths within a repository, so git reads
 * it only in one command that runs nothing: GIT_READ_USER, for `git config`. */
enum git_reads { GIT_READ_STAGE, GIT_READ_USER };
void git_stage_env(const struct git_stage *stage, enum git_reads reads, struct env *env);
/* Copies the output of `git config -z --get-regexp` for the user's configuration into the stage; keys that do not say
 * how contents are compared or which files are ignored are skipped. */
must_check int git_stage_take_user(struct git_stage *stage, struct str entries, struct error *err);

#endif
