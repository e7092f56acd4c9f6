/* Decodes JSON into structs as serde does. The error messages are serde's, because app-server clients compare them. */
#include <stdio.h>

#include "base/error.h"
#include "protocol/record/enum.h"
#include "protocol/record/record_priv.h"

static bool is_required(const struct field *field)
{
	return (field->presence & PRESENCE_MASK) == REQ;
}

/* Reports a value of the wrong type with serde's names: "integer `5`", "string \"x\"", "map", …. */
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
	if (enum_parse(field_type(field), word, out))
		return 0;
	char expected[256];
	enum_expected(field_type(field), expected, sizeof(expected));
	return error_set(err, ERR_invalid, "unknown variant `%.*s`, expected %s", STR_ARG(word), expected);
}

/* Paths must be absolute, so that they do not depend on the program's working directory. */
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

static int decode_ints(const struct field *field, const struct json *json, struct arena *arena, void *out,
                       struct error *err)
{
	int64_t *items = arena_array(arena, int64_t, json->count);
	size_t count = 0;
	json_for_each(item, json) {
		if (!json_to_i64(item, &items[count++]))
			return wrong_type(item, "an integer", err);
	}
	*SLOT(int64_t *, out, field->offset) = items;
	*SLOT(size_t, out, field->aux) = count;
	return 0;
}

static int decode_records(const struct field *field, const struct json *json, struct arena *arena, void *out,
                          struct error *err)
{
	const struct record *record = field_type(field);
	char *items = arena_alloc(arena, record->size * json->count);
	struct str *keys = field->is_map ? arena_array(arena, struct str, json->count) : NULL;
	size_t count = 0;
	json_for_each(item, json) {
		if (keys)
			keys[count] = arena_str(arena, item->key);
		int status = record_decode(record, item, arena, items + record->size * count++, err);
		if (status != 0)
			return status;
	}
	*SLOT(void *, out, field->offset) = items;
	*SLOT(size_t, out, field->aux) = count;
	if (keys)
		*SLOT(struct str *, out, field_keys(field)) = keys;
	return 0;
}

/* Decodes a list of unions, or a map of them, which also stores its keys. */
static int decode_unions(const struct field *field, const struct json *json, struct arena *arena, void *out,
                         struct error *err)
{
	struct union_head *items = arena_array(arena, struct union_head, json->count);
	struct str *keys = field->is_map ? arena_array(arena, struct str, json->count) : NULL;
	size_t count = 0;
	json_for_each(item, json) {
		int status = union_decode(field_type(field), item, arena, &items[count], err);
		if (status != 0)
			return status;
		if (keys)
			keys[count] = arena_str(arena, item->key);
		count++;
	}
	*SLOT(void *, out, field->offset) = items;
	*SLOT(size_t, out, field->aux) = count;
	if (keys)
		*SLOT(struct str *, out, field_keys(field)) = keys;
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
		return json_to_bool(json, SLOT(bool, out, field->offset)) ? 0 : wrong_type(json, "a boolean", err);
	case FIELD_i64:
		return json_to_i64(json, SLOT(int64_t, out, field->offset)) ? 0 : wrong_type(json, "an integer", err);
	case FIELD_f64:
		return json_to_double(json, SLOT(double, out, field->offset)) ? 0 : wrong_type(json, "a number", err);
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
		const struct record *record = field_type(field);
		void *value = arena_alloc(arena, record->size);
		*SLOT(void *, out, field->offset) = value;
		return record_decode(record, json, arena, value, err);
	}
	void *value = arena_alloc(arena, UNION_SIZE);
	*SLOT(void *, out, field->offset) = value;
	return union_decode(field_type(field), json, arena, value, err);
}

static int decode_present(const struct field *field, const struct json *json, struct arena *arena, void *out,
                          struct error *err)
{
	if (field->kind >= FIELD_strs && !field->is_map && json->type != JSON_array)
		return wrong_type(json, "a sequence", err);
	if (field->is_map && json->type != JSON_object)
		return wrong_type(json, "a map", err);
	switch (field->kind) {
	case FIELD_strs:
		return decode_strs(field, json, arena, out, err);
	case FIELD_paths:
		return decode_paths(field, json, arena, out, err);
	case FIELD_enums:
		return decode_enums(field, json, arena, out, err);
	case FIELD_ints:
		return decode_ints(field, json, arena, out, err);
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

/* Errors of Ops name the field, because Ops are also written by hand in scripts. */
static int decode_field(const struct record *record, const struct field *field, const struct json *member,
                        struct arena *arena, void *out, struct error *err)
{
	int status = decode_present(field, member, arena, out, err);
	if (status != 0 && record->family == RECORD_SNAKE)
		return error_wrap(err, "%s", field_name(record, field));
	return status;
}

/* Leaves the field zero, which means absent. */
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
	char name[FIELD_NAME_SIZE];
	record_for_each(field, record) {
		const char *wire = field_wire_name(record, field, name);
		const struct json *member = json_get(json, wire);
		if ((!member || member->type == JSON_null) && !is_required(field)) {
			decode_absent(field, member, out);
			continue;
		}
		if (!member)
			return error_set(err, ERR_invalid, "missing field `%s`", wire);
		int status = decode_field(record, field, member, arena, out, err);
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

/* Decodes the value of a record's only field. */
static int decode_value(const struct record *record, const struct json *json, struct arena *arena, void *out,
                        struct error *err)
{
	const struct field *field = record_first(record);
	if (json_is(json, JSON_null) && !is_required(field))
		return 0;
	return decode_present(field, json, arena, out, err);
}

static int decode_body(const struct variant *variant, const struct json *json, struct arena *arena, void *out,
                       struct error *err)
{
	return (variant->is_value ? decode_value : record_decode)(variant->body, json, arena, out, err);
}

/* Decodes the first variant that fits without an error, as serde does. Failed attempts leave unused memory in the
 * arena, which is freed with the request. */
static int decode_untagged(const struct union_type *type, const struct json *json, struct arena *arena,
                           struct union_head *out, struct error *err)
{
	char name[FIELD_NAME_SIZE];
	for (size_t i = 0; i < type->count; i++) {
		const struct variant *variant = &type->variants[i];
		out->tag = variant->tag;
		out->body = arena_alloc(arena, variant->body->size);
		if (decode_body(variant, json, arena, out->body, err) == 0)
			return 0;
	}
	const struct record named = {.name = type->name, .family = RECORD_CAMEL};
	return error_set(err, ERR_invalid, "data did not match any variant of untagged enum %s",
	                 record_wire_name(&named, name));
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
	return decode_body(variant, body, arena, out->body, err);
}

int union_decode(const struct union_type *type, const struct json *json, struct arena *arena, void *out,
                 struct error *err)
{
	struct str wire;
	bool is_object = json->type == JSON_object;
	if (type->style == UNION_UNTAGGED)
		return decode_untagged(type, json, arena, out, err);
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
	/* {"tag":{…}}, the form of profile v1-2025-10, is also accepted for internally tagged types. */
	if (is_object && json->count == 1)
		return decode_variant(type, json->child->key, json->child, arena, out, err);
	if (!type->key && json_to_str(json, &wire))
		return decode_variant(type, wire, NULL, arena, out, err);
	return wrong_type(json, type->name, err);
}
