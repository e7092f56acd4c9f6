/* tool_exec.h — commands that may go on between calls: exec_command starts them, write_stdin returns to
 * them (core 3). The engine sees only this: a set of them per Session.
 *
 * Owns: the commands. Loop thread only. */
#ifndef TOOL_TOOL_EXEC_H
#define TOOL_TOOL_EXEC_H

#include <stdbool.h>
#include <stdint.h>

struct exec_sessions;
struct tool_host;

/* host is borrowed until destroy. */
struct exec_sessions *exec_sessions_create(struct tool_host *host);
/* Kills every command; each is told as ended. */
void exec_sessions_end(struct exec_sessions *sessions);
/* Kills the command that the model calls `id`, or (0) all of them; each is told as ended. Those that a call waits for
 * are let alone. False if there was none. */
bool exec_sessions_end_background(struct exec_sessions *sessions, int64_t id);
/* Kills what still runs and frees everything, without events. NULL is fine. */
void exec_sessions_destroy(struct exec_sessions *sessions);

/* Stops and restarts the reading of all commands' output, also of those that start meanwhile: they block when their
 * pipe is full. Their time limits do not run out as long as that lasts. */
void exec_commands_hold(struct tool_host *host);
void exec_commands_release(struct tool_host *host);

#endif
