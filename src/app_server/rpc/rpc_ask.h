/* rpc_ask.h — requests of the server to its clients. Each has its frame and the clients that may answer it.
 *
 * A request is sent to every subscriber of its owner, a thread, under one id. The first valid answer decides; a
 * late, repeated or unexpected answer is logged on standard error. A client that answers with an error or an invalid
 * result is removed from the request, which fails when no client is left. Ids count up from 0 for the process. Owns:
 * open requests. Loop thread only. */
#ifndef APP_SERVER_RPC_ASK_H
#define APP_SERVER_RPC_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/vec.h"
#include "protocol/message/app.h"

struct connection;
struct rpc_ask;
struct rpc_message;

enum rpc_ask_outcome {
	RPC_ASK_ANSWERED, /* result is a struct of the row's result, borrowed during the call */
	RPC_ASK_FAILED,   /* the client answered with an error */
	RPC_ASK_INVALID,  /* the client answered with an invalid result */
};

/* Called for the first valid answer, or when the last client that could answer has failed. Returns false if the
 * answer could not be delivered; the request then stays open until it is withdrawn or answered again. */
typedef bool (*rpc_answer_fn)(const struct rpc_ask *ask, enum rpc_ask_outcome outcome, const void *result);

struct rpc_ask {
	/* read-only */
	int64_t id;
	enum app_server_request_tag tag;
	void *owner;
	struct str key; /* names the engine's pending request: the id of its call; owned */
	/* private */
	struct list link;
	VEC(struct connection *) clients; /* clients whose answer is accepted */
	char *frame;                      /* the request as sent, for later subscribers */
	size_t frame_len;
	enum rpc_ask_outcome failure; /* the last failure; RPC_ASK_ANSWERED if there was no failure */
	bool is_deciding;             /* on_answer is being called */
	rpc_answer_fn on_answer;
};

struct rpc_asks {
	/* private */
	struct list open; /* oldest first */
	int64_t next_id;
};

void rpc_asks_init(struct rpc_asks *asks);
void rpc_asks_finish(struct rpc_asks *asks); /* drops open requests without callbacks */

/* Opens a request without sending it; key and params are copied. Borrowed until it is decided or withdrawn. */
struct rpc_ask_options {
	enum app_server_request_tag tag;
	const void *params;
	void *owner;
	struct str key;
	rpc_answer_fn on_answer;
};
struct rpc_ask *rpc_ask_open(struct rpc_asks *asks, const struct rpc_ask_options *options);
/* Sends the request to a client, whose answer is accepted from now on. */
void rpc_ask_send(struct rpc_ask *ask, struct connection *client);
/* Closes the request; on_answer is not called. Must not be called inside its on_answer. */
void rpc_ask_withdraw(struct rpc_ask *ask);
/* Returns the owner's open request after `ask`, or its first one for NULL; NULL after the last. A request whose
 * on_answer is being called is skipped, so on_answer may open and withdraw others. */
struct rpc_ask *rpc_asks_next(const struct rpc_asks *asks, const void *owner, const struct rpc_ask *ask);
/* Sends all open requests of the owner to a new subscriber. */
void rpc_asks_repeat(struct rpc_asks *asks, struct connection *client, const void *owner);

/* ---- for the connection ---- */

void rpc_asks_answer(struct rpc_asks *asks, struct connection *client, const struct rpc_message *message);
/* Removes a disconnected client from all requests. A request fails now if all its other clients have failed. */
void rpc_asks_forget(struct rpc_asks *asks, struct connection *client);

#endif
