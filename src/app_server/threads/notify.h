/* notify.h — translates the engine's events to notifications and items: one handler for each row of notify.def.
 *
 * Handlers by file: notify.c (threads and turns), notify_item.c (messages, reasoning, reviews), notify_tool.c
 * (commands, patches, images, client tools), notify_collab.c (subagents). Owns: nothing. Loop thread only. */
#ifndef APP_SERVER_NOTIFY_H
#define APP_SERVER_NOTIFY_H

#include "protocol/message/app.h"
#include "protocol/message/message.h"

struct thread;

/* Sends what the event means to the subscribers of the thread. The event is borrowed. */
void notify_event(struct thread *thread, const struct event *event);

#define NOTIFIES(tag) void on_event_##tag(struct thread *thread, const struct event *event);
#define SILENT(tag, why)
#include "app_server/threads/notify.def"
#undef NOTIFIES
#undef SILENT

#endif
