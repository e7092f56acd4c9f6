/* Each kind of value has a function and each key a table entry, so a new key needs only a row in config.def. The
 * same walk checks values and stores them; tables of named tables (profiles, providers, projects) are only checked,
 * and are bound on demand. */
#include "config/config_record.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "config/toml/toml_text.h"

enum { CONFIG_inert_any = -1 };
#define TOML_any CONFIG_inert_any

#define RECORD(record) static const struct config_row record##_rows[] = {
#define KEY(record, name, c_type, type, about, ...)          \
	{.key = #name,                                       \
	 .kind = CONFIG_##type,                              \
	 .offset = offsetof(struct record, name),            \
	 .set_offset = offsetof(struct record, is_set.name), \
	 __VA_ARGS__},
#define INERT(record, name, type, about) {.key = #name, .kind = CONFIG_inert, .toml_kind = TOML_##type},
#define RECORD_END(record)                                                                          \
	}                                                                                           \
	;                                                                                           \
	const struct config_record record##_keys = {#record, record##_rows, countof(record##_rows), \
	                                            sizeof(struct record)};
#include "config/config.def"

/* The location of a value, for messages: a chain of tables up to the root. */
struct place {
	const struct place *up;
	struct str key;
};

/* Converts one kind of value; false after complain(). `to` is NULL if the value is only checked. */
struct taker {
	struct config_binder *binder;
	const struct config_row *row;
	const struct toml *node;
	const struct place *place;
	void *to;
	struct error *err;
};

static void place_print(struct buf *out, const struct place *place)
{
	char shown[TOML_KEY_SHOWN];
	if (place->up) {
		place_print(out, place->up);
		if (place->up->key.len)
			buf_append_char(out, '.');
	}
	buf_append_c(out, toml_key_shown(place->key, shown));
}

const char *config_place(const struct toml *node, char out[CONFIG_PLACE_SIZE])
{
	if (node->source[0] == '/')
		snprintf(out, CONFIG_PLACE_SIZE, "%s:%u", node->source, node->line);
	else
		snprintf(out, CONFIG_PLACE_SIZE, "%s", node->source);
	return out;
}

static bool complain_with(const struct taker *t, const struct toml *node, const char *expected, const char *joint,
                          const char *got)
{
	auto_buf struct buf name;
	char where[CONFIG_PLACE_SIZE];
	buf_init(&name, ERROR_TEXT_MAX);
	place_print(&name, t->place);
	error_set(t->err, ERR_config, "%s: `%.*s` must be %s%s%s", config_place(node, where), STR_ARG(buf_str(&name)),
	          expected, joint, got);
	return false;
}

static bool complain(const struct taker *t, const struct toml *node, const char *expected, const char *got)
{
	return complain_with(t, node, expected, ", not ", got);
}

static bool complain_kind(const struct taker *t, const struct toml *node, const char *expected)
{
	return complain(t, node, expected, toml_kind_name(node->kind));
}

static bool take_bool(const struct taker *t)
{
	if (t->node->kind != TOML_bool)
		return complain_kind(t, t->node, "true or false");
	if (t->to)
		*(bool *)t->to = t->node->boolean;
	return true;
}

static bool take_int(const struct taker *t)
{
	char expected[96], got[32];
	int64_t value = t->node->integer;
	const struct config_int_range *range = t->row->integers;
	if (t->node->kind != TOML_integer)
		return complain_kind(t, t->node, "an integer");
	if (value >= range->low && value <= range->high) {
		if (t->to)
			*(int64_t *)t->to = value;
		return true;
	}
	if (range->high == INT64_MAX)
		snprintf(expected, sizeof(expected), "at least %" PRId64, range->low);
	else
		snprintf(expected, sizeof(expected), "between %" PRId64 " and %" PRId64, range->low, range->high);
	snprintf(got, sizeof(got), "%" PRId64, value);
	return complain(t, t->node, expected, got);
}

static bool take_number(const struct taker *t)
{
	char expected[96], got[32];
	const struct config_number_range *range = t->row->reals;
	if (t->node->kind != TOML_float && t->node->kind != TOML_integer)
		return complain_kind(t, t->node, "a number");
	double value = t->node->kind == TOML_float ? t->node->number : (double)t->node->integer;
	if (value >= range->low && value <= range->high) {
		if (t->to)
			*(double *)t->to = value;
		return true;
	}
	snprintf(expected, sizeof(expected), "between %g and %g", range->low, range->high);
	snprintf(got, sizeof(got), "%g", value);
	return complain(t, t->node, expected, got);
}

