/* session_host.h — the Session as tools see it: it fills in the tool_host it lends them. Private to engine/. */
#ifndef ENGINE_SESSION_HOST_H
#define ENGINE_SESSION_HOST_H

struct session;
struct task;

void session_host_init(struct session *session);
/* Points the host at a Task that starts. */
void session_lend_host(struct session *session, const struct task *task);
/* Ends the commands that go on between calls, and the user's own; all are told as ended. */
void session_end_commands(struct session *session);
void session_host_finish(struct session *session);

#endif
