/* notify.h — converts EventMsgs to notifications and ThreadItems: one handler per row of notify.def.
 *
 * Handlers by family: notify_thread.c (the thread and its turns), notify_item.c (messages and reasoning),
 * notify_tool.c (commands and patches), notify_collab.c (subagents). Owns: nothing. Loop thread only. */
#ifndef APP_SERVER_NOTIFY_H
#define APP_SERVER_NOTIFY_H

#include "protocol/message/app.h"
#include "protocol/message/event.h"

struct thread;

/* Sends the notifications of the event to the thread's watchers. The event is borrowed. */
void notify_event(struct thread *thread, const struct event *event);

#define TELLS(tag) void on_event_##tag(struct thread *thread, const struct event *event);
#define SILENT(tag, why)
#include "app_server/threads/notify.def"
#undef TELLS
#undef SILENT

#endif
