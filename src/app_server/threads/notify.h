/* notify.h — EventMsg in, notifications and ThreadItems out: one handler a row of notify.def.
 *
 * Handlers live by family: notify_thread.c (the thread and its turns), notify_item.c (what is said and thought),
 * notify_tool.c (commands and patches). Owns: nothing. Loop thread only. Source: app-server-wire 4 to 9, 14, 15. */
#ifndef APP_SERVER_NOTIFY_H
#define APP_SERVER_NOTIFY_H

#include "protocol/message/app.h"
#include "protocol/message/event.h"

struct arena;
struct connection;
struct thread;

/* Tells who watches the thread what the event means. The event is borrowed. */
void notify_event(struct thread *thread, const struct event *event);

/* Usage after a turn, to one client or (NULL) to all who watch. */
void notify_usage(struct thread *thread, struct str turn, const struct token_usage_info *info, struct connection *only);

#define TELLS(tag) void on_event_##tag(struct thread *thread, const struct event *event);
#define SILENT(tag, why)
#include "app_server/threads/notify.def"
#undef TELLS
#undef SILENT

#endif
