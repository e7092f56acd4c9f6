/* Each step finds the position of the change in the tree of the current text, replaces or cuts byte ranges, and
 * parses the result, which validates it and provides the tree for the next step. This costs one parse of a few
 * kilobytes for each changed value; LIMIT_TOML_EDIT bounds it.
 *
 * Inline tables have no comments, so a changed one is rewritten, with its other members unchanged. */
#include "config/toml/toml_edit.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/text.h"
#include "base/vec.h"
#include "config/toml/toml_priv.h"
#include "config/toml/toml_text.h"

/* The nodes along a path: chain[0] is the root, chain[depth] the last existing table or value. */
struct spot {
	const struct str *path;
	size_t count;
	const struct toml *chain[LIMIT_TOML_DEPTH + 2];
	size_t depth;
};

struct range {
	size_t from, to;
};

struct ranges {
	VEC(struct range) items;
};

static int put(struct toml_edit *edit, struct str *path, size_t count, const struct toml *value, bool is_merge,
               struct error *err);

/* ---- the text ---- */

static char byte_at(const struct toml_edit *edit, size_t at)
{
	return at < edit->text.len ? edit->text.data[at] : '\0';
}

static const char *newline_of(const struct toml_edit *edit)
{
	ptrdiff_t at = str_find_char(buf_str(&edit->text), '\n');
	return at > 0 && edit->text.data[at - 1] == '\r' ? "\r\n" : "\n";
}

static size_t skip_blanks(const struct toml_edit *edit, size_t at)
{
	while (byte_at(edit, at) == ' ' || byte_at(edit, at) == '\t')
		at++;
	return at;
}

static size_t line_start(const struct toml_edit *edit, size_t at)
{
	while (at && (edit->text.data[at - 1] == ' ' || edit->text.data[at - 1] == '\t'))
		at--;
	return at;
}

/* Returns the end of the line in which a value ends, including a comment. */
static size_t line_end(const struct toml_edit *edit, size_t at)
{
	while (at < edit->text.len && edit->text.data[at] != '\n')
		at++;
	return at < edit->text.len ? at + 1 : at;
}

/* Replaces the text by the new one if the new one is valid TOML. */
static int adopt(struct toml_edit *edit, struct buf *text, struct error *err)
{
	struct arena arena = {0};
	const struct toml *root = NULL;
	edit->parsed += text->len;
	if (text->over || edit->parsed > LIMIT_TOML_EDIT)
		error_set(err, ERR_limit, "%s: the change is too large to be made at once", edit->source);
	else
		root = toml_parse(&arena, buf_str(text), edit->source, err);
	if (!root) {
		arena_finish(&arena);
		buf_finish(text);
		return err ? -(int)err->code : -ERR_config;
	}
	buf_finish(&edit->text);
	arena_finish(&edit->arena);
	edit->text = *text;
	edit->arena = arena;
	edit->root = root;
	return 0;
}

static int splice(struct toml_edit *edit, size_t from, size_t to, const struct buf *with, struct error *err)
{
	struct buf text;
	buf_init(&text, LIMIT_CONFIG_FILE);
	buf_append(&text, edit->text.data, from);
	buf_append_str(&text, buf_str(with));
	buf_append(&text, edit->text.data + to, edit->text.len - to);
	text.over |= with->over;
	return adopt(edit, &text, err);
}

static int by_place(const void *a, const void *b)
{
	size_t from = ((const struct range *)a)->from, other = ((const struct range *)b)->from;
	return from < other ? -1 : from > other;
}

static int cut(struct toml_edit *edit, struct ranges *ranges, struct error *err)
{
	struct buf text;
	size_t done = 0;
	buf_init(&text, LIMIT_CONFIG_FILE);
	qsort(ranges->items.items, ranges->items.count, sizeof(struct range), by_place);
	vec_for_each(it, &ranges->items) {
		if (it->from > done)
			buf_append(&text, edit->text.data + done, it->from - done);
		done = it->to > done ? it->to : done;
	}
	buf_append(&text, edit->text.data + done, edit->text.len - done);
	return adopt(edit, &text, err);
}

/* ---- places ---- */

static struct spot find_spot(const struct toml_edit *edit, const struct str *path, size_t count)
{
	struct spot spot = {.path = path, .count = count, .chain = {edit->root}};
	while (spot.depth < count) {
		const struct toml *next = toml_find(spot.chain[spot.depth], path[spot.depth]);
		if (!next)
			break;
		spot.chain[++spot.depth] = next;
	}
	return spot;
}

