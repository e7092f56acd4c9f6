/* app_server_listen.h — accepts WebSocket clients of an app-server.
 *
 * Owns: the listening socket. Borrows: server, loop, bearer, hosts; must end before the server. Loop thread only. At
 * LIMIT_APP_CLIENTS connections the one that has been without `initialize` for longest is closed, or, if all have
 * sent it, the new one (transport/pending_clients.h). Errors: those of transport/websocket_listen.h. */
#ifndef APP_SERVER_APP_SERVER_LISTEN_H
#define APP_SERVER_APP_SERVER_LISTEN_H

#include <stddef.h>

struct app_server;
struct app_server_listen;
struct bearer;
struct error;
struct loop;

struct app_server_address {
	struct loop *loop;
	const char *address;         /* ws://IP:PORT or unix://PATH */
	const struct bearer *bearer; /* NULL: no token is required */
	const char *const *hosts;    /* names by which clients may call it, besides addresses */
	size_t host_count;
};

struct app_server_listen *app_server_listen_create(struct app_server *server, const struct app_server_address *where,
                                                   struct error *err);
/* The address, with the actual port. */
const char *app_server_listen_address(const struct app_server_listen *listen);
/* Connected clients stay connected. NULL is fine. */
void app_server_listen_destroy(struct app_server_listen *listen);

#endif
