/* notify.h — the user's own program is told that a Task is complete (core 17). Private to engine/. */
#ifndef ENGINE_NOTIFY_H
#define ENGINE_NOTIFY_H

#include <stdbool.h>

struct session;
struct task;

/* configure_session or the configuration names a program. */
bool notify_is_wanted(const struct session *session);
/* Starts the program that is wanted; it is left alone from then on. */
void notify_task_complete(struct session *session, const struct task *task);

#endif
