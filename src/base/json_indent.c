/* The writer produces one line, which suits wires. Files for people are indented afterwards, from the text alone; only
 * white space changes. */
#include "base/json.h"

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
