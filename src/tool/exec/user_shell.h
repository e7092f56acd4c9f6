/* user_shell.h — runs a command that the user typed: in the user's shell, without a sandbox or an approval.
 *
 * It emits the events of any command, with source user_shell; its result is also reported to the model as text.
 * Owns: the process and its output. Borrows: the host, until the end. Loop thread only.
 * Errors: a command that cannot be started ends like one that failed, with the reason as its output. */
#ifndef TOOL_USER_SHELL_H
#define TOOL_USER_SHELL_H

#include <stdint.h>

#include "base/str.h"

struct tool_host;
struct user_shell;

/* Called when the command has ended and was freed. report is the text for the model, borrowed during the call. */
typedef void (*user_shell_end_fn)(struct str report, void *self);

/* Emits the begin event. on_end runs once, later. Never NULL. */
struct user_shell *user_shell_start(struct tool_host *host, struct str turn_id, struct str command, uint64_t timeout_ms,
                                    user_shell_end_fn on_end, void *self);
/* Kills the command with its descendants and emits the end event; on_end runs during the call. */
void user_shell_abort(struct user_shell *shell);
/* As user_shell_abort, without an event or a callback. NULL is fine. */
void user_shell_destroy(struct user_shell *shell);

#endif
