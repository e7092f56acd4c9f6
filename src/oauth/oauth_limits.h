/* oauth_limits.h — the limits of logins with OAuth. Sizes in bytes, times in milliseconds. */
#ifndef OAUTH_OAUTH_LIMITS_H
#define OAUTH_OAUTH_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_OAUTH_BODY = 1 * MIB,                 /* an answer of a server */
	LIMIT_OAUTH_HEADERS = 8,                    /* headers of a request */
	LIMIT_OAUTH_IDLE_MS = 15 * 1000,            /* time without a byte of an answer */
	LIMIT_OAUTH_WHOLE_MS = 30 * 1000,           /* time for a request and its answer */
	LIMIT_OAUTH_FORM = 64 * KIB,                /* a form or query that is sent, and a token in it */
	LIMIT_OAUTH_REASON = 300,                   /* the part of a reason that an error shows */
	LIMIT_OAUTH_EARLY_MS = 30 * 1000,           /* a token that expires within this time is refreshed */
	LIMIT_OAUTH_LOCK_PAUSE_MS = 50,             /* time between two attempts to lock the tokens */
	LIMIT_OAUTH_LOCK_MS = 60 * 1000,            /* time for that lock */
	LIMIT_OAUTH_STORE = 4 * MIB,                /* the file of all tokens */
	LIMIT_OAUTH_TOKEN_S = 10 * 365 * 24 * 3600, /* seconds that a token lasts, if a server says more */
};

#endif
