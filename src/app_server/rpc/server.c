/* The server owns its connections and passes their messages to the requests (rpc_request.h) and to its own questions
 * (rpc_ask.h).
 *
 * A notification is encoded only when the first client that receives it is found, because most have no recipient. The
 * last one takes the memory of a large one. The only client of standard streams gets a late frame, which the stream
 * encodes that writes it; that may outlive the server's connection. */
#include "app_server/rpc/server.h"

#include <stdlib.h>

#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/stream.h"

static struct str *copy_texts(const struct str *texts, size_t count)
{
	struct str *ret = xcalloc(count + 1, sizeof(*ret));
	for (size_t i = 0; i < count; i++)
		ret[i] = str_copy(texts[i]);
	return ret;
}

void app_server_init(struct app_server *server, const struct server_setup *setup)
{
	server->loop = setup->loop;
	server->services = setup->services;
	server->cwd = xstrdup(setup->cwd);
	server->overrides = copy_texts(setup->overrides, setup->override_count);
	server->override_count = setup->override_count;
	server->events = setup->events;
	server->requests = setup->requests;
	list_init(&server->connections);
	rpc_scopes_init(&server->scopes, setup->loop);
	rpc_asks_init(&server->asks);
	buf_init(&server->out, LIMIT_STREAM_QUEUE_HARD);
	loop_deferred_init(&server->sweep, setup->loop, setup->on_sweep, server);
}

void app_server_finish(struct app_server *server)
{
	rpc_asks_finish(&server->asks);
	rpc_scopes_finish(&server->scopes);
	loop_deferred_finish(&server->sweep);
	for (size_t i = 0; i < server->override_count; i++)
		str_free(&server->overrides[i]);
	free(server->overrides);
	buf_finish(&server->out);
	free(server->cwd);
}

void app_server_sweep(struct app_server *server)
{
	loop_defer(&server->sweep);
}

/* ---- clients ---- */

static void on_request(struct connection *client, const struct rpc_message *message)
{
	client->server->requests->take(client, message);
}

static void on_long_message(struct connection *client, struct str head)
{
	client->server->requests->refuse_long(client, head);
}

static void on_pace(struct connection *client)
{
	client->server->events->on_client_pace(client->server);
}

static void on_end(struct connection *client)
{
	app_server_sweep(client->server);
}

static void on_destroy(struct connection *client)
{
	struct app_server *server = client->server;
	list_remove(&client->link);
	server->connection_count--;
	server->events->on_client_gone(server, client);
	rpc_asks_forget(&server->asks, client);
	server->requests->cancel_all(client);
}

struct connection *app_server_add_client(struct app_server *server)
{
	static const struct connection_owner owner = {
		.on_request = on_request,
		.on_answer = rpc_asks_answer,
		.on_long_message = on_long_message,
		.on_pace = on_pace,
		.on_end = on_end,
		.on_destroy = on_destroy,
	};
	struct connection *client = connection_create(server, &owner, &server->asks, server->loop, &server->out);
	server->connection_count++;
	list_append(&server->connections, &client->link);
	return client;
}

/* ---- notifications ---- */

void app_server_notify_if(struct app_server *server, enum app_notification_tag tag, const void *params,
                          client_filter_fn filter, const void *self)
{
	struct connection *it, *last = NULL;
	list_for_each(it, &server->connections, link) {
		if (!connection_wants(it, tag) || (filter && !filter(it, self)))
			continue;
		if (last)
			connection_send_frame(last, buf_str(&server->out));
		else if (!rpc_write_notification(&server->out, &app_notifications[tag], params, clock_unix_ms()))
			break;
		last = it;
	}
	if (last)
		connection_send_buf(last, &server->out);
	buf_reuse(&server->out);
}

/* ---- notifications that are encoded when they are written ---- */

struct late_frame {
	struct stream_source source;
	const struct app_notification *type;
	const void *params; /* in the arena */
	int64_t now_ms;
	struct arena arena;
};

static void late_frame_write(struct stream_source *source, struct buf *out)
{
	const struct late_frame *frame = container_of(source, struct late_frame, source);
	if (!rpc_write_notification(out, frame->type, frame->params, frame->now_ms))
		buf_clear(out);
}

static void late_frame_destroy(struct stream_source *source)
{
	struct late_frame *frame = container_of(source, struct late_frame, source);
	arena_finish(&frame->arena);
	free(frame);
}

static void send_later(struct connection *client, enum app_notification_tag tag, const void *params,
                       struct arena *arena, size_t size)
{
	struct late_frame *frame = xnew(struct late_frame);
	*frame = (struct late_frame){
		.source = {late_frame_write, late_frame_destroy},
		.type = &app_notifications[tag],
		.params = params,
		.now_ms = clock_unix_ms(),
	};
	arena_adopt(&frame->arena, arena);
	connection_send_later(client, &frame->source, size);
}

void app_server_notify_later(struct app_server *server, enum app_notification_tag tag, const void *params,
                             struct arena *arena, size_t size, client_filter_fn filter, const void *self)
{
	struct connection *only = list_first(&server->connections, struct connection, link);
	if (server->connection_count != 1 || !connection_sends_later(only))
		app_server_notify_if(server, tag, params, filter, self);
	else if (connection_wants(only, tag) && (!filter || filter(only, self)))
		send_later(only, tag, params, arena, size);
	arena_finish(arena);
}

void app_server_notify(struct app_server *server, enum app_notification_tag tag, const void *params)
{
	app_server_notify_if(server, tag, params, NULL, NULL);
}