/* Rejects strings with a NUL. */
static bool check_string(const struct taker *t, const struct toml *node, const char *expected)
{
	if (node->kind != TOML_string)
		return complain_kind(t, node, expected);
	if (memchr(node->text.ptr, '\0', node->text.len))
		return complain(t, node, "text", "text with a NUL character");
	return true;
}

static bool take_string(const struct taker *t)
{
	if (!check_string(t, t->node, "a string"))
		return false;
	if (t->to)
		*(const char **)t->to = arena_cstr(t->binder->arena, t->node->text);
	return true;
}

static const char *start_folder(const struct config_binder *binder, const struct toml *node, struct arena *arena)
{
	if (node->source[0] == '/')
		return arena_cstr(arena, path_dir(node->source));
	return binder->cwd;
}

/* Replaces a leading "~" by the home folder; a relative path starts in the folder of the node's file. */
static const char *resolve_path(const struct config_binder *binder, const struct toml *node)
{
	auto_arena struct arena scratch = {0};
	struct str text = node->text;
	const char *from = start_folder(binder, node, &scratch);
	if (binder->home && (str_is(text, "~") || str_has_prefix(text, "~/"))) {
		from = binder->home;
		text = str_skip(text, text.len > 1 ? 2 : 1);
	}
	auto_free char *joined = path_join(from, arena_cstr(&scratch, text));
	auto_free char *normal = joined[0] == '/' ? path_normalize(joined) : xstrdup(joined);
	return arena_cstr(binder->arena, str_of(normal));
}

static bool take_path(const struct taker *t)
{
	if (!check_string(t, t->node, "a path in quotes"))
		return false;
	if (t->node->text.len == 0)
		return complain(t, t->node, "a path", "empty");
	if (t->to)
		*(const char **)t->to = resolve_path(t->binder, t->node);
	return true;
}

static bool take_choice(const struct taker *t)
{
	char expected[256], shown[TOML_KEY_SHOWN], got[TOML_KEY_SHOWN + 2];
	int value;
	enum_expected(t->row->words, expected, sizeof(expected));
	if (t->node->kind != TOML_string)
		return complain_kind(t, t->node, expected);
	if (!enum_parse(t->row->words, t->node->text, &value)) {
		snprintf(got, sizeof(got), "`%s`", toml_key_shown(t->node->text, shown));
		return complain(t, t->node, expected, got);
	}
	if (t->to)
		*(int *)t->to = value;
	return true;
}

static size_t count_variants(const struct union_type *type, bool are_tables)
{
	size_t count = 0;
	for (size_t i = 0; i < type->count; i++)
		count += !type->variants[i].is_alias && !!type->variants[i].body == are_tables;
	return count;
}

/* Appends the names of the variants: "on-request, untrusted or never". */
static void list_variants(const struct union_type *type, bool are_tables, struct buf *out)
{
	size_t left = count_variants(type, are_tables);
	for (size_t i = 0; i < type->count; i++) {
		const struct variant *it = &type->variants[i];
		if (it->is_alias || !!it->body != are_tables)
			continue;
		left--;
		buf_printf(out, "%s%s", it->wire, left > 1 ? ", " : left ? " or " : "");
	}
}

/* Appends the allowed forms: "on-request or never, or a table granular or reject". */
static void expect_variants(const struct union_type *type, struct buf *out)
{
	list_variants(type, false, out);
	if (!count_variants(type, true))
		return;
	buf_append_c(out, count_variants(type, false) ? ", or a table " : "a table ");
	list_variants(type, true, out);
}

/* Reports a variant that does not exist; `expected` lists the existing ones. */
static bool complain_variant(const struct taker *t, const char *expected, const struct error *why)
{
	char shown[TOML_KEY_SHOWN], got[TOML_KEY_SHOWN + 16];
	bool is_text = t->node->kind == TOML_string;
	struct str wire = is_text ? t->node->text : t->node->count == 1 ? t->node->child->key : STR_NONE;
	if (!wire.ptr || union_find_wire(t->row->variants, wire))
		return complain_with(t, t->node, expected, "; ", why->text);
	snprintf(got, sizeof(got), "%s`%s`", is_text ? "" : "a table ", toml_key_shown(wire, shown));
	return complain_with(t, t->node, expected, "; not ", got);
}