static bool is_inline(const struct toml *node)
{
	return node->kind == TOML_table && node->state == TOML_SEALED;
}

/* Returns the depth of the first inline table along the path, or 0. */
static size_t find_inline(const struct spot *spot)
{
	size_t last = spot->depth < spot->count ? spot->depth : spot->depth - 1;
	for (size_t i = 1; i <= last; i++) {
		if (is_inline(spot->chain[i]))
			return i;
	}
	return 0;
}

/* True for "key = value", false for a table from headers or dotted keys and for an array of tables. */
static bool is_pair(const struct toml *node)
{
	if (node->kind == TOML_array)
		return node->state != TOML_ELEMENTS;
	return node->kind != TOML_table || is_inline(node);
}

/* Returns the end of the last line that belongs to a node: of its pairs only, or of its sections too. */
static size_t node_end(const struct toml_edit *edit, const struct toml *node, bool with_sections)
{
	if (is_pair(node))
		return line_end(edit, node->to);
	bool is_section = node->kind == TOML_table && node->state == TOML_HEADER;
	size_t end = is_section && with_sections ? node->to : 0;
	toml_for_each(it, node) {
		size_t inner = with_sections || is_pair(it) || it->state == TOML_DOTTED
		                       ? node_end(edit, it, with_sections)
		                       : 0;
		end = inner > end ? inner : end;
	}
	return end;
}

/* ---- removing ---- */

/* A section is removed with the blank lines after it, so that they do not accumulate. */
static size_t section_end(const struct toml_edit *edit, size_t at)
{
	for (;;) {
		size_t next = skip_blanks(edit, at);
		next += byte_at(edit, next) == '\r';
		if (byte_at(edit, next) != '\n')
			return at;
		at = next + 1;
	}
}

static void gather(const struct toml_edit *edit, const struct toml *node, struct ranges *ranges)
{
	if (is_pair(node)) {
		vec_push(&ranges->items, (struct range){line_start(edit, node->key_from), line_end(edit, node->to)});
		return;
	}
	if (node->kind == TOML_table && node->state == TOML_HEADER)
		vec_push(&ranges->items, (struct range){line_start(edit, node->from), section_end(edit, node->to)});
	toml_for_each(it, node)
		gather(edit, it, ranges);
}

/* ---- inline tables ---- */

static void write_member(struct buf *out, bool *is_first, struct str key)
{
	buf_append_c(out, *is_first ? "{ " : ", ");
	*is_first = false;
	toml_write_key(out, key);
	buf_append_c(out, " = ");
}

/* Writes the part of the path that does not exist yet: { a = { b = value } }. */
static void write_nested(struct buf *out, const struct str *path, size_t count, const struct toml *value)
{
	for (size_t i = 0; i < count; i++) {
		bool is_first = true;
		write_member(out, &is_first, path[i]);
	}
	toml_write_value(out, value);
	for (size_t i = 0; i < count; i++)
		buf_append_c(out, " }");
}

/* Writes the inline table with one change: a value of NULL removes the member at path. With a count of 0 nothing
 * below changes. */
static void write_inline(const struct toml_edit *edit, struct buf *out, const struct toml *node, const struct str *path,
                         size_t count, const struct toml *value)
{
	bool is_first = true, is_met = false;
	if (!count && node->to > node->from) {
		buf_append(out, edit->text.data + node->from, node->to - node->from);
		return;
	}
	toml_for_each(it, node) {
		bool is_meant = count && str_eq(it->key, path[0]);
		is_met |= is_meant;
		if (is_meant && count == 1 && !value)
			continue;
		write_member(out, &is_first, it->key);
		if (is_meant && count == 1)
			toml_write_value(out, value);
		else
			write_inline(edit, out, it, path + is_meant, is_meant ? count - 1 : 0, value);
	}
	if (count && !is_met && value) {
		write_member(out, &is_first, path[0]);
		write_nested(out, path + 1, count - 1, value);
	}
	buf_append_c(out, is_first ? "{}" : " }");
}

static int change_inline(struct toml_edit *edit, const struct spot *spot, size_t at, const struct toml *value,
                         struct error *err)
{
	auto_buf struct buf text;
	const struct toml *node = spot->chain[at];
	buf_init(&text, LIMIT_CONFIG_FILE);
	write_inline(edit, &text, node, spot->path + at, spot->count - at, value);
	return splice(edit, node->from, node->to, &text, err);
}

/* ---- adding ---- */

