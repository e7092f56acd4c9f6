/* Slices let parsers avoid copies: the text of a model's delta is read in libcurl's buffer. */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <strings.h>

#include "base/mem.h"

extern struct str str_of(const char *text);
extern struct str str_n(const char *ptr, size_t len);
extern bool str_eq(struct str a, struct str b);
extern bool str_is(struct str a, const char *text);
extern struct str str_skip(struct str s, size_t count);

bool str_has_prefix(struct str s, const char *prefix)
{
	size_t len = strlen(prefix);
	return s.len >= len && memcmp(s.ptr, prefix, len) == 0;
}

bool str_has_suffix(struct str s, const char *suffix)
{
	size_t len = strlen(suffix);
	return s.len >= len && memcmp(s.ptr + s.len - len, suffix, len) == 0;
}

bool str_cut_prefix(struct str *s, const char *prefix)
{
	if (!str_has_prefix(*s, prefix))
		return false;
	*s = str_skip(*s, strlen(prefix));
	return true;
}

/* The time depends on the length alone; volatile keeps the compiler from returning at the first difference. */
bool str_eq_secret(struct str a, struct str b)
{
	volatile unsigned char difference = a.len != b.len;
	for (size_t i = 0; i < a.len && i < b.len; i++)
		difference |= (unsigned char)a.ptr[i] ^ (unsigned char)b.ptr[i];
	return difference == 0;
}

bool str_equal_fold(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || strncasecmp(a.ptr, b.ptr, a.len) == 0);
}

bool str_contains_fold(struct str text, struct str part)
{
	for (size_t i = 0; i + part.len <= text.len; i++) {
		if (str_equal_fold(str_n(text.ptr + i, part.len), part))
			return true;
	}
	return false;
}

int str_compare(struct str a, struct str b)
{
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = shorter ? memcmp(a.ptr, b.ptr, shorter) : 0;
	if (order != 0)
		return order;
	return (a.len > b.len) - (a.len < b.len);
}

ptrdiff_t str_find(struct str s, struct str needle)
{
	if (needle.len == 0)
		return 0;
	if (s.len < needle.len)
		return -1;
	const char *hit = memmem(s.ptr, s.len, needle.ptr, needle.len);
	return hit ? hit - s.ptr : -1;
}

ptrdiff_t str_find_char(struct str s, char c)
{
	const char *hit = s.len ? memchr(s.ptr, c, s.len) : NULL;
	return hit ? hit - s.ptr : -1;
}

ptrdiff_t str_rfind_char(struct str s, char c)
{
	const char *hit = s.len ? memrchr(s.ptr, c, s.len) : NULL;
	return hit ? hit - s.ptr : -1;
}

static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

struct str str_trim_start(struct str s)
{
	while (s.len && is_space(s.ptr[0]))
		s = str_skip(s, 1);
	return s;
}

struct str str_trim_end(struct str s)
{
	while (s.len && is_space(s.ptr[s.len - 1]))
		s.len--;
	return s;
}

struct str str_trim(struct str s)
{
	return str_trim_end(str_trim_start(s));
}

bool str_next_line(struct str *rest, struct str *ret_line)
{
	if (rest->len == 0)
		return false;
	ptrdiff_t end = str_find_char(*rest, '\n');
	if (end < 0) {
		*ret_line = *rest;
		*rest = str_skip(*rest, rest->len);
		return true;
	}
	*ret_line = str_n(rest->ptr, (size_t)end);
	*rest = str_skip(*rest, (size_t)end + 1);
	return true;
}

bool str_next_part(struct str *rest, char separator, struct str *ret_part)
{
	if (!rest->ptr)
		return false;
	ptrdiff_t end = str_find_char(*rest, separator);
	if (end < 0) {
		*ret_part = *rest;
		*rest = STR_NONE;
		return true;
	}
	*ret_part = str_n(rest->ptr, (size_t)end);
	*rest = str_skip(*rest, (size_t)end + 1);
	return true;
}

bool str_to_u64(struct str s, uint64_t *ret)
{
	uint64_t value = 0;
	if (s.len == 0)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		if (s.ptr[i] < '0' || s.ptr[i] > '9')
			return false;
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(s.ptr[i] - '0'), &value))
			return false;
	}
	*ret = value;
	return true;
}

bool str_to_i64(struct str s, int64_t *ret)
{
	bool negative = s.len && s.ptr[0] == '-';
	uint64_t magnitude;
	if (!str_to_u64(negative ? str_skip(s, 1) : s, &magnitude))
		return false;
	if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0))
		return false;
	*ret = negative ? (int64_t)(0 - magnitude) : (int64_t)magnitude;
	return true;
}

bool str_to_double(struct str s, double *ret)
{
	char text[64];
	if (s.len == 0 || s.len >= sizeof(text) || isspace((unsigned char)s.ptr[0]))
		return false;
	memcpy(text, s.ptr, s.len);
	text[s.len] = '\0';
	char *end;
	double value = strtod(text, &end);
	if (*end != '\0')
		return false;
	*ret = value;
	return true;
}

char *str_dup(struct str s)
{
	return xstrndup(s.ptr, s.len);
}

struct str str_copy(struct str s)
{
	return s.ptr ? str_n(str_dup(s), s.len) : STR_NONE;
}

void str_free(struct str *s)
{
	free((char *)(uintptr_t)s->ptr);
	*s = STR_NONE;
}

uint64_t str_hash(struct str s)
{
	uint64_t hash = 14695981039346656037u;
	for (size_t i = 0; i < s.len; i++)
		hash = (hash ^ (unsigned char)s.ptr[i]) * 1099511628211u;
	return hash;
}

/* Folds a 128-bit product: every bit of a and b affects every bit of the result. */
static uint64_t fold_product(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;
	return (uint64_t)(product >> 64) ^ (uint64_t)product;
}

uint64_t str_hash_keyed(struct str s, uint64_t key)
{
	uint64_t hash = key ^ s.len, word;
	for (; s.len >= sizeof(word); s = str_skip(s, sizeof(word))) {
		memcpy(&word, s.ptr, sizeof(word));
		hash = fold_product(word ^ key, hash ^ 0x9e3779b97f4a7c15u);
	}
	word = 0;
	if (s.len)
		memcpy(&word, s.ptr, s.len);
	return fold_product(word ^ key, hash ^ 0x9e3779b97f4a7c15u);
}
