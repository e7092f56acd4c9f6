/* Encodes structs as JSON. A dialect (an older version of the protocol) is consulted at each field and union. */
#include "protocol/record/enum.h"
#include "protocol/record/record_priv.h"

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
		else if (field->kind == FIELD_ints)
			jw_i64(w, CONST_SLOT(int64_t, items, 0)[i]);
		else if (field->kind == FIELD_enums)
			jw_cstr(w, enum_wire(field_type(field), CONST_SLOT(int, items, 0)[i]));
		else if (field->kind == FIELD_records)
			encode_record(field_type(field), items + field_record_size(field) * i, dialect, w);
		else
			union_encode_as(field_type(field), items + UNION_SIZE * i, dialect, w);
	}
	jw_array_end(w);
}

static void encode_map(const struct field *field, const void *value, const struct record_dialect *dialect,
                       struct json_writer *w)
{
	const char *items = *CONST_SLOT(char *, value, field->offset);
	const struct str *keys = *CONST_SLOT(struct str *, value, field_keys(field));
	size_t count = *CONST_SLOT(size_t, value, field->aux);
	jw_object(w);
	for (size_t i = 0; i < count; i++) {
		jw_key_str(w, keys[i]);
		if (field->kind == FIELD_records)
			encode_record(field_type(field), items + field_record_size(field) * i, dialect, w);
		else
			union_encode_as(field_type(field), items + UNION_SIZE * i, dialect, w);
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
		jw_cstr(w, enum_wire(field_type(field), *CONST_SLOT(int, value, field->offset)));
		return;
	case FIELD_record:
		encode_record(field_type(field), *CONST_SLOT(void *, value, field->offset), dialect, w);
		return;
	case FIELD_union:
		union_encode_as(field_type(field), *CONST_SLOT(void *, value, field->offset), dialect, w);
		return;
	default:
		(field->is_map ? encode_map : encode_list)(field, value, dialect, w);
	}
}

/* A nullable list is null while its pointer is NULL; with a pointer and no items it is empty. */
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
	char name[FIELD_NAME_SIZE];
	record_for_each(field, record) {
		bool is_left_out = (field->presence & PRESENCE_MASK) == OPT && field_is_absent(field, value);
		if (is_left_out || field->presence & ALIAS_NAME ||
		    (dialect && dialect->omits(record, field, dialect->self)))
			continue;
		jw_key(w, field_wire_name(record, field, name));
		encode_field(field, value, dialect, w);
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

static void encode_untagged(const struct variant *variant, const void *body, const struct record_dialect *dialect,
                            struct json_writer *w)
{
	if (variant->is_value)
		encode_field(record_first(variant->body), body, dialect, w);
	else
		encode_record(variant->body, body, dialect, w);
}

void union_encode_as(const struct union_type *type, const void *value, const struct record_dialect *dialect,
                     struct json_writer *w)
{
	const struct union_head *head = value;
	const struct variant *variant = union_find_tag(type, head->tag);
	if (type->style == UNION_UNTAGGED) {
		encode_untagged(variant, head->body, dialect, w);
		return;
	}
	bool is_external = type->style == UNION_EXTERNAL || (dialect && dialect->is_external(type, dialect->self));
	bool is_bare = !variant->body || (dialect && dialect->is_bare(variant, dialect->self));
	if (is_external && is_bare) {
		jw_cstr(w, variant->wire);
		return;
	}
	jw_object(w);
	if (variant->is_value) {
		jw_key(w, variant->wire);
		encode_field(record_first(variant->body), head->body, dialect, w);
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
