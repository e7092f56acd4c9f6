/* Lines, keys and tables. A document is read in one pass; a table's state (toml_priv.h) says what may still be added
 * to it, which enforces the rules about duplicate definitions. A dotted key in a [header] and one in "a.b = 1"
 * differ only in the tables that may be entered, so that step is a function pointer. */
#include "config/toml/toml.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "config/toml/toml_priv.h"

bool toml_fail(struct toml_reader *r, const char *format, ...)
{
	char what[512];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	error_set(r->err, ERR_config, "%s:%u:%zu: %s", r->source, r->line, (size_t)(r->at - r->line_start) + 1, what);
	return false;
}

const char *toml_key_shown(struct str key, char out[TOML_KEY_SHOWN])
{
	size_t len = key.len < TOML_KEY_SHOWN ? key.len : text_floor_boundary(key, TOML_KEY_SHOWN - 4);
	for (size_t i = 0; i < len; i++)
		out[i] = (unsigned char)key.ptr[i] < ' ' || key.ptr[i] == 0x7f ? '?' : key.ptr[i];
	snprintf(out + len, TOML_KEY_SHOWN - len, "%s", len < key.len ? "..." : "");
	return out;
}

void toml_skip_blanks(struct toml_reader *r)
{
	while (toml_at(r, ' ') || toml_at(r, '\t'))
		r->at++;
}

bool toml_skip_newline(struct toml_reader *r)
{
	const char *at = r->at;
	if (at < r->end && *at == '\r')
		at++;
	if (at == r->end || *at != '\n')
		return false;
	r->line_start = r->at = at + 1;
	r->line++;
	return true;
}

static bool is_text_char(char c)
{
	return c == '\t' || ((unsigned char)c >= ' ' && c != 0x7f);
}

static void skip_comment(struct toml_reader *r)
{
	if (!toml_at(r, '#'))
		return;
	while (r->at < r->end && is_text_char(*r->at))
		r->at++;
}

void toml_skip_lines(struct toml_reader *r)
{
	do {
		toml_skip_blanks(r);
		skip_comment(r);
	} while (toml_skip_newline(r));
}

static bool skip_line_end(struct toml_reader *r)
{
	toml_skip_blanks(r);
	skip_comment(r);
	if (r->at == r->end || toml_skip_newline(r))
		return true;
	return toml_fail(r, "expected the end of the line");
}

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

static bool read_part(struct toml_reader *r, struct str *ret)
{
	toml_skip_blanks(r);
	if (toml_at(r, '"') || toml_at(r, '\''))
		return toml_read_short_string(r, ret);
	const char *start = r->at;
	while (r->at < r->end && is_bare(*r->at))
		r->at++;
	if (r->at == start)
		return toml_fail(r, "expected a key");
	*ret = str_n(start, (size_t)(r->at - start));
	return true;
}

/* Returns the table for one part of a dotted key, except the last part; NULL after toml_fail. */
typedef struct toml *(*enter_fn)(struct toml_reader *r, struct toml *table, struct str part);

/* Walks the parts of a dotted key and sets *table to the table that contains the last part. */
static bool read_key(struct toml_reader *r, enter_fn enter, struct toml **table, struct str *ret_last)
{
	struct str part;
	while (read_part(r, &part)) {
		toml_skip_blanks(r);
		if (!toml_at(r, '.')) {
			*ret_last = part;
			return true;
		}
		struct toml *inner = enter(r, *table, part);
		if (!inner)
			return false;
		*table = inner;
		r->at++;
	}
	return false;
}

struct toml *toml_read_new(struct toml_reader *r, const struct toml *parent, enum toml_kind kind)
{
	if (parent->depth < LIMIT_TOML_DEPTH)
		return toml_new(r->arena, kind, r->source, r->line);
	toml_fail(r, "more than %d levels", LIMIT_TOML_DEPTH);
	return NULL;
}

static struct toml *read_into(struct toml_reader *r, struct toml *table, struct str key, enum toml_kind kind)
{
	struct toml *node = toml_read_new(r, table, kind);
	if (node)
		toml_add(r->arena, table, key, node);
	return node;
}

static struct toml *fail_twice(struct toml_reader *r, const struct toml *first)
{
	char shown[TOML_KEY_SHOWN];
	toml_fail(r, "`%s` is already defined in line %u", toml_key_shown(first->key, shown), first->line);
	return NULL;
}

static struct toml *enter_dotted(struct toml_reader *r, struct toml *table, struct str part)
{
	struct toml *inner = toml_find(table, part);
	if (inner && (inner->kind != TOML_table || inner->state != TOML_DOTTED))
		return fail_twice(r, inner);
	if (!inner && (inner = read_into(r, table, part, TOML_table)))
		inner->state = TOML_DOTTED;
	return inner;
}

static struct toml *enter_header(struct toml_reader *r, struct toml *table, struct str part)
{
	struct toml *inner = toml_find(table, part);
	if (!inner)
		return read_into(r, table, part, TOML_table);
	if (inner->kind == TOML_array && inner->state == TOML_ELEMENTS)
		return inner->last;
	if (inner->kind != TOML_table || inner->state == TOML_SEALED)
		return fail_twice(r, inner);
	return inner;
}

