/* Creates the server and the state of each of its parts, and handles events that concern several of them: a client
 * or a thread ends, a client reads slowly. */
#include "app_server/app_server.h"

#include <stdio.h>

#include "app_server/app_server_priv.h"
#include "app_server/host/client_search.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/settings/account_login.h"
#include "app_server/settings/process_settings.h"
#include "app_server/store/store_index.h"
#include "app_server/threads/mcp_logins.h"
#include "app_server/threads/thread_unload.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "transport/transport_stdio.h"
#include "transport/transport_websocket.h"
#include "transport/websocket_listen.h"

static void on_sweep(void *self)
{
	struct app_server *server = self;
	struct server_root *root = server_root(server);
	struct connection *it;
	bool has_ended = false;
	thread_unload_dead(server->threads);
	list_for_each(it, &server->connections, link) {
		if (!it->has_ended)
			continue;
		has_ended = true;
		connection_destroy(it);
	}
	if (has_ended)
		root->on_client_end(server->connection_count, root->self);
}

static void on_client_pace(struct app_server *server)
{
	subscribers_review_holds(server->threads);
}

static void on_client_gone(struct app_server *server, struct connection *client)
{
	subscribers_forget_client(server->threads, client);
}

static const struct server_events server_events = {on_client_pace, on_client_gone};

int app_server_connect_stdio(struct app_server *server, int in, int out, struct error *err)
{
	struct connection *connection = app_server_add_client(server);
	struct transport *transport =
		transport_stdio_create(server->loop, in, out, &connection_events, connection, err);
	if (!transport) {
		connection_destroy(connection);
		return -(int)err->code;
	}
	connection_attach(connection, transport);
	return 0;
}

struct app_server *app_server_create(const struct app_server_options *options)
{
	struct server_root *root = xnew(struct server_root);
	struct app_server *server = &root->server;
	const struct server_setup setup = {
		.loop = options->loop,
		.services = options->services,
		.cwd = options->cwd,
		.overrides = options->overrides,
		.override_count = options->override_count,
		.events = &server_events,
		.requests = &rpc_requests,
		.on_sweep = on_sweep,
	};
	app_server_init(server, &setup);
	server->config = config_ref(options->config);
	server->is_strict = options->is_strict;
	server->is_attachable = options->is_attachable;
	server->settings = process_settings_create(server);
	server->threads = threads_create();
	threads_watch_environments(server);
	root->config_error = options->config_error ? xstrdup(options->config_error) : NULL;
	root->on_client_end = options->on_client_end;
	root->self = options->self;
	return server;
}

static void end_connections(struct app_server *server)
{
	struct connection *it;
	list_for_each(it, &server->connections, link)
		connection_destroy(it);
}

bool app_server_end(struct app_server *server, void (*done)(void *self), void *self)
{
	end_connections(server);
	threads_shut_down(server->threads);
	thread_unload_dead(server->threads);
	return threads_bid_farewell(server, done, self);
}

void app_server_destroy(struct app_server *server)
{
	if (!server)
		return;
	struct server_root *root = server_root(server);
	end_connections(server);
	threads_ignore_environments(server);
	thread_unload_all(server->threads);
	threads_destroy(server->threads);
	account_logins_destroy(server->logins);
	mcp_logins_destroy(server->mcp_logins);
	process_settings_destroy(server->settings);
	store_index_destroy(server->store);
	client_search_end_all(server);
	app_server_finish(server);
	config_unref(server->config);
	free(root->installation_id);
	free(root->config_error);
	free(root);
}

/* ---- WebSocket clients ---- */

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
