/* One walk over the field rows per job. What a field is decides a switch here and nowhere else, so
 * a new Op or Event needs rows and no code. */
#include "protocol/record.h"

#include <stdio.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/enum.h"

#define SLOT(type, base, offset) ((type *)(void *)((char *)(base) + (offset)))
#define CONST_SLOT(type, base, offset) ((const type *)(const void *)((const char *)(base) + (offset)))

enum { UNION_SIZE = sizeof(struct union_head) };

const struct variant *union_find_tag(const struct union_type *type, int tag)
{
	if (tag >= 0 && (size_t)tag < type->count && type->variants[tag].tag == tag && !type->variants[tag].is_alias)
		return &type->variants[tag]; /* always, where the aliases stand last */
	for (size_t i = 0; i < type->count; i++) {
		if (type->variants[i].tag == tag && !type->variants[i].is_alias)
			return &type->variants[i];
	}
	return NULL;
}

const struct variant *union_find_wire(const struct union_type *type, struct str wire)
{
	for (size_t i = 0; i < type->count; i++) {
		if (str_is(wire, type->variants[i].wire))
			return &type->variants[i];
	}
	return NULL;
}

/* ---- names ---- */

static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* snake_case to camelCase; an underscore that begins the name is part of it. */
static void write_camel(const char *snake, char buffer[FIELD_NAME_SIZE])
{
	size_t len = 0;
	while (*snake == '_' && len < FIELD_NAME_SIZE - 1)
		buffer[len++] = *snake++;
	for (; *snake && len < FIELD_NAME_SIZE - 1; snake++) {
		if (snake[0] == '_' && snake[1] == '_')
			buffer[len++] = *snake++;
		else if (snake[0] == '_' && snake[1])
			buffer[len++] = upper(*++snake);
		else if (snake[0] != '_')
			buffer[len++] = *snake;
	}
	buffer[len] = '\0';
}

const char *field_wire_name(const struct record *record, const struct field *field, char buffer[FIELD_NAME_SIZE])
{
	if (record->family == RECORD_SNAKE)
		return field->name;
	write_camel(field->name, buffer);
	return buffer;
}

const char *record_wire_name(const struct record *record, char buffer[FIELD_NAME_SIZE])
{
	static const char prefix[] = "app_";
	if (record->family == RECORD_SNAKE || strncmp(record->name, prefix, sizeof(prefix) - 1) != 0)
		return record->name;
	write_camel(record->name + sizeof(prefix) - 1, buffer);
	buffer[0] = upper(buffer[0]);
	return buffer;
}

const struct field *record_find_field(const struct record *record, const char *name)
{
	size_t count = 0;
	const struct field *fields = record->fields ? record->fields(&count) : NULL;
	for (size_t i = 0; i < count; i++) {
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	}
	return NULL;
}

static bool is_required(const struct field *field)
{
	return (field->presence & PRESENCE_MASK) == REQ;
}

/* ---- decoding ---- */

/* "integer `5`", "string \"x\"", "map", … as serde names what it did not expect. */
static int wrong_type(const struct json *json, const char *expected, struct error *err)
{
	static const char *const names[] = {"null", "boolean", "number", "string", "sequence", "map"};
	bool is_whole = json->type == JSON_number && str_find_char(json->text, '.') < 0;
	switch (json->type) {
	case JSON_number:
		return error_set(err, ERR_invalid, "invalid type: %s `%.*s`, expected %s",
		                 is_whole ? "integer" : "floating point", STR_ARG(json->text), expected);
	case JSON_bool:
		return error_set(err, ERR_invalid, "invalid type: boolean `%.*s`, expected %s", STR_ARG(json->span),
		                 expected);
	case JSON_string:
		return error_set(err, ERR_invalid, "invalid type: string %.*s, expected %s", STR_ARG(json->span),
		                 expected);
	default:
		return error_set(err, ERR_invalid, "invalid type: %s, expected %s", names[json->type], expected);
	}
}

static int decode_enum(const struct field *field, const struct json *json, int *out, struct error *err)
{
	struct str word;
	if (!json_to_str(json, &word))
		return wrong_type(json, "a string", err);
	if (enum_parse(field->type, word, out))
		return 0;
	char expected[256];
	enum_expected(field->type, expected, sizeof(expected));
	return error_set(err, ERR_invalid, "unknown variant `%.*s`, expected %s", STR_ARG(word), expected);
}

