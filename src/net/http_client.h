/* http_client.h — HTTP and HTTPS requests on the loop, by libcurl.
 *
 * Owns: the connections, which are kept alive between requests. libcurl is loaded with the first request or by
 * http_client_preload. Borrows: the loop. Thread: loop only. libcurl reads the proxies from the environment
 * (https_proxy, no_proxy, …). A client without running calls neither wakes up nor keeps loop_run from returning.
 *
 * No callback runs inside a call to this module. A kept-alive connection that the server has closed, or on which it has
 * sent unsolicited bytes, is not used again. A request whose kept-alive connection ends before the first byte of an
 * answer is sent once more on a new connection, unless it has is_once and was sent. Redirects are not followed. Errors:
 * ERR_invalid (request), ERR_unsupported (no libcurl), ERR_config (certificates: the CA file, the server's, the
 * client's), ERR_connect, ERR_timeout, ERR_transport, ERR_limit (head), ERR_cancelled. They name host and port, never
 * user, password or query. */
#ifndef NET_HTTP_CLIENT_H
#define NET_HTTP_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct http_call;
struct http_client;
struct http_head;
struct loop;

struct http_client_options {
	const char *ca_file; /* PEM bundle to trust instead of the system's; NULL: the system's. Copied. */
};

/* options may be NULL. */
struct http_client *http_client_create(struct loop *loop, const struct http_client_options *options);
/* Ends all calls without on_done and closes the connections. Must not be called inside a callback of its calls. NULL is
 * a no-op. */
void http_client_destroy(struct http_client *client);
/* As http_client_destroy, but requests with is_farewell continue while the loop runs or is destroyed, for at most
 * LIMIT_FAREWELL_MS; then they end with ERR_timeout. */
void http_client_leave(struct http_client *client);
/* Starts to load libcurl on a worker thread. */
void http_client_preload(struct http_client *client);
/* True once the loading has started, or has failed. */
bool http_client_is_preloaded(const struct http_client *client);

struct http_request {
	const char *method;
	const char *url;
	const struct str *headers; /* "Name: value" */
	size_t header_count;
	const struct str *body; /* the parts of the body, in order; NULL and 0: no body */
	size_t body_count;
	const char *client_certificate; /* a PEM file for TLS; NULL: none */
	const char *client_key;         /* the file with its key; NULL: the same file */
	uint64_t connect_timeout_ms;    /* 0: the system's timeout */
	/* Never sent twice: the server may have carried it out before its kept-alive connection ended. */
	bool is_once;
	bool is_farewell;         /* continues after http_client_leave; its handler must not need its owner */
	uint64_t idle_timeout_ms; /* ERR_timeout after this time without traffic, pauses excluded; 0: never */
};

struct http_handler {
	/* Called with status and headers; head is borrowed during the call. False ends the call: on_done follows with
	 * ERR_cancelled. May be NULL. */
	bool (*on_head)(int status, const struct http_head *head, void *self);
	void (*on_data)(struct str bytes, void *self); /* borrowed during the call; NULL: the body is discarded */
	void (*on_done)(const struct error *err,
	                void *self); /* called once, last; err is NULL if the answer is complete */
};

/* Opens a connection to the host of a URL ahead of its first request, which waits for it. Nothing is sent but what TLS
 * needs. Uses url, the client's certificate and connect_timeout_ms of the request. If it fails, a request that waits
 * for it fails with the same error; otherwise the failure has no effect. No-op while a connection to that host is being
 * opened ahead. */
void http_client_preconnect(struct http_client *client, const struct http_request *request);

/* Starts a request. Everything in *request is copied except the bytes of the body, which are borrowed until on_done or
 * cancel; handler must live as long. The result is valid until on_done returns or http_call_cancel. Never NULL. */
struct http_call *http_call_start(struct http_client *client, const struct http_request *request,
                                  const struct http_handler *handler, void *self);
/* Ends the call; none of its callbacks follows. May be called inside callbacks. NULL is a no-op. */
void http_call_cancel(struct http_call *call);
/* Stop and restart on_data; the peer is throttled meanwhile. Up to LIMIT_HTTP_BUFFER bytes that have already arrived
 * may be kept. May be called inside callbacks. */
void http_call_pause(struct http_call *call);
void http_call_resume(struct http_call *call);

#endif
