/* oauth_pkce.h — the random values of an OAuth login with proof of possession, and the fields of its URLs and forms.
 * Any thread. Source: RFC 7636. */
#ifndef NET_OAUTH_PKCE_H
#define NET_OAUTH_PKCE_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

enum { OAUTH_PKCE_SIZE = 44 }; /* base64url of 32 bytes, with the NUL */

struct oauth_pkce {
	char verifier[OAUTH_PKCE_SIZE];
	char challenge[OAUTH_PKCE_SIZE]; /* method S256 */
	char state[OAUTH_PKCE_SIZE];     /* identifies the answer to this login */
};

void oauth_pkce_init(struct oauth_pkce *pkce);

/* Appends name=value to a query or form, percent-encoded, after an & unless the text is empty or ends with a ?. */
void oauth_append_field(struct buf *out, const char *name, struct str value);
/* Returns the decoded value of a field, from the arena; STR_NONE if it is absent. */
struct str oauth_find_field(struct arena *arena, struct str query, const char *name);

#endif
