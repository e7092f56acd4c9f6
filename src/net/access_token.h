/* access_token.h — a secret in a file, which a client must know to be let in from another machine.
 *
 * The file holds one line of 16 to LIMIT_ACCESS_TOKEN visible ASCII characters, and nobody but its owner may read it.
 * Any thread. Messages name the file and never what is in it. */
#ifndef NET_ACCESS_TOKEN_H
#define NET_ACCESS_TOKEN_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct buf;

/* The token, for access_token_free; NULL and err if the file is absent, open to others or no token. */
char *access_token_read(const char *path, struct error *err);
/* All bytes of a file with a secret, whatever they are, under the same conditions: a regular file that nobody but its
 * owner may use. Never waits. */
must_check int access_token_read_file(const char *path, struct buf *out, struct error *err);
/* In a time that tells nothing of where they differ. */
bool access_token_matches(const char *token, struct str shown);
void access_token_free(char *token); /* wipes it; NULL is fine */

#endif
