/* notify_handlers.h — the handlers of events: on_event_<tag> for each row NOTIFIES of notify.def.
 *
 * By file: notify.c (threads and turns), notify_item.c (messages, reasoning, reviews, hooks), notify_tool.c (commands,
 * patches, images, client tools), notify_mcp.c (MCP servers), notify_collab.c (subagents), thread_ask.c (requests to
 * the user). Private to threads/. */
#ifndef APP_SERVER_NOTIFY_HANDLERS_H
#define APP_SERVER_NOTIFY_HANDLERS_H

#include "protocol/message/message.h"

struct thread;

#define NOTIFIES(tag) void on_event_##tag(struct thread *thread, const struct event *event);
#define SILENT(tag, why)
#include "app_server/threads/notify.def"
#undef NOTIFIES
#undef SILENT

#endif
