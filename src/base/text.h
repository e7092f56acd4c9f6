/* text.h — UTF-8, truncation and base64, for text sent to models and clients. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Returns the length of the well-formed UTF-8 sequence at the start of s, or 0. */
size_t text_utf8_len(struct str s);
bool text_is_utf8(struct str s);
/* Returns the length of the longest well-formed prefix of s. */
size_t text_utf8_prefix(struct str s);
/* Returns the length of s without a character at its end whose last bytes are missing. */
size_t text_utf8_whole(struct str s);
/* Returns the length of the ill-formed bytes at the start of s that one U+FFFD replaces; s must start with such
 * bytes. */
size_t text_ill_formed_len(struct str s);
/* Writes a code point (at most 0x10ffff, no surrogate) as UTF-8 to `to` and returns its length, 1 to 4. */
size_t text_put_utf8(char *to, uint32_t point);
/* Appends s with each maximal ill-formed part replaced by U+FFFD. */
void text_append_utf8_lossy(struct buf *out, struct str s);

/* As text_append_utf8_lossy, on one line: line ends, control characters and bidirectional ones become \n, \r, \t or
 * \u{HEX}. For names and paths in messages, so that a crafted name cannot imitate other text. */
void text_append_line(struct buf *out, struct str s);

/* These remove leading and trailing (or only trailing) characters with Unicode's White_Space property; str_trim
 * removes ASCII only. */
struct str text_trim(struct str s);
struct str text_trim_end(struct str s);

/* Returns the largest n <= at that is a character boundary of s, which must be UTF-8. */
size_t text_floor_boundary(struct str s, size_t at);

/* Estimates the number of tokens of a text: ceil(bytes / 4). */
static inline size_t text_tokens(size_t bytes)
{
	return (bytes + 3) / 4;
}

enum text_unit { TEXT_BYTES, TEXT_TOKENS };
struct text_budget {
	enum text_unit unit;
	size_t limit;
};

/* Returns the size of a budget in bytes. */
size_t text_budget_bytes(struct text_budget budget);
/* Appends s, which must be UTF-8; if it exceeds the budget its middle is replaced by "…N tokens truncated…" or "…N
 * chars truncated…". */
void text_append_middle(struct buf *out, struct str s, struct text_budget budget);
/* As text_append_middle, but a truncated text is preceded by "Total output lines: N" and a blank line. */
void text_append_output(struct buf *out, struct str s, struct text_budget budget);
/* Counts lines as Rust's str::lines does. */
size_t text_line_count(struct str s);
/* Returns the number of code points; s must be UTF-8. */
size_t text_char_count(struct str s);

void text_base64(struct buf *out, const void *bytes, size_t len);
/* Appends the decoded bytes to out; false on anything but padded standard base64. */
bool text_base64_decode(struct buf *out, struct str s);
/* The same in the URL-safe alphabet and without padding. */
void text_base64url(struct buf *out, const void *bytes, size_t len);
bool text_base64url_decode(struct buf *out, struct str s);

/* Percent-encodes a path for a file:// URL, and decodes one; malformed escapes are copied unchanged. */
void text_append_url_path(struct buf *out, struct str path);
void text_append_url_decoded(struct buf *out, struct str s);

#endif
