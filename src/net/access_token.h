/* access_token.h — a secret in a file that a client on another machine must present.
 *
 * The file holds one line of 16 to LIMIT_ACCESS_TOKEN visible ASCII characters and is accessible to its owner only. Any
 * thread. Messages name the file, never its content. */
#ifndef NET_ACCESS_TOKEN_H
#define NET_ACCESS_TOKEN_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct buf;

/* Returns the token, to be freed with access_token_free; NULL and err if the file is absent, accessible to others, or
 * holds no valid token. */
must_check char *access_token_read(const char *path, struct error *err);
/* Reads all bytes of a secret file under the same conditions: a regular file that only its owner can access. Never
 * blocks. */
must_check int access_token_read_file(const char *path, struct buf *out, struct error *err);
/* Compares in a time that does not depend on where the texts differ. */
bool access_token_matches(const char *token, struct str shown);
void access_token_free(char *token); /* wipes it; NULL is a no-op */

#endif
