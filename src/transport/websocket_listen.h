/* websocket_listen.h — an address where clients open WebSockets, and where health is asked after.
 *
 * Owns: the socket, and connections until their handshake is over. Borrows: loop, bearer, hosts. Loop thread only.
 * GET /readyz and /healthz: 200, without a token. Any other path opens a WebSocket. Refused, whatever is asked for: a
 * request with an Origin header, which comes from a web page (403), and one whose Host header does not name this server
 * (403; http_host.h), except at a Unix socket; without the right token (401). Only the head of a request is read.
 * Room for clients: pending_clients.h.
 * Errors: those of transport_listen.h; ERR_denied for an address that others reach and no bearer.
 * Source: app-server-wire 17. */
#ifndef TRANSPORT_WEBSOCKET_LISTEN_H
#define TRANSPORT_WEBSOCKET_LISTEN_H

#include <stddef.h>

struct bearer;
struct error;
struct loop;
struct pending_client;
struct websocket_listen;

/* A client has come: both are the callee's. fd is meant for transport_websocket_open; pending has to be handed over to
 * a function that evicts the client, admitted when the client has identified itself, and destroyed with it. */
typedef void (*websocket_connect_fn)(int fd, struct pending_client *pending, void *self);

struct websocket_listen_options {
	struct loop *loop;
	const char *address;         /* ws://IP:PORT or unix://PATH */
	const struct bearer *bearer; /* NULL: who reaches the address may come in; not asked for at a Unix socket */
	const char *const *hosts;    /* names, besides addresses, that a Host header may have */
	size_t host_count;
	size_t limit; /* of clients at a time */
	websocket_connect_fn on_connect;
	void *self;
};

struct websocket_listen *websocket_listen_create(const struct websocket_listen_options *options, struct error *err);
/* Where it listens, with the port that was taken. */
const char *websocket_listen_address(const struct websocket_listen *listen);
/* Those who are in stay. NULL is fine. */
void websocket_listen_destroy(struct websocket_listen *listen);

#endif
