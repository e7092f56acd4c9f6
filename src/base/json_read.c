/* One pass, one node per value, and slices instead of copies: most of a model's stream is plain text that stays in the
 * receive buffer. A string is validated and measured first; only one with escapes is decoded, into exactly the memory
 * it needs. Recursion is bounded by LIMIT_JSON_DEPTH. An error's line and column are counted only when it occurs. */
#include "base/json.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json_scan.h"
#include "base/limits.h"
#include "base/text.h"

struct reader {
	struct arena *arena;
	struct error *err;
	const char *start;
	const char *at;
	const char *end;
	unsigned depth;
	unsigned values;
};

static bool read_value(struct reader *r, struct json *node);

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static bool __attribute__((format(printf, 4, 5), cold))
fail_at(struct reader *r, const char *at, enum error_code code, const char *format, ...)
{
	size_t line = 1, column = 1;
	for (const char *p = r->start; p < at; p++) {
		if (*p == '\n') {
			line++;
			column = 1;
		} else if (!is_continuation(*p)) {
			column++;
		}
	}
	char what[256];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	error_set(r->err, code, "line %zu column %zu: %s", line, column, what);
	return false;
}

/* Sets the error "expected <wanted>, found <character>". */
static bool __attribute__((cold)) fail_expected(struct reader *r, const char *wanted)
{
	if (r->at == r->end)
		return fail_at(r, r->at, ERR_invalid, "expected %s, found the end of the text", wanted);
	unsigned char c = (unsigned char)*r->at;
	if (c > 0x20 && c < 0x7f)
		return fail_at(r, r->at, ERR_invalid, "expected %s, found '%c'", wanted, c);
	return fail_at(r, r->at, ERR_invalid, "expected %s, found byte 0x%02x", wanted, c);
}

static inline void skip_blanks(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t'))
		r->at++;
}

