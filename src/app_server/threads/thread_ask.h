/* thread_ask.h — the requests of a turn to its clients: approvals of commands and patches, user input, calls of
 * client tools.
 *
 * A request is sent to all watchers of the thread. The first valid answer goes to the engine at once; if every client
 * fails, the answer is a refusal. An answer that the engine no longer expects leaves the request open until the event
 * that ends it. An approval waits for a watcher; a call of a client tool without watchers fails. */
#ifndef APP_SERVER_THREAD_ASK_H
#define APP_SERVER_THREAD_ASK_H

#include "protocol/message/app.h"

struct thread;

void thread_ask_command(struct thread *thread, const struct ev_exec_approval *event);
/* Without a usable answer the model gets an empty one. */
void thread_ask_question(struct thread *thread, const struct ev_request_user_input *event);
/* The request has timed out in the engine. */
void thread_ask_expire(struct thread *thread, struct str call_id);
void thread_ask_patch(struct thread *thread, const struct ev_patch_approval *event);
void thread_ask_tool(struct thread *thread, const struct ev_dynamic_tool_call *event);
/* Fails the open calls of client tools after the last watcher has left. */
void thread_asks_abandon(struct thread *thread);
/* Withdraws the request of a call that has ended. */
void thread_asks_forget_call(struct thread *thread, struct str call_id);
/* Writes the kinds of open requests, each once; returns their number. */
size_t thread_asks_flags(const struct thread *thread, enum app_thread_active_flag *ret);
/* Withdraws all requests at the end of a turn. */
void thread_asks_withdraw(struct thread *thread);

#endif
