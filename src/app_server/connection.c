/* Back-pressure instead of refusals: the reference answers a burst with "overloaded" and loses some of those answers
 * (app-server-wire 18). Here a client that is ahead of its answers just is not read. */
#include "app_server/connection.h"

#include <stdio.h>

#include "app_server/app_server_priv.h"
#include "app_server/rpc.h"
#include "app_server/rpc_ask.h"
#include "app_server/rpc_request.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

/* ---- out ---- */

void connection_send_frame(struct connection *connection, struct str frame)
{
	if (connection->transport)
		transport_send(connection->transport, frame);
}

void connection_send(struct connection *connection, struct buf *out)
{
	if (out->over)
		fprintf(stderr, "codex app-server: a message is larger than %d MiB and was not sent\n",
		        LIMIT_STREAM_QUEUE_HARD / MIB);
	else
		connection_send_frame(connection, buf_str(out));
	buf_reuse(out);
}

bool connection_wants(const struct connection *connection, enum app_notification_tag tag)
{
	bool is_experimental = app_notifications[tag].flags & EXPERIMENTAL_API;
	return connection->is_initialized && !(connection->unwanted[tag / 8] & 1 << tag % 8) &&
	       (!is_experimental || connection->has_experimental_api);
}

void connection_opt_out(struct connection *connection, enum app_notification_tag tag)
{
	connection->unwanted[tag / 8] |= (uint8_t)(1 << tag % 8);
}

void connection_notify(struct connection *connection, enum app_notification_tag tag, const void *params)
{
	struct buf *out = &connection->server->out;
	if (!connection_wants(connection, tag))
		return;
	rpc_write_notification(out, &app_notifications[tag], params, clock_unix_ms());
	connection_send(connection, out);
}

/* ---- in ---- */

void connection_on_answered(struct connection *connection)
{
	connection->request_count--;
	if (!connection->is_paused || connection->request_count > LIMIT_RPC_PENDING / 2 || !connection->transport)
		return;
	connection->is_paused = false;
	transport_resume(connection->transport);
}

static void take_request(struct connection *connection, const struct rpc_message *message)
{
	rpc_request_take(connection, message);
	if (connection->request_count < LIMIT_RPC_PENDING || connection->is_paused)
		return;
	connection->is_paused = true;
	transport_pause(connection->transport);
}

static void on_frame(struct str frame, void *self)
{
	auto_arena struct arena arena = {0};
	struct connection *connection = self;
	struct rpc_message message;
	struct error err;
	connection->frame_count++;
	if (rpc_read(frame, &arena, &message, &err) != 0)
		fprintf(stderr, "codex app-server: message %llu of a client was passed over: %s\n",
		        (unsigned long long)connection->frame_count, err.text);
	else if (message.kind == RPC_REQUEST)
		take_request(connection, &message);
	else if (message.kind != RPC_NOTIFICATION) /* `initialized` is all that clients tell, and asks for nothing */
		rpc_asks_answer(&connection->server->asks, connection, &message);
}

static void on_long_frame(void *self)
{
	struct connection *connection = self;
	connection->frame_count++;
	fprintf(stderr, "codex app-server: message %llu of a client is longer than %d MiB and was passed over\n",
	        (unsigned long long)connection->frame_count, LIMIT_LINE / MIB);
}

static void on_end(const struct error *err, void *self)
{
	struct connection *connection = self;
	(void)err; /* a client that is gone is no failure */
	connection->has_ended = true;
	app_server_sweep(connection->server);
}

const struct transport_events connection_events = {on_frame, on_long_frame, on_end};

void connection_attach(struct connection *connection, struct transport *transport)
{
	connection->transport = transport;
}

struct connection *connection_create(struct app_server *server)
{
	struct connection *connection = xnew(struct connection);
	connection->server = server;
	list_init(&connection->requests);
	list_append(&server->connections, &connection->link);
	return connection;
}

void connection_destroy(struct connection *connection)
{
	struct rpc_request *request;
	if (!connection)
		return;
	list_remove(&connection->link);
	transport_destroy(steal(connection->transport), true);
	app_server_forget(connection->server, connection);
	while ((request = list_first(&connection->requests, struct rpc_request, link)))
		rpc_request_cancel(request);
	free(connection->client_name);
	free(connection->client_version);
	free(connection);
}
