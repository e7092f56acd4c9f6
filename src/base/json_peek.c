/* The first byte of a value gives its type. A value that is not wanted is skipped by finding its end. */
#include "base/json_peek.h"

struct peek {
	const char *at, *end;
};

static bool skip_blanks(struct peek *peek)
{
	while (peek->at < peek->end && strchr(" \t\r\n", *peek->at) && *peek->at)
		peek->at++;
	return peek->at < peek->end;
}

static bool skip_string(struct peek *peek)
{
	for (peek->at++; peek->at < peek->end && *peek->at != '"'; peek->at++)
		if (*peek->at == '\\')
			peek->at++;
	if (peek->at >= peek->end)
		return false;
	peek->at++;
	return true;
}

static bool skip_container(struct peek *peek)
{
	size_t depth = 0;
	do {
		char c = *peek->at;
		if (c == '"') {
			if (!skip_string(peek))
				return false;
			continue;
		}
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		peek->at++;
	} while (depth && peek->at < peek->end);
	return depth == 0;
}

/* Skips a number or a literal, which may be incomplete at the end of the text. */
static bool skip_word(struct peek *peek)
{
	while (peek->at < peek->end && !memchr(",}] \t\r\n", *peek->at, 7))
		peek->at++;
	return peek->at < peek->end;
}

static bool skip_value(struct peek *peek, struct str *ret)
{
	const char *start = peek->at;
	char c = *start;
	bool is_whole = c == '"' ? skip_string(peek) : c == '{' || c == '[' ? skip_container(peek) : skip_word(peek);
	if (is_whole)
		*ret = str_n(start, (size_t)(peek->at - start));
	return is_whole && ret->len;
}

static bool skip_byte(struct peek *peek, char c)
{
	if (!skip_blanks(peek) || *peek->at != c)
		return false;
	peek->at++;
	return skip_blanks(peek);
}

bool json_peek_is_object(struct str text)
{
	struct peek peek = {text.ptr, text.ptr + text.len};
	return skip_blanks(&peek) && *peek.at == '{';
}

/* Moves to the value of a member. */
static bool find_member(struct peek *peek, const char *name)
{
	struct str key, value;
	if (!skip_byte(peek, '{'))
		return false;
	while (*peek->at == '"' && skip_value(peek, &key) && skip_byte(peek, ':')) {
		if (str_is(str_n(key.ptr + 1, key.len - 2), name))
			return true;
		if (!skip_value(peek, &value) || !skip_byte(peek, ','))
			return false;
	}
	return false;
}

bool json_peek_has(struct str text, const char *name)
{
	struct peek peek = {text.ptr, text.ptr + text.len};
	return find_member(&peek, name);
}

bool json_peek_member(struct str text, const char *name, struct str *ret)
{
	struct peek peek = {text.ptr, text.ptr + text.len};
	return find_member(&peek, name) && skip_value(&peek, ret);
}
