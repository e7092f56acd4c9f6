/* http_server.h — a small, strict server of HTTP/1.1 and HTTP/2 on the loop, for the scripted model and programs on
 * this machine, and with TLS or a token also on others.
 *
 * Owns: the listening socket, its connections and their output queues. Borrows: the loop. Thread: loop only. No
 * callback runs inside a call to this module.
 *
 * An exchange is one request and its answer. on_request passes it to the receiver, which owns it until http_reply_end
 * or http_exchange_abort, called at once or later. Replies to a client that has disconnected are discarded. Requests
 * that violate the protocol or a limit are refused here (400, 413, 417, 431, 501, 505) and do not reach on_request.
 * Source: RFC 9110, RFC 9112, RFC 9113. */
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
struct tls_server;

/* Called with a complete request. head and body are borrowed during the call; http_head.h describes method, target and
 * headers. */
typedef void (*http_request_fn)(struct http_exchange *exchange, const struct http_head *head, struct str body,
                                void *self);

/* Listens on a numeric address (NULL: 127.0.0.1) and a port (0: any free one). NULL and err on failure. */
must_check struct http_server *http_server_create(struct loop *loop, const char *host, uint16_t port,
                                                  http_request_fn on_request, void *self, struct error *err);

/* A server that does not listen: http_server_serve passes connected sockets to it, and the ownership of them. */
struct http_server *http_server_create_silent(struct loop *loop, http_request_fn on_request, void *self);
void http_server_serve(struct http_server *server, int fd);
/* All connections are encrypted. The server owns tls. Call before the first connection. */
void http_server_use_tls(struct http_server *server, struct tls_server *tls);

/* Sends these headers, "Name: value", with every answer, those to requests that are refused here included; they replace
 * those of the same names. Borrowed. Call before the first connection. */
void http_server_add_headers(struct http_server *server, const struct str *headers, size_t count);

enum http_body_use {
	HTTP_BODY_SKIP,   /* the request is passed on without its body, which is not read */
	HTTP_BODY_WHOLE,  /* the request is passed on when its body is complete */
	HTTP_BODY_STREAM, /* the request is passed on at once; on_body gets the body, of any length */
};

/* Prepares the server for clients that it does not know. Bodies are limited to max bytes; body_use decides,
 * before any of it is read, how the body of a request is passed on. A connection that has not sent a complete head
 * after LIMIT_TOKEN_MS is closed. */
typedef enum http_body_use (*http_body_use_fn)(const struct http_head *head, void *self);
void http_server_limit_bodies(struct http_server *server, size_t max, http_body_use_fn body_use);
/* Lets the receiver answer the requests that are refused here; without this the answer is plain text. */
typedef void (*http_refusal_fn)(struct http_exchange *exchange, int status, void *self);
void http_server_answer_refusals(struct http_server *server, http_refusal_fn on_refusal);
/* Accepts HTTP/2 as well, from clients that begin with it (prior knowledge). If its library is missing, such clients
 * are refused (505). */
void http_server_accept_http2(struct http_server *server);
/* Asks the clients of HTTP/2 connections to send no more requests (GOAWAY); those in progress continue. */
void http_server_drain(struct http_server *server);
/* Returns the port that the server listens on. */
uint16_t http_server_port(const struct http_server *server);
/* Stops listening, closes all connections and ends all exchanges; no callback follows. Answers that are complete are
 * sent first (STREAM_FLUSH). Must not be called inside on_request. NULL is a no-op. */
void http_server_destroy(struct http_server *server);

/* Events of an exchange; each may be NULL. */
struct http_exchange_events {
	void (*on_writable)(void *self); /* the queue has drained after http_reply_data returned false */
	/* The client has disconnected or reset the stream; the exchange must still be ended. */
	void (*on_gone)(void *self);
	/* A part of a body that is streamed (HTTP_BODY_STREAM); is_end: the last one, which may be empty. The
	 * exchange may be ended. */
	void (*on_body)(struct str bytes, bool is_end, void *self);
};

void http_exchange_watch(struct http_exchange *exchange, const struct http_exchange_events *events, void *self);
/* Returns the address of the client, "" if it has none, as at a Unix socket. Borrowed until on_request returns. */
const char *http_exchange_peer(const struct http_exchange *exchange);
bool http_exchange_is_http2(const struct http_exchange *exchange);
/* Lets the client send another len bytes of a streamed body; 64 KiB need no call. */
void http_exchange_take(struct http_exchange *exchange, size_t len);
/* Notes that the receiver stores len bytes of a streamed body. False if the requests of its connection store more than
 * LIMIT_HTTP2_BODIES together: refuse this one. */
bool http_exchange_store(struct http_exchange *exchange, size_t len);

enum {
	HTTP_CHUNKED = -1,
	HTTP_HEAD_ONLY = -2, /* HTTP/2: the head ends the answer; call http_reply_end next */
};

/* Sends the status line and headers ("Name: value"; invalid ones are omitted). Content-Length or Transfer-Encoding
 * follow from length (bytes, or HTTP_CHUNKED) and must not be in headers. "Connection: close" in headers closes the
 * connection after the answer. */
void http_reply_head(struct http_exchange *exchange, int status, const struct str *headers, size_t header_count,
                     int64_t length);
/* Queues a copy of bytes of the body; in HTTP/1.1, what is queued within one iteration of the loop is sent with one
 * write. False if more than LIMIT_STREAM_QUEUE (HTTP/2: half of it) is queued: wait for on_writable. Bytes beyond the
 * announced length are discarded. */
bool http_reply_data(struct http_exchange *exchange, struct str bytes);
/* Ends the answer and the exchange. The connection is closed if less than the announced length was sent. */
void http_reply_end(struct http_exchange *exchange);
/* As http_reply_end, with headers after the body, which are omitted in HTTP/1.1. */
void http_reply_end_with(struct http_exchange *exchange, const struct str *trailers, size_t trailer_count);
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
