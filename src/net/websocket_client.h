/* websocket_client.h — a WebSocket to a server: connection, handshake, messages.
 *
 * Proxies, TLS and certificates are those of http_client.h; frames and limits those of websocket.h. Pings are
 * answered. Owns: the connection. Borrows: the HTTP client. Thread: loop only. No callback runs inside a call to this
 * module. */
#ifndef NET_WEBSOCKET_CLIENT_H
#define NET_WEBSOCKET_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct http_client;
struct http_head;
struct loop;
struct websocket_client;

struct websocket_client_handler {
	void (*on_open)(const struct http_head *head, void *self); /* the handshake was accepted */
	void (*on_bytes)(void *self);                              /* the server sent anything, a ping for example */
	void (*on_message)(struct str text, void *self);           /* borrowed during the call */
	/* Called once, last, without on_open if the WebSocket could not be opened. status: of a refused handshake,
	 * else 0. err is NULL if the server closed regularly. The socket must still be closed. */
	void (*on_end)(int status, const struct error *err, void *self);
};

struct websocket_client_request {
	const char *url;           /* http:// or https:// */
	const struct str *headers; /* "Name: value" */
	size_t header_count;
	const char *client_certificate; /* as in struct http_request */
	const char *client_key;
	uint64_t timeout_ms; /* for connection and handshake together */
};

/* Everything in *request is copied; handler must live as long. Never NULL. */
struct websocket_client *websocket_client_open(struct loop *loop, struct http_client *http,
                                               const struct websocket_client_request *request,
                                               const struct websocket_client_handler *handler, void *self);
/* Sends one message, after on_open; its parts, UTF-8, are copied. */
void websocket_client_send(struct websocket_client *client, const struct str *parts, size_t count);
/* Stop and restart messages; the server is throttled meanwhile. A message that has arrived with the current one may
 * still follow. */
void websocket_client_pause(struct websocket_client *client);
void websocket_client_resume(struct websocket_client *client);
/* Closes it; no callback follows. May be called in callbacks. NULL is a no-op. */
void websocket_client_close(struct websocket_client *client);

#endif
