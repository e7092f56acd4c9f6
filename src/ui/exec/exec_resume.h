/* exec_resume.h — finds the session that `codex resume`, `codex fork` and `codex exec resume` continue.
 *
 * Owns: the path. Borrows: the options, the configuration and the folder. Blocks; prints the list of sessions. */
#ifndef UI_EXEC_RESUME_H
#define UI_EXEC_RESUME_H

#include <stdbool.h>

#include "base/error.h"

struct config;
struct exec_options;

struct exec_resume {
	const struct exec_options *options;
	const struct config *config;
	const char *cwd;
	char *path;      /* the rollout; NULL: start a new session */
	bool has_listed; /* the sessions were listed and none was chosen, so there is nothing to run */
};

/* Lets the user choose from a list if the options request it. */
must_check int exec_resume_pick(struct exec_resume *resume, struct error *err);
/* Finds the session by id or name, or the latest one. Without any recorded session, --last starts a new one, as in
 * codex 0.169. */
must_check int exec_resume_find(struct exec_resume *resume, struct error *err);
/* Replaces the path by that of a copy if the options fork the session; with --ephemeral it stays, because an unrecorded
 * run leaves the rollout unchanged. */
must_check int exec_resume_fork(struct exec_resume *resume, const char *originator, struct error *err);
/* Fails if another process writes the session at this path, and names the command that watches it. */
must_check int exec_resume_check(const char *path, struct error *err);

#endif
