/* Strings. The first pass finds the end and checks every byte; only a string with escapes is copied (decoding never
 * grows it), others are slices of the input. */
#include "config/toml/toml_priv.h"

#include "base/text.h"

struct span {
	const char *start, *end; /* between the quotes */
	bool has_escape;
	bool is_long; /* delimited by """ or ''' */
};

static bool is_plain(char c)
{
	return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

static size_t quote_run(const struct toml_reader *r, char quote)
{
	const char *at = r->at;
	while (at < r->end && *at == quote)
		at++;
	return (size_t)(at - r->at);
}

/* At a quote inside a long string: true if the string ends here. Up to two further quotes belong to its content. */
static bool end_long(struct toml_reader *r, char quote, struct span *s)
{
	size_t run = quote_run(r, quote);
	if (run < 3) {
		r->at += run;
		return false;
	}
	size_t own = run > 5 ? 2 : run - 3;
	s->end = r->at + own;
	r->at += own + 3;
	return true;
}

/* Advances by one byte, one escape or one line end. */
static bool step(struct toml_reader *r, char quote, struct span *s)
{
	if (*r->at == '\\' && quote == '"') {
		s->has_escape = true;
		r->at++;
		if (r->at < r->end && is_plain(*r->at))
			r->at++;
		return true;
	}
	if (is_plain(*r->at)) {
		r->at++;
		return true;
	}
	if (s->is_long && toml_skip_newline(r))
		return true;
	if (*r->at == '\n' || *r->at == '\r')
		return toml_fail(r, "the string has no closing quote (a string over several lines starts with \"\"\")");
	return toml_fail(r, "control character 0x%02x in a string; write it as \\u%04X", (unsigned char)*r->at,
	                 (unsigned char)*r->at);
}

static bool find_end(struct toml_reader *r, char quote, struct span *s)
{
	struct toml_reader opening = *r;
	while (r->at < r->end) {
		if (*r->at != quote) {
			if (!step(r, quote, s))
				return false;
		} else if (!s->is_long) {
			s->end = r->at++;
			return true;
		} else if (end_long(r, quote, s)) {
			return true;
		}
	}
	return toml_fail(&opening, "this string has no closing quote");
}

/* Reports an error at `at`: moves the reader there, counting lines. */
static bool fail_at(const struct toml_reader *start, const char *at, const char *what)
{
	struct toml_reader r = *start;
	while (r.at < at)
		if (!toml_skip_newline(&r))
			r.at++;
	return toml_fail(&r, "%s", what);
}

static bool decode_code(const struct toml_reader *start, const char **from, const char *end, int digits, char **to)
{
	uint32_t code = 0;
	for (int i = 0; i < digits; i++) {
		int digit = *from < end ? str_hex_digit(**from) : -1;
		if (digit < 0)
			return fail_at(start, *from, "\\u needs 4 and \\U 8 hexadecimal digits");
		code = code << 4 | (uint32_t)digit;
		++*from;
	}
	if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return fail_at(start, *from, "this escape names no Unicode character");
	*to += text_put_utf8(*to, code);
	return true;
}

/* After a backslash at the end of a line: skips white space up to the next visible character. */
static bool skip_folded(const char **from, const char *end)
{
	const char *at = *from;
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (at == end || (*at != '\n' && *at != '\r'))
		return false;
	while (at < end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
		at++;
	*from = at;
	return true;
}

static bool decode_escape(const struct toml_reader *start, const char **from, const struct span *s, char **to)
{
	static const char letters[] = "btnfr\"\\", bytes[] = "\b\t\n\f\r\"\\";
	const char *at = *from;
	const char *hit = at < s->end && *at ? strchr(letters, *at) : NULL;
	if (hit) {
		*(*to)++ = bytes[hit - letters];
		*from = at + 1;
		return true;
	}
	if (s->is_long && skip_folded(from, s->end))
		return true;
	if (at < s->end && (*at == 'u' || *at == 'U')) {
		++*from;
		return decode_code(start, from, s->end, *at == 'u' ? 4 : 8, to);
	}
	return fail_at(start, at, "unknown escape; a backslash itself is written \\\\");
}

static bool decode(const struct toml_reader *start, const struct span *s, struct str *ret)
{
	char *out = arena_alloc(start->arena, (size_t)(s->end - s->start) + 1), *to = out;
	for (const char *from = s->start; from < s->end;) {
		if (*from != '\\') {
			*to++ = *from++;
			continue;
		}
		from++;
		if (!decode_escape(start, &from, s, &to))
			return false;
	}
	*ret = str_n(out, (size_t)(to - out));
	return true;
}

static bool read_span(struct toml_reader *r, struct span *s, struct str *ret)
{
	char quote = *r->at;
	r->at += s->is_long ? 3 : 1;
	if (s->is_long)
		toml_skip_newline(r);
	struct toml_reader start = *r;
	s->start = r->at;
	if (!find_end(r, quote, s))
		return false;
	if (s->has_escape)
		return decode(&start, s, ret);
	*ret = str_n(s->start, (size_t)(s->end - s->start));
	return true;
}

bool toml_read_short_string(struct toml_reader *r, struct str *ret)
{
	return read_span(r, &(struct span){0}, ret);
}

bool toml_read_string(struct toml_reader *r, struct str *ret)
{
	return read_span(r, &(struct span){.is_long = quote_run(r, *r->at) >= 3}, ret);
}
