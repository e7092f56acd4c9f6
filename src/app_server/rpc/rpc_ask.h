/* rpc_ask.h — requests of the server to its clients: sent to several, answered by one.
 *
 * A question is sent to every watcher of a thread under one id. The first valid answer decides; a late, repeated or
 * unrequested answer is logged on standard error. A client that answers with an error or an invalid result is removed
 * from the question, which fails when no client is left. Ids count up from 0 for the process.
 * Owns: open questions. Loop thread only. */
#ifndef APP_SERVER_RPC_ASK_H
#define APP_SERVER_RPC_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "protocol/message/app.h"

struct connection;
struct rpc_message;

enum rpc_ask_outcome {
	RPC_ASK_ANSWERED, /* result: a struct of the row's result, borrowed during the call */
	RPC_ASK_FAILED,   /* the client answered with an error */
	RPC_ASK_INVALID,  /* … with an invalid result */
};

/* Runs on the first valid answer, or when the last client that could answer has failed. Returns false if the answer
 * could not be delivered: the question then stays open until it is withdrawn or answered again. */
typedef bool (*rpc_answer_fn)(enum rpc_ask_outcome outcome, int64_t id, const void *result, void *self);

struct rpc_asks {
	/* private */
	struct list open;
	int64_t next_id;
};

void rpc_asks_init(struct rpc_asks *asks);
void rpc_asks_finish(struct rpc_asks *asks); /* drops open questions; no callback runs */

/* Creates a question without sending it. Returns its id. */
int64_t rpc_ask(struct rpc_asks *asks, enum app_server_request_tag tag, const void *params, rpc_answer_fn on_answer,
                void *self);
/* Sends the question to a client, whose answer is accepted from now on. */
void rpc_ask_send(struct rpc_asks *asks, int64_t id, struct connection *client);
/* Closes the question; on_answer will not run. No-op if it is closed already. */
void rpc_ask_withdraw(struct rpc_asks *asks, int64_t id);
/* Sends all open questions of self to a new watcher. */
void rpc_asks_repeat(struct rpc_asks *asks, struct connection *client, const void *self);

/* ---- for the connection ---- */

void rpc_asks_answer(struct rpc_asks *asks, struct connection *client, const struct rpc_message *message);
/* Removes a disconnected client from all questions; those whose other clients have failed fail now. */
void rpc_asks_forget(struct rpc_asks *asks, struct connection *client);

#endif
