/* bearer.h — authorization of WebSocket clients on other machines by the Authorization header.
 *
 * Owns: the secret. Any thread, one at a time. A capability token is compared by its SHA-256; a signed token is a JWT
 * (HS256) with an expiry. Source: the --ws-* options of codex 0.169; RFC 6750, RFC 7519. */
#ifndef NET_BEARER_H
#define NET_BEARER_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct bearer;

/* The options as given on the command line; NULL where absent. */
struct bearer_options {
	const char *mode; /* "capability-token" or "signed-bearer-token"; NULL: all others must be NULL */
	const char *token_file, *token_sha256;                            /* capability-token requires one of them */
	const char *secret_file, *issuer, *audience, *clock_skew_seconds; /* signed-bearer-token requires a secret */
};

/* Reads the secret file. *ret is NULL if no authorization is required. ERR_usage for contradictory options. */
must_check int bearer_create(const struct bearer_options *options, struct bearer **ret, struct error *err);
void bearer_destroy(struct bearer *bearer); /* NULL is a no-op */

/* Returns NULL if the Authorization header (STR_NONE: absent) is accepted, otherwise the reason, as sent to the
 * client. */
const char *bearer_refusal(const struct bearer *bearer, struct str authorization, int64_t now_s);

#endif
