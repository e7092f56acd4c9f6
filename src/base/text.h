/* text.h — UTF-8, truncation and base64, for text sent to models and clients. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

/* Length of the well-formed UTF-8 sequence at the start of s, or 0. */
size_t text_utf8_len(struct str s);
bool text_is_utf8(struct str s);
/* Length of the longest well-formed prefix of s. */
size_t text_utf8_prefix(struct str s);
/* Length of the ill-formed part at the start of s that one U+FFFD stands for; s must start with one. */
size_t text_ill_formed_len(struct str s);
/* Writes the UTF-8 of a code point (at most 0x10ffff, no surrogate) to `to`; its length, 1 to 4. */
size_t text_put_utf8(char *to, uint32_t point);
/* Appends s with each maximal ill-formed part replaced by U+FFFD. */
void text_append_utf8_lossy(struct buf *out, struct str s);

/* The same in one line, for names and paths within a text that has lines: what ends a line, and control and
 * bidirectional characters, which make a reader see another text, become \n, \r, \t or \u{HEX}. */
void text_append_line(struct buf *out, struct str s);

/* Without leading and trailing, or only trailing characters of Unicode's White_Space; str_trim knows ASCII alone. */
struct str text_trim(struct str s);
struct str text_trim_end(struct str s);

/* Largest n <= at on a character boundary of s; s must be UTF-8. */
size_t text_floor_boundary(struct str s, size_t at);

/* Approximate tokens of a text: ceil(bytes / 4). */
static inline size_t text_tokens(size_t bytes)
{
	return (bytes + 3) / 4;
}

enum text_unit { TEXT_BYTES, TEXT_TOKENS };
struct text_budget {
	enum text_unit unit;
	size_t limit;
};

/* The size of a budget in bytes. */
size_t text_budget_bytes(struct text_budget budget);
/* Appends s, truncated in the middle to the budget with the marker "…N tokens truncated…" or "…N chars truncated…";
 * unchanged if it fits. s must be UTF-8. */
void text_append_middle(struct buf *out, struct str s, struct text_budget budget);
/* The same, with "Total output lines: N" and a blank line before a truncated text. */
void text_append_output(struct buf *out, struct str s, struct text_budget budget);
/* Lines as Rust's str::lines counts them. */
size_t text_line_count(struct str s);
/* Code points of valid UTF-8. */
size_t text_char_count(struct str s);

void text_base64(struct buf *out, const void *bytes, size_t len);
/* False on anything but padded standard base64; decoded bytes are appended to out. */
bool text_base64_decode(struct buf *out, struct str s);

/* Percent-encodes a path for a file:// URL, and decodes one; malformed escapes are copied verbatim. */
void text_append_url_path(struct buf *out, struct str path);
void text_append_url_decoded(struct buf *out, struct str s);

#endif
