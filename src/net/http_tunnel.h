/* http_tunnel.h — a connection to the server of a URL for bytes of another protocol, such as WebSocket.
 *
 * Proxies (by CONNECT), TLS and certificates are those of requests (http_client.h). Owns: the connection and bytes
 * that were not sent yet, at most LIMIT_HTTP_TUNNEL_QUEUE. Borrows: the client. Thread: loop only.
 *
 * No callback runs inside a call to this module. An idle tunnel does not wake the process up, but keeps loop_run from
 * returning. Errors: those of http_client.h. */
#ifndef NET_HTTP_TUNNEL_H
#define NET_HTTP_TUNNEL_H

#include "base/str.h"

struct error;
struct http_client;
struct http_request;
struct http_tunnel;

struct http_tunnel_handler {
	void (*on_open)(void *self);
	void (*on_bytes)(struct str bytes, void *self); /* borrowed during the call */
	/* Called once, last, without on_open if the connection failed. NULL: the peer has closed it. The tunnel must
	 * still be closed. */
	void (*on_end)(const struct error *err, void *self);
};

/* Uses url, the client's certificate and connect_timeout_ms of the request, which are copied; handler must live as
 * long. Never NULL. */
struct http_tunnel *http_tunnel_open(struct http_client *client, const struct http_request *request,
                                     const struct http_tunnel_handler *handler, void *self);
/* Sends bytes, copied, after on_open. More than LIMIT_HTTP_TUNNEL_QUEUE unsent bytes end the tunnel. */
void http_tunnel_send(struct http_tunnel *tunnel, struct str bytes);
/* Stop and restart on_bytes; the peer is throttled meanwhile. */
void http_tunnel_pause(struct http_tunnel *tunnel);
void http_tunnel_resume(struct http_tunnel *tunnel);
/* Closes the connection, after an attempt to send what is queued; no callback follows. May be called in callbacks. NULL
 * is a no-op. */
void http_tunnel_close(struct http_tunnel *tunnel);

#endif
