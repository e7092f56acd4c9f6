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

#include "app_server/app_server.h"
#include "base/list.h"
#include "protocol/message/app.h"
#include "transport/transport.h"

struct buf;

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
	struct list watches;         /* fs_watch.h */
	struct list commands;        /* client_command.h */
	struct list searches;        /* client_search.h */
	uint64_t frame_count;        /* for notes on what is malformed */
	size_t unread_count;         /* frames of it since it is slow */
	uint8_t unwanted[(NOTIFY_count + 7) / 8];
	struct loop_timer *patience; /* NULL until it is slow for the first time */
	bool is_paused;
	bool has_ended;
};

struct connection *connection_create(struct app_server *server);
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

#endif
