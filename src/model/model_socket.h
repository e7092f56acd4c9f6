/* model_socket.h — the WebSocket on which a model client requests responses, one after the other (Responses API).
 *
 * The server remembers the last response of a socket. A request that continues it, with equal settings, sends only its
 * new items; any other sends the whole history. A handshake that is refused is not tried again: requests go over HTTP
 * from then on. A socket that the server closes between two responses is opened again by the next request.
 *
 * Owns: the connection. Borrows: loop, HTTP client, provider. Thread: loop only. No callback runs inside a call to this
 * module. */
#ifndef MODEL_MODEL_SOCKET_H
#define MODEL_MODEL_SOCKET_H

#include <stdbool.h>

#include "base/str.h"

struct error;
struct http_client;
struct http_head;
struct loop;
struct model_provider;
struct model_request;
struct model_socket;

/* For the request that is being answered. */
struct model_socket_handler {
	/* The request is sent. head: the answer to the handshake, NULL if the socket was open. */
	void (*on_sent)(const struct http_head *head, void *self);
	void (*on_bytes)(void *self);
	void (*on_message)(struct str text, void *self);
	/* The last callback: the handshake was refused with this status (0: without one), or the open socket was
	 * lost. err is never NULL. */
	void (*on_refused)(int status, const struct error *err, void *self);
	void (*on_lost)(const struct error *err, void *self);
};

struct model_socket *model_socket_create(struct loop *loop, struct http_client *http,
                                         const struct model_provider *provider);
void model_socket_destroy(struct model_socket *socket); /* NULL is fine */

/* True if the request can be sent: no other one is being answered, no handshake was refused, and it is not too long. */
bool model_socket_takes(const struct model_socket *socket, const struct model_request *request);
/* Sends a request, borrowed until model_socket_release or model_socket_drop. is_warm_up: the server shall read it, but
 * generate nothing. handler must live as long. */
void model_socket_send(struct model_socket *socket, const struct model_request *request, bool is_warm_up,
                       const struct model_socket_handler *handler, void *self);
/* Ends the request after its complete response, which the next one can continue. */
void model_socket_release(struct model_socket *socket, struct str response_id);
/* Ends the request and closes the connection, so that nothing of its response can reach the next one. */
void model_socket_drop(struct model_socket *socket);
/* Stop and restart on_message; the server is throttled meanwhile. */
void model_socket_pause(struct model_socket *socket);
void model_socket_resume(struct model_socket *socket);
/* True from the accepted handshake on. */
bool model_socket_is_open(const struct model_socket *socket);
/* True if the socket was open before the current request. */
bool model_socket_is_reused(const struct model_socket *socket);

#endif