/* Returns where a pair of the root is inserted: before the first header, but after a comment about the whole file. */
static size_t root_place(const struct toml_edit *edit)
{
	size_t start = edit->root->from, at = start;
	while (byte_at(edit, skip_blanks(edit, at)) == '#')
		at = line_end(edit, at);
	size_t blank = skip_blanks(edit, at);
	blank += byte_at(edit, blank) == '\r';
	return at > start && (blank >= edit->text.len || byte_at(edit, blank) == '\n') ? line_end(edit, at) : start;
}

static bool is_line_start(const struct toml_edit *edit, size_t at)
{
	return at == edit->root->from || edit->text.data[at - 1] == '\n';
}

static bool is_blank_or_end(const struct toml_edit *edit, size_t at)
{
	at += byte_at(edit, at) == '\r';
	return at >= edit->text.len || edit->text.data[at] == '\n';
}

/* Writes the indentation of the neighbouring lines. */
static void write_indent(const struct toml_edit *edit, struct buf *out, const struct toml *table)
{
	const struct toml *last = NULL;
	toml_for_each(it, table)
		last = is_pair(it) ? it : last;
	if (!last || last->key_from < table->from)
		return;
	size_t start = line_start(edit, last->key_from);
	buf_append(out, edit->text.data + start, last->key_from - start);
}

static int add_pair(struct toml_edit *edit, const struct toml *table, size_t at, const struct str *path, size_t count,
                    const struct toml *value, struct error *err)
{
	auto_buf struct buf text;
	const char *newline = newline_of(edit);
	buf_init(&text, LIMIT_CONFIG_FILE);
	if (!is_line_start(edit, at))
		buf_append_c(&text, newline);
	write_indent(edit, &text, table);
	toml_write_path(&text, path, count);
	buf_append_c(&text, " = ");
	toml_write_value(&text, value);
	buf_append_c(&text, newline);
	if (table == edit->root && table->to == table->from && !is_blank_or_end(edit, at))
		buf_append_c(&text, newline);
	return splice(edit, at, at, &text, err);
}

static int add_section(struct toml_edit *edit, const struct spot *spot, const struct toml *value, struct error *err)
{
	auto_buf struct buf text;
	const struct toml *node = spot->chain[spot->depth];
	const char *newline = newline_of(edit);
	size_t at = spot->depth ? node_end(edit, node, true) : edit->text.len;
	buf_init(&text, LIMIT_CONFIG_FILE);
	if (!is_line_start(edit, at))
		buf_append_c(&text, newline);
	if (at > edit->root->from)
		buf_append_c(&text, newline);
	if (value->kind == TOML_table) {
		toml_write_section(&text, spot->path, spot->count, value, newline);
	} else {
		buf_append_char(&text, '[');
		toml_write_path(&text, spot->path, spot->count - 1);
		buf_printf(&text, "]%s", newline);
		toml_write_key(&text, spot->path[spot->count - 1]);
		buf_append_c(&text, " = ");
		toml_write_value(&text, value);
		buf_append_c(&text, newline);
	}
	if (!is_blank_or_end(edit, at))
		buf_append_c(&text, newline);
	return splice(edit, at, at, &text, err);
}

static int add(struct toml_edit *edit, const struct spot *spot, const struct toml *value, struct error *err)
{
	const struct toml *node = spot->chain[spot->depth];
	size_t section = spot->depth;
	if (node->kind != TOML_table) {
		char shown[TOML_KEY_SHOWN];
		return error_set(err, ERR_config, "`%s` is %s, so nothing can be set in it",
		                 toml_key_shown(spot->path[spot->depth - 1], shown), toml_kind_name(node->kind));
	}
	if (find_inline(spot))
		return change_inline(edit, spot, find_inline(spot), value, err);
	if (node->state == TOML_DOTTED) {
		while (spot->chain[section]->state != TOML_HEADER)
			section--;
		return add_pair(edit, spot->chain[section], node_end(edit, node, false), spot->path + section,
		                spot->count - section, value, err);
	}
	bool is_one = spot->count - spot->depth == 1 && value->kind != TOML_table;
	if (!is_one || node->state != TOML_HEADER)
		return add_section(edit, spot, value, err);
	size_t at = node == edit->root && node->to == node->from ? root_place(edit) : node->to;
	return add_pair(edit, node, at, spot->path + spot->depth, 1, value, err);
}

/* ---- the three changes ---- */

