/* A question cannot be found while its callback runs, so that the callback may ask the next and withdraw all others. */
#include "app_server/rpc/rpc_ask.h"

#include <stdio.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"

struct rpc_ask {
	struct list link;
	int64_t id;
	const struct app_server_request *type;
	VEC(struct connection *) clients; /* those whose answer is accepted */
	char *frame;                      /* the request as sent, for later watchers */
	size_t frame_len;
	enum rpc_ask_outcome failure; /* the last one; RPC_ASK_ANSWERED: there was none */
	bool is_deciding;             /* its callback runs */
	rpc_answer_fn on_answer;
	void *self;
};

void rpc_asks_init(struct rpc_asks *asks)
{
	asks->next_id = 0;
	list_init(&asks->open);
}

static void ask_destroy(struct rpc_ask *ask)
{
	list_remove(&ask->link);
	vec_finish(&ask->clients);
	free(ask->frame);
	free(ask);
}

void rpc_asks_finish(struct rpc_asks *asks)
{
	struct rpc_ask *it;
	list_for_each(it, &asks->open, link)
		ask_destroy(it);
}

static void send_to(struct rpc_ask *ask, struct connection *client)
{
	vec_push(&ask->clients, client);
	connection_send_frame(client, str_n(ask->frame, ask->frame_len));
}

int64_t rpc_ask(struct rpc_asks *asks, enum app_server_request_tag tag, const void *params, rpc_answer_fn on_answer,
                void *self)
{
	struct rpc_ask *ask = xnew(struct rpc_ask);
	struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	ask->id = asks->next_id++;
	ask->type = &app_server_requests[tag];
	ask->failure = RPC_ASK_ANSWERED;
	ask->on_answer = on_answer;
	ask->self = self;
	rpc_write_request(&out, ask->type, ask->id, params);
	ask->frame_len = out.len;
	ask->frame = buf_take(&out);
	list_append(&asks->open, &ask->link);
	return ask->id;
}

static struct rpc_ask *find(struct rpc_asks *asks, int64_t id)
{
	struct rpc_ask *it;
	list_for_each(it, &asks->open, link) {
		if (it->id == id && !it->is_deciding)
			return it;
	}
	return NULL;
}

void rpc_ask_send(struct rpc_asks *asks, int64_t id, struct connection *client)
{
	struct rpc_ask *ask = find(asks, id);
	if (ask)
		send_to(ask, client);
}

void rpc_ask_withdraw(struct rpc_asks *asks, int64_t id)
{
	struct rpc_ask *ask = find(asks, id);
	if (ask)
		ask_destroy(ask);
}

void rpc_asks_repeat(struct rpc_asks *asks, struct connection *client, const void *self)
{
	struct rpc_ask *it;
	list_for_each(it, &asks->open, link) {
		if (it->self == self && !it->is_deciding)
			send_to(it, client);
	}
}

static bool was_asked(const struct rpc_ask *ask, const struct connection *client)
{
	for (size_t i = 0; i < ask->clients.count; i++) {
		if (ask->clients.items[i] == client)
			return true;
	}
	return false;
}

/* Decodes the result; on failure logs why and returns false. */
static bool decode(const struct rpc_ask *ask, const struct rpc_message *message, struct arena *arena, void **ret)
{
	struct error err;
	*ret = arena_alloc(arena, ask->type->result->size);
	if (message->kind == RPC_ERROR) {
		struct str text = json_get_str(message->body, "message");
		fprintf(stderr, "codex app-server: %s: the client answered with an error: %.*s\n", ask->type->wire.ptr,
		        STR_ARG(text));
		return false;
	}
	if (record_decode(ask->type->result, message->body, arena, *ret, &err) == 0)
		return true;
	fprintf(stderr, "codex app-server: %s: the client's answer cannot be used: %s\n", ask->type->wire.ptr,
	        err.text);
	return false;
}

static void decide(struct rpc_ask *ask, enum rpc_ask_outcome outcome, const void *result)
{
	ask->is_deciding = true;
	if (ask->on_answer(outcome, ask->id, result, ask->self)) {
		ask_destroy(ask);
		return;
	}
	ask->is_deciding = false;
	fprintf(stderr, "codex app-server: %s: the answer came too late: what asked has ended\n", ask->type->wire.ptr);
}

static void forget_client(struct rpc_ask *ask, const struct connection *client)
{
	for (size_t i = ask->clients.count; i-- > 0;) {
		if (ask->clients.items[i] == client)
			ask->clients.items[i] = ask->clients.items[--ask->clients.count];
	}
}

/* Fails the question if no client is left and at least one has failed. Without a failure it stays open for later
 * watchers. */
static void decide_if_all_failed(struct rpc_ask *ask)
{
	if (!ask->clients.count && ask->failure != RPC_ASK_ANSWERED)
		decide(ask, ask->failure, NULL);
}

void rpc_asks_answer(struct rpc_asks *asks, struct connection *client, const struct rpc_message *message)
{
	int64_t id;
	auto_arena struct arena arena = {0};
	void *result;
	struct rpc_ask *ask = str_to_i64(message->id, &id) ? find(asks, id) : NULL;
	if (!ask || !was_asked(ask, client)) {
		fprintf(stderr, "codex app-server: an answer to request %.*s was passed over: nobody waits for it\n",
		        (int)(message->id.len < 40 ? message->id.len : 40), message->id.ptr);
		return;
	}
	if (decode(ask, message, &arena, &result)) {
		decide(ask, RPC_ASK_ANSWERED, result);
		return;
	}
	ask->failure = message->kind == RPC_ERROR ? RPC_ASK_FAILED : RPC_ASK_INVALID;
	forget_client(ask, client);
	decide_if_all_failed(ask);
}

/* Deciding one question may withdraw others, so the search starts again after each. */
static struct rpc_ask *find_asked(struct rpc_asks *asks, const struct connection *client)
{
	struct rpc_ask *it;
	list_for_each(it, &asks->open, link) {
		if (was_asked(it, client))
			return it;
	}
	return NULL;
}

void rpc_asks_forget(struct rpc_asks *asks, struct connection *client)
{
	struct rpc_ask *ask;
	while ((ask = find_asked(asks, client))) {
		forget_client(ask, client);
		decide_if_all_failed(ask);
	}
}
