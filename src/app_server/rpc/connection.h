/* connection.h — one client on one transport: its capabilities, the number of its unanswered requests, its resources.
 *
 * Owns: its transport and its resources. Borrows: its owner, the server. Loop thread only.
 * At LIMIT_RPC_PENDING unanswered requests the connection stops reading; no request is dropped. A client that does not
 * read its output may still send LIMIT_UNREAD_SUBMISSIONS messages, so that it can interrupt. A slow client holds the
 * threads that it subscribes to, for at most LIMIT_WATCHER_HOLD_MS if they have other subscribers; then its send queue
 * grows up to LIMIT_STREAM_QUEUE_HARD, where the client is disconnected. */
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
struct connection;
struct loop;
struct loop_timer;
struct pending_client;
struct rpc_asks;
struct rpc_message;

/* Callbacks to the owner of a connection, which handles the messages and ends everything that the client started.
 * None may be NULL. */
struct connection_owner {
	void (*on_request)(struct connection *connection, const struct rpc_message *message);
	/* Called with the response to a request of the server; asks: see connection_create. */
	void (*on_answer)(struct rpc_asks *asks, struct connection *connection, const struct rpc_message *message);
	/* A line longer than LIMIT_LINE was skipped; head is its beginning. */
	void (*on_long_message)(struct connection *connection, struct str head);
	/* The client has become slow, has been slow for too long, or has caught up. */
	void (*on_pace)(struct connection *connection);
	/* The transport has ended. The owner must destroy the connection outside of this call. */
	void (*on_end)(struct connection *connection);
	/* The connection is being destroyed: nothing may refer to it when this returns. */
	void (*on_destroy)(struct connection *connection);
};

/* A kind of resource, defined by the module that implements it. */
struct client_resource_type {
	void (*end)(struct client_resource *resource); /* the client has disconnected: frees the resource */
	/* The client became slow (is_held) or caught up. NULL: the resource is not affected. */
	void (*hold)(struct client_resource *resource, bool is_held);
};

/* Embedded in each watch, command and search of a client; ended with the connection. */
struct client_resource {
	struct list link; /* a node of the connection's resources */
	const struct client_resource_type *type;
};

struct connection {
	/* read-only */
	struct list link; /* used by the owner */
	struct app_server *server;
	bool is_initialized;
	bool has_experimental_api;
	bool has_outcome_events;            /* the client receives turn/failed and turn/cancelled */
	char *client_name, *client_version; /* NULL before initialize */
	struct list requests;               /* requests that were not answered yet; used by the owner */
	size_t request_count;
	bool is_slow;    /* its send queue is above the soft limit */
	bool is_overdue; /* the client has been slow for LIMIT_WATCHER_HOLD_MS */
	bool has_ended;  /* the transport has ended */
	/* private */
	const struct connection_owner *owner;
	struct rpc_asks *asks;
	struct loop *loop;
	struct buf *out;
	struct transport *transport;    /* NULL before connection_attach */
	struct pending_client *pending; /* the client's entry at a listener; NULL on standard streams */
	struct list resources;          /* struct client_resource, in the order of creation */
	uint64_t frame_count;           /* numbers malformed messages in the log */
	size_t unread_count;            /* number of messages received since the client became slow */
	uint8_t unwanted[(NOTIFY_count + 7) / 8];
	struct loop_timer *hold_timer; /* NULL until the client is slow for the first time */
	bool is_paused;
};

/* Creates a connection of the server, to which the owner belongs; asks are the server's requests to its clients;
 * notifications are encoded in `out`, which is empty between calls. The caller creates a transport with
 * connection_events and the connection as self, then attaches it (the connection's from then on), or destroys the
 * connection. */
struct connection *connection_create(struct app_server *server, const struct connection_owner *owner,
                                     struct rpc_asks *asks, struct loop *loop, struct buf *out);
extern const struct transport_events connection_events;
void connection_attach(struct connection *connection, struct transport *transport);
/* Lets the connection be evicted until its client has sent `initialize`. Takes ownership of pending. */
void connection_set_pending(struct connection *connection, struct pending_client *pending);
/* Calls on_destroy and ends the client's resources. NULL is fine. */
void connection_destroy(struct connection *connection);

/* Queues an encoded frame. If the queue is above its soft limit afterwards, the client is slow until it drains. */
void connection_send_frame(struct connection *connection, struct str frame);
/* As connection_send_frame, but takes the memory of a large frame, so that it is not copied; frame may be empty
 * afterwards. */
void connection_send_buf(struct connection *connection, struct buf *frame);
/* As connection_send_frame, for one large frame (transport_send_large). Takes the memory of body. */
void connection_send_large(struct connection *connection, struct str head, struct buf *body, struct str tail);
/* True if connection_send_later may be called: the transport is that of standard streams. */
bool connection_sends_later(const struct connection *connection);
/* As connection_send_frame, for a frame of about size bytes that is made when it is about to be written. Takes
 * ownership of frame, which may be made after the connection has ended. */
void connection_send_later(struct connection *connection, struct stream_source *frame, size_t size);
bool connection_wants(const struct connection *connection, enum app_notification_tag tag);
void connection_opt_out(struct connection *connection, enum app_notification_tag tag);
/* Sends a notification to this client only. */
void connection_notify(struct connection *connection, enum app_notification_tag tag, const void *params);
/* To be called after each answer: counts the unanswered requests and may resume reading. */
void connection_on_answered(struct connection *connection);

/* ---- resources ---- */

void connection_add_resource(struct connection *connection, struct client_resource *resource,
                             const struct client_resource_type *type);
size_t connection_count_resources(const struct connection *connection, const struct client_resource_type *type);

#endif
