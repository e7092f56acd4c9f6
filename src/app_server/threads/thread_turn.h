/* thread_turn.h — the turn of a thread that runs: a Task, seen from outside.
 *
 * Owns: what turn/completed will say. Its end answers the requests that wait for it. Loop thread only.
 * Source: app-server-wire 4, 11, 14. */
#ifndef APP_SERVER_THREAD_TURN_H
#define APP_SERVER_THREAD_TURN_H

#include "base/arena.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "protocol/message/app.h"

struct rpc_request;
struct thread;

struct thread_turn {
	/* read-only */
	char id[UUID_TEXT_SIZE];
	bool is_service; /* nothing was said: a compaction, or a command of the user's */
	bool is_started; /* its Task runs; before, it waits in the queue */
	bool is_review;  /* and so takes no input */
	int64_t started_at_ms;
	const struct app_turn_error *error; /* in `kept`, or NULL */
	/* private */
	struct thread *thread;
	VEC(struct rpc_request *) interrupts;
	struct arena kept;
	struct arena last_arena;
	struct app_item_agent_message *last_message; /* in last_arena, or NULL */
};

/* A new turn, with an id of its own or the one given. The thread has none. */
struct thread_turn *thread_turn_create(struct thread *thread, struct str id);
/* Ends it; requests that wait for it are answered as if it had ended in order. */
void thread_turn_destroy(struct thread_turn *turn);

/* For the wire: with status, without items. */
void thread_turn_view(const struct thread_turn *turn, struct app_turn *ret);

void thread_turn_keep_message(struct thread_turn *turn, const struct app_item_agent_message *message);
void thread_turn_keep_error(struct thread_turn *turn, const struct app_turn_error *error);

/* Answers once the turn has ended. */
enum rpc_verdict thread_turn_wait(struct thread_turn *turn, struct rpc_request *request);

void thread_turn_begin(struct thread_turn *turn);
/* Tells how it ended, and is gone. */
void thread_turn_end(struct thread_turn *turn, enum app_turn_status status);

#endif