static int remove_at(struct toml_edit *edit, const struct str *path, size_t count, struct error *err)
{
	struct spot spot = find_spot(edit, path, count);
	struct ranges ranges = {0};
	if (spot.depth < count)
		return 0;
	if (find_inline(&spot))
		return change_inline(edit, &spot, find_inline(&spot), NULL, err);
	gather(edit, spot.chain[count], &ranges);
	int status = cut(edit, &ranges, err);
	vec_finish(&ranges.items);
	return status;
}

/* Removes the members of the table at path that value does not contain. */
static int remove_others(struct toml_edit *edit, struct str *path, size_t count, const struct toml *value,
                         struct error *err)
{
	for (;;) {
		struct spot spot = find_spot(edit, path, count);
		const struct toml *it = spot.depth == count ? spot.chain[count]->child : NULL;
		while (it && toml_find(value, it->key))
			it = it->next;
		if (!it)
			return 0;
		path[count] = arena_str(&edit->scratch, it->key);
		int status = remove_at(edit, path, count + 1, err);
		if (status != 0)
			return status;
	}
}

static int put_members(struct toml_edit *edit, struct str *path, size_t count, const struct toml *value, bool is_merge,
                       struct error *err)
{
	if (count > LIMIT_TOML_DEPTH)
		return error_set(err, ERR_limit, "%s: more than %d levels", edit->source, LIMIT_TOML_DEPTH);
	int status = is_merge ? 0 : remove_others(edit, path, count, value, err);
	struct spot spot = find_spot(edit, path, count);
	if (status == 0 && spot.depth < count)
		return add(edit, &spot, value, err);
	for (const struct toml *it = value->child; it && status == 0; it = it->next) {
		path[count] = it->key;
		status = put(edit, path, count + 1, it, is_merge, err);
	}
	return status;
}

static int put(struct toml_edit *edit, struct str *path, size_t count, const struct toml *value, bool is_merge,
               struct error *err)
{
	auto_buf struct buf text;
	struct spot spot = find_spot(edit, path, count);
	const struct toml *node = spot.chain[spot.depth];
	buf_init(&text, LIMIT_CONFIG_FILE);
	if (spot.depth < count)
		return add(edit, &spot, value, err);
	if (node->kind == TOML_table && value->kind == TOML_table)
		return put_members(edit, path, count, value, is_merge, err);
	if (find_inline(&spot))
		return change_inline(edit, &spot, find_inline(&spot), value, err);
	if (is_pair(node)) {
		toml_write_value(&text, value);
		return splice(edit, node->from, node->to, &text, err);
	}
	int status = remove_at(edit, path, count, err);
	if (status != 0)
		return status;
	spot = find_spot(edit, path, count);
	return add(edit, &spot, value, err);
}

static int start(struct toml_edit *edit, const struct str *path, size_t count, const struct toml *value, bool is_merge,
                 struct error *err)
{
	struct str whole[LIMIT_TOML_DEPTH + 2];
	if (count == 0 || count > LIMIT_TOML_DEPTH)
		return error_set(err, ERR_limit, "%s: a path has 1 to %d keys", edit->source, LIMIT_TOML_DEPTH);
	for (size_t i = 0; i < count; i++) {
		if (!text_is_utf8(path[i]))
			return error_set(err, ERR_config, "%s: a key is not UTF-8 text", edit->source);
		whole[i] = path[i];
	}
	return value ? put(edit, whole, count, value, is_merge, err) : remove_at(edit, whole, count, err);
}

int toml_edit_set(struct toml_edit *edit, const struct str *path, size_t count, const struct toml *value,
                  struct error *err)
{
	return start(edit, path, count, value, false, err);
}

int toml_edit_merge(struct toml_edit *edit, const struct str *path, size_t count, const struct toml *value,
                    struct error *err)
{
	return start(edit, path, count, value, true, err);
}

int toml_edit_remove(struct toml_edit *edit, const struct str *path, size_t count, struct error *err)
{
	return start(edit, path, count, NULL, false, err);
}

int toml_edit_init(struct toml_edit *edit, struct str text, const char *source, struct error *err)
{
	*edit = (struct toml_edit){.source = source};
	buf_init(&edit->text, LIMIT_CONFIG_FILE);
	buf_append_str(&edit->text, text);
	if (edit->text.over)
		return error_set(err, ERR_limit, "%s has more than %d MiB", source, LIMIT_CONFIG_FILE / MIB);
	edit->root = toml_parse(&edit->arena, buf_str(&edit->text), source, err);
	return edit->root ? 0 : -ERR_config;
}

void toml_edit_finish(struct toml_edit *edit)
{
	buf_finish(&edit->text);
	arena_finish(&edit->arena);
	arena_finish(&edit->scratch);
}
