/* thread_ask.h — what a turn asks of its clients: may this command run, may this patch be applied, what is wanted, what
 * does your tool answer?
 *
 * A question goes to all who watch the thread. The first usable answer is handed to the engine at once and counts; if
 * every client that was asked fails, the question is refused. An answer that the engine no longer waits for leaves the
 * question open until the event that ends it. A permission waits for somebody to give it; a tool that nobody is there
 * for has failed.
 * Source: app-server-wire 6, 7, 9. */
#ifndef APP_SERVER_THREAD_ASK_H
#define APP_SERVER_THREAD_ASK_H

#include "protocol/message/app.h"

struct thread;

void thread_ask_command(struct thread *thread, const struct ev_exec_approval *event);
/* Without a usable answer the model gets an empty one. */
void thread_ask_question(struct thread *thread, const struct ev_request_user_input *event);
/* Nobody has answered in time. */
void thread_ask_expire(struct thread *thread, struct str call_id);
void thread_ask_patch(struct thread *thread, const struct ev_patch_approval *event);
void thread_ask_tool(struct thread *thread, const struct ev_dynamic_tool_call *event);
/* Nobody watches any more: calls of clients' tools have failed. */
void thread_asks_abandon(struct thread *thread);
/* That call is over, whoever ended it. */
void thread_asks_forget_call(struct thread *thread, struct str call_id);
/* What the thread waits for, without repeating; returns how many. */
size_t thread_asks_flags(const struct thread *thread, enum app_thread_active_flag *ret);
/* The turn is over: no answer is needed any more. */
void thread_asks_withdraw(struct thread *thread);

#endif
