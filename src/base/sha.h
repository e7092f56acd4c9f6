/* sha.h — SHA-1, SHA-256 and HMAC-SHA-256 of bytes in memory.
 *
 * For handshakes and tokens, where loading a crypto library would cost more than the hash. SHA-1 is required by the
 * WebSocket handshake and protects nothing. Any thread. Source: FIPS 180-4, RFC 2104. */
#ifndef BASE_SHA_H
#define BASE_SHA_H

#include <stdint.h>

#include "base/str.h"

enum { SHA1_SIZE = 20, SHA256_SIZE = 32, SHA256_TEXT_SIZE = 2 * SHA256_SIZE + 1 };

void sha1(struct str bytes, uint8_t ret[SHA1_SIZE]);
void sha256(struct str bytes, uint8_t ret[SHA256_SIZE]);
void sha256_text(struct str bytes, char ret[SHA256_TEXT_SIZE]); /* in hexadecimal digits */
/* The hash of the parts one after the other. */
void sha256_parts_text(const struct str *parts, size_t count, char ret[SHA256_TEXT_SIZE]);
void sha256_hex(const uint8_t hash[SHA256_SIZE], char ret[SHA256_TEXT_SIZE]);
void sha256_hmac(struct str key, struct str bytes, uint8_t ret[SHA256_SIZE]);

#endif
