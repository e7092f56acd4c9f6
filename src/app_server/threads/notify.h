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

/* For questions about commands: the words as a shell would take them, and what they do. In the arena. */
struct str notify_command_text(const struct str *words, size_t count, struct arena *arena);
struct app_command_action *notify_actions(const struct parsed_command *parsed, size_t count, struct str cwd,
                                          struct arena *arena);

/* What is said and thought, as this wire has it; in the arena, borrowing from what it is made of. Any thread. */
struct app_thread_item notify_item(const struct turn_item *from, struct arena *arena);
struct app_item_file_change *notify_file_change(struct str id, const struct str *paths,
                                                const struct file_change *changes, size_t count, struct arena *arena);

/* How a subagent is; borrows from the status. Any thread. */
struct app_collab_agent_state notify_collab_state(const struct agent_status *status);

/* The engine's CodexErrorInfo (JSON) as this wire has it; NULL for STR_NONE. Any thread. */
struct app_codex_error_info *notify_error_info(struct str info, struct arena *arena);

/* Usage after a turn, to one client or (NULL) to all who watch. */
void notify_usage(struct thread *thread, struct str turn, const struct token_usage_info *info,
                  struct connection *only);

#define TELLS(tag) void on_event_##tag(struct thread *thread, const struct event *event);
#define SILENT(tag, why)
#include "app_server/threads/notify.def"
#undef TELLS
#undef SILENT

#endif
