/* http_body.h — the framing of a request body: Content-Length or chunks.
 *
 * Owns nothing; decoded bytes are appended to the caller's buffer, whose maximum is that of the body. A failure is the
 * HTTP status to refuse the request with. Source: RFC 9112 sections 6 and 7. */
#ifndef NET_HTTP_BODY_H
#define NET_HTTP_BODY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct http_head;

enum http_body_state {
	HTTP_BODY_SIZED,      /* `left` bytes remain of the body (Content-Length) */
	HTTP_BODY_CHUNK_LINE, /* before a chunk's size */
	HTTP_BODY_CHUNK,      /* `left` bytes remain of the chunk */
	HTTP_BODY_CHUNK_END,  /* the line end after a chunk */
	HTTP_BODY_TRAILER,    /* lines after the last chunk */
	HTTP_BODY_DONE,
};

struct http_body {
	/* read-only */
	enum http_body_state state;
	/* private */
	uint64_t left;
	size_t trailer_len;
};

/* Decides from the headers how the body is framed. Returns 0, or 400, 413 (longer than max) or 501. */
must_check int http_body_start(struct http_body *body, const struct http_head *head, size_t max);

/* Consumes bytes from the front of *input and appends decoded bytes to out, up to the end of the body. Returns 0, 400
 * or 413. The body is complete when state is HTTP_BODY_DONE. */
must_check int http_body_feed(struct http_body *body, struct str *input, struct buf *out);

#endif
