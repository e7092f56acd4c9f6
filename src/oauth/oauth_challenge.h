/* oauth_challenge.h — the header WWW-Authenticate of an MCP server that requires a login. Any thread. Source: RFC 9110
 * (11.6.1), RFC 9728. */
#ifndef OAUTH_OAUTH_CHALLENGE_H
#define OAUTH_OAUTH_CHALLENGE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/str.h"

struct oauth_challenge {
	struct str resource_metadata; /* a URL, or STR_NONE */
	struct str scope;             /* separated by blanks, or STR_NONE */
	struct str error;             /* "insufficient_scope", …, or STR_NONE */
};

/* Reads the parameters of the challenge with the scheme Bearer; false without one. Texts are copied into the arena. */
bool oauth_challenge_read(struct str header, struct arena *arena, struct oauth_challenge *ret);

#endif
