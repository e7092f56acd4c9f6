/* Schemas are generated from the rows that drive decoding and encoding, so they cannot disagree with the program.
 * OPT and NUL fields accept null as absent; only NUL fields emit it. */
#include "protocol/schema/schema.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"

enum { TITLE_SIZE = FIELD_NAME_SIZE * 3 };

void schema_write_ref(const struct schema *schema, const char *name)
{
	bool is_inner = schema->is_nested && strcmp(type_schema_folder(name), "v2/") == 0;
	jw_object(schema->w);
	jw_key(schema->w, "$ref");
	jw_strf(schema->w, "#/definitions/%s%s", is_inner ? "v2/" : "", name);
	jw_object_end(schema->w);
}

static void write_doc(const struct schema *schema, const char *doc)
{
	if (doc && *doc)
		jw_member_cstr(schema->w, "description", doc);
}

/* Writes "type": "x", or "type": ["x", "null"]. */
static void write_type(const struct schema *schema, const char *type, bool is_nullable)
{
	if (!is_nullable) {
		jw_member_cstr(schema->w, "type", type);
		return;
	}
	jw_key(schema->w, "type");
	jw_array(schema->w);
	jw_cstr(schema->w, type);
	jw_cstr(schema->w, "null");
	jw_array_end(schema->w);
}

/* Draft 7 ignores the siblings of "$ref", so a reference with a description is wrapped in "allOf". */
static void write_ref_members(const struct schema *schema, const char *name, bool is_nullable)
{
	jw_key(schema->w, is_nullable ? "anyOf" : "allOf");
	jw_array(schema->w);
	schema_write_ref(schema, name);
	if (is_nullable) {
		jw_object(schema->w);
		jw_member_cstr(schema->w, "type", "null");
		jw_object_end(schema->w);
	}
	jw_array_end(schema->w);
}

/* Returns the JSON type of an item without a name. */
static const char *item_type(enum field_kind kind)
{
	switch (kind) {
	case FIELD_bool:
		return "boolean";
	case FIELD_f64:
		return "number";
	case FIELD_ints:
		return "integer";
	default:
		return "string";
	}
}

static void write_items(const struct schema *schema, const struct field *field)
{
	struct field_shape shape = field_as_shown(field);
	struct named_type item;
	jw_key(schema->w, shape.is_map ? "additionalProperties" : "items");
	if (field_named_type(field, &item)) {
		schema_write_ref(schema, item.name);
		return;
	}
	if (shape.kind == FIELD_json || shape.kind == FIELD_jsons) {
		jw_bool(schema->w, true);
		return;
	}
	jw_object(schema->w);
	jw_member_cstr(schema->w, "type", item_type(shape.kind));
	jw_object_end(schema->w);
}

static void write_field_members(const struct schema *schema, const struct field *field)
{
	struct field_shape shape = field_as_shown(field);
	bool is_nullable = field_is_nullable(field);
	struct named_type type;
	if (shape.is_map) {
		write_type(schema, "object", is_nullable);
		write_items(schema, field);
		return;
	}
	switch (shape.kind) {
	case FIELD_json:
		return; /* no type: any value is valid */
	case FIELD_str:
		write_type(schema, "string", is_nullable);
		return;
	case FIELD_bool:
		write_type(schema, "boolean", is_nullable);
		return;
	case FIELD_i64:
		write_type(schema, "integer", is_nullable);
		jw_member_cstr(schema->w, "format", "int64");
		return;
	case FIELD_f64:
		write_type(schema, "number", is_nullable);
		jw_member_cstr(schema->w, "format", "double");
		return;
	case FIELD_path:
	case FIELD_enum:
	case FIELD_record:
	case FIELD_union:
		if (field_named_type(field, &type))
			write_ref_members(schema, type.name, is_nullable);
		return;
	default:
		write_type(schema, "array", is_nullable);
		write_items(schema, field);
	}
}

/* Writes the default of a DEF field: the zero value. */
static void write_default(const struct schema *schema, const struct field *field)
{
	static const char *const zeros[] = {
		[FIELD_str] = "\"\"",   [FIELD_bool] = "false", [FIELD_i64] = "0",    [FIELD_f64] = "0",
		[FIELD_strs] = "[]",    [FIELD_paths] = "[]",   [FIELD_enums] = "[]", [FIELD_ints] = "[]",
		[FIELD_records] = "[]", [FIELD_unions] = "[]",
	};
	if ((field->presence & PRESENCE_MASK) != DEF)
		return;
	if (field->kind == FIELD_enum)
		jw_member_cstr(schema->w, "default", enum_wire(field_type(field), 0));
	else if (field->is_map)
		jw_member_raw(schema->w, "default", STR("{}"));
	else if (zeros[field->kind])
		jw_member_raw(schema->w, "default", str_of(zeros[field->kind]));
}

static void write_field(const struct schema *schema, const struct record *record, const struct field *field)
{
	jw_object(schema->w);
	write_doc(schema, field_doc(record, field));
	write_default(schema, field);
	write_field_members(schema, field);
	jw_object_end(schema->w);
}

/* ---- records ---- */

static void write_properties(const struct schema *schema, const struct record *record)
{
	char name[FIELD_NAME_SIZE];
	record_for_each(field, record) {
		if (!field_is_shown(schema->set, field))
			continue;
		jw_key(schema->w, field_wire_name(record, field, name));
		write_field(schema, record, field);
	}
}

static void write_required_name(const struct schema *schema, bool is_first, const char *name)
{
	if (is_first) {
		jw_key(schema->w, "required");
		jw_array(schema->w);
	}
	jw_cstr(schema->w, name);
}

