/* http_client.h — HTTP and HTTPS requests on the loop, by libcurl.
 *
 * Owns: the connections, kept alive between requests; libcurl is loaded with the first request or http_client_preload.
 * Borrows: the loop. Thread: loop only. Proxies come from the environment, as libcurl reads it (https_proxy, no_proxy,
 * …). A client without running calls neither wakes up nor keeps loop_run from returning.
 *
 * No callback runs inside a call to this module. A kept-alive connection that the server has closed, or on which it
 * has sent what nobody asked for, is dropped, not used again. A POST that is not answered by one byte because a
 * kept-alive connection ended meanwhile is sent once more on a new one. Redirects are not followed.
 * Errors: ERR_invalid (request), ERR_unsupported (no libcurl), ERR_config (CA file), ERR_connect, ERR_timeout,
 * ERR_transport, ERR_limit (head), ERR_cancelled. They name host and port, never user, password or query. */
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
/* Ends all calls without their on_done, and closes the connections. Not from inside a callback of its calls.
 * NULL is fine. */
void http_client_destroy(struct http_client *client);
/* Begins to load libcurl on a worker thread, beside whatever comes next. */
void http_client_preload(struct http_client *client);

struct http_request {
	const char *method;
	const char *url;
	const struct str *headers; /* "Name: value" */
	size_t header_count;
	const struct str *body; /* sent one after the other; NULL and 0: no body */
	size_t body_count;
	uint64_t connect_timeout_ms; /* 0: as long as the system tries */
	uint64_t idle_timeout_ms;    /* no byte moved for so long, while not paused, is ERR_timeout; 0: never */
};

struct http_handler {
	/* Status and headers are here; head is borrowed until this returns. False: the rest is not wanted, on_done
	 * follows with ERR_cancelled. NULL: always wanted. */
	bool (*on_head)(int status, const struct http_head *head, void *self);
	void (*on_data)(struct str bytes, void *self);        /* borrowed until it returns; NULL: thrown away */
	void (*on_done)(const struct error *err, void *self); /* once, last; NULL: the answer is complete */
};

/* Starts a request. All of *request is copied save the bytes of the body, which are borrowed until on_done or cancel;
 * handler must live as long. The result is valid until on_done returns or http_call_cancel. Never NULL. */
struct http_call *http_call_start(struct http_client *client, const struct http_request *request,
                                  const struct http_handler *handler, void *self);
/* Ends it; nothing of it is called any more. Fine inside callbacks. NULL is fine. */
void http_call_cancel(struct http_call *call);
/* Stops and restarts the flow of on_data; the peer is held back meanwhile. Up to LIMIT_HTTP_BUFFER bytes that were
 * already on their way may be kept. Fine inside callbacks. */
void http_call_pause(struct http_call *call);
void http_call_resume(struct http_call *call);

#endif
