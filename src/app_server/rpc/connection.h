/* connection.h — one client on one transport: what it has said of itself, and what it waits for.
 *
 * Owns: its transport, the requests that are not answered yet. Borrows: the server. Loop thread only.
 * A client that sends faster than it is answered is read no further until LIMIT_RPC_PENDING allows; nothing is dropped.
 * LIMIT_UNREAD_SUBMISSIONS messages are taken from one that does not read what it is sent, so that it can interrupt. It
 * makes its threads stand still, for LIMIT_WATCHER_HOLD_MS where others watch them, too; after that its queue grows to
 * LIMIT_STREAM_QUEUE_HARD, where it is given up.
 * Source: app-server-wire 1, 2, 18. */
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

/* What a room above keeps for a client. */
struct client_resource_type {
	void (*end)(struct client_resource *resource); /* the client is gone: frees it */
	/* The client reads slowly (is_held), or does so no more; NULL: of no concern. */
	void (*hold)(struct client_resource *resource, bool is_held);
};

/* Embedded in a watch, command or search of a client, which ends with it. */
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
	bool has_outcome_events;            /* it wants turn/failed and turn/cancelled */
	char *client_name, *client_version; /* NULL before initialize */
	size_t request_count;
	bool is_slow;    /* it reads more slowly than there is to tell */
	bool is_overdue; /* and has been waited for long enough */
	/* private */
	struct transport *transport; /* NULL once it has ended */
	struct pending_client *pending; /* its place at a listener; NULL on standard streams */
	struct list requests;        /* not answered yet */
	struct list resources;       /* struct client_resource, oldest first */
	uint64_t frame_count;        /* for notes on what is malformed */
	size_t unread_count;         /* frames of it since it is slow */
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
/* Cancels its requests and stops its watching; threads go on. NULL is fine. */
void connection_destroy(struct connection *connection);

/* Sends what is in out and empties it. */
void connection_send(struct connection *connection, struct buf *out);
/* The same bytes that others get. A client that cannot take them now gets them later; its threads are held meanwhile,
 * and only a few more of its messages are read. */
void connection_send_frame(struct connection *connection, struct str frame);
bool connection_wants(const struct connection *connection, enum app_notification_tag tag);
void connection_opt_out(struct connection *connection, enum app_notification_tag tag);
/* One client alone is told. */
void connection_notify(struct connection *connection, enum app_notification_tag tag, const void *params);
/* One of its requests has been answered. */
void connection_on_answered(struct connection *connection);

/* ---- resources ---- */

void connection_add_resource(struct connection *connection, struct client_resource *resource,
                             const struct client_resource_type *type);
size_t connection_count_resources(const struct connection *connection, const struct client_resource_type *type);

#endif
