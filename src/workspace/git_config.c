/* Starting git to read one line of its configuration would cost more than the whole start of a session. The format is
 * small: sections, keys, quotes, comments, and continued lines. */
#include "workspace/git_config.h"

#include "base/limits.h"

struct reader {
	struct str rest;
	bool is_wanted; /* the current section is the requested one */
};

static int peek(const struct reader *r)
{
	return r->rest.len ? (unsigned char)r->rest.ptr[0] : -1;
}

static int next(struct reader *r)
{
	int c = peek(r);
	if (c >= 0)
		r->rest = str_skip(r->rest, 1);
	return c;
}

static void skip_line(struct reader *r)
{
	struct str line;
	str_next_line(&r->rest, &line);
}

static void skip_blanks(struct reader *r)
{
	while (peek(r) == ' ' || peek(r) == '\t' || peek(r) == '\r')
		next(r);
}

static bool is_name_char(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
}

static struct str read_name(struct reader *r)
{
	const char *from = r->rest.ptr;
	while (is_name_char(peek(r)))
		next(r);
	return str_n(from, (size_t)(r->rest.ptr - from));
}

/* Reads after the opening quote, up to and including the closing one. */
static void read_quoted(struct reader *r, struct buf *out)
{
	for (int c = next(r); c >= 0 && c != '"' && c != '\n'; c = next(r)) {
		if (c == '\\')
			c = next(r);
		if (c >= 0)
			buf_append_char(out, (char)c);
	}
}

/* Reads "[remote "origin"]" or the old form "[remote.origin]". */
static void read_section(struct reader *r, const char *section, const char *subsection)
{
	struct str name = read_name(r), sub = STR("");
	auto_buf struct buf quoted;
	buf_init(&quoted, KIB);
	skip_blanks(r);
	if (peek(r) == '"') {
		next(r);
		read_quoted(r, &quoted);
		sub = buf_str(&quoted);
	} else {
		ptrdiff_t dot = str_find_char(name, '.');
		sub = dot < 0 ? sub : str_skip(name, (size_t)dot + 1);
		name.len = dot < 0 ? name.len : (size_t)dot;
	}
	skip_blanks(r);
	bool is_closed = peek(r) == ']';
	if (is_closed)
		next(r);
	else
		skip_line(r);
	r->is_wanted = is_closed && str_equal_fold(name, str_of(section)) && str_is(sub, subsection) && !quoted.over;
}

static char unescape(int c)
{
	return c == 'n' ? '\n' : c == 't' ? '\t' : c == 'b' ? '\b' : (char)c;
}

/* Reads up to the end of the line; trailing blanks count only inside quotes. */
static void read_value(struct reader *r, struct buf *out)
{
	bool is_quoted = false;
	size_t solid = out->len; /* text before this offset is not trimmed */
	skip_blanks(r);
	for (int c = next(r); c >= 0 && c != '\n'; c = next(r)) {
		if (!is_quoted && (c == '#' || c == ';')) {
			skip_line(r);
			break;
		}
		if (c == '"') {
			is_quoted = !is_quoted;
			continue;
		}
		if (c == '\\') {
			c = next(r);
			if (c < 0 || c == '\n')
				continue;
			c = unescape(c);
		}
		buf_append_char(out, (char)c);
		if (is_quoted || (c != ' ' && c != '\t' && c != '\r'))
			solid = out->len;
	}
	if (out->data && !out->over)
		buf_truncate(out, solid);
}

static void read_entry(struct reader *r, const char *key, struct buf *out, bool *ret_found)
{
	struct str name = read_name(r);
	auto_buf struct buf value;
	buf_init(&value, 64 * KIB);
	skip_blanks(r);
	if (name.len == 0 || peek(r) != '=') {
		skip_line(r);
		return;
	}
	next(r);
	read_value(r, &value);
	if (!r->is_wanted || !str_equal_fold(name, str_of(key)) || value.over)
		return;
	buf_clear(out);
	buf_append_str(out, buf_str(&value));
	*ret_found = true;
}

bool git_config_find(struct str text, const char *section, const char *subsection, const char *key, struct buf *out)
{
	struct reader r = {.rest = text};
	bool is_found = false;
	while (r.rest.len) {
		skip_blanks(&r);
		int c = peek(&r);
		if (c == '[') {
			next(&r);
			read_section(&r, section, subsection);
		} else if (c == '#' || c == ';' || c == '\n') {
			skip_line(&r);
		} else if (c >= 0) {
			read_entry(&r, key, out, &is_found);
		}
	}
	return is_found;
}
