/* http_fetch.h — one HTTP request whose whole answer is passed on at its end.
 *
 * Owns: the request and its body, which are wiped at the end because they may hold secrets. Borrows: the client.
 * Thread: loop only. No callback runs inside a call to this module. */
#ifndef NET_HTTP_FETCH_H
#define NET_HTTP_FETCH_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct http_client;
struct http_fetch;
struct http_head;

/* err is NULL if an answer of any status was received; body is borrowed during the call. Last callback; the fetch is
 * destroyed after it. */
typedef void (*http_fetch_fn)(int status, struct str body, const struct error *err, void *self);

struct http_fetch_request {
	const char *method;
	const char *url;
	const struct str *headers; /* "Name: value" */
	size_t header_count;
	struct str body;
	size_t max;          /* bytes of an answer; more is ERR_limit */
	uint64_t timeout_ms; /* for the connection, and without traffic */
	bool is_farewell;    /* continues after http_client_leave; on_done must not need its owner */
	/* Called with the headers, borrowed during the call. False ends the request with ERR_cancelled. May be NULL. */
	bool (*on_head)(int status, const struct http_head *head, void *self);
};

/* Starts a request. Everything is copied. The result is valid until on_done, or http_fetch_cancel. Never NULL. */
struct http_fetch *http_fetch_start(struct http_client *client, const struct http_fetch_request *request,
                                    http_fetch_fn on_done, void *self);
void http_fetch_cancel(struct http_fetch *fetch); /* on_done is not called; not inside it; NULL is a no-op */

#endif
