/* id_token.h — the claims of the tokens (JWT) of a ChatGPT login.
 *
 * Signatures are not verified: the tokens come from the issuer over TLS, and the claims are only shown and compared.
 * Slices are allocated in the arena. Any thread. */
#ifndef CONFIG_ID_TOKEN_H
#define CONFIG_ID_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct id_claims {
	struct str email, plan, account_id, user_id; /* STR_NONE: absent */
	struct str organization_id, project_id;
	bool has_onboarded, is_owner;
};

/* False if the token is not a JWT with a JSON object as payload. */
bool id_token_read(struct arena *arena, struct str token, struct id_claims *ret);
/* Returns the time of expiry as Unix seconds; -1: the token is not a JWT, or has none. */
int64_t id_token_expiry(struct str token);

#endif
