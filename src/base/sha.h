/* sha.h — SHA-1, SHA-256 and HMAC-SHA-256 of bytes that are all there.
 *
 * For what protocols and tokens ask for, where loading a crypto library would cost more than the work itself. SHA-1
 * is here because the WebSocket handshake wants it; it protects nothing. Any thread. Source: FIPS 180-4, RFC 2104. */
#ifndef BASE_SHA_H
#define BASE_SHA_H

#include <stdint.h>

#include "base/str.h"

enum { SHA1_SIZE = 20, SHA256_SIZE = 32 };

void sha1(struct str bytes, uint8_t ret[SHA1_SIZE]);
void sha256(struct str bytes, uint8_t ret[SHA256_SIZE]);
void sha256_hmac(struct str key, struct str bytes, uint8_t ret[SHA256_SIZE]);

#endif
