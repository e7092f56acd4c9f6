/* aws_sign.h — signs a request with an AWS access key (Signature Version 4). Pure; any thread. */
#ifndef NET_AWS_SIGN_H
#define NET_AWS_SIGN_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct aws_signer {
	const char *key_id, *secret;
	const char *session; /* the token of temporary keys; NULL: none */
	const char *region, *service;
};

/* Headers of the request, "name: value"; session is STR_NONE without a token. */
struct aws_signature {
	struct str authorization, date, session;
};

/* Signs host, date, token and body. The URL must be as it is sent. The result is allocated in the arena. */
struct aws_signature aws_sign(const struct aws_signer *signer, struct str method, struct str url,
                              const struct str *body, size_t body_count, int64_t now_unix_s, struct arena *arena);

#endif
