/* str.h — a slice of bytes: pointer and length, borrowed, not NUL-terminated.
 * A slice does not own its bytes; the function that returns it documents their lifetime. The exception is a slice made
 * by str_copy, which owns its bytes until str_free. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct str {
	const char *ptr; /* an absent optional field has NULL, an empty text does not */
	size_t len;
};

#define STR(literal) ((struct str){"" literal "", sizeof(literal) - 1})
#define STR_NONE ((struct str){NULL, 0})
/* For printf: "%.*s", STR_ARG(s). The precision is an int: printf cannot write texts of 2 GiB. */
#define STR_ARG(s) (int)((s).len & 0x7fffffff), ((s).ptr ? (s).ptr : "")

inline struct str str_of(const char *text)
{
	return (struct str){text, text ? strlen(text) : 0};
}

inline struct str str_n(const char *ptr, size_t len)
{
	return (struct str){ptr, len};
}

/* Hot files contain the small functions; files that are compiled for size call them. */
#ifdef CODEX_SMALL
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *text);
#else
inline bool str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

inline bool str_is(struct str a, const char *text)
{
	return str_eq(a, str_of(text));
}
#endif

inline struct str str_skip(struct str s, size_t count)
{
	return count > 0 ? str_n(s.ptr + count, s.len - count) : s; /* NULL + 0 is undefined */
}

bool str_has_prefix(struct str s, const char *prefix);
bool str_has_suffix(struct str s, const char *suffix);
/* If s starts with prefix, removes it and returns true. */
bool str_cut_prefix(struct str *s, const char *prefix);
/* Compares in a time that depends on the lengths alone: for secrets. */
bool str_eq_secret(struct str a, struct str b);
bool str_equal_fold(struct str a, struct str b); /* ASCII case-insensitive equality */
bool str_contains_fold(struct str text, struct str part);
int str_compare(struct str a, struct str b); /* bytewise, as memcmp then length */

/* Returns the index of the first needle, or -1. */
ptrdiff_t str_find(struct str s, struct str needle);
ptrdiff_t str_find_char(struct str s, char c);
ptrdiff_t str_rfind_char(struct str s, char c);

/* Removes leading and/or trailing ASCII white space (space, \t \n \v \f \r). */
struct str str_trim(struct str s);
struct str str_trim_start(struct str s);
struct str str_trim_end(struct str s);

/* The value of a hexadecimal digit in either case; -1 for any other character. */
static inline int str_hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

static inline bool str_has_nul(struct str s)
{
	return s.len && memchr(s.ptr, '\0', s.len);
}

/* True if s holds nothing but ASCII white space. */
static inline bool str_is_blank(struct str s)
{
	return str_trim(s).len == 0;
}

/* Cuts the next line off *rest (without its "\n"; a trailing "\r" stays). False when rest is empty. */
bool str_next_line(struct str *rest, struct str *ret_line);
/* Cuts up to `separator` off *rest. False when rest.ptr is NULL (all parts taken). */
bool str_next_part(struct str *rest, char separator, struct str *ret_part);

/* These parse a whole string as a decimal integer; false on anything else and on overflow. */
bool str_to_i64(struct str s, int64_t *ret);
bool str_to_u64(struct str s, uint64_t *ret);
bool str_to_double(struct str s, double *ret);

/* Returns a NUL-terminated copy, owned by the caller. */
char *str_dup(struct str s);
/* Returns an owned, NUL-terminated slice, to be freed with str_free. STR_NONE stays STR_NONE. */
struct str str_copy(struct str s);
/* Frees the bytes of an owned slice and sets it to STR_NONE. */
void str_free(struct str *s);

/* Returns the FNV-1a hash of s. */
uint64_t str_hash(struct str s);
/* A fast hash that resists crafted collisions as long as key is random and secret. */
uint64_t str_hash_keyed(struct str s, uint64_t key);

#endif