/* A path means the same whatever folder the program runs in. */
static int decode_path(const struct json *json, struct arena *arena, struct str *out, struct error *err)
{
	struct str text;
	if (!json_to_str(json, &text))
		return wrong_type(json, "path string", err);
	if (!text.len || text.ptr[0] != '/')
		return error_set(err, ERR_invalid, "AbsolutePathBuf deserialized without a base path");
	*out = arena_str(arena, text);
	return 0;
}

static int decode_paths(const struct field *field, const struct json *json, struct arena *arena, void *out,
                        struct error *err)
{
	struct str *items = arena_array(arena, struct str, json->count);
	size_t count = 0;
	json_for_each(item, json) {
		int status = decode_path(item, arena, &items[count++], err);
		if (status != 0)
			return status;
	}
	*SLOT(struct str *, out, field->offset) = items;
	*SLOT(size_t, out, field->aux) = count;
	return 0;
}

static int decode_enums(const struct field *field, const struct json *json, struct arena *arena, void *out,
                        struct error *err)
{
	int *items = arena_array(arena, int, json->count);
	size_t count = 0;
	json_for_each(item, json) {
		int status = decode_enum(field, item, &items[count++], err);
		if (status != 0)
			return status;
	}
	*SLOT(int *, out, field->offset) = items;
	*SLOT(size_t, out, field->aux) = count;
	return 0;
}

static int decode_strs(const struct field *field, const struct json *json, struct arena *arena, void *out,
                       struct error *err)
{
	struct str *items = arena_array(arena, struct str, json->count), text;
	size_t count = 0;
	json_for_each(item, json) {
		if (!json_to_str(item, &text))
			return wrong_type(item, "a string", err);
		items[count++] = arena_str(arena, text);
	}
	*SLOT(struct str *, out, field->offset) = items;
	*SLOT(size_t, out, field->aux) = count;
	return 0;
}

static int decode_records(const struct field *field, const struct json *json, struct arena *arena, void *out,
                          struct error *err)
{
	const struct record *record = field->type;
	char *items = arena_alloc(arena, record->size * json->count);
	size_t count = 0;
	json_for_each(item, json) {
		int status = record_decode(record, item, arena, items + record->size * count++, err);
		if (status != 0)
			return status;
	}
	*SLOT(void *, out, field->offset) = items;
	*SLOT(size_t, out, field->aux) = count;
	return 0;
}

/* Lists and maps of unions differ only in that a map keeps its keys. */
static int decode_unions(const struct field *field, const struct json *json, struct arena *arena, void *out,
                         struct error *err)
{
	struct union_head *items = arena_array(arena, struct union_head, json->count);
	struct str *keys = field->keys ? arena_array(arena, struct str, json->count) : NULL;
	size_t count = 0;
	json_for_each(item, json) {
		int status = union_decode(field->type, item, arena, &items[count], err);
		if (status != 0)
			return status;
		if (keys)
			keys[count] = arena_str(arena, item->key);
		count++;
	}
	*SLOT(void *, out, field->offset) = items;
	*SLOT(size_t, out, field->aux) = count;
	if (keys)
		*SLOT(struct str *, out, field->keys) = keys;
	return 0;
}

static int decode_scalar(const struct field *field, const struct json *json, struct arena *arena, void *out,
                         struct error *err)
{
	struct str text;
	switch (field->kind) {
	case FIELD_str:
		if (!json_to_str(json, &text))
			return wrong_type(json, "a string", err);
		*SLOT(struct str, out, field->offset) = arena_str(arena, text);
		return 0;
	case FIELD_path:
		return decode_path(json, arena, SLOT(struct str, out, field->offset), err);
	case FIELD_bool:
		return json_to_bool(json, SLOT(bool, out, field->offset)) ? 0
		                                                          : wrong_type(json, "a boolean", err);
	case FIELD_i64:
		return json_to_i64(json, SLOT(int64_t, out, field->offset))
		               ? 0
		               : wrong_type(json, "an integer", err);
	case FIELD_f64:
		return json_to_double(json, SLOT(double, out, field->offset))
		               ? 0
		               : wrong_type(json, "a number", err);
	case FIELD_enum:
		return decode_enum(field, json, SLOT(int, out, field->offset), err);
	default:
		*SLOT(struct str, out, field->offset) = arena_str(arena, json->span);
		return 0;
	}
}

