/* thread_ask.h — the pending requests of a turn to its clients: approvals of commands and patches, requests for user
 * input, calls of clients' tools.
 *
 * A question is sent to all subscribers of the thread. The first valid answer goes to the engine at once; if every
 * client fails, the answer is a refusal. An answer that the engine no longer expects leaves the question open until the
 * event that ends it. An approval waits for a subscriber; a call of a client's tool without subscribers fails.
 * Approvals of commands and requests for user input are opened by the handlers of their events (notify_handlers.h). */
#ifndef APP_SERVER_THREAD_ASK_H
#define APP_SERVER_THREAD_ASK_H

#include "protocol/message/app.h"

struct thread;

void thread_ask_patch(struct thread *thread, const struct ev_patch_approval *event);
void thread_ask_tool(struct thread *thread, const struct ev_dynamic_tool_call *event);
void thread_ask_elicitation(struct thread *thread, const struct ev_elicitation_request *event);
/* Closes the questions of an MCP server about a call that has ended. */
void thread_asks_forget_elicitations(struct thread *thread, struct str call_id);
/* To be called when the last subscriber has left: open calls of clients' tools fail. */
void thread_asks_abandon(struct thread *thread);
/* Closes the request of a client's tool call that has ended. */
void thread_asks_forget_call(struct thread *thread, struct str call_id);
/* Closes a request that a terminal has answered. */
void thread_asks_forget(struct thread *thread, struct str request);
/* Closes all questions at the end of a turn. */
void thread_asks_withdraw(struct thread *thread);

#endif
