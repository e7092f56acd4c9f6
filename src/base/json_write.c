/* The writer appends directly: no tree, no second pass. Text is mostly plain, so a string is scanned eight bytes at a
 * time and copied in one piece up to the first byte that needs escaping. */
#include "base/json.h"

#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json_scan.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

/* Writes a comma if one is due, then the bytes, with one reservation for both. */
static void put(struct json_writer *w, const char *bytes, size_t len)
{
	char *to = buf_reserve(w->out, len + w->comma);
	if (!to)
		return;
	if (w->comma)
		*to++ = ',';
	memcpy(to, bytes, len);
	to[len] = '\0';
	w->out->len += len + w->comma;
	w->comma = true;
}

static void escape_char(struct buf *out, unsigned char c)
{
	static const char hex[] = "0123456789abcdef";
	static const char letters[32] = {['\b'] = 'b', ['\f'] = 'f', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
	char letter = c >= 0x20 ? (char)c : letters[c];
	if (letter)
		buf_append(out, (char[]){'\\', letter}, 2);
	else
		buf_append(out, (char[]){'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]}, 6);
}

/* Writes the rest of a string from its first byte that needs escaping. */
static void escape(struct buf *out, const char *at, const char *end)
{
	while (at < end) {
		const char *run = at;
		if ((unsigned char)*at >= 0x80) {
			while (at < end && (unsigned char)*at >= 0x80)
				at++;
			text_append_utf8_lossy(out, str_n(run, (size_t)(at - run)));
		} else {
			escape_char(out, (unsigned char)*at++);
		}
		run = at;
		at = json_skip_plain(at, end);
		buf_append(out, run, (size_t)(at - run));
	}
}

/* prefix and suffix are single bytes; '\0' stands for none. */
static void quote(struct buf *out, char prefix, struct str text, char suffix)
{
	size_t around = 2 + (prefix != 0) + (suffix != 0);
	char *to = buf_reserve(out, text.len + around);
	if (!to)
		return;
	const char *end = text.ptr + text.len;
	size_t plain = (size_t)(json_skip_plain(text.ptr, end) - text.ptr);
	if (prefix)
		*to++ = prefix;
	*to++ = '"';
	memcpy(to, text.ptr, plain);
	to += plain;
	*to = '\0';
	out->len = (size_t)(to - out->data);
	if (plain < text.len) {
		escape(out, text.ptr + plain, end);
		to = buf_reserve(out, 1 + (suffix != 0));
		if (!to)
			return;
	}
	*to++ = '"';
	if (suffix)
		*to++ = suffix;
	*to = '\0';
	out->len = (size_t)(to - out->data);
}

void json_quote(struct buf *out, struct str text)
{
	quote(out, '\0', text.ptr ? text : STR(""), '\0');
}

/* No comma follows an opening bracket or precedes a closing one. */
static void put_open(struct json_writer *w, const char *bracket)
{
	put(w, bracket, 1);
	w->comma = false;
}

static void put_close(struct json_writer *w, const char *bracket)
{
	w->comma = false;
	put(w, bracket, 1);
	w->comma = true;
}

void jw_object(struct json_writer *w)
{
	put_open(w, "{");
}

void jw_object_end(struct json_writer *w)
{
	put_close(w, "}");
}

void jw_array(struct json_writer *w)
{
	put_open(w, "[");
}

void jw_array_end(struct json_writer *w)
{
	put_close(w, "]");
}

void jw_key(struct json_writer *w, const char *key)
{
	jw_key_str(w, str_of(key));
}

void jw_key_str(struct json_writer *w, struct str key)
{
	quote(w->out, w->comma ? ',' : '\0', key.ptr ? key : STR(""), ':');
	w->comma = false;
}

static bool is_left_out(const struct json_writer *w, struct str text)
{
	return w->aside && !w->aside->text.ptr && text.len >= LIMIT_SHARED_TEXT &&
	       json_skip_plain(text.ptr, text.ptr + text.len) == text.ptr + text.len;
}

void jw_str(struct json_writer *w, struct str text)
{
	if (!text.ptr) {
		jw_null(w);
		return;
	}
	bool is_aside = is_left_out(w, text);
	quote(w->out, w->comma ? ',' : '\0', is_aside ? STR("") : text, '\0');
	if (is_aside)
		*w->aside = (struct json_aside){text, w->out->len - 1};
	w->comma = true;
}

void jw_cstr(struct json_writer *w, const char *text)
{
	jw_str(w, str_of(text));
}

void jw_strf(struct json_writer *w, const char *format, ...)
{
	char small[256];
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int len = vsnprintf(small, sizeof(small), format, args);
	va_end(args);
	auto_free char *large = NULL;
	if (len >= (int)sizeof(small)) {
		large = xmalloc((size_t)len + 1);
		vsnprintf(large, (size_t)len + 1, format, again);
	}
	va_end(again);
	jw_str(w, str_n(large ? large : small, len < 0 ? 0 : (size_t)len));
}

static void put_decimal(struct json_writer *w, bool negative, uint64_t value)
{
	char digits[24], *end = digits + sizeof(digits), *at = end;
	do {
		*--at = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	if (negative)
		*--at = '-';
	put(w, at, (size_t)(end - at));
}

void jw_i64(struct json_writer *w, int64_t value)
{
	put_decimal(w, value < 0, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

void jw_u64(struct json_writer *w, uint64_t value)
{
	put_decimal(w, false, value);
}

/* Tries 15 digits first, which keeps short decimals short; 17 digits always read back exactly. Ignores the host
 * program's locale. (For "C" neither glibc nor musl allocates.) */
void jw_double(struct json_writer *w, double value)
{
	if (!isfinite(value)) {
		jw_null(w);
		return;
	}
	char text[32];
	int len = 0;
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0), before = uselocale(c);
	for (int digits = 15; digits <= 17; digits++) {
		len = snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	uselocale(before);
	freelocale(c);
	put(w, text, (size_t)len);
}

void jw_bool(struct json_writer *w, bool value)
{
	put(w, value ? "true" : "false", value ? 4 : 5);
}

void jw_null(struct json_writer *w)
{
	put(w, "null", 4);
}

void jw_raw(struct json_writer *w, struct str json)
{
	if (json.len)
		put(w, json.ptr, json.len);
	else
		jw_null(w);
}

void jw_value(struct json_writer *w, const struct json *node)
{
	jw_raw(w, node ? node->span : STR_NONE);
}

void jw_member_str(struct json_writer *w, const char *key, struct str text)
{
	jw_key(w, key);
	jw_str(w, text);
}

void jw_member_cstr(struct json_writer *w, const char *key, const char *text)
{
	jw_key(w, key);
	jw_cstr(w, text);
}

void jw_member_i64(struct json_writer *w, const char *key, int64_t value)
{
	jw_key(w, key);
	jw_i64(w, value);
}

void jw_member_bool(struct json_writer *w, const char *key, bool value)
{
	jw_key(w, key);
	jw_bool(w, value);
}

void jw_member_raw(struct json_writer *w, const char *key, struct str json)
{
	jw_key(w, key);
	jw_raw(w, json);
}

/* ---- indentation ---- */

/* The writer produces a single line, as protocols need it. For files that people read, the text is indented
 * afterwards; only white space changes. */
static void new_line(struct buf *out, size_t depth)
{
	buf_append_char(out, '\n');
	while (depth--)
		buf_append_c(out, "  ");
}

/* Copies the string that begins at `at`, quotes included; returns the position after it. */
static size_t copy_string(struct buf *out, struct str json, size_t at)
{
	size_t end = at + 1;
	while (end < json.len && json.ptr[end] != '"')
		end += json.ptr[end] == '\\' ? 2 : 1;
	end = end < json.len ? end + 1 : json.len;
	buf_append(out, json.ptr + at, end - at);
	return end;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

static size_t skip_space(struct str json, size_t at)
{
	while (at < json.len && is_space(json.ptr[at]))
		at++;
	return at;
}

/* Keeps an empty object or array on one line. Returns the position after it. */
static size_t open_level(struct buf *out, struct str json, size_t at, size_t *depth)
{
	size_t next = skip_space(json, at + 1);
	buf_append_char(out, json.ptr[at]);
	if (next < json.len && (json.ptr[next] == '}' || json.ptr[next] == ']')) {
		buf_append_char(out, json.ptr[next]);
		return next + 1;
	}
	new_line(out, ++*depth);
	return next;
}

static void close_level(struct buf *out, char c, size_t *depth)
{
	*depth -= *depth > 0;
	new_line(out, *depth);
	buf_append_char(out, c);
}

void json_indent(struct buf *out, struct str json)
{
	size_t depth = 0;
	for (size_t at = skip_space(json, 0); at < json.len; at = skip_space(json, at)) {
		char c = json.ptr[at];
		if (c == '"') {
			at = copy_string(out, json, at);
			continue;
		}
		if (c == '{' || c == '[') {
			at = open_level(out, json, at, &depth);
			continue;
		}
		at++;
		if (c == '}' || c == ']')
			close_level(out, c, &depth);
		else
			buf_append_char(out, c);
		if (c == ',')
			new_line(out, depth);
		if (c == ':')
			buf_append_char(out, ' ');
	}
}
