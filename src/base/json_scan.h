/* json_scan.h — the inner loop that reader and writer share: how far a string is plain.
 *
 * Plain bytes are printable ASCII except the quote and the backslash: they stand in JSON as they are
 * and need no UTF-8 check. Eight bytes at a time in an ordinary register: SSE2 measured no faster for
 * short strings and slower for long ones. Internal to base/json_*.c. Any thread. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline bool json_is_plain(char c)
{
	return c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* Sets the top bit of each of the eight bytes that is not plain. A borrow can set it falsely in a byte above a true
 * hit, so the lowest set bit and a result of 0 are exact. */
static inline uint64_t json_special(uint64_t word)
{
	const uint64_t ones = 0x0101010101010101u;
	uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
	return (word | (word - ones * 0x20) | (quote - ones) | (slash - ones)) & ones * 0x80;
}

/* Returns the first byte in [at, end) that is not plain, or end. */
static inline const char *json_skip_plain(const char *at, const char *end)
{
	uint64_t word;
	while ((size_t)(end - at) >= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		uint64_t special = json_special(word);
		if (special)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
			return at + __builtin_ctzll(special) / 8;
#else
			break;
#endif
		at += sizeof(word);
	}
	while (at < end && json_is_plain(*at))
		at++;
	return at;
}

#endif
