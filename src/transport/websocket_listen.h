/* websocket_listen.h — an address where clients open WebSockets, with health checks.
 *
 * Owns: the socket, and connections until their handshake is over. Borrows: loop, bearer, hosts. Loop thread only. GET
 * /readyz and /healthz: 200, without a token. Any other path opens a WebSocket. Rejected on every path: a request with
 * an Origin header, which comes from a web page (403); one whose Host header does not name this server (403;
 * http_host.h), except at a Unix socket; one without the right token (401). Only the head of a request is read.
 * Eviction of clients: pending_clients.h. Errors: those of transport_listen.h; ERR_denied for an address that other
 * machines reach without a bearer. */
#ifndef TRANSPORT_WEBSOCKET_LISTEN_H
#define TRANSPORT_WEBSOCKET_LISTEN_H

#include <stddef.h>

#include "base/error.h"

struct bearer;
struct loop;
struct pending_client;
struct websocket_listen;

/* A client has connected; the callee owns both. fd is for transport_websocket_open; pending must be handed over to a
 * function that evicts the client, admitted when the client has identified itself, and destroyed with it. */
typedef void (*websocket_connect_fn)(int fd, struct pending_client *pending, void *self);

struct websocket_listen_options {
	struct loop *loop;
	const char *address;         /* ws://IP:PORT, unix://PATH or fd://N */
	const struct bearer *bearer; /* NULL: no token is required; never required at a Unix socket */
	const char *const *hosts;    /* names, besides addresses, that a Host header may contain */
	size_t host_count;
	size_t limit; /* number of concurrent clients */
	websocket_connect_fn on_connect;
	void *self;
};

must_check struct websocket_listen *websocket_listen_create(const struct websocket_listen_options *options,
                                                            struct error *err);
/* Returns the address that the server listens on, with the actual port. */
const char *websocket_listen_address(const struct websocket_listen *listen);
/* WebSockets that were opened stay open. NULL is fine. */
void websocket_listen_destroy(struct websocket_listen *listen);

#endif
