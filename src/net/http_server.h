/* http_server.h — a small, strict HTTP/1.1 server on the loop, for the scripted model and programs on this machine.
 *
 * It accepts bodies from any client that connects; ports that other machines can reach use upgrade_reader.h instead.
 * Owns: the listening socket, its connections and their output queues. Borrows: the loop. Thread: loop only. No
 * callback runs inside a call to this module.
 *
 * An exchange is one request and its answer. on_request passes it to the receiver, which owns it until http_reply_end
 * or http_exchange_abort, called at once or later. Replies to a client that has disconnected are discarded. Requests
 * that violate the protocol or a limit are refused here (400, 413, 417, 431, 501, 505) and do not reach on_request.
 * Source: RFC 9110, RFC 9112. */
#ifndef NET_HTTP_SERVER_H
#define NET_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct http_exchange;
struct http_head;
struct http_server;
struct loop;

/* Called with a complete request. head and body are borrowed during the call; http_head.h describes method, target and
 * headers. */
typedef void (*http_request_fn)(struct http_exchange *exchange, const struct http_head *head, struct str body,
                                void *self);

/* Listens on a numeric address (NULL: 127.0.0.1) and a port (0: any free one). NULL and err on failure. */
must_check struct http_server *http_server_create(struct loop *loop, const char *host, uint16_t port,
                                                  http_request_fn on_request, void *self, struct error *err);
/* Limits bodies to max bytes. A request for which wants_body returns false is passed on without its body, which is not
 * read, and the connection is closed after the answer; NULL: all bodies are read. */
typedef bool (*http_wants_body_fn)(const struct http_head *head, void *self);
void http_server_limit_bodies(struct http_server *server, size_t max, http_wants_body_fn wants_body);
/* Returns the port that the server listens on. */
uint16_t http_server_port(const struct http_server *server);
/* Stops listening, closes all connections and ends all exchanges; no callback follows. Answers that are complete are
 * sent first (STREAM_FLUSH). Must not be called inside on_request. NULL is a no-op. */
void http_server_destroy(struct http_server *server);

/* Events of an exchange; both may be NULL. */
struct http_exchange_events {
	void (*on_writable)(void *self); /* the queue has drained after http_reply_data returned false */
	void (*on_gone)(void *self);     /* the client has disconnected; the exchange must still be ended */
};

void http_exchange_watch(struct http_exchange *exchange, const struct http_exchange_events *events, void *self);

enum { HTTP_CHUNKED = -1 };

/* Sends the status line and headers ("Name: value"; invalid ones are omitted). Content-Length or Transfer-Encoding
 * follow from length (bytes, or HTTP_CHUNKED) and must not be in headers. "Connection: close" in headers closes the
 * connection after the answer. */
void http_reply_head(struct http_exchange *exchange, int status, const struct str *headers, size_t header_count,
                     int64_t length);
/* Queues a copy of bytes of the body; what is queued within one iteration of the loop is sent with one write. False if
 * more than LIMIT_STREAM_QUEUE is queued: wait for on_writable. Bytes beyond the announced length are discarded. */
bool http_reply_data(struct http_exchange *exchange, struct str bytes);
/* Ends the answer and the exchange. The connection is closed if less than the announced length was sent. */
void http_reply_end(struct http_exchange *exchange);
/* Sends head, body and end. content_type may be NULL. */
void http_reply(struct http_exchange *exchange, int status, const char *content_type, struct str body);
/* Queues bytes unchanged, without head or framing, for deliberately malformed answers. The connection is closed when
 * the exchange ends. */
bool http_reply_raw(struct http_exchange *exchange, struct str bytes);

enum http_abort {
	HTTP_ABORT_CLOSE, /* sends the queue, then closes without ending the body */
	HTTP_ABORT_RESET, /* sends what fits, then resets the connection */
};

/* Ends the exchange by closing its connection. */
void http_exchange_abort(struct http_exchange *exchange, enum http_abort how);

#endif
