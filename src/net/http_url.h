/* http_url.h — the parts of an http(s) URL that messages and logs may show, and a check of Host headers.
 *
 * Slices are borrowed from the URL. Thread: any. */
#ifndef NET_HTTP_URL_H
#define NET_HTTP_URL_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct buf;
struct sockaddr;

struct http_url {
	bool is_https;
	struct str scheme; /* as written */
	struct str host;   /* without user name and password; "[::1]" keeps its brackets */
	struct str port;   /* as written, or "80" or "443" */
	struct str path;   /* without query and fragment; may be empty */
};

/* False if it is not http:// or https:// with a host, or contains blanks or control bytes. */
bool http_url_parse(struct str text, struct http_url *ret_url);

/* Appends the URL without user name, password, query and fragment. */
void http_url_append_public(struct buf *out, struct str text);

/* True if a Host header names this server: "localhost", a loopback address, the address that the connection was made to
 * (local), or one of names; each with or without a port. A page of any web site can make its browser send requests to a
 * name of its own that resolves to this machine (DNS rebinding); such a request names the site in its Host header. An
 * address in digits and "localhost" never mean a site. */
bool http_host_is_allowed(struct str host, const struct sockaddr *local, const char *const *names, size_t name_count);

#endif
