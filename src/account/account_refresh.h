/* account_refresh.h — the request that refreshes tokens, and its answer. Pure functions; any thread. */
#ifndef ACCOUNT_ACCOUNT_REFRESH_H
#define ACCOUNT_ACCOUNT_REFRESH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "config/auth.h"

#define ACCOUNT_CLIENT_ID "app_EMoamEEZ73f0CkXaXp7hrann"
#define ACCOUNT_ISSUER "https://auth.openai.com"

/* Returns true if the tokens must be refreshed before they are used: the access token expires within five minutes, or,
 * if its expiry is unknown, the last refresh is more than eight days ago. */
bool account_is_stale(const struct auth *auth, int64_t now_ms);
/* Returns true if the access token has not expired. */
bool account_is_alive(const struct auth *auth, int64_t now_ms);

void account_refresh_write(struct buf *out, const struct auth *auth, bool is_refused);

enum account_refresh_outcome {
	ACCOUNT_REFRESHED,
	ACCOUNT_REFUSED, /* for good: these credentials are of no further use */
	ACCOUNT_FAILED,  /* it may work later */
};

/* Reads the answer. Replaces the tokens in auth that it contains, or sets err. */
must_check enum account_refresh_outcome account_refresh_read(int status, struct str body, struct auth *auth,
                                                             int64_t now_ms, struct error *err);

#endif
