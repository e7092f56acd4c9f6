/* For backpressure, reading from a client stops while too many of its requests are unanswered. codex 0.169 instead
 * answers a burst with "overloaded" errors and drops some requests. */
#include "app_server/rpc/connection.h"

#include <stdio.h>

#include "app_server/rpc/rpc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "loop/stream.h"
#include "transport/pending_clients.h"

/* ---- flow ---- */

/* Pauses reading at LIMIT_RPC_PENDING unanswered requests and resumes at half of that. A slow client may still send
 * LIMIT_UNREAD_SUBMISSIONS messages, so that an interrupt gets through. */
static void review_reading(struct connection *connection)
{
	size_t limit = connection->is_paused ? LIMIT_RPC_PENDING / 2 : LIMIT_RPC_PENDING;
	bool pauses = connection->unread_count > LIMIT_UNREAD_SUBMISSIONS || connection->request_count >= limit;
	if (pauses == connection->is_paused || !connection->transport)
		return;
	connection->is_paused = pauses;
	(pauses ? transport_pause : transport_resume)(connection->transport);
}

static void review_holds(struct connection *connection)
{
	struct client_resource *it;
	connection->owner->on_pace(connection);
	list_for_each(it, &connection->resources, link) {
		if (it->type->hold)
			it->type->hold(it, connection->is_slow);
	}
	review_reading(connection);
}

static void on_overdue(void *self)
{
	struct connection *connection = self;
	connection->is_overdue = true;
	review_holds(connection);
}

static void become_slow(struct connection *connection)
{
	if (connection->is_slow)
		return;
	connection->is_slow = true;
	if (!connection->hold_timer)
		connection->hold_timer = loop_timer_create(connection->loop, on_overdue, connection);
	loop_timer_start(connection->hold_timer, LIMIT_WATCHER_HOLD_MS);
	review_holds(connection);
}

static void on_drain(void *self)
{
	struct connection *connection = self;
	connection->is_slow = connection->is_overdue = false;
	connection->unread_count = 0;
	loop_timer_stop(connection->hold_timer);
	review_holds(connection);
}

/* ---- out ---- */

void connection_send_frame(struct connection *connection, struct str frame)
{
	if (connection->transport && !transport_send(connection->transport, frame))
		become_slow(connection);
}

void connection_send_large(struct connection *connection, struct str head, struct buf *body, struct str tail)
{
	if (!connection->transport)
		buf_finish(body);
	else if (!transport_send_large(connection->transport, head, body, tail))
		become_slow(connection);
}

void connection_send_buf(struct connection *connection, struct buf *frame)
{
	if (frame->len < LIMIT_SHARED_TEXT) {
		connection_send_frame(connection, buf_str(frame));
		return;
	}
	buf_truncate(frame, frame->len - 1); /* the newline */
	connection_send_large(connection, STR(""), frame, STR("\n"));
}

bool connection_sends_later(const struct connection *connection)
{
	return connection->transport && transport_sends_later(connection->transport);
}

void connection_send_later(struct connection *connection, struct stream_source *frame, size_t size)
{
	if (!transport_send_later(connection->transport, frame, size))
		become_slow(connection);
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
	struct buf *out = connection->out;
	if (!connection_wants(connection, tag))
		return;
	if (rpc_write_notification(out, &app_notifications[tag], params, clock_unix_ms()))
		connection_send_buf(connection, out);
	buf_reuse(out);
}

/* ---- in ---- */

void connection_on_answered(struct connection *connection)
{
	connection->request_count--;
	review_reading(connection);
}

static void dispatch(struct connection *connection, const struct rpc_message *message)
{
	if (message->kind == RPC_REQUEST)
		connection->owner->on_request(connection, message);
	/* `initialized` is the only notification of clients and needs no action */
	else if (message->kind != RPC_NOTIFICATION)
		connection->owner->on_answer(connection->asks, connection, message);
}

static void on_frame(struct str frame, void *self)
{
	auto_arena struct arena arena = {0};
	struct connection *connection = self;
	struct rpc_message message;
	struct error err;
	connection->frame_count++;
	connection->unread_count += connection->is_slow;
	if (rpc_read(frame, &arena, &message, &err) != 0)
		fprintf(stderr, "codex app-server: message %llu of a client was ignored: %s\n",
		        (unsigned long long)connection->frame_count, err.text);
	else
		dispatch(connection, &message);
	review_reading(connection);
}

static void on_long_frame(struct str head, void *self)
{
	struct connection *connection = self;
	connection->frame_count++;
	fprintf(stderr, "codex app-server: message %llu of a client is longer than %d MiB and was ignored\n",
	        (unsigned long long)connection->frame_count, LIMIT_LINE / MIB);
	connection->owner->on_long_message(connection, head);
}

static void on_end(const struct error *err, void *self)
{
	struct connection *connection = self;
	(void)err; /* not an error: clients may disconnect at any time */
	connection->has_ended = true;
	connection->is_slow = false;
	review_holds(connection);
	connection->owner->on_end(connection);
}

const struct transport_events connection_events = {on_frame, on_long_frame, on_end, on_drain};

void connection_attach(struct connection *connection, struct transport *transport)
{
	connection->transport = transport;
}

/* Closes without flushing, because the listener needs the descriptor now. */
static void on_evict(void *self)
{
	struct connection *connection = self;
	transport_destroy(steal(connection->transport), false);
	connection_destroy(connection);
}

void connection_set_pending(struct connection *connection, struct pending_client *pending)
{
	connection->pending = pending;
	pending_client_hand_over(pending, on_evict, connection);
}

struct connection *connection_create(struct app_server *server, const struct connection_owner *owner,
                                     struct rpc_asks *asks, struct loop *loop, struct buf *out)
{
	struct connection *connection = xnew(struct connection);
	connection->server = server;
	connection->owner = owner;
	connection->asks = asks;
	connection->loop = loop;
	connection->out = out;
	list_init(&connection->link);
	list_init(&connection->requests);
	list_init(&connection->resources);
	return connection;
}

void connection_destroy(struct connection *connection)
{
	struct client_resource *resource;
	if (!connection)
		return;
	transport_destroy(steal(connection->transport), true);
	pending_client_destroy(connection->pending);
	connection->owner->on_destroy(connection);
	loop_timer_destroy(connection->hold_timer);
	while ((resource = list_first(&connection->resources, struct client_resource, link)))
		resource->type->end(resource);
	free(connection->client_name);
	free(connection->client_version);
	free(connection);
}

/* ---- resources ---- */

void connection_add_resource(struct connection *connection, struct client_resource *resource,
                             const struct client_resource_type *type)
{
	resource->type = type;
	list_append(&connection->resources, &resource->link);
}

size_t connection_count_resources(const struct connection *connection, const struct client_resource_type *type)
{
	const struct client_resource *it;
	size_t count = 0;
	list_for_each(it, &connection->resources, link)
		count += it->type == type;
	return count;
}