bool toml_read_pair(struct toml_reader *r, struct toml *table)
{
	struct str key;
	toml_skip_blanks(r);
	uint32_t from = toml_offset(r);
	if (!read_key(r, enter_dotted, &table, &key))
		return false;
	struct toml *first = toml_find(table, key);
	if (first)
		return fail_twice(r, first);
	if (!toml_at(r, '='))
		return toml_fail(r, "expected `=` after the key");
	r->at++;
	toml_skip_blanks(r);
	struct toml *node = read_into(r, table, key, TOML_bool);
	if (!node)
		return false;
	node->key_from = from;
	return toml_read_value(r, node);
}

static struct toml *open_table(struct toml_reader *r, struct toml *table, struct str key)
{
	struct toml *node = toml_find(table, key);
	if (node && (node->kind != TOML_table || node->state != TOML_OPEN))
		return fail_twice(r, node);
	if (!node)
		node = read_into(r, table, key, TOML_table);
	if (node) {
		node->state = TOML_HEADER;
		node->line = r->line;
	}
	return node;
}

static struct toml *open_element(struct toml_reader *r, struct toml *table, struct str key)
{
	struct toml *array = toml_find(table, key);
	if (array && (array->kind != TOML_array || array->state != TOML_ELEMENTS))
		return fail_twice(r, array);
	if (!array && (array = read_into(r, table, key, TOML_array)))
		array->state = TOML_ELEMENTS;
	if (!array)
		return NULL;
	struct toml *element = toml_read_new(r, array, TOML_table);
	if (element) {
		element->state = TOML_HEADER;
		toml_append(array, element);
	}
	return element;
}

static bool skip_brackets(struct toml_reader *r, char bracket, int count)
{
	for (; count > 0; count--) {
		if (!toml_at(r, bracket))
			return toml_fail(r, "expected `%c`", bracket);
		r->at++;
	}
	return true;
}

static struct toml *read_header(struct toml_reader *r, struct toml *root)
{
	int brackets = r->end - r->at > 1 && r->at[1] == '[' ? 2 : 1;
	uint32_t from = toml_offset(r);
	struct toml *table = root;
	struct str key;
	r->at += brackets;
	if (!read_key(r, enter_header, &table, &key))
		return NULL;
	table = brackets == 2 ? open_element(r, table, key) : open_table(r, table, key);
	if (!table || !skip_brackets(r, ']', brackets) || !skip_line_end(r))
		return NULL;
	table->from = from;
	table->to = toml_offset(r);
	return table;
}

static bool read_document(struct toml_reader *r, struct toml *root)
{
	struct toml *section = root;
	for (;;) {
		toml_skip_lines(r);
		if (r->at == r->end)
			return true;
		if (toml_at(r, '['))
			section = read_header(r, root);
		else if (!toml_read_pair(r, section) || !skip_line_end(r))
			return false;
		if (!section)
			return false;
		section->to = toml_offset(r);
	}
}

static struct toml_reader reader_of(struct arena *arena, struct str text, const char *source, struct error *err)
{
	const char *start = text.ptr ? text.ptr : "";
	return (struct toml_reader){.arena = arena,
	                            .source = source,
	                            .start = start,
	                            .at = start,
	                            .end = start + text.len,
	                            .line_start = start,
	                            .line = 1,
	                            .err = err};
}

static bool check_utf8(const struct toml_reader *reader)
{
	struct toml_reader r = *reader;
	const char *bad = r.at + text_utf8_prefix(toml_rest(&r));
	if (bad == r.end)
		return true;
	while (r.at < bad)
		if (!toml_skip_newline(&r))
			r.at++;
	return toml_fail(&r, "not UTF-8 text");
}

struct toml *toml_parse(struct arena *arena, struct str text, const char *source, struct error *err)
{
	struct toml_reader r = reader_of(arena, text, source, err);
	if (!check_utf8(&r))
		return NULL;
	if (str_has_prefix(text, "\xef\xbb\xbf"))
		r.at = r.line_start = text.ptr + 3;
	struct toml *root = toml_new(arena, TOML_table, source, 1);
	root->state = TOML_HEADER;
	root->from = root->to = toml_offset(&r);
	return read_document(&r, root) ? root : NULL;
}

struct toml *toml_parse_value(struct arena *arena, struct str text, const char *source, struct error *err)
{
	struct toml_reader r = reader_of(arena, text, source, err);
	struct toml *node = toml_new(arena, TOML_bool, source, 1);
	if (!check_utf8(&r))
		return NULL;
	toml_skip_lines(&r);
	if (!toml_read_value(&r, node))
		return NULL;
	toml_skip_lines(&r);
	if (r.at == r.end)
		return node;
	toml_fail(&r, "expected nothing after the value");
	return NULL;
}

struct toml *toml_parse_key(struct arena *arena, struct str key, struct toml *value, struct error *err)
{
	struct toml_reader r = reader_of(arena, key, value->source, err);
	struct toml *root = toml_new(arena, TOML_table, value->source, 1), *table = root;
	struct str last;
	if (!check_utf8(&r) || !read_key(&r, enter_dotted, &table, &last))
		return NULL;
	if (r.at != r.end) {
		toml_fail(&r, "expected a key of the form a.b.c");
		return NULL;
	}
	toml_add(arena, table, last, value);
	return root;
}
