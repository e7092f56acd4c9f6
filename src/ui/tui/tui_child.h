/* tui_child.h — a command of this program that a child runs: it may read much, clone a repository or wait for a server.
 *
 * The end of its time and a cancellation kill it with what it started. Loop thread only. */
#ifndef UI_TUI_CHILD_H
#define UI_TUI_CHILD_H

#include <stdbool.h>

#include "base/str.h"

struct loop;
struct tui_child;

struct tui_child_call {
	const char *words;    /* the command without `codex`, as text for sh; constant */
	const char *argument; /* one more word, which sh does not read; or NULL */
	unsigned wait_ms;     /* its time; 0: a short one */
};

/* is_ok: it ended with 0. output: its standard output, or after a failure its standard error, too; borrowed. */
typedef void (*tui_child_done_fn)(struct str output, bool is_ok, void *self);

/* Copies the argument. The child is destroyed after on_done. */
struct tui_child *tui_child_start(struct loop *loop, const char *cwd, const struct tui_child_call *call,
                                  tui_child_done_fn on_done, void *self);
/* Returns the command for people; borrowed. */
const char *tui_child_name(const struct tui_child *child);
/* Kills it; on_done is not called any more. NULL is fine. */
void tui_child_cancel(struct tui_child *child);

#endif