static int decode_part(const struct field *field, const struct json *json, struct arena *arena, void *out,
                       struct error *err)
{
	if (field->kind == FIELD_record) {
		const struct record *record = field->type;
		void *value = arena_alloc(arena, record->size);
		*SLOT(void *, out, field->offset) = value;
		return record_decode(record, json, arena, value, err);
	}
	void *value = arena_alloc(arena, UNION_SIZE);
	*SLOT(void *, out, field->offset) = value;
	return union_decode(field->type, json, arena, value, err);
}

static int decode_present(const struct field *field, const struct json *json, struct arena *arena, void *out,
                          struct error *err)
{
	if (field->kind >= FIELD_strs && field->kind != FIELD_map && json->type != JSON_array)
		return wrong_type(json, "a sequence", err);
	if (field->kind == FIELD_map && json->type != JSON_object)
		return wrong_type(json, "a map", err);
	switch (field->kind) {
	case FIELD_strs:
		return decode_strs(field, json, arena, out, err);
	case FIELD_paths:
		return decode_paths(field, json, arena, out, err);
	case FIELD_enums:
		return decode_enums(field, json, arena, out, err);
	case FIELD_records:
		return decode_records(field, json, arena, out, err);
	case FIELD_unions:
	case FIELD_map:
		return decode_unions(field, json, arena, out, err);
	case FIELD_record:
	case FIELD_union:
		return decode_part(field, json, arena, out, err);
	default:
		if (field->aux)
			*SLOT(bool, out, field->aux - 1) = true;
		return decode_scalar(field, json, arena, out, err);
	}
}

/* Ops come from people's scripts too, so there the field is named that a complaint is about. */
static int decode_field(const struct record *record, const struct field *field, const struct json *member,
                        struct arena *arena, void *out, struct error *err)
{
	int status = decode_present(field, member, arena, out, err);
	if (status != 0 && record->family == RECORD_SNAKE)
		return error_wrap(err, "%s", field->name);
	return status;
}

/* Leaves the field as it is, which means absent. */
static void decode_absent(const struct field *field, const struct json *member, void *out)
{
	if (!member || !(field->presence & NULL_COUNTS))
		return;
	*SLOT(bool, out, field->aux - 1) = true;
	*SLOT(int64_t, out, field->offset) = FIELD_NULL;
}

static int decode_fields(const struct record *record, const struct json *json, struct arena *arena, void *out,
                         struct error *err)
{
	size_t count = 0;
	char name[FIELD_NAME_SIZE];
	const struct field *fields = record->fields ? record->fields(&count) : NULL;
	for (size_t i = 0; i < count; i++) {
		const char *wire = field_wire_name(record, &fields[i], name);
		const struct json *member = json_get(json, wire);
		if ((!member || member->type == JSON_null) && !is_required(&fields[i])) {
			decode_absent(&fields[i], member, out);
			continue;
		}
		if (!member)
			return error_set(err, ERR_invalid, "missing field `%s`", wire);
		int status = decode_field(record, &fields[i], member, arena, out, err);
		if (status != 0)
			return status;
	}
	return 0;
}

int record_decode(const struct record *record, const struct json *json, struct arena *arena, void *out,
                  struct error *err)
{
	char name[FIELD_NAME_SIZE], expected[FIELD_NAME_SIZE + 16];
	if (json->type != JSON_object) {
		snprintf(expected, sizeof(expected), "struct %s", record_wire_name(record, name));
		return wrong_type(json, expected, err);
	}
	if (!record->is_open)
		return decode_fields(record, json, arena, out, err);
	*SLOT(struct str, out, 0) = arena_str(arena, json->span);
	return 0;
}

/* The whole of a record that has one field is that field. */
static int decode_value(const struct record *record, const struct json *json, struct arena *arena, void *out,
                        struct error *err)
{
	size_t count;
	const struct field *field = record->fields(&count);
	if (json_is(json, JSON_null) && !is_required(field))
		return 0;
	return decode_present(field, json, arena, out, err);
}

