/* user_shell.h — a command of the user's own: in the user's shell, without a sandbox and without a question.
 *
 * Its life is told in the events of every command, with source user_shell; its end also as text for the model.
 * Owns: the process and what it printed. Borrows: the host, until the end. Loop thread only.
 * Errors: a command that cannot be started ends like one that failed, and says why. Source: core 2.5. */
#ifndef TOOL_USER_SHELL_H
#define TOOL_USER_SHELL_H

#include <stdint.h>

#include "base/str.h"

struct tool_host;
struct user_shell;

/* It is over and freed. report: what the model is told of it; borrowed during the call. */
typedef void (*user_shell_end_fn)(struct str report, void *self);

/* Tells its begin. on_end runs once, later. Never NULL. */
struct user_shell *user_shell_start(struct tool_host *host, struct str turn_id, struct str command, uint64_t timeout_ms,
                                    user_shell_end_fn on_end, void *self);
/* Kills it with all that it started and tells its end; on_end runs inside. */
void user_shell_abort(struct user_shell *shell);
/* The same without a word to anybody. NULL is fine. */
void user_shell_destroy(struct user_shell *shell);

#endif
