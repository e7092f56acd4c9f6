/* mcp_link_http.h — the transport to a server that is reached by streamable HTTP: each message is a POST, whose answer
 * is JSON or a stream of events; a GET receives the messages that belong to no request.
 *
 * A lost session (404) is opened again, and a stream that breaks off after an event with an id is continued; the client
 * notices neither. A redirect is followed within the same origin only, so that no credentials reach another one.
 * ERR_denied means that the user must log in; a server that refuses the headers of auth is asked again with new ones.
 * Loop thread only. Source: the MCP specification, revisions 2025-03-26 to 2025-11-25. */
#ifndef MCP_MCP_LINK_HTTP_H
#define MCP_MCP_LINK_HTTP_H

#include "mcp/mcp_link.h"

struct http_client;
struct loop;
struct mcp_http_auth;

struct mcp_http_spec {
	const char *name;          /* the server, for messages; copied */
	const char *url;           /* copied */
	const struct str *headers; /* "Name: value", sent with each request; copied */
	size_t header_count;
	struct mcp_http_auth *auth; /* further headers; taken; NULL: none */
	bool has_login;             /* auth is that of a login */
};

/* Borrows loop and client. NULL and err: the URL is not one of HTTP. */
must_check struct mcp_link *mcp_link_http_open(struct loop *loop, struct http_client *client,
                                               const struct mcp_http_spec *spec, const struct mcp_link_events *events,
                                               void *self, struct error *err);

#endif
