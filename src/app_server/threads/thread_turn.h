/* thread_turn.h — the life of a thread's turn (struct thread_turn in thread.h).
 *
 * A turn collects the data of turn/completed. Its end answers the requests that wait for it. Loop thread only. */
#ifndef APP_SERVER_THREAD_TURN_H
#define APP_SERVER_THREAD_TURN_H

#include "app_server/rpc/rpc_request.h"
#include "protocol/message/app.h"

struct thread;

struct thread_turn;

/* Creates a turn of a thread that has none. id: STR_NONE for a new id. */
struct thread_turn *thread_turn_create(struct thread *thread, struct str id);
/* Frees the turn without notifications; requests that wait for its end are answered. NULL is fine. */
void thread_turn_destroy(struct thread_turn *turn);

/* Fills a record for clients: a turn in progress, without items. */
void thread_turn_view(const struct thread_turn *turn, struct app_turn *ret);

/* from: the arena that holds the message; a large text is shared with it. */
void thread_turn_keep_message(struct thread_turn *turn, const struct app_item_agent_message *message,
                              const struct arena *from);
void thread_turn_keep_error(struct thread_turn *turn, const struct app_turn_error *error);

/* Makes the request wait; it is answered when the turn ends. */
enum rpc_verdict thread_turn_wait(struct thread_turn *turn, struct rpc_request *request);

/* To be called when its task has started: sends the status and turn/started. */
void thread_turn_begin(struct thread_turn *turn);
/* Completes the turn's items, sends the outcome, and destroys the turn. */
void thread_turn_end(struct thread_turn *turn, enum app_turn_status status);

#endif