/* Writes "required" with the key of a union first; nothing if the list is empty. */
static void write_required(const struct schema *schema, const struct record *record, const char *key)
{
	size_t written = 0;
	char name[FIELD_NAME_SIZE];
	if (key)
		write_required_name(schema, !written++, key);
	record_for_each(field, record) {
		if ((field->presence & PRESENCE_MASK) == REQ && field_is_shown(schema->set, field))
			write_required_name(schema, !written++, field_wire_name(record, field, name));
	}
	if (written)
		jw_array_end(schema->w);
}

static void write_record(const struct schema *schema, const struct record *record)
{
	jw_member_cstr(schema->w, "type", "object");
	if (record->is_open)
		jw_member_bool(schema->w, "additionalProperties", true);
	if (!record->word_count)
		return;
	jw_key(schema->w, "properties");
	jw_object(schema->w);
	write_properties(schema, record);
	jw_object_end(schema->w);
	write_required(schema, record, NULL);
}

/* ---- enums, unions ---- */

static void write_enum(const struct schema *schema, const struct enum_type *type)
{
	jw_member_cstr(schema->w, "type", "string");
	if (!type->count)
		return; /* no enum: any text is valid */
	jw_key(schema->w, "enum");
	jw_array(schema->w);
	for (size_t i = 0; i < type->count; i++) {
		if (enum_word_wire(type, i)[0])
			jw_cstr(schema->w, enum_word_wire(type, i));
	}
	jw_array_end(schema->w);
}

static void write_word(const struct schema *schema, const char *word)
{
	jw_key(schema->w, "enum");
	jw_array(schema->w);
	jw_cstr(schema->w, word);
	jw_array_end(schema->w);
}

static void variant_title(const struct union_type *type, const struct variant *variant, char title[TITLE_SIZE])
{
	char word[FIELD_NAME_SIZE], name[FIELD_NAME_SIZE];
	snprintf(title, TITLE_SIZE, "%s%s", word_title(variant->wire, word), type_name(type->name, name));
}

static void write_internal(const struct schema *schema, const struct union_type *type, const struct variant *variant)
{
	char title[TITLE_SIZE];
	variant_title(type, variant, title);
	jw_member_cstr(schema->w, "title", title);
	jw_member_cstr(schema->w, "type", "object");
	jw_key(schema->w, "properties");
	jw_object(schema->w);
	jw_key(schema->w, type->key);
	jw_object(schema->w);
	jw_key(schema->w, "title");
	jw_strf(schema->w, "%sType", title);
	jw_member_cstr(schema->w, "type", "string");
	write_word(schema, variant->wire);
	jw_object_end(schema->w);
	write_properties(schema, variant->body);
	jw_object_end(schema->w);
	write_required(schema, variant->body, type->key);
}

static void write_external_body(const struct schema *schema, const struct variant *variant)
{
	if (variant->is_value) {
		write_field(schema, variant->body, record_first(variant->body));
		return;
	}
	jw_object(schema->w);
	write_record(schema, variant->body);
	jw_object_end(schema->w);
}

static void write_external(const struct schema *schema, const struct union_type *type, const struct variant *variant)
{
	char title[TITLE_SIZE];
	if (!variant->body) {
		jw_member_cstr(schema->w, "type", "string");
		write_word(schema, variant->wire);
		return;
	}
	variant_title(type, variant, title);
	jw_member_cstr(schema->w, "title", title);
	jw_member_cstr(schema->w, "type", "object");
	jw_member_bool(schema->w, "additionalProperties", false);
	jw_key(schema->w, "properties");
	jw_object(schema->w);
	jw_key(schema->w, variant->wire);
	write_external_body(schema, variant);
	jw_object_end(schema->w);
	jw_key(schema->w, "required");
	jw_array(schema->w);
	jw_cstr(schema->w, variant->wire);
	jw_array_end(schema->w);
}

static void write_untagged(const struct schema *schema, const struct variant *variant)
{
	if (variant->is_value)
		write_field_members(schema, record_first(variant->body));
	else
		write_record(schema, variant->body);
}

static void write_variant(const struct schema *schema, const struct union_type *type, const struct variant *variant)
{
	if (type->style == UNION_UNTAGGED)
		write_untagged(schema, variant);
	else if (type->style == UNION_INTERNAL)
		write_internal(schema, type, variant);
	else
		write_external(schema, type, variant);
}

static void write_union(const struct schema *schema, const struct union_type *type)
{
	jw_key(schema->w, type->style == UNION_UNTAGGED ? "anyOf" : "oneOf");
	jw_array(schema->w);
	for (size_t i = 0; i < type->count; i++) {
		if (type->variants[i].is_alias)
			continue;
		jw_object(schema->w);
		write_doc(schema, variant_doc(&type->variants[i]));
		write_variant(schema, type, &type->variants[i]);
		jw_object_end(schema->w);
	}
	jw_array_end(schema->w);
}

void schema_write_members(const struct schema *schema, enum type_kind kind, const void *type)
{
	switch (kind) {
	case TYPE_record:
		if (!((const struct record *)type)->is_open)
			write_doc(schema, record_doc(type));
		write_record(schema, type);
		break;
	case TYPE_union:
		write_doc(schema, ((const struct union_type *)type)->doc);
		write_union(schema, type);
		break;
	case TYPE_enum:
		write_enum(schema, type);
		break;
	case TYPE_path:
		write_doc(schema, "an absolute path");
		jw_member_cstr(schema->w, "type", "string");
	}
}