static int unknown_variant(const struct union_type *type, struct str wire, struct error *err)
{
	char expected[900];
	size_t len = 0;
	expected[0] = '\0';
	for (size_t i = 0; i < type->count && len < sizeof(expected); i++) {
		if (type->variants[i].is_alias)
			continue;
		len += (size_t)snprintf(expected + len, sizeof(expected) - len, "%s`%s`", len ? ", " : "",
		                        type->variants[i].wire);
	}
	return error_set(err, ERR_invalid, "unknown variant `%.*s`, expected one of %s", STR_ARG(wire), expected);
}

static int decode_variant(const struct union_type *type, struct str wire, const struct json *body, struct arena *arena,
			  struct union_head *out, struct error *err)
{
	const struct variant *variant = union_find_wire(type, wire);
	if (!variant)
		return unknown_variant(type, wire, err);
	out->tag = variant->tag;
	if (!variant->body)
		return 0;
	if (!body)
		return error_set(err, ERR_invalid, "variant `%.*s` needs its fields", STR_ARG(wire));
	out->body = arena_alloc(arena, variant->body->size);
	if (variant->is_value)
		return decode_value(variant->body, body, arena, out->body, err);
	return record_decode(variant->body, body, arena, out->body, err);
}

int union_decode(const struct union_type *type, const struct json *json, struct arena *arena, void *out,
                 struct error *err)
{
	struct str wire;
	bool is_object = json->type == JSON_object;
	if (type->key && is_object) {
		const struct json *tag = json_get(json, type->key);
		if (!tag && type->alt_key)
			tag = json_get(json, type->alt_key);
		if (json_to_str(tag, &wire))
			return decode_variant(type, wire, json, arena, out, err);
		if (tag || json->count != 1 || json->child->type != JSON_object)
			return error_set(err, ERR_invalid, tag ? "`%s` must be a string" : "missing field `%s`",
			                 type->key);
	}
	/* {"tag":{…}}, also for internally tagged types: what the wire of 2025-10 wrote (protocol-v1 section 1) */
	if (is_object && json->count == 1)
		return decode_variant(type, json->child->key, json->child, arena, out, err);
	if (!type->key && json_to_str(json, &wire))
		return decode_variant(type, wire, NULL, arena, out, err);
	return wrong_type(json, type->name, err);
}

/* ---- encoding ---- */

static bool field_is_absent(const struct field *field, const void *value)
{
	switch (field->kind) {
	case FIELD_str:
	case FIELD_path:
	case FIELD_json:
		return !CONST_SLOT(struct str, value, field->offset)->ptr;
	case FIELD_record:
	case FIELD_union:
		return !*CONST_SLOT(void *, value, field->offset);
	case FIELD_strs:
	case FIELD_paths:
	case FIELD_enums:
	case FIELD_records:
	case FIELD_unions:
	case FIELD_map:
		return *CONST_SLOT(size_t, value, field->aux) == 0;
	default:
		return field->aux && !*CONST_SLOT(bool, value, field->aux - 1);
	}
}

static void encode_record(const struct record *record, const void *value, const struct record_dialect *dialect,
                          struct json_writer *w);

static void encode_list(const struct field *field, const void *value, const struct record_dialect *dialect,
                        struct json_writer *w)
{
	const char *items = *CONST_SLOT(char *, value, field->offset);
	size_t count = *CONST_SLOT(size_t, value, field->aux);
	jw_array(w);
	for (size_t i = 0; i < count; i++) {
		if (field->kind == FIELD_strs || field->kind == FIELD_paths)
			jw_str(w, CONST_SLOT(struct str, items, 0)[i]);
		else if (field->kind == FIELD_enums)
			jw_cstr(w, enum_wire(field->type, CONST_SLOT(int, items, 0)[i]));
		else if (field->kind == FIELD_records)
			encode_record(field->type, items + ((const struct record *)field->type)->size * i, dialect, w);
		else
			union_encode_as(field->type, items + UNION_SIZE * i, dialect, w);
	}
	jw_array_end(w);
}

static void encode_map(const struct field *field, const void *value, const struct record_dialect *dialect,
                       struct json_writer *w)
{
	const char *items = *CONST_SLOT(char *, value, field->offset);
	const struct str *keys = *CONST_SLOT(struct str *, value, field->keys);
	size_t count = *CONST_SLOT(size_t, value, field->aux);
	jw_object(w);
	for (size_t i = 0; i < count; i++) {
		jw_key_str(w, keys[i]);
		union_encode_as(field->type, items + UNION_SIZE * i, dialect, w);
	}
	jw_object_end(w);
}

