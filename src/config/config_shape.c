/* The shapes are a tree of rows. Its depth bounds that of the search, not the file. */
#include "config/config_shape.h"

#include <math.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "config/config_key.h"
#include "config/config_record.h"
#include "config/toml/toml_text.h"

enum {
	TABLE = 1 << TOML_table,
	LIST = 1 << TOML_array,
	STRING = 1 << TOML_string,
	INTEGER = 1 << TOML_integer,
	FLOAT = 1 << TOML_float,
	BOOL = 1 << TOML_bool,
	POSITIVE = 1 << 20, /* a number above 0 */
	KEY = 1 << 21,      /* a string is the name of a key */
	CLOSED = 1 << 22,   /* the words are the members of a table */
	UNSIGNED = 1 << 23, /* an integer of 32 bits */
	NEEDS_SHIFT = 24,
};
#define NEEDS(count) ((count) << NEEDS_SHIFT)

struct shape {
	const char *key;
	unsigned kinds;
	const char *expected, *words;
	const struct shape *inside;
};

/* clang-format off */
#define SHAPE(table) static const struct shape shape_##table[] = {
#define ROW(key, kinds, expected, words, table) {key, kinds, expected, words, table},
#define TEXT(key) ROW(key, STRING, "a string", NULL, NULL)
#define TEXTS(key) ROW(key, LIST, "a list of strings", NULL, shape_texts)
#define WORD(key, words) ROW(key, STRING, "a string", words, NULL)
#define FLAG(key) ROW(key, BOOL, "true or false", NULL, NULL)
#define TABLE_OF(key, table) ROW(key, TABLE, "a table", NULL, shape_##table)
#define SHAPE_END {NULL, 0, NULL, NULL, NULL}};
#include "config/config_shape.def"
/* clang-format on */

/* The keys on the way to a value, from the last one. */
struct place {
	const struct toml *node;
	const struct place *parent;
};

static void write_keys(const struct place *place, struct buf *out)
{
	char shown[TOML_KEY_SHOWN];
	if (place->parent && place->parent->node)
		write_keys(place->parent, out);
	if (place->node->key.ptr)
		buf_printf(out, "%s%s", out->len ? "." : "", toml_key_shown(place->node->key, shown));
}

static int refuse(const struct place *place, const char *expected, const char *got, struct error *err)
{
	char where[CONFIG_PLACE_SIZE];
	auto_buf struct buf keys;
	buf_init(&keys, ERROR_TEXT_MAX);
	write_keys(place, &keys);
	return error_set(err, ERR_config, "%s: `%.*s` must be %s, not %s", config_place(place->node, where),
	                 STR_ARG(buf_str(&keys)), expected, got);
}

/* Refuses a word, or the name of a member, that is not among these. */
static int check_word(const struct place *place, struct str name, const char *words, struct error *err)
{
	char shown[TOML_KEY_SHOWN];
	struct suggest suggest = {.wrong = name};
	struct str rest = str_of(words), word;
	while (str_next_part(&rest, ' ', &word)) {
		if (str_eq(word, name))
			return 0;
		suggest_offer(&suggest, word);
	}
	struct str best = suggest.best.ptr ? suggest.best : STR("");
	auto_free char *expected = xasprintf("one of these words: %s", words);
	auto_free char *got = xasprintf("`%s`%s%.*s%s", toml_key_shown(name, shown), best.len ? ". Did you mean `" : "",
	                                STR_ARG(best), best.len ? "`?" : "");
	return refuse(place, expected, got, err);
}

static int check_number(const struct place *place, const struct shape *shape, struct error *err)
{
	char number[32];
	const struct toml *node = place->node;
	bool is_float = node->kind == TOML_float;
	int64_t max = shape->kinds & UNSIGNED ? UINT32_MAX : INT64_MAX;
	if (is_float ? isfinite(node->number) && node->number > 0
	             : node->integer >= (shape->kinds & POSITIVE ? 1 : 0) && node->integer <= max)
		return 0;
	if (is_float)
		snprintf(number, sizeof(number), "%g", node->number);
	else
		snprintf(number, sizeof(number), "%lld", (long long)node->integer);
	return refuse(place, shape->expected, number, err);
}

static int check_key(const struct place *place, const struct shape *shape, struct error *err)
{
	char shown[TOML_KEY_SHOWN];
	struct config_key key;
	if (config_key_read(place->node->text, &key))
		return 0;
	auto_free char *got = xasprintf("`%s`; names are like \"ctrl-t\", \"shift-enter\", \"page-up\" or \"f5\"",
	                                toml_key_shown(place->node->text, shown));
	return refuse(place, shape->expected, got, err);
}

static const struct shape *find(const struct shape *shape, struct str key)
{
	while (shape->kinds && shape->key && !str_is(key, shape->key))
		shape++;
	return shape->kinds ? shape : NULL;
}

/* list: the row of the list that the value is in, if it is in one. */
static int check_value(const struct place *place, const struct shape *shape, const struct shape *list,
                       struct error *err)
{
	const struct toml *node = place->node;
	if (!(shape->kinds & 1U << node->kind))
		return refuse(place, list ? list->expected : shape->expected, toml_kind_name(node->kind), err);
	if (node->kind == TOML_integer || node->kind == TOML_float)
		return check_number(place, shape, err);
	if (node->kind != TOML_string)
		return 0;
	return shape->kinds & KEY                         ? check_key(place, shape, err)
	       : shape->words && !(shape->kinds & CLOSED) ? check_word(place, node->text, shape->words, err)
	                                                  : 0;
}

/* Refuses a table that lacks one of the first members of its row. */
static int check_needs(const struct place *place, const struct shape *row, struct error *err)
{
	struct str rest = str_of(row->words ? row->words : ""), word;
	for (unsigned left = row->kinds >> NEEDS_SHIFT; left && str_next_part(&rest, ' ', &word); left--) {
		const struct toml *it = place->node->child;
		while (it && !str_eq(it->key, word))
			it = it->next;
		auto_free char *expected = it ? NULL : xasprintf("a table with `%.*s`", STR_ARG(word));
		if (!it)
			return refuse(place, expected, "one without it", err);
	}
	return 0;
}

/* Checks what is in the table or list of this row. */
static int check(const struct toml *node, const struct shape *row, const struct place *parent, struct error *err)
{
	int status = 0;
	for (const struct toml *it = node->child; it && status == 0; it = it->next) {
		const struct place place = {it, parent};
		const struct shape *shape = row->inside ? find(row->inside, it->key) : NULL;
		if (row->kinds & CLOSED)
			status = check_word(&place, it->key, row->words, err);
		if (status == 0 && shape)
			status = check_value(&place, shape, node->kind == TOML_array ? row : NULL, err);
		if (status == 0 && shape && (it->kind == TOML_array || it->kind == TOML_table))
			status = check(it, shape, &place, err);
		if (status == 0 && shape)
			status = check_needs(&place, shape, err);
	}
	return status;
}

void config_shape_read_dates(struct toml *tree, struct arena *arena)
{
	for (struct toml *it = tree->child; it; it = it->next) {
		if (it->kind == TOML_array || it->kind == TOML_table)
			config_shape_read_dates(it, arena);
		if (it->kind < TOML_datetime)
			continue;
		auto_buf struct buf text;
		buf_init(&text, LIMIT_LINE);
		toml_write_value(&text, it);
		it->kind = TOML_string;
		it->text = arena_str(arena, buf_str(&text));
	}
}

int config_shape_check(const struct toml *tree, struct error *err)
{
	const struct shape top = {.kinds = TABLE, .inside = shape_root};
	return check(tree, &top, NULL, err);
}
