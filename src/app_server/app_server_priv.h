/* app_server_priv.h — the server's state that only the root of app_server/ uses. Private to app_server/. */
#ifndef APP_SERVER_APP_SERVER_PRIV_H
#define APP_SERVER_APP_SERVER_PRIV_H

#include "app_server/app_server.h"
#include "app_server/rpc/server.h"
#include "base/list.h"

struct server_root {
	struct app_server server; /* first member: the data that all parts share */
	char *config_error;       /* NULL: the configuration files were read */
	char *installation_id;    /* NULL until a client asks for it */
	void (*on_client_end)(size_t left, void *self);
	void *self;
};

static inline struct server_root *server_root(struct app_server *server)
{
	return list_entry(server, struct server_root, server);
}

#endif
