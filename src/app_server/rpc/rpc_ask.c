/* The list is searched linearly, because it has one entry per waiting call of all threads. */
#include "app_server/rpc/rpc_ask.h"

#include <stdio.h>

#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

static const struct app_server_request *type_of(const struct rpc_ask *ask)
{
	return &app_server_requests[ask->tag];
}

void rpc_asks_init(struct rpc_asks *asks)
{
	asks->next_id = 0;
	list_init(&asks->open);
}

void rpc_ask_withdraw(struct rpc_ask *ask)
{
	list_remove(&ask->link);
	vec_finish(&ask->clients);
	free(ask->frame);
	str_free(&ask->key);
	free(ask);
}

void rpc_asks_finish(struct rpc_asks *asks)
{
	struct rpc_ask *it;
	list_for_each(it, &asks->open, link)
		rpc_ask_withdraw(it);
}

void rpc_ask_send(struct rpc_ask *ask, struct connection *client)
{
	vec_push(&ask->clients, client);
	connection_send_frame(client, str_n(ask->frame, ask->frame_len));
}

struct rpc_ask *rpc_ask_open(struct rpc_asks *asks, const struct rpc_ask_options *options)
{
	struct rpc_ask *ask = xnew(struct rpc_ask);
	struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	ask->id = asks->next_id++;
	ask->tag = options->tag;
	ask->owner = options->owner;
	ask->key = str_copy(options->key);
	ask->failure = RPC_ASK_ANSWERED;
	ask->on_answer = options->on_answer;
	rpc_write_request(&out, type_of(ask), ask->id, options->params);
	ask->frame_len = out.len;
	ask->frame = buf_take(&out);
	list_append(&asks->open, &ask->link);
	return ask;
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

struct rpc_ask *rpc_asks_next(const struct rpc_asks *asks, const void *owner, const struct rpc_ask *ask)
{
	const struct list *link = ask ? ask->link.next : asks->open.next;
	for (; link != &asks->open; link = link->next) {
		struct rpc_ask *it = container_of(link, struct rpc_ask, link);
		if (it->owner == owner && !it->is_deciding)
			return it;
	}
	return NULL;
}

void rpc_asks_repeat(struct rpc_asks *asks, struct connection *client, const void *owner)
{
	for (struct rpc_ask *it = NULL; (it = rpc_asks_next(asks, owner, it));)
		rpc_ask_send(it, client);
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
	const struct app_server_request *type = type_of(ask);
	*ret = arena_alloc(arena, type->result->size);
	if (message->kind == RPC_ERROR) {
		struct str text = json_get_str(message->body, "message");
		fprintf(stderr, "codex app-server: %s: the client answered with an error: %.*s\n", type->wire.ptr,
		        STR_ARG(text));
		return false;
	}
	if (record_decode(type->result, message->body, arena, *ret, &err) == 0)
		return true;
	fprintf(stderr, "codex app-server: %s: the client's answer cannot be used: %s\n", type->wire.ptr, err.text);
	return false;
}

static void decide(struct rpc_ask *ask, enum rpc_ask_outcome outcome, const void *result)
{
	ask->is_deciding = true;
	if (ask->on_answer(ask, outcome, result)) {
		rpc_ask_withdraw(ask);
		return;
	}
	ask->is_deciding = false;
	fprintf(stderr, "codex app-server: %s: the answer came too late: the request is no longer pending\n",
	        type_of(ask)->wire.ptr);
}

static void forget_client(struct rpc_ask *ask, const struct connection *client)
{
	for (size_t i = ask->clients.count; i-- > 0;) {
		if (ask->clients.items[i] == client)
			ask->clients.items[i] = ask->clients.items[--ask->clients.count];
	}
}

/* Fails the request if no client is left and at least one has failed. Without a failure it stays open for later
 * subscribers. */
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
		fprintf(stderr, "codex app-server: an answer to request %.*s was ignored: no such request is pending\n",
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

/* Finds an open request. The decision of one may withdraw others, so the search starts again after each. */
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
