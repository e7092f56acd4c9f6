/* exec_session.h — commands that may keep running between calls: exec_command starts one, write_stdin polls it or
 * types into it. Each engine Session has one set of them.
 *
 * Owns: the commands. Loop thread only. */
#ifndef TOOL_EXEC_SESSION_H
#define TOOL_EXEC_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct exec_sessions;
struct tool_host;

/* host is borrowed until destroy. */
struct exec_sessions *exec_sessions_create(struct tool_host *host);
/* Kills every command and emits its end. */
void exec_sessions_end(struct exec_sessions *sessions);
/* Kills the command with the model's `id`, or all of them if id is 0, and emits their ends. A command that a call waits
 * for keeps running. False if nothing was killed. */
bool exec_sessions_end_background(struct exec_sessions *sessions, int64_t id);
/* True if a command that this call has started runs, or its end was not emitted yet. */
bool exec_sessions_have_call(const struct exec_sessions *sessions, struct str call_id);
/* Kills what still runs and frees everything, without events. NULL is fine. */
void exec_sessions_destroy(struct exec_sessions *sessions);

#endif
