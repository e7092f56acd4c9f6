/* connection.h — one client on one transport: its capabilities, its unanswered requests, its resources.
 *
 * Owns: its transport, requests and resources. Borrows: the server. Loop thread only.
 * At LIMIT_RPC_PENDING unanswered requests the connection stops reading; no request is dropped. From a client that does
 * not read, it still takes LIMIT_UNREAD_SUBMISSIONS messages, so that the client can interrupt. A slow client holds the
 * threads it watches, for at most LIMIT_WATCHER_HOLD_MS if they have other watchers; then its send queue grows up to
 * LIMIT_STREAM_QUEUE_HARD, where the client is disconnected. */
#ifndef APP_SERVER_CONNECTION_H
#define APP_SERVER_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "protocol/message/app.h"
#include "transport/transport.h"

struct app_server;
struct buf;
struct client_resource;
struct loop_timer;
struct pending_client;

/* The kind of a resource, set by the room that implements it. */
struct client_resource_type {
	void (*end)(struct client_resource *resource); /* frees it after the client has disconnected */
	/* The client became slow (is_held), or caught up; NULL: not affected. */
	void (*hold)(struct client_resource *resource, bool is_held);
};

/* Embedded in each watch, command and search of a client; ended with the connection. */
struct client_resource {
	struct list link; /* in the connection's resources */
	const struct client_resource_type *type;
};

struct connection {
	/* read-only */
	struct list link; /* in the server */
	struct app_server *server;
	bool is_initialized;
	bool has_experimental_api;
	bool has_outcome_events;            /* it has the capability turnOutcomeEvents */
	char *client_name, *client_version; /* NULL before initialize */
	size_t request_count;
	bool is_slow;    /* its send queue is above the soft limit */
	bool is_overdue; /* it has been slow for LIMIT_WATCHER_HOLD_MS */
	/* private */
	struct transport *transport;    /* NULL once it has ended */
	struct pending_client *pending; /* its place at a listener; NULL on standard streams */
	struct list requests;           /* not answered yet */
	struct list resources;          /* struct client_resource, oldest first */
	uint64_t frame_count;           /* numbers malformed messages in the log */
	size_t unread_count;            /* messages received since it became slow */
	uint8_t unwanted[(NOTIFY_count + 7) / 8];
	struct loop_timer *patience; /* NULL until it is slow for the first time */
	bool is_paused;
	bool has_ended;
};

/* A new client of the server. The caller creates a transport with connection_events and the connection as self, then
 * attaches it (the connection's from then on), or destroys the connection. */
struct connection *connection_create(struct app_server *server);
extern const struct transport_events connection_events;
void connection_attach(struct connection *connection, struct transport *transport);
/* The connection may be evicted until its client has sent `initialize`; pending is the connection's from then on. */
void connection_set_pending(struct connection *connection, struct pending_client *pending);
/* Cancels its requests and ends its resources; the threads it watched keep running. NULL is fine. */
void connection_destroy(struct connection *connection);

/* Sends what is in out and empties it. */
void connection_send(struct connection *connection, struct buf *out);
/* Queues an encoded frame. If the queue is above its soft limit afterwards, the client is slow until it drains. */
void connection_send_frame(struct connection *connection, struct str frame);
/* The same for one large frame, see transport_send_large. Takes the memory of body. */
void connection_send_large(struct connection *connection, struct str head, struct buf *body, struct str tail);
bool connection_wants(const struct connection *connection, enum app_notification_tag tag);
void connection_opt_out(struct connection *connection, enum app_notification_tag tag);
/* Sends a notification to this client only. */
void connection_notify(struct connection *connection, enum app_notification_tag tag, const void *params);
/* One of its requests has been answered. */
void connection_on_answered(struct connection *connection);

/* ---- resources ---- */

void connection_add_resource(struct connection *connection, struct client_resource *resource,
                             const struct client_resource_type *type);
size_t connection_count_resources(const struct connection *connection, const struct client_resource_type *type);

#endif
