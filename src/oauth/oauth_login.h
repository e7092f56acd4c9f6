/* oauth_login.h — the login to an MCP server: authorization code with PKCE, in the user's browser.
 *
 * It runs a loop of its own, for commands and threads of their own. The tokens are stored, never printed. Source: the
 * MCP specification (authorization), RFC 7591, RFC 7636, RFC 8707. */
#ifndef OAUTH_OAUTH_LOGIN_H
#define OAUTH_OAUTH_LOGIN_H

#include <stdint.h>

#include "base/error.h"
#include "config/mcp_server.h"

struct config;
struct oauth_login;

/* The client under which the user logs in. */
enum oauth_registration {
	OAUTH_REGISTRATION_auto, /* the configured client; without one, as dcr */
	OAUTH_REGISTRATION_cimd, /* the configured client, whose id must be the URL of its metadata document */
	OAUTH_REGISTRATION_dcr,  /* one that the authorization server registers for this login */
};

struct oauth_login_options {
	const struct config *config; /* both are borrowed for the life of the login */
	const struct mcp_server *server;
	const char *scope; /* separated by blanks; NULL: those of the configuration, else those that the server names */
	enum oauth_registration registration;
	uint64_t timeout_ms; /* for the user */
	/* Called with the URL that the browser must open, on the thread of oauth_login_run. */
	void (*on_url)(const char *url, void *self);
	void *self;
};

/* NULL and err if logins cannot be stored as the configuration demands, in a keyring. */
must_check struct oauth_login *oauth_login_create(const struct oauth_login_options *options, struct error *err);
/* Blocks until the tokens are stored, or the login has failed. Once. */
must_check int oauth_login_run(struct oauth_login *login, struct error *err);
/* Makes oauth_login_run return ERR_cancelled. Any thread. */
void oauth_login_stop(struct oauth_login *login);
void oauth_login_destroy(struct oauth_login *login); /* not while it runs; NULL is fine */

#endif
