/* tui_git.h — the output of a script, mostly of git, read on a worker.
 *
 * git starts no program that the repository chose: no external diff, text conversion or file system monitor. At most
 * LIMIT_TUI_GIT_OUTPUT bytes are read. The script and what it started are killed after its time and when it is
 * cancelled. */
#ifndef UI_TUI_GIT_H
#define UI_TUI_GIT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/limits.h"
#include "ui/tui/tui_limits.h"

struct loop;
struct tui_git;

struct tui_git_script {
	const char *text;     /* for sh, with git as "$GIT"; it runs in cwd */
	const char *argument; /* its "$2", or NULL */
	const char *second;   /* its "$3", or NULL */
	unsigned wait_ms;     /* its time; 0: LIMIT_TUI_GIT_MS */
	/* Only 0 is a success, and only if the output is within the limit; after a failure standard error follows the
	 * output, at most LIMIT_TUI_GIT_ERRORS. Otherwise standard error is dropped. */
	bool is_strict;
};

/* is_ok: git ran and ended with 0 or 1; see is_strict. Borrowed. */
typedef void (*tui_git_done_fn)(struct str output, bool is_ok, void *self);

/* Copies what script and cwd refer to. */
struct tui_git *tui_git_start(struct loop *loop, const char *cwd, const struct tui_git_script *script,
                              tui_git_done_fn on_done, void *self);
/* on_done is not called any more. NULL is fine. */
void tui_git_cancel(struct tui_git *git);

#endif
