/* Text is cut at character boundaries only: providers answer incomplete characters with HTTP 400. The budgets and
 * the markers of truncation are those of codex 0.169, because clients and models know them. */
#include "base/text.h"

#include "base/mem.h"

#include <stdint.h>

static bool is_continuation(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Follows table 3-7 of the Unicode standard: the first byte determines the range of the second. */
size_t text_utf8_len(struct str s)
{
	if (s.len == 0)
		return 0;
	const unsigned char *p = (const unsigned char *)s.ptr;
	unsigned char lead = p[0], low = 0x80, high = 0xbf;
	size_t len;
	if (lead < 0x80)
		return 1;
	if (lead < 0xc2 || lead > 0xf4)
		return 0;
	if (lead < 0xe0) {
		len = 2;
	} else if (lead < 0xf0) {
		len = 3;
		if (lead == 0xe0)
			low = 0xa0;
		if (lead == 0xed)
			high = 0x9f;
	} else {
		len = 4;
		if (lead == 0xf0)
			low = 0x90;
		if (lead == 0xf4)
			high = 0x8f;
	}
	if (s.len < len || p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++) {
		if (!is_continuation(p[i]))
			return 0;
	}
	return len;
}

/* Returns the length of the ASCII run at the start of s, rounded down to whole blocks. */
static size_t ascii_blocks(struct str s)
{
	typedef uint64_t lane __attribute__((vector_size(16), aligned(1), may_alias));
	size_t at = 0;
	enum { LANES = 4, BLOCK = LANES * sizeof(lane) };
	for (; at + BLOCK <= s.len; at += BLOCK) {
		const lane *block = (const lane *)(s.ptr + at);
		lane all = block[0] | block[1] | block[2] | block[3];
		if ((all[0] | all[1]) & 0x8080808080808080u)
			break;
	}
	return at;
}

size_t text_utf8_prefix(struct str s)
{
	size_t at = ascii_blocks(s);
	while (at < s.len) {
		uint64_t word;
		if (at + sizeof(word) <= s.len) {
			memcpy(&word, s.ptr + at, sizeof(word));
			if (!(word & 0x8080808080808080u)) {
				at += sizeof(word);
				continue;
			}
		}
		size_t len = text_utf8_len(str_skip(s, at));
		if (len == 0)
			return at;
		at += len;
	}
	return at;
}

bool text_is_utf8(struct str s)
{
	return text_utf8_prefix(s) == s.len;
}

size_t text_utf8_whole(struct str s)
{
	for (size_t tail = 1; tail <= 3 && tail <= s.len; tail++) { /* a character has at most 4 bytes */
		unsigned char c = (unsigned char)s.ptr[s.len - tail];
		if ((c & 0xc0) == 0x80)
			continue;
		return c >= 0xc0 && !text_utf8_len(str_skip(s, s.len - tail)) ? s.len - tail : s.len;
	}
	return s.len;
}

size_t text_ill_formed_len(struct str s)
{
	unsigned char lead = (unsigned char)s.ptr[0];
	size_t want = lead >= 0xf0 && lead <= 0xf4  ? 4
	              : lead >= 0xe0 && lead < 0xf0 ? 3
	              : lead >= 0xc2 && lead < 0xe0 ? 2
	                                            : 1;
	for (size_t len = want - 1; len > 1; len--) {
		char padded[4];
		if (s.len < len)
			continue;
		memcpy(padded, s.ptr, len);
		memset(padded + len, 0x80, sizeof(padded) - len);
		if (text_utf8_len(str_n(padded, want)) == want)
			return len;
		memset(padded + len, 0xbf, sizeof(padded) - len);
		if (text_utf8_len(str_n(padded, want)) == want)
			return len;
	}
	return 1;
}

void text_append_utf8_lossy(struct buf *out, struct str s)
{
	while (s.len) {
		size_t good = text_utf8_prefix(s);
		buf_append(out, s.ptr, good);
		s = str_skip(s, good);
		if (s.len == 0)
			return;
		buf_append_c(out, "\xef\xbf\xbd");
		s = str_skip(s, text_ill_formed_len(s));
	}
}

/* Returns the code point of s, one well-formed UTF-8 sequence. */
static uint32_t decode_point(struct str s)
{
	static const uint8_t first[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t point = (unsigned char)s.ptr[0] & first[s.len];
	for (size_t i = 1; i < s.len; i++)
		point = point << 6 | ((unsigned char)s.ptr[i] & 0x3f);
	return point;
}

static bool breaks_line(uint32_t point)
{
	return point < 0x20 || (point >= 0x7f && point < 0xa0) || point == 0x61c || point == 0x200e ||
	       point == 0x200f || (point >= 0x2028 && point <= 0x202e) || (point >= 0x2066 && point <= 0x2069);
}

static void append_escaped(struct buf *out, uint32_t point)
{
	static const char *const names[] = {['\t'] = "\\t", ['\n'] = "\\n", ['\r'] = "\\r"};
	if (point < countof(names) && names[point])
		buf_append_c(out, names[point]);
	else
		buf_printf(out, "\\u{%x}", point);
}

void text_append_line(struct buf *out, struct str s)
{
	while (s.len) {
		size_t len = text_utf8_len(s);
		struct str part = str_n(s.ptr, len ? len : text_ill_formed_len(s));
		uint32_t point = len ? decode_point(part) : 0xfffd;
		if (breaks_line(point))
			append_escaped(out, point);
		else
			text_append_utf8_lossy(out, part);
		s = str_skip(s, part.len);
	}
}

/* Returns the code point of the well-formed sequence of len bytes at p. */
static uint32_t decode(const char *p, size_t len)
{
	const unsigned char *u = (const unsigned char *)p;
	if (len == 1)
		return u[0];
	uint32_t code = u[0] & (0x7fu >> len);
	for (size_t i = 1; i < len; i++)
		code = code << 6 | (u[i] & 0x3f);
	return code;
}

/* True for characters with Unicode's White_Space property. */
static bool is_white_space(uint32_t code)
{
	if (code < 0x80)
		return code == ' ' || (code >= '\t' && code <= '\r');
	return code == 0x85 || code == 0xa0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200a) || code == 0x2028 ||
	       code == 0x2029 || code == 0x202f || code == 0x205f || code == 0x3000;
}

static struct str trim_start(struct str s)
{
	size_t len;
	while ((len = text_utf8_len(s)) != 0 && is_white_space(decode(s.ptr, len)))
		s = str_skip(s, len);
	return s;
}

struct str text_trim_end(struct str s)
{
	while (s.len) {
		size_t at = s.len - 1;
		while (at > 0 && s.len - at < 4 && is_continuation((unsigned char)s.ptr[at]))
			at--;
		struct str last = str_skip(s, at);
		if (text_utf8_len(last) != last.len || !is_white_space(decode(last.ptr, last.len)))
			return s;
		s.len = at;
	}
	return s;
}

struct str text_trim(struct str s)
{
	return text_trim_end(trim_start(s));
}

size_t text_put_utf8(char *to, uint32_t point)
{
	if (point < 0x80) {
		to[0] = (char)point;
		return 1;
	}
	if (point < 0x800) {
		to[0] = (char)(0xc0 | point >> 6);
		to[1] = (char)(0x80 | (point & 0x3f));
		return 2;
	}
	if (point < 0x10000) {
		to[0] = (char)(0xe0 | point >> 12);
		to[1] = (char)(0x80 | (point >> 6 & 0x3f));
		to[2] = (char)(0x80 | (point & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | point >> 18);
	to[1] = (char)(0x80 | (point >> 12 & 0x3f));
	to[2] = (char)(0x80 | (point >> 6 & 0x3f));
	to[3] = (char)(0x80 | (point & 0x3f));
	return 4;
}

size_t text_floor_boundary(struct str s, size_t at)
{
	if (at >= s.len)
		return s.len;
	while (at > 0 && is_continuation((unsigned char)s.ptr[at]))
		at--;
	return at;
}

/* Returns the smallest n >= at that is a character boundary of s. */
static size_t ceil_boundary(struct str s, size_t at)
{
	while (at < s.len && is_continuation((unsigned char)s.ptr[at]))
		at++;
	return at < s.len ? at : s.len;
}

size_t text_char_count(struct str s)
{
	size_t count = 0;
	for (size_t i = 0; i < s.len; i++)
		count += !is_continuation((unsigned char)s.ptr[i]);
	return count;
}

size_t text_budget_bytes(struct text_budget budget)
{
	size_t bytes = budget.limit;
	if (budget.unit == TEXT_TOKENS && __builtin_mul_overflow(bytes, (size_t)4, &bytes))
		bytes = SIZE_MAX;
	return bytes;
}

void text_append_middle(struct buf *out, struct str s, struct text_budget budget)
{
	size_t room = text_budget_bytes(budget);
	if (s.len <= room) {
		buf_append_str(out, s);
		return;
	}
	size_t head = text_floor_boundary(s, room / 2);
	size_t tail = ceil_boundary(s, s.len - (room - room / 2));
	if (tail < head)
		tail = head;
	buf_append(out, s.ptr, head);
	if (budget.unit == TEXT_TOKENS)
		buf_printf(out, "…%zu tokens truncated…", text_tokens(s.len - room));
	else
		buf_printf(out, "…%zu chars truncated…", text_char_count(str_n(s.ptr + head, tail - head)));
	buf_append_str(out, str_skip(s, tail));
}

size_t text_line_count(struct str s)
{
	size_t count = 0;
	struct str line;
	while (str_next_line(&s, &line))
		count++;
	return count;
}

void text_append_output(struct buf *out, struct str s, struct text_budget budget)
{
	if (s.len > text_budget_bytes(budget))
		buf_printf(out, "Total output lines: %zu\n\n", text_line_count(s));
	text_append_middle(out, s, budget);
}

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void text_base64(struct buf *out, const void *bytes, size_t len)
{
	const unsigned char *in = bytes;
	size_t size = (len + 2) / 3 * 4;
	char *to = buf_reserve(out, size);
	if (!to)
		return;
	for (size_t i = 0; i < len; i += 3) {
		uint32_t group = (uint32_t)in[i] << 16;
		if (i + 1 < len)
			group |= (uint32_t)in[i + 1] << 8;
		if (i + 2 < len)
			group |= in[i + 2];
		*to++ = base64_digits[group >> 18];
		*to++ = base64_digits[group >> 12 & 63];
		*to++ = i + 1 < len ? base64_digits[group >> 6 & 63] : '=';
		*to++ = i + 2 < len ? base64_digits[group & 63] : '=';
	}
	out->len += size;
	out->data[out->len] = '\0';
}

static int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool text_base64_decode(struct buf *out, struct str s)
{
	if (s.len % 4 != 0)
		return false;
	buf_reserve(out, s.len / 4 * 3);
	for (size_t i = 0; i < s.len; i += 4) {
		bool last = i + 4 == s.len;
		int pad = last && s.ptr[i + 3] == '=' ? (s.ptr[i + 2] == '=' ? 2 : 1) : 0;
		uint32_t group = 0;
		for (size_t k = 0; k < 4; k++) {
			int value = k >= (size_t)(4 - pad) ? 0 : base64_value(s.ptr[i + k]);
			if (value < 0)
				return false;
			group = group << 6 | (uint32_t)value;
		}
		char bytes[3] = {(char)(group >> 16), (char)(group >> 8), (char)group};
		buf_append(out, bytes, (size_t)(3 - pad));
	}
	return true;
}

void text_base64url(struct buf *out, const void *bytes, size_t len)
{
	size_t start = out->len;
	text_base64(out, bytes, len);
	if (out->over)
		return;
	while (out->len > start && out->data[out->len - 1] == '=')
		buf_truncate(out, out->len - 1);
	for (size_t i = start; i < out->len; i++) {
		char c = out->data[i];
		out->data[i] = c == '+' ? '-' : c == '/' ? '_' : c;
	}
}

bool text_base64url_decode(struct buf *out, struct str s)
{
	auto_buf struct buf text;
	buf_init(&text, s.len + 4);
	for (size_t i = 0; i < s.len; i++) {
		char c = s.ptr[i];
		if (c == '+' || c == '/' || c == '=')
			return false;
		buf_append_char(&text, c == '-' ? '+' : c == '_' ? '/' : c);
	}
	while (text.len % 4)
		buf_append_char(&text, '=');
	return text_base64_decode(out, buf_str(&text));
}

void text_append_url_path(struct buf *out, struct str path)
{
	for (size_t i = 0; i < path.len; i++) {
		unsigned char c = (unsigned char)path.ptr[i];
		if (c > ' ' && c < 0x7f && !strchr("\"#%<>?\\`{}", c))
			buf_append_char(out, (char)c);
		else
			buf_printf(out, "%%%02X", c);
	}
}

void text_append_url_decoded(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.len; i++) {
		bool is_code = s.ptr[i] == '%' && s.len - i > 2 && str_hex_digit(s.ptr[i + 1]) >= 0 &&
		               str_hex_digit(s.ptr[i + 2]) >= 0;
		if (is_code) {
			buf_append_char(out, (char)(str_hex_digit(s.ptr[i + 1]) * 16 + str_hex_digit(s.ptr[i + 2])));
			i += 2;
		} else {
			buf_append_char(out, s.ptr[i]);
		}
	}
}
