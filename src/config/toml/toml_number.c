/* Numbers. TOML, unlike C's functions, allows underscores between digits and forbids leading zeros, so the spelling
 * is checked first and then converted without underscores. */
#include "config/toml/toml_priv.h"

#include <errno.h>
#include <stdlib.h>

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '+' ||
	       c == '-' || c == '.';
}

static bool is_digit(char c, int base)
{
	if (c >= '0' && c <= '9')
		return c - '0' < base;
	return base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
}

/* Cuts digits with single underscores between them; false if there is no digit. */
static bool cut_digits(struct str *s, int base)
{
	size_t at = 0;
	for (;;) {
		if (at >= s->len || !is_digit(s->ptr[at], base))
			return false;
		while (at < s->len && is_digit(s->ptr[at], base))
			at++;
		if (at >= s->len || s->ptr[at] != '_')
			break;
		at++;
	}
	*s = str_skip(*s, at);
	return true;
}

static void cut_sign(struct str *s)
{
	if (s->len && (s->ptr[0] == '+' || s->ptr[0] == '-'))
		*s = str_skip(*s, 1);
}

/* Cuts an integer without a leading zero. */
static bool cut_whole(struct str *s)
{
	if (s->len > 1 && s->ptr[0] == '0' && (is_digit(s->ptr[1], 10) || s->ptr[1] == '_'))
		return false;
	return cut_digits(s, 10);
}

static bool is_float_tail(struct str s)
{
	if (str_cut_prefix(&s, ".") && !cut_digits(&s, 10))
		return false;
	if (s.len && (s.ptr[0] == 'e' || s.ptr[0] == 'E')) {
		s = str_skip(s, 1);
		cut_sign(&s);
		return cut_digits(&s, 10) && s.len == 0;
	}
	return s.len == 0;
}

static char *without_underscores(struct arena *arena, struct str s)
{
	char *out = arena_alloc(arena, s.len + 1), *to = out;
	for (size_t i = 0; i < s.len; i++)
		if (s.ptr[i] != '_')
			*to++ = s.ptr[i];
	return out;
}

static bool set_integer(struct toml_reader *r, struct toml *node, struct str digits, int base)
{
	node->kind = TOML_integer;
	errno = 0;
	node->integer = strtoll(without_underscores(r->arena, digits), NULL, base);
	return errno == 0 || toml_fail(r, "this integer does not fit in 64 bits");
}

static int based(struct str s)
{
	if (s.len < 3 || s.ptr[0] != '0')
		return 0;
	return s.ptr[1] == 'x' ? 16 : s.ptr[1] == 'o' ? 8 : s.ptr[1] == 'b' ? 2 : 0;
}

static bool set_number(struct toml_reader *r, struct toml *node, struct str word)
{
	int base = based(word);
	struct str rest = base ? str_skip(word, 2) : word;
	if (base)
		return cut_digits(&rest, base) && rest.len == 0 ? set_integer(r, node, str_skip(word, 2), base)
		                                                : toml_fail(r, "not a number of base %d", base);
	cut_sign(&rest);
	bool is_special = str_is(rest, "inf") || str_is(rest, "nan");
	if (!is_special && !cut_whole(&rest))
		return toml_fail(r, "not a value; text needs quotes around it");
	if (!is_special && rest.len == 0)
		return set_integer(r, node, word, 10);
	if (!is_special && !is_float_tail(rest))
		return toml_fail(r, "not a number; text needs quotes around it");
	node->kind = TOML_float;
	node->number = strtod(without_underscores(r->arena, word), NULL);
	return true;
}

bool toml_read_number(struct toml_reader *r, struct toml *node)
{
	struct str word = str_n(r->at, 0);
	while (r->at + word.len < r->end && is_word(word.ptr[word.len]))
		word.len++;
	if (word.len == 0)
		return toml_fail(r, "expected a value");
	if (!set_number(r, node, word))
		return false;
	r->at += word.len;
	return true;
}
