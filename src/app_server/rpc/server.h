/* server.h — the data that all folders of app_server/ share: the options of the process, the clients, their open
 * requests, the server's requests to them, and a pointer to the state of each folder.
 *
 * Created by app_server_create, which creates and ends the state of each room through that room's functions. A room
 * uses its own pointer and those of the rooms below it. Loop thread only. */
#ifndef APP_SERVER_SERVER_H
#define APP_SERVER_SERVER_H

#include "app_server/rpc/rpc_ask.h"
#include "app_server/rpc/rpc_scope.h"
#include "base/buf.h"
#include "base/list.h"
#include "loop/loop.h"
#include "protocol/message/app.h"

struct account_logins;
struct app_server;
struct config;
struct connection;
struct file_finder;
struct fleet_job;
struct mcp_logins;
struct process_settings;
struct rpc_message;
struct services;
struct store_index;
struct threads;

/* Callbacks for changes of a client's state, set by app_server.c. None may be NULL. */
struct server_events {
	/* A client has become slow, has been slow for too long, or has caught up. */
	void (*on_client_pace)(struct app_server *server);
	/* The client is being destroyed: nothing may refer to it when this returns. */
	void (*on_client_gone)(struct app_server *server, struct connection *client);
};

/* The requests of a client; implemented by rpc_request.c. */
struct server_requests {
	/* Answers the request, starts it, or queues it in its scope. */
	void (*take)(struct connection *client, const struct rpc_message *message);
	/* Answers a request that was too long, with the id that its beginning shows, or null. */
	void (*refuse_long)(struct connection *client, struct str head);
	void (*cancel_all)(struct connection *client);
};

struct app_server {
	/* read-only */
	struct loop *loop;
	struct services *services;
	struct config *config; /* the configuration of the process, replaced when it is reloaded; holds a reference */
	char *cwd;             /* absolute; relative paths of clients are resolved against it */
	struct str *overrides; /* key=value texts of -c options, owned */
	size_t override_count;
	bool is_strict;     /* unknown keys of a thread's configuration are errors */
	bool is_attachable; /* terminals can attach to threads */
	const struct server_events *events;
	const struct server_requests *requests;
	struct list connections; /* struct connection, in the order of arrival */
	size_t connection_count;
	/* State of the other folders: */
	struct process_settings *settings;
	struct threads *threads;
	struct account_logins *logins; /* NULL until the first login */
	struct mcp_logins *mcp_logins; /* the same of MCP servers */
	struct store_index *store;     /* NULL until the first request about stored threads */
	struct fleet_job *import;      /* the running import; NULL: none */
	struct file_finder *finder;    /* NULL until the first file search */
	/* State of rpc/: */
	struct rpc_scopes scopes;
	struct rpc_asks asks;
	struct buf out; /* frames are encoded here and then queued for one or several clients */
	struct loop_deferred sweep;
};

/* Fills a zeroed server; texts are copied. on_sweep(server) removes ended clients and threads. The caller creates
 * and destroys the configuration and the state of the other folders. */
struct server_setup {
	struct loop *loop;
	struct services *services;
	const char *cwd;
	const struct str *overrides;
	size_t override_count;
	const struct server_events *events;
	const struct server_requests *requests;
	void (*on_sweep)(void *server);
};
void app_server_init(struct app_server *server, const struct server_setup *setup);
void app_server_finish(struct app_server *server); /* all clients must have been destroyed */

/* Adds a client without a transport; see connection_create for the next steps. */
struct connection *app_server_add_client(struct app_server *server);

/* Removes ended clients and threads in the next iteration of the loop, outside of their callbacks. */
void app_server_sweep(struct app_server *server);

/* True if the client receives the notification; self is passed through. */
typedef bool (*client_filter_fn)(const struct connection *client, const void *self);

/* Encodes the notification once and sends it to every initialized client that has not opted out of it and that passes
 * the filter (NULL: all pass). */
void app_server_notify(struct app_server *server, enum app_notification_tag tag, const void *params);
void app_server_notify_if(struct app_server *server, enum app_notification_tag tag, const void *params,
                          client_filter_fn filter, const void *self);
/* As app_server_notify_if, for a large notification of about size bytes: on standard streams, which have one
 * client, it is encoded when that has read what came before. Takes all that the arena owns, which includes params; the
 * arena is empty afterwards. */
void app_server_notify_later(struct app_server *server, enum app_notification_tag tag, const void *params,
                             struct arena *arena, size_t size, client_filter_fn filter, const void *self);

#endif
