/* websocket_listen.h — an address where clients open WebSockets, and where health is asked after.
 *
 * Owns: the socket, and connections until their handshake is over. Borrows: loop, bearer. Loop thread only.
 * GET /readyz and /healthz: 200, without a token. Any other path opens a WebSocket. A request with an Origin header
 * comes from a web page and is refused (403), whatever it asks for; one without the right token too (401).
 * Errors: those of transport_listen.h; ERR_denied for an address that others reach and no bearer.
 * Source: app-server-wire 17. */
#ifndef TRANSPORT_WEBSOCKET_LISTEN_H
#define TRANSPORT_WEBSOCKET_LISTEN_H

struct bearer;
struct buf;
struct error;
struct loop;
struct stream;
struct websocket_listen;

/* A client has come: both are the callee's, meant for transport_websocket_create. */
typedef void (*websocket_connect_fn)(struct stream *stream, struct buf *rest, void *self);

struct websocket_listen_options {
	struct loop *loop;
	const char *address;         /* ws://IP:PORT or unix://PATH */
	const struct bearer *bearer; /* NULL: who reaches the address may come in; not asked for at a Unix socket */
	websocket_connect_fn on_connect;
	void *self;
};

struct websocket_listen *websocket_listen_create(const struct websocket_listen_options *options, struct error *err);
/* Where it listens, with the port that was taken. */
const char *websocket_listen_address(const struct websocket_listen *listen);
/* Those who are in stay. NULL is fine. */
void websocket_listen_destroy(struct websocket_listen *listen);

#endif