static bool take_one_of(const struct taker *t)
{
	auto_buf struct buf expected, text;
	auto_arena struct arena scratch = {0};
	struct error why;
	buf_init(&expected, ERROR_TEXT_MAX);
	buf_init(&text, LIMIT_LINE);
	expect_variants(t->row->variants, &expected);
	if (t->node->kind != TOML_string && t->node->kind != TOML_table)
		return complain_with(t, t->node, expected.data, "; not ", toml_kind_name(t->node->kind));
	struct json_writer w = json_writer(&text);
	toml_to_json(&w, t->node);
	const struct json *json = text.over ? NULL : json_parse(&scratch, buf_str(&text), NULL);
	struct union_head *value = arena_new(t->to ? t->binder->arena : &scratch, struct union_head);
	if (!json)
		return complain_with(t, t->node, expected.data, "; not ", "text of that size");
	if (union_decode(t->row->variants, json, t->binder->arena, value, &why) != 0)
		return complain_variant(t, expected.data, &why);
	if (t->to)
		*(const struct union_head **)t->to = value;
	return true;
}

static bool take_list(const struct taker *t, bool are_paths)
{
	const char *expected = are_paths ? "a list of paths" : "a list of strings";
	if (t->node->kind != TOML_array)
		return complain_kind(t, t->node, expected);
	struct str *items = t->to ? arena_array(t->binder->arena, struct str, t->node->count) : NULL;
	size_t count = 0;
	toml_for_each(it, t->node) {
		if (!check_string(t, it, expected))
			return false;
		if (items)
			items[count++] =
				are_paths ? str_of(resolve_path(t->binder, it)) : arena_str(t->binder->arena, it->text);
	}
	if (items)
		*(struct config_strings *)t->to = (struct config_strings){items, count};
	return true;
}

static struct config_strings one_string(struct arena *arena, struct str text)
{
	struct str *item = arena_new(arena, struct str);
	*item = arena_str(arena, text);
	return (struct config_strings){item, 1};
}

/* Rows with a number also accept one string. */
static bool take_strings(const struct taker *t)
{
	if (t->row->number && t->node->kind == TOML_string) {
		if (!check_string(t, t->node, "a string or a list of strings"))
			return false;
		if (t->to)
			*(struct config_strings *)t->to = one_string(t->binder->arena, t->node->text);
		return true;
	}
	return take_list(t, false);
}

static bool take_paths(const struct taker *t)
{
	return take_list(t, true);
}

static bool take_pairs(const struct taker *t)
{
	if (t->node->kind != TOML_table)
		return complain_kind(t, t->node, "a table of strings");
	struct config_pair *items = t->to ? arena_array(t->binder->arena, struct config_pair, t->node->count) : NULL;
	size_t count = 0;
	toml_for_each(it, t->node) {
		struct place place = {t->place, it->key};
		struct taker inner = *t;
		inner.place = &place;
		if (!check_string(&inner, it, "a string"))
			return false;
		if (memchr(it->key.ptr, '\0', it->key.len))
			return complain(&inner, it, "named by text", "by text with a NUL character");
		if (items)
			items[count++] = (struct config_pair){arena_str(t->binder->arena, it->key),
			                                      arena_str(t->binder->arena, it->text)};
	}
	if (items)
		*(struct config_pairs *)t->to = (struct config_pairs){items, count};
	return true;
}

static bool take_switch(const struct taker *t)
{
	if (t->node->kind == TOML_bool)
		return take_bool(t);
	if (t->node->kind != TOML_table)
		return complain_kind(t, t->node, "true, false or a table");
	const struct toml *enabled = toml_get(t->node, "enabled");
	if (!enabled)
		return true;
	struct place place = {t->place, STR("enabled")};
	struct taker inner = *t;
	inner.node = enabled;
	inner.place = &place;
	return take_bool(&inner);
}

static bool bind_table(struct config_binder *binder, const struct config_record *record, const struct toml *table,
                       const struct place *place, void *into, struct error *err);

static bool take_section(const struct taker *t)
{
	if (t->node->kind != TOML_table)
		return complain_kind(t, t->node, "a table");
	return bind_table(t->binder, t->row->inner, t->node, t->place, t->to, t->err);
}

static bool take_any(const struct taker *t)
{
	if (t->to)
		*(const struct toml **)t->to = t->node;
	return true;
}

static bool take_named(const struct taker *t)
{
	if (t->node->kind != TOML_table)
		return complain_kind(t, t->node, "a table");
	toml_for_each(it, t->node) {
		struct place place = {t->place, it->key};
		struct taker inner = *t;
		inner.node = it;
		inner.place = &place;
		inner.to = NULL;
		if (!take_section(&inner))
			return false;
	}
	return take_any(t);
}

