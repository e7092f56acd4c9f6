/* app_server_priv.h — the inside of the server. Private to app_server/. */
#ifndef APP_SERVER_APP_SERVER_PRIV_H
#define APP_SERVER_APP_SERVER_PRIV_H

#include "app_server/app_server.h"
#include "app_server/rpc/rpc_ask.h"
#include "app_server/rpc/rpc_scope.h"
#include "app_server/threads/thread_config.h"
#include "base/buf.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "protocol/message/app.h"

enum { THREAD_BUCKETS = 256 };

struct app_server {
	struct app_server_options options;
	char *cwd;
	char *config_error; /* NULL: the files were read */
	struct list connections;
	size_t connection_count;
	struct list threads;                 /* the oldest first */
	struct list buckets[THREAD_BUCKETS]; /* the same by id */
	struct thread_configs configs;
	VEC(struct str) switches; /* "features.NAME=true": what clients have switched for this process; owned */
	struct skill_hints *skill_hints; /* NULL before there are any */
	struct rpc_scopes scopes;
	struct rpc_asks asks;
	struct buf out; /* a frame is written here and sent from here, or to many */
	struct loop_deferred sweep;
	struct loop_timer *idle; /* runs while a thread is not watched; NULL before */
	struct store_index *store; /* NULL until somebody asks for stored threads */
	char *installation_id; /* NULL until somebody wants to know */
};

/* Looks for connections and threads that have ended, soon. */
void app_server_sweep(struct app_server *server);
/* The connection is going away: nothing may point to it any more. */
void app_server_forget(struct app_server *server, struct connection *connection);
/* Every client that has said who it is, is told. */
void app_server_notify(struct app_server *server, enum app_notification_tag tag, const void *params);
/* $CODEX_HOME/installation_id, made if it is not there. Borrowed from the server. */
struct str app_server_installation_id(struct app_server *server);

#endif
