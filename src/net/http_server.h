/* http_server.h — a small, strict HTTP/1.1 server on the loop, for the scripted model and programs on this machine.
 *
 * It takes whole bodies from whoever connects; what strangers reach uses upgrade_reader.h instead.
 * Owns: the listening socket, its connections and the bytes waiting to be sent. Borrows: the loop.
 * Thread: loop only. No callback runs inside a call to this module.
 *
 * One exchange is one request and its answer. on_request hands it over; it is then the receiver's until
 * http_reply_end or http_exchange_abort gives it back, at once or much later, and also after the client has gone:
 * replies to a client that has gone are dropped. Requests that break the protocol or a limit are refused here
 * (400, 413, 417, 431, 501, 505) and never reach on_request. Source: RFC 9110, RFC 9112. */
#ifndef NET_HTTP_SERVER_H
#define NET_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct http_exchange;
struct http_head;
struct http_server;
struct loop;

/* A whole request has arrived. head and body are borrowed until this returns; see http_head.h for method, target
 * and headers. */
typedef void (*http_request_fn)(struct http_exchange *exchange, const struct http_head *head, struct str body,
                                void *self);

/* Listens on a numeric address (NULL: 127.0.0.1) and port (0: any that is free). NULL and err if it cannot. */
struct http_server *http_server_create(struct loop *loop, const char *host, uint16_t port, http_request_fn on_request,
                                       void *self, struct error *err);
/* The port it listens on. */
uint16_t http_server_port(const struct http_server *server);
/* Stops listening, drops all connections and ends all exchanges; nothing is called any more. Not from inside
 * on_request. NULL is fine. */
void http_server_destroy(struct http_server *server);

/* What can happen while an answer is being made; both may be NULL. */
struct http_exchange_events {
	void (*on_writable)(void *self); /* the queue has drained after http_reply_data returned false */
	void (*on_gone)(void *self);     /* the client has closed; the exchange still wants its end */
};

void http_exchange_watch(struct http_exchange *exchange, const struct http_exchange_events *events, void *self);

enum { HTTP_CHUNKED = -1 };

/* Sends status line and headers ("Name: value"; one that cannot be sent as a line is left out). Content-Length or
 * Transfer-Encoding follow from length (bytes, or HTTP_CHUNKED); do not pass them in headers. "Connection: close"
 * in headers closes the connection after the answer. */
void http_reply_head(struct http_exchange *exchange, int status, const struct str *headers, size_t header_count,
                     int64_t length);
/* Queues bytes of the body (copied); what is queued within one turn of the loop leaves as one write. False when more
 * waits than LIMIT_STREAM_QUEUE: go on when on_writable says so. Bytes beyond the announced length are dropped. */
bool http_reply_data(struct http_exchange *exchange, struct str bytes);
/* Ends the answer and the exchange. If less than the announced length was sent the connection closes. */
void http_reply_end(struct http_exchange *exchange);
/* Head, data and end in one. content_type may be NULL. */
void http_reply(struct http_exchange *exchange, int status, const char *content_type, struct str body);
/* Queues bytes as they are, without head or framing: for answers that are wrong on purpose. The connection closes when
 * the exchange ends. */
bool http_reply_raw(struct http_exchange *exchange, struct str bytes);

enum http_abort {
	HTTP_ABORT_CLOSE, /* send what is queued, then close without a proper end */
	HTTP_ABORT_RESET, /* send what fits, then reset: the client sees "connection reset by peer" */
};

/* Ends the exchange by dropping its connection. */
void http_exchange_abort(struct http_exchange *exchange, enum http_abort how);

#endif
