/* session_host.h — implements the tool_host that a Session lends to tool calls. Private to engine/codex/. */
#ifndef ENGINE_SESSION_HOST_H
#define ENGINE_SESSION_HOST_H

struct session;
struct task;

void session_host_init(struct session *session);
/* Sets the facts of a Task that starts. */
void session_lend_host(struct session *session, const struct task *task);
/* Terminates the background commands and the user shell commands and emits their ends. */
void session_end_commands(struct session *session);
void session_host_finish(struct session *session);

#endif
