/* notify.h — runs the user's notification program when a Task is complete. Private to engine/codex/. */
#ifndef ENGINE_NOTIFY_H
#define ENGINE_NOTIFY_H

#include <stdbool.h>

struct session;
struct task;

/* True if configure_session or the configuration names a program. */
bool notify_is_wanted(const struct session *session);
/* Starts the program, which then runs independently. notify_is_wanted must be true. */
void notify_task_complete(struct session *session, const struct task *task);

#endif
