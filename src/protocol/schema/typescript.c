/* Generates TypeScript from the rows that schema.c uses; a type is one expression. Bodies of union variants are written
 * inline, except NAMED ones. */
#include "protocol/schema/typescript.h"

#include <string.h>

#include "base/mem.h"

struct script {
	struct buf *out;
	const struct type_set *set;
	bool is_input; /* fields with a default are optional */
};

/* Appends a doc comment. The texts come from the tables and contain no end of a comment. */
static void append_doc(struct buf *out, const char *indent, const char *doc)
{
	if (doc && *doc)
		buf_printf(out, "%s/** %s */\n", indent, doc);
}

static const char *scalar_name(enum field_kind kind)
{
	switch (kind) {
	case FIELD_bool:
		return "boolean";
	case FIELD_i64:
	case FIELD_f64:
	case FIELD_ints:
		return "number";
	case FIELD_json:
	case FIELD_jsons:
		return "JsonValue";
	default:
		return "string";
	}
}

static void append_value(const struct script *script, const struct field *field)
{
	struct field_shape shape = field_as_shown(field);
	struct named_type type;
	bool is_list = shape.kind >= FIELD_strs && !shape.is_map;
	const char *name = field_named_type(field, &type) ? type_script_name(type.name) : scalar_name(shape.kind);
	if (shape.is_map)
		buf_printf(script->out, "{ [key in string]?: %s }", name);
	else
		buf_printf(script->out, is_list ? "Array<%s>" : "%s", name);
	if (field_is_nullable(field))
		buf_append_c(script->out, " | null");
}

static bool may_be_left_out(const struct script *script, const struct field *field)
{
	unsigned presence = field->presence & PRESENCE_MASK;
	return presence == OPT || (presence == DEF && script->is_input);
}

static void append_fields(const struct script *script, const struct record *record)
{
	char name[FIELD_NAME_SIZE];
	record_for_each(field, record) {
		if (!field_is_shown(script->set, field))
			continue;
		append_doc(script->out, "  ", field_doc(record, field));
		buf_printf(script->out, "  %s%s: ", field_wire_name(record, field, name),
		           may_be_left_out(script, field) ? "?" : "");
		append_value(script, field);
		buf_append_c(script->out, ";\n");
	}
}

static void append_record(const struct script *script, const struct record *record)
{
	if (record->is_open || !record->word_count) {
		buf_append_c(script->out,
		             record->is_open ? "{ [key in string]?: JsonValue }" : "Record<string, never>");
		return;
	}
	buf_append_c(script->out, "{\n");
	append_fields(script, record);
	buf_append_c(script->out, "}");
}

static void append_enum(const struct script *script, const struct enum_type *type)
{
	if (!type->count)
		buf_append_c(script->out, "string"); /* no enum: any text is valid */
	const char *before = "";
	for (size_t i = 0; i < type->count; i++) {
		if (!enum_word_wire(type, i)[0])
			continue;
		buf_printf(script->out, "%s\"%s\"", before, enum_word_wire(type, i));
		before = " | ";
	}
}

static void append_internal(const struct script *script, const char *key, const struct variant *variant)
{
	char name[FIELD_NAME_SIZE];
	if (variant->is_named) {
		buf_printf(script->out, "{ %s: \"%s\" } & %s", key, variant->wire,
		           record_type_name(variant->body, name));
		return;
	}
	buf_printf(script->out, "{\n  %s: \"%s\";\n", key, variant->wire);
	if (variant->body)
		append_fields(script, variant->body);
	buf_append_c(script->out, "}");
}

static void append_external(const struct script *script, const struct variant *variant)
{
	if (!variant->body) {
		buf_printf(script->out, "\"%s\"", variant->wire);
		return;
	}
	buf_printf(script->out, "{ \"%s\": ", variant->wire);
	if (variant->is_value)
		append_value(script, record_first(variant->body));
	else
		append_record(script, variant->body);
	buf_append_c(script->out, " }");
}

static void append_untagged(const struct script *script, const struct variant *variant)
{
	if (variant->is_value)
		append_value(script, record_first(variant->body));
	else
		append_record(script, variant->body);
}

static void append_union(const struct script *script, const struct union_type *type)
{
	for (size_t i = 0; i < type->count; i++) {
		if (type->variants[i].is_alias)
			continue;
		buf_append_c(script->out, "\n");
		append_doc(script->out, "", variant_doc(&type->variants[i]));
		buf_append_c(script->out, "| ");
		if (type->style == UNION_UNTAGGED)
			append_untagged(script, &type->variants[i]);
		else if (type->style == UNION_INTERNAL)
			append_internal(script, type->key, &type->variants[i]);
		else
			append_external(script, &type->variants[i]);
	}
}

void typescript_append(struct buf *out, const struct type_set *set, const struct named_type *type, bool is_input)
{
	struct script script = {.out = out, .set = set, .is_input = is_input};
	switch (type->kind) {
	case TYPE_record:
		append_record(&script, type->type);
		break;
	case TYPE_union:
		append_union(&script, type->type);
		break;
	case TYPE_enum:
		append_enum(&script, type->type);
		break;
	case TYPE_path:
		buf_append_c(out, "string");
	}
}
