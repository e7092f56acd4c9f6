/* oauth_metadata.h — where an MCP server lets its users log in.
 *
 * Found as the MCP specification describes: the challenge of the server, its resource metadata (RFC 9728), the metadata
 * of its authorization server (RFC 8414, OpenID Connect Discovery). Every URL that a login uses is https or on this
 * machine, metadata for another resource or issuer is refused, and so is a server without PKCE by S256. */
#ifndef OAUTH_OAUTH_METADATA_H
#define OAUTH_OAUTH_METADATA_H

#include "oauth/oauth_fetch.h"

/* In the fetcher's arena; NULL or STR_NONE where absent. */
struct oauth_metadata {
	const char *issuer;
	const char *resource; /* as the server names itself */
	const char *authorization_endpoint, *token_endpoint, *registration_endpoint;
	struct str scope;          /* of the challenge, else all supported ones; separated by blanks */
	bool wants_secret_in_body; /* client_secret_post, but not client_secret_basic, is supported */
	bool is_guessed;           /* the server names no endpoint: those of its origin are assumed */
	bool sends_issuer;         /* the redirect contains the issuer (RFC 9207) */
};

/* issuer: the only one that is accepted, or NULL. */
must_check int oauth_metadata_find(struct oauth_fetcher *fetcher, const char *url, const char *issuer,
                                   struct oauth_metadata *ret, struct error *err);

#endif
