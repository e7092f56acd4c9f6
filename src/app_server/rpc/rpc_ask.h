/* rpc_ask.h — requests of the server to its clients: asked of several, answered by one.
 *
 * A question goes to every client that watches a thread, with one id. The first usable answer counts; what comes later,
 * twice, or from somebody who was not asked, is a note on standard error. A client that answers with an error, or with
 * what cannot be used, decides nothing for the others: it may not answer any more, and only when no client is left does
 * its failure count. Ids count up from 0 in the whole process.
 * Owns: open questions. Loop thread only. Source: app-server-wire 6 to 9, 17. */
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
	RPC_ASK_INVALID,  /* … with what is no result */
};

/* Runs when the question is decided: by the first usable answer, or by a failure once nobody is left who could give
 * one. False: the answer could not be delivered, and the question stays open until it is withdrawn or answered again.
 */
typedef bool (*rpc_answer_fn)(enum rpc_ask_outcome outcome, int64_t id, const void *result, void *self);

struct rpc_asks {
	/* private */
	struct list open;
	int64_t next_id;
};

void rpc_asks_init(struct rpc_asks *asks);
void rpc_asks_finish(struct rpc_asks *asks); /* drops what is open without a word */

/* A question, not sent to anybody yet. Returns its id. */
int64_t rpc_ask(struct rpc_asks *asks, enum app_server_request_tag tag, const void *params, rpc_answer_fn on_answer,
                void *self);
/* Asks a client, who may answer from now on. */
void rpc_ask_send(struct rpc_asks *asks, int64_t id, struct connection *client);
/* It needs no answer any more; on_answer will not run. No effect on a question that is closed. */
void rpc_ask_withdraw(struct rpc_asks *asks, int64_t id);
/* Asks a client all open questions of self: it has begun to watch. */
void rpc_asks_repeat(struct rpc_asks *asks, struct connection *client, const void *self);

/* ---- for the connection ---- */

void rpc_asks_answer(struct rpc_asks *asks, struct connection *client, const struct rpc_message *message);
/* A client is gone, and will not answer; if all others have failed, so has the question. */
void rpc_asks_forget(struct rpc_asks *asks, struct connection *client);

#endif
