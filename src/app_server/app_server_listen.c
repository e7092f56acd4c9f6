/* Creates a connection for each accepted transport; neither depends on the other. */
#include "app_server/app_server_listen.h"

#include <stdio.h>

#include "app_server/rpc/connection.h"
#include "app_server/rpc/server.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "transport/transport_websocket.h"
#include "transport/websocket_listen.h"

struct app_server_listen {
	struct app_server *server;
	struct loop *loop;
	struct websocket_listen *listen;
};

static void on_connect(int fd, struct pending_client *pending, void *self)
{
	struct app_server_listen *listen = self;
	struct error err;
	struct connection *connection = app_server_add_client(listen->server);
	struct transport *transport = transport_websocket_open(listen->loop, fd, STR_NONE, WEBSOCKET_SERVER,
	                                                       &connection_events, connection, &err);
	connection_set_pending(connection, pending);
	if (transport) {
		connection_attach(connection, transport);
		return;
	}
	fprintf(stderr, "codex app-server: a client could not be served: %s\n", err.text);
	connection_destroy(connection);
}

struct app_server_listen *app_server_listen_create(struct app_server *server, const struct app_server_address *where,
                                                   struct error *err)
{
	struct app_server_listen *listen = xnew(struct app_server_listen);
	const struct websocket_listen_options options = {
		.loop = where->loop,
		.address = where->address,
		.bearer = where->bearer,
		.hosts = where->hosts,
		.host_count = where->host_count,
		.limit = LIMIT_APP_CLIENTS,
		.on_connect = on_connect,
		.self = listen,
	};
	listen->server = server;
	listen->loop = where->loop;
	listen->listen = websocket_listen_create(&options, err);
	if (listen->listen)
		return listen;
	free(listen);
	return NULL;
}

const char *app_server_listen_address(const struct app_server_listen *listen)
{
	return websocket_listen_address(listen->listen);
}

void app_server_listen_destroy(struct app_server_listen *listen)
{
	if (!listen)
		return;
	websocket_listen_destroy(listen->listen);
	free(listen);
}