static inline bool take(struct reader *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* ---- strings ---- */

/* The code unit of "\uXXXX" at `at`, or -1 if malformed. */
static int32_t code_unit(const char *at, const char *end)
{
	int32_t unit = 0;
	if (end - at < 6 || at[0] != '\\' || at[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		int digit = str_hex_digit(at[i]);
		if (digit < 0)
			return -1;
		unit = unit << 4 | digit;
	}
	return unit;
}

/* The character of the escape "\uXXXX" or pair of escapes at *at, which moves past it; -1 if malformed. */
static int32_t take_code_point(const char **at, const char *end)
{
	int32_t unit = code_unit(*at, end);
	if (unit < 0 || (unit & 0xfc00) == 0xdc00)
		return -1;
	*at += 6;
	if ((unit & 0xfc00) != 0xd800)
		return unit;
	int32_t low = code_unit(*at, end);
	if ((low & 0xfffffc00) != 0xdc00)
		return -1;
	*at += 6;
	return 0x10000 + ((unit & 0x3ff) << 10) + (low & 0x3ff);
}

/* The character of a one-letter escape; 0 if the letter is not one. */
static char short_escape(char letter)
{
	switch (letter) {
	case '"':
	case '\\':
	case '/':
		return letter;
	case 'b':
		return '\b';
	case 'f':
		return '\f';
	case 'n':
		return '\n';
	case 'r':
		return '\r';
	case 't':
		return '\t';
	default:
		return 0;
	}
}

/* Moves past one escape and adds the bytes that decoding saves to *shrink. */
static bool check_escape(struct reader *r, size_t *shrink)
{
	const char *from = r->at;
	if (r->end - from < 2)
		return fail_at(r, r->end, ERR_invalid, "expected the end of an escape, found the end of the text");
	if (short_escape(from[1])) {
		r->at += 2;
		*shrink += 1;
		return true;
	}
	if (from[1] != 'u')
		return fail_at(r, from, ERR_invalid, "a backslash must be followed by one of \" \\ / b f n r t u");
	int32_t point = take_code_point(&r->at, r->end);
	if (point < 0)
		return fail_at(r, from, ERR_invalid,
		               code_unit(from, r->end) < 0 ? "\\u must be followed by four hex digits"
		                                           : "half of a surrogate pair");
	char utf8[4];
	*shrink += (size_t)(r->at - from) - text_put_utf8(utf8, (uint32_t)point);
	return true;
}

static bool check_utf8(struct reader *r)
{
	do {
		size_t len = text_utf8_len(str_n(r->at, (size_t)(r->end - r->at)));
		if (len == 0)
			return fail_at(r, r->at, ERR_invalid, "byte 0x%02x is not valid UTF-8", (unsigned char)*r->at);
		r->at += len;
	} while (r->at < r->end && (unsigned char)*r->at >= 0x80);
	return true;
}

/* raw passed check_escape: every escape in it is well-formed. */
static struct str unescape(struct arena *arena, struct str raw, size_t decoded_len)
{
	char *text = arena_alloc_raw(arena, decoded_len + 1), *to = text;
	const char *at = raw.ptr, *end = raw.ptr + raw.len;
	while (at < end) {
		const char *run = at;
		at = memchr(at, '\\', (size_t)(end - at));
		size_t len = (size_t)((at ? at : end) - run);
		memcpy(to, run, len);
		to += len;
		if (!at)
			break;
		if (at[1] == 'u') {
			to += text_put_utf8(to, (uint32_t)take_code_point(&at, end));
		} else {
			*to++ = short_escape(at[1]);
			at += 2;
		}
	}
	*to = '\0';
	return str_n(text, decoded_len);
}

/* r->at is on the opening quote. */
static bool read_string(struct reader *r, struct str *ret)
{
	const char *from = ++r->at;
	size_t shrink = 0;
	for (;;) {
		r->at = json_skip_plain(r->at, r->end);
		if (r->at == r->end)
			return fail_expected(r, "the closing quote of a string");
		unsigned char c = (unsigned char)*r->at;
		if (c == '"')
			break;
		if (c < 0x20)
			return fail_at(r, r->at, ERR_invalid, "control character 0x%02x must be escaped in a string",
			               c);
		if (!(c == '\\' ? check_escape(r, &shrink) : check_utf8(r)))
			return false;
	}
	*ret = str_n(from, (size_t)(r->at - from));
	r->at++;
	if (shrink)
		*ret = unescape(r->arena, *ret, ret->len - shrink);
	return true;
}

/* ---- numbers and words ---- */

static size_t skip_digits(struct reader *r)
{
	const char *from = r->at;
	while (r->at < r->end && *r->at >= '0' && *r->at <= '9')
		r->at++;
	return (size_t)(r->at - from);
}

static bool read_number(struct reader *r, struct json *node)
{
	const char *from = r->at;
	bool negative = take(r, '-');
	if (take(r, '0')) {
		if (r->at < r->end && *r->at >= '0' && *r->at <= '9')
			return fail_at(r, from, ERR_invalid, "a number must not start with a zero");
	} else if (skip_digits(r) == 0) {
		return fail_expected(r, negative ? "a digit after '-'" : "a value");
	}
	if (take(r, '.') && skip_digits(r) == 0)
		return fail_expected(r, "a digit after the decimal point");
	if (take(r, 'e') || take(r, 'E')) {
		if (!take(r, '+'))
			take(r, '-');
		if (skip_digits(r) == 0)
			return fail_expected(r, "a digit in the exponent");
	}
	node->type = JSON_number;
	node->text = str_n(from, (size_t)(r->at - from));
	return true;
}

static bool read_word(struct reader *r, struct json *node, struct str word, enum json_type type)
{
	if ((size_t)(r->end - r->at) < word.len || memcmp(r->at, word.ptr, word.len) != 0)
		return fail_at(r, r->at, ERR_invalid, "expected a value, found a word other than true, false or null");
	r->at += word.len;
	node->type = type;
	node->boolean = word.ptr[0] == 't';
	return true;
}

/* ---- arrays and objects ---- */

static bool enter(struct reader *r, struct json *node, enum json_type type)
{
	if (r->depth == LIMIT_JSON_DEPTH)
		return fail_at(r, r->at, ERR_limit, "nested deeper than %d levels", LIMIT_JSON_DEPTH);
	r->depth++;
	r->at++;
	node->type = type;
	skip_blanks(r);
	return true;
}

static inline struct json *node_append(struct reader *r, struct json *parent, const struct json ***tail)
{
	if (r->values++ == LIMIT_JSON_VALUES) {
		fail_at(r, r->at, ERR_limit, "more than %d values", LIMIT_JSON_VALUES);
		return NULL;
	}
	struct json *node = arena_alloc_raw(r->arena, sizeof(*node));
	*node = (struct json){0};
	**tail = node;
	*tail = &node->next;
	parent->count++;
	return node;
}

static bool read_array(struct reader *r, struct json *array)
{
	if (!enter(r, array, JSON_array))
		return false;
	const struct json **tail = &array->child;
	while (!take(r, ']')) {
		if (array->count && !take(r, ','))
			return fail_expected(r, "',' or ']' after an element");
		skip_blanks(r);
		struct json *node = node_append(r, array, &tail);
		if (!node || !read_value(r, node))
			return false;
		skip_blanks(r);
	}
	r->depth--;
	return true;
}

static bool read_key(struct reader *r, struct str *ret)
{
	skip_blanks(r);
	if (r->at == r->end || *r->at != '"')
		return fail_expected(r, "a name in quotes");
	if (!read_string(r, ret))
		return false;
	skip_blanks(r);
	if (!take(r, ':'))
		return fail_expected(r, "':' after a name");
	skip_blanks(r);
	return true;
}

static bool read_object(struct reader *r, struct json *object)
{
	if (!enter(r, object, JSON_object))
		return false;
	const struct json **tail = &object->child;
	while (!take(r, '}')) {
		if (object->count && !take(r, ','))
			return fail_expected(r, "',' or '}' after a member");
		struct json *node = node_append(r, object, &tail);
		if (!node || !read_key(r, &node->key) || !read_value(r, node))
			return false;
		skip_blanks(r);
	}
	r->depth--;
	return true;
}

static bool read_kind(struct reader *r, struct json *node)
{
	switch (r->at < r->end ? *r->at : '\0') {
	case '"':
		node->type = JSON_string;
		return read_string(r, &node->text);
	case '{':
		return read_object(r, node);
	case '[':
		return read_array(r, node);
	case 't':
		return read_word(r, node, STR("true"), JSON_bool);
	case 'f':
		return read_word(r, node, STR("false"), JSON_bool);
	case 'n':
		return read_word(r, node, STR("null"), JSON_null);
	default:
		return read_number(r, node);
	}
}

static bool read_value(struct reader *r, struct json *node)
{
	const char *from = r->at;
	if (!read_kind(r, node))
		return false;
	node->span = str_n(from, (size_t)(r->at - from));
	return true;
}

const struct json *json_parse(struct arena *arena, struct str text, struct error *err)
{
	if (!text.ptr)
		text = STR("");
	struct reader r = {.arena = arena, .err = err, .start = text.ptr, .at = text.ptr, .end = text.ptr + text.len};
	struct json *root = arena_new(arena, struct json);
	skip_blanks(&r);
	if (!read_value(&r, root))
		return NULL;
	skip_blanks(&r);
	if (r.at != r.end) {
		fail_expected(&r, "nothing after the value");
		return NULL;
	}
	return root;
}

const struct json *json_parse_next(struct arena *arena, struct str *rest, struct error *err)
{
	struct reader r = {
		.arena = arena, .err = err, .start = rest->ptr, .at = rest->ptr, .end = rest->ptr + rest->len};
	struct json *value = arena_new(arena, struct json);
	skip_blanks(&r);
	if (!read_value(&r, value))
		return NULL;
	skip_blanks(&r);
	if (r.at != r.end && *r.at == ',')
		r.at++;
	*rest = str_n(r.at, (size_t)(r.end - r.at));
	return value;
}

const struct json *json_parse_copy(struct arena *arena, struct str text, struct error *err)
{
	return json_parse(arena, arena_str(arena, text), err);
}
