/* http_host.h — whether a Host header names this server.
 *
 * A page of any web site can make its browser send requests to a name of its own that resolves to this machine (DNS
 * rebinding). Such a request names the site in its Host header. An address in digits and "localhost" never mean a site.
 * Owns nothing. Any thread. Source: RFC 9110 7.2. */
#ifndef NET_HTTP_HOST_H
#define NET_HTTP_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct sockaddr;

/* True for "localhost", a loopback address, the address that the connection was made to (local), and names; each with
 * or without a port. */
bool http_host_is_allowed(struct str host, const struct sockaddr *local, const char *const *names, size_t name_count);

#endif
