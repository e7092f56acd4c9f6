/* SHA-1 and SHA-256 share everything but the compression function: 64-byte blocks, the last one padded with the length.
 * Speed does not matter: the inputs are tokens, not files. */
#include "base/sha.h"

#include <endian.h>
#include <stdio.h>

#include "base/mem.h"

enum { BLOCK = 64, WORDS_MAX = 8 };

struct sha {
	uint32_t words[WORDS_MAX];
	void (*fold)(uint32_t *words, const uint8_t *block);
	uint8_t block[BLOCK];
	uint64_t len; /* bytes of input so far */
};

static uint32_t rotate_left(uint32_t x, unsigned by)
{
	return x << by | x >> (32 - by);
}

static uint32_t read_word(const uint8_t *bytes)
{
	uint32_t word;
	memcpy(&word, bytes, sizeof(word));
	return be32toh(word);
}

static uint32_t sha1_mix(unsigned round, uint32_t b, uint32_t c, uint32_t d)
{
	switch (round / 20) {
	case 0:
		return ((b & c) | (~b & d)) + 0x5a827999;
	case 1:
		return (b ^ c ^ d) + 0x6ed9eba1;
	case 2:
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	default:
		return (b ^ c ^ d) + 0xca62c1d6;
	}
}

static void sha1_fold(uint32_t *words, const uint8_t *block)
{
	uint32_t w[80], v[5];
	for (unsigned i = 0; i < 16; i++)
		w[i] = read_word(block + 4 * i);
	for (unsigned i = 16; i < 80; i++)
		w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	memcpy(v, words, sizeof(v));
	for (unsigned i = 0; i < 80; i++) {
		uint32_t next = rotate_left(v[0], 5) + sha1_mix(i, v[1], v[2], v[3]) + v[4] + w[i];
		v[4] = v[3];
		v[3] = v[2];
		v[2] = rotate_left(v[1], 30);
		v[1] = v[0];
		v[0] = next;
	}
	for (unsigned i = 0; i < countof(v); i++)
		words[i] += v[i];
}

static const uint32_t sha256_keys[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
	0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
	0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
	0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
	0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotate_right(uint32_t x, unsigned by)
{
	return rotate_left(x, 32 - by);
}

static void sha256_expand(uint32_t *w, const uint8_t *block)
{
	for (unsigned i = 0; i < 16; i++)
		w[i] = read_word(block + 4 * i);
	for (unsigned i = 16; i < 64; i++) {
		uint32_t s0 = rotate_right(w[i - 15], 7) ^ rotate_right(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = rotate_right(w[i - 2], 17) ^ rotate_right(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

static void sha256_round(uint32_t *v, uint32_t added)
{
	uint32_t s1 = rotate_right(v[4], 6) ^ rotate_right(v[4], 11) ^ rotate_right(v[4], 25);
	uint32_t chosen = (v[4] & v[5]) ^ (~v[4] & v[6]);
	uint32_t first = v[7] + s1 + chosen + added;
	uint32_t s0 = rotate_right(v[0], 2) ^ rotate_right(v[0], 13) ^ rotate_right(v[0], 22);
	uint32_t majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
	memmove(v + 1, v, 7 * sizeof(*v));
	v[4] += first;
	v[0] = first + s0 + majority;
}

static void sha256_fold(uint32_t *words, const uint8_t *block)
{
	uint32_t w[64], v[8];
	sha256_expand(w, block);
	memcpy(v, words, sizeof(v));
	for (unsigned i = 0; i < 64; i++)
		sha256_round(v, sha256_keys[i] + w[i]);
	for (unsigned i = 0; i < countof(v); i++)
		words[i] += v[i];
}

static void sha_add(struct sha *sha, struct str bytes)
{
	while (bytes.len) {
		size_t at = sha->len % BLOCK;
		size_t count = bytes.len < BLOCK - at ? bytes.len : BLOCK - at;
		memcpy(sha->block + at, bytes.ptr, count);
		sha->len += count;
		bytes = str_skip(bytes, count);
		if (at + count == BLOCK)
			sha->fold(sha->words, sha->block);
	}
}

static void sha_end(struct sha *sha, uint8_t *ret, unsigned words)
{
	static const char padding[BLOCK] = {(char)0x80};
	uint64_t bits = htobe64(sha->len * 8);
	size_t at = sha->len % BLOCK;
	sha_add(sha, str_n(padding, at < 56 ? 56 - at : 120 - at));
	sha_add(sha, str_n((const char *)&bits, sizeof(bits)));
	for (unsigned i = 0; i < words; i++) {
		uint32_t word = htobe32(sha->words[i]);
		memcpy(ret + 4 * i, &word, sizeof(word));
	}
}

void sha1(struct str bytes, uint8_t ret[SHA1_SIZE])
{
	struct sha sha = {
		.words = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0},
		.fold = sha1_fold,
	};
	sha_add(&sha, bytes);
	sha_end(&sha, ret, SHA1_SIZE / 4);
}

static struct sha sha256_begin(void)
{
	return (struct sha){
		.words = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
	                  0x5be0cd19},
		.fold = sha256_fold,
	};
}

void sha256(struct str bytes, uint8_t ret[SHA256_SIZE])
{
	struct sha sha = sha256_begin();
	sha_add(&sha, bytes);
	sha_end(&sha, ret, SHA256_SIZE / 4);
}

static void hmac_step(const uint8_t *key, uint8_t pad, struct str bytes, uint8_t *ret)
{
	struct sha sha = sha256_begin();
	uint8_t block[BLOCK];
	for (unsigned i = 0; i < BLOCK; i++)
		block[i] = key[i] ^ pad;
	sha_add(&sha, str_n((const char *)block, BLOCK));
	sha_add(&sha, bytes);
	sha_end(&sha, ret, SHA256_SIZE / 4);
}

void sha256_hex(const uint8_t hash[SHA256_SIZE], char ret[SHA256_TEXT_SIZE])
{
	for (size_t i = 0; i < SHA256_SIZE; i++)
		snprintf(ret + 2 * i, 3, "%02x", hash[i]);
}

void sha256_text(struct str bytes, char ret[SHA256_TEXT_SIZE])
{
	sha256_parts_text(&bytes, 1, ret);
}

void sha256_parts_text(const struct str *parts, size_t count, char ret[SHA256_TEXT_SIZE])
{
	struct sha sha = sha256_begin();
	uint8_t hash[SHA256_SIZE];
	for (size_t i = 0; i < count; i++)
		sha_add(&sha, parts[i]);
	sha_end(&sha, hash, SHA256_SIZE / 4);
	sha256_hex(hash, ret);
}

void sha256_hmac(struct str key, struct str bytes, uint8_t ret[SHA256_SIZE])
{
	uint8_t block[BLOCK] = {0}, inner[SHA256_SIZE];
	if (key.len > BLOCK)
		sha256(key, block);
	else if (key.len)
		memcpy(block, key.ptr, key.len);
	hmac_step(block, 0x36, bytes, inner);
	hmac_step(block, 0x5c, str_n((const char *)inner, sizeof(inner)), ret);
}
