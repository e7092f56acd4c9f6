/* The place where a transport meets a connection; neither knows of the other's kind. */
#include "app_server/app_server_listen.h"

#include <stdio.h>

#include "app_server/app_server.h"
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

static void on_connect(struct stream *stream, struct buf *rest, void *self)
{
	struct app_server_listen *listen = self;
	struct error err;
	struct connection *connection = app_server_connect(listen->server);
	struct transport *transport = transport_websocket_create(listen->loop, stream, rest, WEBSOCKET_SERVER,
	                                                         &connection_events, connection, &err);
	if (!transport) {
		fprintf(stderr, "codex app-server: a client could not be served: %s\n", err.text);
		app_server_drop(connection);
		return;
	}
	connection_attach(connection, transport);
	if (app_server_client_count(listen->server) > LIMIT_APP_CLIENTS)
		app_server_drop(connection);
}

struct app_server_listen *app_server_listen_create(struct app_server *server, struct loop *loop, const char *address,
                                                   const struct bearer *bearer, struct error *err)
{
	struct app_server_listen *listen = xnew(struct app_server_listen);
	const struct websocket_listen_options options = {loop, address, bearer, on_connect, listen};
	listen->server = server;
	listen->loop = loop;
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