static bool take_tables(const struct taker *t)
{
	if (t->node->kind != TOML_array)
		return complain_kind(t, t->node, "a list of tables");
	toml_for_each(it, t->node) {
		struct taker inner = *t;
		inner.node = it;
		inner.to = NULL;
		if (!take_section(&inner))
			return false;
	}
	if (t->to)
		*(const struct toml **)t->to = t->node;
	return true;
}

static bool take_inert(const struct taker *t)
{
	if (t->row->toml_kind == CONFIG_inert_any || t->row->toml_kind == (int)t->node->kind)
		return true;
	return complain_kind(t, t->node, toml_kind_name((enum toml_kind)t->row->toml_kind));
}

static bool (*const take[CONFIG_kind_count])(const struct taker *t) = {
	[CONFIG_bool] = take_bool,       [CONFIG_int] = take_int,         [CONFIG_number] = take_number,
	[CONFIG_string] = take_string,   [CONFIG_path] = take_path,       [CONFIG_choice] = take_choice,
	[CONFIG_strings] = take_strings, [CONFIG_paths] = take_paths,     [CONFIG_pairs] = take_pairs,
	[CONFIG_switch] = take_switch,   [CONFIG_section] = take_section, [CONFIG_named] = take_named,
	[CONFIG_any] = take_any,         [CONFIG_inert] = take_inert,     [CONFIG_one_of] = take_one_of,
	[CONFIG_list] = take_tables,
};

static void set_default(struct arena *arena, const struct config_row *row, void *to);

static void set_defaults(struct arena *arena, const struct config_record *record, void *into)
{
	memset(into, 0, record->size);
	for (size_t i = 0; i < record->count; i++)
		if (record->rows[i].kind != CONFIG_inert)
			set_default(arena, &record->rows[i], (char *)into + record->rows[i].offset);
}

static void set_default(struct arena *arena, const struct config_row *row, void *to)
{
	if (row->kind == CONFIG_bool || row->kind == CONFIG_switch)
		*(bool *)to = row->number != 0;
	else if (row->kind == CONFIG_int)
		*(int64_t *)to = row->integers->value;
	else if (row->kind == CONFIG_choice)
		*(int *)to = row->number;
	else if (row->kind == CONFIG_one_of)
		*(const struct union_head **)to = arena_new(arena, struct union_head);
	else if (row->kind == CONFIG_number)
		*(double *)to = row->reals->value;
	else if (row->kind == CONFIG_string)
		*(const char **)to = row->text;
	else if (row->kind == CONFIG_strings && row->text)
		*(struct config_strings *)to = one_string(arena, str_of(row->text));
	else if (row->kind == CONFIG_section)
		set_defaults(arena, row->inner, to);
}

static const struct config_row *row_find(const struct config_record *record, struct str key)
{
	for (size_t i = 0; i < record->count; i++)
		if (str_is(key, record->rows[i].key))
			return &record->rows[i];
	return NULL;
}

static void note(struct config_binder *binder, struct config_keys *list, const struct toml *node,
                 const struct place *place)
{
	auto_buf struct buf name;
	buf_init(&name, ERROR_TEXT_MAX);
	if (binder->is_quiet || list->count >= LIMIT_CONFIG_UNKNOWN)
		return;
	place_print(&name, place);
	vec_push(list, (struct config_unknown){node, arena_cstr(binder->arena, buf_str(&name))});
}

/* Overwrites the fields of `into` that the table sets. */
static bool bind_table(struct config_binder *binder, const struct config_record *record, const struct toml *table,
                       const struct place *place, void *into, struct error *err)
{
	toml_for_each(it, table) {
		struct place here = {place, it->key};
		const struct config_row *row = row_find(record, it->key);
		if (!row) {
			note(binder, &binder->unknown, it, &here);
			continue;
		}
		if (row->kind == CONFIG_inert && binder->notes_inert)
			note(binder, &binder->inert, it, &here);
		bool is_stored = into && row->kind != CONFIG_inert;
		struct taker t = {binder, row, it, &here, is_stored ? (char *)into + row->offset : NULL, err};
		if (!take[row->kind](&t))
			return false;
		if (is_stored)
			*((bool *)into + row->set_offset) = true;
	}
	return true;
}

int config_bind(struct config_binder *binder, const struct config_record *record, const struct toml *table,
                const char *name, void *into, struct error *err)
{
	struct place place = {NULL, str_of(name)};
	set_defaults(binder->arena, record, into);
	return bind_table(binder, record, table, &place, into, err) ? 0 : -ERR_config;
}
