/* thread_turn.h — the running turn of a thread: the outside view of a Task.
 *
 * Owns: the contents of turn/completed. Its end answers the requests that wait for it. Loop thread only. */
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
	bool is_service; /* without user input: a compaction, or a user shell command */
	bool is_started; /* its Task runs; false while it is queued */
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

/* Creates a turn with the given id or (absent) a new one. The thread must not have a turn. */
struct thread_turn *thread_turn_create(struct thread *thread, struct str id);
/* Destroys the turn; requests that wait for it are answered as if it had completed. */
void thread_turn_destroy(struct thread_turn *turn);

/* Fills the record of the wire: with status, without items. */
void thread_turn_view(const struct thread_turn *turn, struct app_turn *ret);

void thread_turn_keep_message(struct thread_turn *turn, const struct app_item_agent_message *message);
void thread_turn_keep_error(struct thread_turn *turn, const struct app_turn_error *error);

/* Answers the request when the turn has ended. */
enum rpc_verdict thread_turn_wait(struct thread_turn *turn, struct rpc_request *request);

void thread_turn_begin(struct thread_turn *turn);
/* Sends turn/completed and destroys the turn. */
void thread_turn_end(struct thread_turn *turn, enum app_turn_status status);

#endif
