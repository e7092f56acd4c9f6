/* mcp_http_auth.h — the headers by which an HTTP server recognises the user, if they are not in its settings: the
 * bearer token of `codex mcp login`, that of `codex login`, or those that http_headers_helper prints.
 *
 * They are obtained when a connection begins, before a token expires, and again after the server has refused them.
 * Owned by a link; one question at a time. Loop thread only. */
#ifndef MCP_MCP_HTTP_AUTH_H
#define MCP_MCP_HTTP_AUTH_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "config/auth.h"

struct accounts;
struct loop;
struct mcp_http_auth;

struct mcp_http_auth_options {
	struct loop *loop;
	const char *home;          /* CODEX_HOME; copied, as all texts */
	const char *name, *url;    /* of the server */
	const char *helper;        /* the shell command; NULL: the token of a login */
	const char *cwd;           /* of the helper */
	const char *client_id;     /* of a configured OAuth client, or NULL */
	const char *client_secret; /* or NULL */
	struct accounts *accounts; /* NULL, or the token of `codex login` is used, which is in place; borrowed */
	struct auth_place place;   /* borrowed */
};

struct mcp_http_headers {
	const struct str *lines; /* "Name: value" */
	size_t count;
	struct str scope;      /* of the login, separated by blanks, or STR_NONE */
	int64_t expires_at_ms; /* 0: unknown */
};

/* Called once, from the loop. headers: NULL if there is an error; valid until the next answer. Without a login there is
 * no header. ERR_denied: the user must log in again. */
typedef void (*mcp_http_auth_fn)(const struct mcp_http_headers *headers, const struct error *err, void *self);

struct mcp_http_auth *mcp_http_auth_create(const struct mcp_http_auth_options *options);
/* Obtains the headers. is_refused: the server has refused the latest ones, so that others are needed. */
void mcp_http_auth_ask(struct mcp_http_auth *auth, bool is_refused, mcp_http_auth_fn on_done, void *self);
/* No callback follows. A refresh that was begun is completed, because its token can be used once. NULL is fine. */
void mcp_http_auth_destroy(struct mcp_http_auth *auth);

#endif
