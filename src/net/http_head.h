/* http_head.h — the first line and headers of an HTTP message, as slices.
 *
 * Owns: the table of headers. Borrows: the bytes it was parsed from; they must outlive it.
 * Thread: any, one at a time. Source: RFC 9112. */
#ifndef NET_HTTP_HEAD_H
#define NET_HTTP_HEAD_H

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct http_header {
	struct str name;
	struct str value; /* without surrounding blanks */
};

struct http_head {
	/* read-only */
	int status;        /* for an answer; 0 in a request */
	struct str reason; /* for an answer; may be empty */
	struct str method; /* for a request */
	struct str target; /* for a request: path and query, as sent */
	bool is_http_1_0;  /* for a request */
	VEC(struct http_header) headers;
};

/* Parses a request head strictly; bytes ends with the empty line. Input that two readers could interpret differently
 * (bare LF, folded lines, blanks before a colon, control bytes) is refused. Returns 0 or the status to refuse the
 * request with. *head is filled in both cases; end it with http_head_finish. */
must_check int http_head_parse_request(struct http_head *head, struct str bytes);

/* Parses the head of an answer leniently: lines that are not headers are skipped. False without a status line. */
bool http_head_parse_answer(struct http_head *head, struct str bytes);

/* Returns the value of the first header of that name, compared without case; STR_NONE if absent. */
struct str http_head_get(const struct http_head *head, const char *name);

unsigned http_head_count(const struct http_head *head, const char *name);

/* True if a comma-separated list contains the token, ignoring case. */
bool http_list_has(struct str list, const char *token);
/* True if any header of that name lists the token. */
bool http_head_has_token(const struct http_head *head, const char *name, const char *token);

/* Splits "Name: value" into slices of line. False if the name is invalid or a byte would end the line early;
 * ret_header->name is then the printable part. */
bool http_header_parse(struct str line, struct http_header *ret_header);

/* True for a request line, a status line or a header, none of which is valid JSON. */
bool http_line_is(struct str line);

/* Returns "OK", "Not Found", …, or "Unknown" for a number without a name. */
const char *http_status_reason(int status);

void http_head_finish(struct http_head *head);

#endif
