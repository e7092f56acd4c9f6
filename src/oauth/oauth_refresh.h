/* oauth_refresh.h — the token of a stored login, refreshed when it has expired.
 *
 * A refresh token can often be used once, so all processes that share a CODEX_HOME take turns: the one that holds the
 * lock on .credentials.lock rereads the store, refreshes unless another process has done so, and stores the answer
 * before it releases the lock. Blocks: for worker threads. */
#ifndef OAUTH_OAUTH_REFRESH_H
#define OAUTH_OAUTH_REFRESH_H

#include "oauth/oauth_store.h"

struct oauth_refresh_options {
	const char *home;
	struct str name, url;      /* of the server */
	struct str refused;        /* the token that the server has refused, or STR_NONE */
	struct str client_id;      /* of the configured client, or STR_NONE */
	const char *client_secret; /* of it, or NULL */
};

/* Returns the login in the arena; *ret_is_found is false without a stored login. ERR_denied: the user must log in
 * again. */
must_check int oauth_refresh(const struct oauth_refresh_options *options, struct arena *arena,
                             struct oauth_credentials *ret, bool *ret_is_found, struct error *err);

#endif
