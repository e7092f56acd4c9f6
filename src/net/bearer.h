/* bearer.h — who may open a WebSocket from another machine: a policy, and the header it is judged by.
 *
 * Owns: the secret. Any thread, one at a time. A capability token is compared by its SHA-256, a signed one is a JWT
 * (HS256) with an expiry. Source: the reference's --ws-* options; RFC 6750, RFC 7519. */
#ifndef NET_BEARER_H
#define NET_BEARER_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct bearer;

/* As the command line gives them, NULL where it does not. */
struct bearer_options {
	const char *mode; /* "capability-token" or "signed-bearer-token"; NULL: all others must be NULL */
	const char *token_file, *token_sha256;                            /* the first mode wants one of them */
	const char *secret_file, *issuer, *audience, *clock_skew_seconds; /* the second one wants a secret */
};

/* Reads the file. *ret: NULL if everybody may come in. ERR_usage for options that do not go together. */
must_check int bearer_create(const struct bearer_options *options, struct bearer **ret, struct error *err);
void bearer_destroy(struct bearer *bearer); /* NULL is fine */

/* NULL if an Authorization header (STR_NONE: there is none) lets in; else why not, in words for the client. */
const char *bearer_refusal(const struct bearer *bearer, struct str authorization, int64_t now_s);

#endif
