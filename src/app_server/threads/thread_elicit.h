/* thread_elicit.h — converts elicitations of the engine to requests for clients, and their answers back. Loop thread
 * only. */
#ifndef APP_SERVER_THREAD_ELICIT_H
#define APP_SERVER_THREAD_ELICIT_H

#include "protocol/message/app.h"

struct arena;
struct buf;
struct rpc_ask;
struct thread;

struct elicit_request {
	enum app_server_request_tag tag;
	struct str id;      /* under which the engine expects the answer */
	const void *params; /* in the arena; may refer to `json` */
};

void thread_elicit_describe(const struct thread *thread, const struct ev_elicitation_request *event,
                            struct arena *arena, struct buf *json, struct elicit_request *ret);
/* True for requests that thread_elicit_describe made. */
bool thread_elicit_is(const struct rpc_ask *ask);
/* Passes a client's result to the engine; NULL: no usable one. False: the engine does not expect it any more. */
bool thread_elicit_answer(struct thread *thread, const struct rpc_ask *ask, const void *result);

#endif
