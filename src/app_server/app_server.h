/* app_server.h — the app-server: clients that speak JSON-RPC, and the threads they share (seed 002, issue 4).
 *
 * A client is a connection on a transport. Any number of them share the threads of one server: each is told of the
 * threads it watches, may say something to any, and when it goes away its threads go on.
 * Owns: connections, threads. Borrows: loop, services. Loop thread only.
 * Source: app-server-wire; docs/app-server.md tells how it is built. */
#ifndef APP_SERVER_APP_SERVER_H
#define APP_SERVER_APP_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct app_server;
struct config;
struct error;
struct loop;
struct services;

struct app_server_options {
	struct loop *loop;
	struct services *services;
	struct config *config;       /* of clients that say nothing else; a reference is taken */
	const char *config_error; /* why it is made without the files, which clients are warned of; copied. NULL: it is
	                             not */
	const char *cwd;             /* absolute; relative folders of clients start here */
	const struct str *overrides; /* -c key=value of the command line; copied */
	size_t override_count;
	/* Runs when a client has gone, from the loop; left: how many are still there. May destroy the server. */
	void (*on_client_end)(size_t left, void *self);
	void *self;
};

struct app_server *app_server_create(const struct app_server_options *options);
/* Ends connections and threads; their commands are killed. NULL is fine. */
void app_server_destroy(struct app_server *server);

/* A new client at a pair of descriptors, the server's from then on. */
int app_server_connect_stdio(struct app_server *server, int in, int out, struct error *err);
/* Clients that are there now. */
size_t app_server_client_count(const struct app_server *server);

#endif
