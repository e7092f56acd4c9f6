/* exec_session.h — commands that may go on between calls: exec_command starts them, write_stdin returns to
 * them (core 3). The engine sees only this: a set of them per Session.
 *
 * Owns: the commands. Loop thread only. */
#ifndef TOOL_EXEC_SESSION_H
#define TOOL_EXEC_SESSION_H

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

#endif