static void encode_value(const struct field *field, const void *value, const struct record_dialect *dialect,
                         struct json_writer *w)
{
	struct str text;
	switch (field->kind) {
	case FIELD_str:
	case FIELD_path:
		text = *CONST_SLOT(struct str, value, field->offset);
		jw_str(w, text.ptr ? text : STR(""));
		return;
	case FIELD_json:
		text = *CONST_SLOT(struct str, value, field->offset);
		jw_raw(w, text.ptr ? text : STR("null"));
		return;
	case FIELD_bool:
		jw_bool(w, *CONST_SLOT(bool, value, field->offset));
		return;
	case FIELD_i64:
		jw_i64(w, *CONST_SLOT(int64_t, value, field->offset));
		return;
	case FIELD_f64:
		jw_double(w, *CONST_SLOT(double, value, field->offset));
		return;
	case FIELD_enum:
		jw_cstr(w, enum_wire(field->type, *CONST_SLOT(int, value, field->offset)));
		return;
	case FIELD_record:
		encode_record(field->type, *CONST_SLOT(void *, value, field->offset), dialect, w);
		return;
	case FIELD_union:
		union_encode_as(field->type, *CONST_SLOT(void *, value, field->offset), dialect, w);
		return;
	case FIELD_map:
		encode_map(field, value, dialect, w);
		return;
	default:
		encode_list(field, value, dialect, w);
	}
}

/* A list that may be null is null until somebody gave it a place, and empty after that. */
static bool is_null(const struct field *field, const void *value)
{
	bool may_be = (field->presence & PRESENCE_MASK) == NUL;
	if (field->kind >= FIELD_strs)
		return may_be && !*CONST_SLOT(void *, value, field->offset);
	return (may_be || field->kind == FIELD_record || field->kind == FIELD_union) && field_is_absent(field, value);
}

static void encode_field(const struct field *field, const void *value, const struct record_dialect *dialect,
                         struct json_writer *w)
{
	if (is_null(field, value))
		jw_null(w);
	else
		encode_value(field, value, dialect, w);
}

static void encode_fields(const struct record *record, const void *value, const struct record_dialect *dialect,
                          struct json_writer *w)
{
	size_t count = 0;
	char name[FIELD_NAME_SIZE];
	const struct field *fields = record->fields ? record->fields(&count) : NULL;
	for (size_t i = 0; i < count; i++) {
		bool is_left_out = (fields[i].presence & PRESENCE_MASK) == OPT && field_is_absent(&fields[i], value);
		if (is_left_out || (dialect && dialect->omits(record, &fields[i], dialect->self)))
			continue;
		jw_key(w, field_wire_name(record, &fields[i], name));
		encode_field(&fields[i], value, dialect, w);
	}
}

static void encode_record(const struct record *record, const void *value, const struct record_dialect *dialect,
                          struct json_writer *w)
{
	if (record->is_open) {
		struct str text = *CONST_SLOT(struct str, value, 0);
		jw_raw(w, text.ptr ? text : STR("{}"));
		return;
	}
	jw_object(w);
	encode_fields(record, value, dialect, w);
	jw_object_end(w);
}

void union_encode_as(const struct union_type *type, const void *value, const struct record_dialect *dialect,
                     struct json_writer *w)
{
	const struct union_head *head = value;
	const struct variant *variant = union_find_tag(type, head->tag);
	bool is_external = type->style == UNION_EXTERNAL ||
	                   (dialect && dialect->is_external(type, dialect->self));
	bool is_bare = !variant->body || (dialect && dialect->is_bare(variant, dialect->self));
	if (is_external && is_bare) {
		jw_cstr(w, variant->wire);
		return;
	}
	jw_object(w);
	if (variant->is_value) {
		size_t count;
		jw_key(w, variant->wire);
		encode_field(variant->body->fields(&count), head->body, dialect, w);
	} else if (is_external) {
		jw_key(w, variant->wire);
		encode_record(variant->body, head->body, dialect, w);
	} else {
		jw_member_cstr(w, type->key, variant->wire);
		if (variant->body)
			encode_fields(variant->body, head->body, dialect, w);
	}
	jw_object_end(w);
}

