/* oauth_token.h — requests to a token endpoint. Blocks: for commands and worker
 * threads. */
#ifndef OAUTH_OAUTH_TOKEN_H
#define OAUTH_OAUTH_TOKEN_H

#include "oauth/oauth_fetch.h"
#include "oauth/oauth_store.h"

/* The client of a token request. */
struct oauth_client {
	const char *id, *secret; /* secret: NULL for a public client */
	bool sends_secret_in_body;
	bool is_registered; /* by a login; the secret is stored with its tokens */
};

/* Sends a request with these parameters and stores the answer's tokens in *to, in the fetcher's arena. */
must_check int oauth_token_request(struct oauth_fetcher *fetcher, const char *endpoint,
                                   const struct oauth_client *client, struct buf *form, struct oauth_credentials *to,
                                   struct error *err);

#endif
