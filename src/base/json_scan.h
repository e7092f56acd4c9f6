/* json_scan.h — the inner loop that reader and writer share: how far a string is plain.
 *
 * Plain bytes are printable ASCII except the quote and the backslash: they stand in JSON as they are
 * and need no UTF-8 check. Internal to base/json_*.c. Any thread. */
#ifndef BASE_JSON_SCAN_H
#define BASE_JSON_SCAN_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

static inline bool json_is_plain(char c)
{
	return c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

#ifdef __SSE2__
enum { JSON_STRIDE = 16 };

/* Index of the first byte of 16 that is not plain; 16 if all are. */
static inline int json_plain_stride(const char *at)
{
	__m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
	/* The comparison is signed: bytes from 0x80 up are "less than a blank" as well. */
	__m128i special = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(0x20)),
				       _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
						    _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
	return __builtin_ctz((unsigned)_mm_movemask_epi8(special) | 0x10000u);
}
#else
enum { JSON_STRIDE = 8 };

/* Index of the first byte of 8 that is not plain; 8 if all are. A borrow out of a low byte can only
 * mark bytes above a true hit, so the word says "all plain" reliably and the bytes say where. */
static inline int json_plain_stride(const char *at)
{
	const uint64_t ones = 0x0101010101010101u, tops = 0x8080808080808080u;
	uint64_t word;
	memcpy(&word, at, sizeof(word));
	uint64_t quote = word ^ ones * '"', slash = word ^ ones * '\\';
	int plain = 0;
	if (!((word | (word - ones * 0x20) | (quote - ones) | (slash - ones)) & tops))
		return JSON_STRIDE;
	while (plain < JSON_STRIDE && json_is_plain(at[plain]))
		plain++;
	return plain;
}
#endif

/* First byte in [at, end) that is not plain, or end. */
static inline const char *json_skip_plain(const char *at, const char *end)
{
	while (end - at >= JSON_STRIDE) {
		int plain = json_plain_stride(at);
		at += plain;
		if (plain < JSON_STRIDE)
			return at;
	}
	while (at < end && json_is_plain(*at))
		at++;
	return at;
}

#endif
