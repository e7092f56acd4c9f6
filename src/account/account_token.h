/* account_token.h — the token that authorises a request to the model, and the callback that receives it. */
#ifndef ACCOUNT_ACCOUNT_TOKEN_H
#define ACCOUNT_ACCOUNT_TOKEN_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct account_token {
	struct str access_token;
	struct str account_id; /* STR_NONE: unknown */
	bool is_new;           /* this call has refreshed the tokens */
};

/* Called once, last. Either is NULL; both are borrowed during the call. */
typedef void (*account_fn)(const struct account_token *token, const struct error *err, void *self);

#endif