void record_encode(const struct record *record, const void *value, struct json_writer *w)
{
	encode_record(record, value, NULL, w);
}

void union_encode(const struct union_type *type, const void *value, struct json_writer *w)
{
	union_encode_as(type, value, NULL, w);
}

/* ---- copying ---- */

/* A long text that an event shows twice, as a command's output is, is copied once. */
struct twin {
	struct str from, copy;
};

enum { TWIN_MIN = 4 * KIB };

static struct str copy_text(struct arena *arena, struct str text, struct twin *last)
{
	if (text.len < TWIN_MIN)
		return arena_str(arena, text);
	if (text.ptr != last->from.ptr || text.len != last->from.len)
		*last = (struct twin){text, arena_str(arena, text)};
	return last->copy;
}

static void copy_strs(struct arena *arena, struct str **slot, size_t count)
{
	const struct str *from = *slot;
	struct str *items = arena_array(arena, struct str, count);
	for (size_t i = 0; i < count; i++)
		items[i] = arena_str(arena, from[i]);
	*slot = items;
}

static void copy_enums(struct arena *arena, int **slot, size_t count)
{
	int *items = arena_array(arena, int, count);
	memcpy(items, *slot, sizeof(*items) * count);
	*slot = items;
}

static void copy_list(const struct field *field, struct arena *arena, void *out)
{
	size_t count = *SLOT(size_t, out, field->aux);
	const char *from = *SLOT(char *, out, field->offset);
	bool is_record = field->kind == FIELD_records;
	size_t size = is_record ? ((const struct record *)field->type)->size : UNION_SIZE;
	char *items = arena_alloc(arena, size * count);
	for (size_t i = 0; i < count; i++) {
		if (is_record)
			record_copy(field->type, from + size * i, arena, items + size * i);
		else
			union_copy(field->type, from + size * i, arena, items + size * i);
	}
	*SLOT(void *, out, field->offset) = items;
	if (field->keys)
		copy_strs(arena, SLOT(struct str *, out, field->keys), count);
}

static void copy_field(const struct field *field, struct arena *arena, void *out, struct twin *last)
{
	void **part = SLOT(void *, out, field->offset);
	void *copy;
	switch (field->kind) {
	case FIELD_str:
	case FIELD_path:
	case FIELD_json:
		*SLOT(struct str, out, field->offset) = copy_text(arena, *SLOT(struct str, out, field->offset), last);
		return;
	case FIELD_record:
		copy = arena_alloc(arena, ((const struct record *)field->type)->size);
		record_copy(field->type, *part, arena, copy);
		*part = copy;
		return;
	case FIELD_union:
		copy = arena_alloc(arena, UNION_SIZE);
		union_copy(field->type, *part, arena, copy);
		*part = copy;
		return;
	case FIELD_enums:
		copy_enums(arena, SLOT(int *, out, field->offset), *SLOT(size_t, out, field->aux));
		return;
	case FIELD_strs:
	case FIELD_paths:
		copy_strs(arena, SLOT(struct str *, out, field->offset), *SLOT(size_t, out, field->aux));
		return;
	case FIELD_records:
	case FIELD_unions:
	case FIELD_map:
		copy_list(field, arena, out);
		return;
	default:
		return; /* scalars came along with the struct */
	}
}

void record_copy(const struct record *record, const void *from, struct arena *arena, void *out)
{
	size_t count = 0;
	struct twin last = {0};
	const struct field *fields = record->fields ? record->fields(&count) : NULL;
	memcpy(out, from, record->size);
	if (record->is_open)
		*SLOT(struct str, out, 0) = arena_str(arena, *SLOT(struct str, out, 0));
	for (size_t i = 0; i < count; i++) {
		if (!field_is_absent(&fields[i], out))
			copy_field(&fields[i], arena, out, &last);
	}
}

void union_copy(const struct union_type *type, const void *from, struct arena *arena, void *out)
{
	const struct union_head *head = from;
	struct union_head *copy = out;
	const struct variant *variant = union_find_tag(type, head->tag);
	*copy = *head;
	if (variant && variant->body && head->body) {
		copy->body = arena_alloc(arena, variant->body->size);
		record_copy(variant->body, head->body, arena, copy->body);
	}
}
