/* oauth_store.h — logins to MCP servers, in $CODEX_HOME/.credentials.json: only the user can read the file.
 *
 * The format is that of codex 0.169, with the members that a refresh needs in addition. Blocks on files: for commands
 * and worker threads. */
#ifndef OAUTH_OAUTH_STORE_H
#define OAUTH_OAUTH_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"

struct mcp_server;

/* Optional texts are STR_NONE if absent. */
struct oauth_credentials {
	struct str server_name, server_url;
	struct str client_id, access_token;
	struct str issuer, refresh_token, token_endpoint, scope; /* optional */
	struct str resource;                                     /* optional: of the token requests */
	struct str client_secret;                                /* optional: of a client that a login registered */
	bool sends_secret_in_body;
	int64_t expires_at_ms; /* 0: unknown */
};

/* How a server recognises the user, as far as that is known without asking it. */
enum oauth_status {
	OAUTH_STATUS_unsupported,   /* a stdio server */
	OAUTH_STATUS_bearer_token,  /* the settings contain the authorization */
	OAUTH_STATUS_o_auth,        /* a login is stored */
	OAUTH_STATUS_not_logged_in, /* never returned by oauth_status_of */
	OAUTH_STATUS_unknown,
};

enum oauth_status oauth_status_of(const struct mcp_server *server, const char *home);
/* Returns "unsupported", "bearer_token", … */
const char *oauth_status_name(enum oauth_status status);

/* Reads the login of a server into the arena; *ret_is_found is false without a stored login. */
must_check int oauth_store_read(const char *home, struct str name, struct str url, struct arena *arena,
                                struct oauth_credentials *ret, bool *ret_is_found, struct error *err);
/* Adds or replaces a login. */
must_check int oauth_store_write(const char *home, const struct oauth_credentials *credentials, struct error *err);
/* Removes a login, and the file with its last one. */
must_check int oauth_store_remove(const char *home, struct str name, struct str url, bool *ret_was_there,
                                  struct error *err);

#endif
