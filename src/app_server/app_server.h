/* app_server.h — the app-server: clients that speak JSON-RPC, and the threads they share.
 *
 * A client is a connection on a transport. All clients share the threads of the server: a client is notified of the
 * threads it watches and may send requests about any; threads keep running when it disconnects.
 * Owns: connections, threads. Borrows: loop, services. Loop thread only. See docs/app-server.md. */
#ifndef APP_SERVER_APP_SERVER_H
#define APP_SERVER_APP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct app_server;
struct bearer;
struct config;
struct loop;
struct services;

struct app_server_options {
	struct loop *loop;
	struct services *services;
	struct config *config; /* the configuration that every thread starts from; the server takes a reference */
	/* why the configuration files are not used, sent to clients as a warning, copied; NULL: they are used */
	const char *config_error;
	const char *cwd;             /* absolute; relative folders of clients are resolved against it */
	const struct str *overrides; /* key=value texts of -c options on the command line, copied */
	size_t override_count;
	bool is_strict;     /* unknown keys are errors of thread/start, too */
	bool is_attachable; /* terminals can attach to threads: the server outlives its clients */
	/* Called on the loop after a client has disconnected; left is the number of remaining clients. May destroy
	 * the server. */
	void (*on_client_end)(size_t left, void *self);
	void *self;
};

struct app_server *app_server_create(const struct app_server_options *options);
/* Ends the connections and all work, and runs the SessionEnd hooks, before the server is destroyed. done runs once,
 * later, after LIMIT_END_HOOKS_MS at the latest. False: there are no such hooks, and done does not run. To be called
 * once, outside of the server's callbacks. */
must_check bool app_server_end(struct app_server *server, void (*done)(void *self), void *self);
/* Ends connections and threads, and kills their commands. NULL is fine. */
void app_server_destroy(struct app_server *server);

/* Adds a client on a pair of descriptors, which the server then owns. */
must_check int app_server_connect_stdio(struct app_server *server, int in, int out, struct error *err);

/* ---- WebSocket clients ---- */

/* Accepts WebSocket clients. Owns: the listening socket. Borrows: server, loop, bearer, hosts; must end before the
 * server. At LIMIT_APP_CLIENTS connections the one that has been without `initialize` for longest is closed, or, if all
 * have sent it, the new one (transport/pending_clients.h). Errors: those of transport/websocket_listen.h. */
struct app_server_listen;

struct app_server_address {
	struct loop *loop;
	const char *address;         /* ws://IP:PORT, unix://PATH or fd://N */
	const struct bearer *bearer; /* NULL: no token is required */
	const char *const *hosts;    /* host names that clients may use, besides addresses */
	size_t host_count;
};

must_check struct app_server_listen *
app_server_listen_create(struct app_server *server, const struct app_server_address *where, struct error *err);
/* Returns the address with the actual port. */
const char *app_server_listen_address(const struct app_server_listen *listen);
/* Clients that are connected stay connected. NULL is fine. */
void app_server_listen_destroy(struct app_server_listen *listen);

#endif
