/* The set of types and their names, which the generators of JSON Schema and TypeScript share. A type is added before
 * its parts, so the walk ends at types that contain themselves. */
#include "protocol/record/type_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const struct folder {
	const char *name, *script_name;
	char schema[4], script[4]; /* not pointers: each would be a relocation */
} folders[] = {
#define FOLDER(name, schema, script) {name, NULL, schema, script},
#define FOLDER_AS(name, schema, script, script_name) {name, script_name, schema, script},
#include "protocol/app/app_folder.def"
#undef FOLDER
#undef FOLDER_AS
};

/* ---- names ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

const char *word_title(const char *word, char buffer[FIELD_NAME_SIZE])
{
	size_t len = 0;
	bool begins = true;
	for (; *word && len < FIELD_NAME_SIZE - 1; word++) {
		if (is_letter(*word))
			buffer[len++] = begins && *word >= 'a' && *word <= 'z' ? (char)(*word - 'a' + 'A') : *word;
		begins = !is_letter(*word);
	}
	buffer[len] = '\0';
	return buffer;
}

const char *type_name(const char *name, char buffer[FIELD_NAME_SIZE])
{
	static const char prefix[] = "app_";
	size_t skip = sizeof(prefix) - 1;
	return word_title(strncmp(name, prefix, skip) == 0 ? name + skip : name, buffer);
}

static int compare_folder(const void *name, const void *folder)
{
	return strcmp(name, ((const struct folder *)folder)->name);
}

static const struct folder *find_folder(const char *name)
{
	static const struct folder common = {"", NULL, "v2/", "v2/"};
	const struct folder *found = bsearch(name, folders, countof(folders), sizeof(*folders), compare_folder);
	return found ? found : &common;
}

const char *type_schema_folder(const char *name)
{
	return find_folder(name)->schema;
}

const char *type_script_folder(const char *name)
{
	return find_folder(name)->script;
}

const char *type_script_name(const char *name)
{
	const char *other = find_folder(name)->script_name;
	return other ? other : name;
}

/* ---- fields ---- */

bool field_is_shown(const struct type_set *set, const struct field *field)
{
	return set->is_experimental || !(field->presence & EXPERIMENTAL);
}

bool field_is_nullable(const struct field *field)
{
	unsigned presence = field->presence & PRESENCE_MASK;
	return presence == OPT || presence == NUL;
}

static const char *own_name(enum type_kind kind, const void *type)
{
	switch (kind) {
	case TYPE_record:
		return ((const struct record *)type)->name;
	case TYPE_union:
		return ((const struct union_type *)type)->name;
	case TYPE_enum:
		return ((const struct enum_type *)type)->name;
	default:
		return "absolute_path_buf";
	}
}

static struct named_type named(enum type_kind kind, const void *type)
{
	const struct union_type *shown = kind == TYPE_record ? record_shown(type) : NULL;
	struct named_type result = {shown ? TYPE_union : kind, shown ? shown : type, ""};
	type_name(own_name(result.kind, result.type), result.name);
	return result;
}

const char *record_type_name(const struct record *record, char buffer[FIELD_NAME_SIZE])
{
	const struct union_type *shown = record_shown(record);
	return type_name(shown ? shown->name : record->name, buffer);
}

bool field_named_type(const struct field *field, struct named_type *ret)
{
	switch (field_as_shown(field).kind) {
	case FIELD_path:
	case FIELD_paths:
		*ret = named(TYPE_path, NULL);
		return true;
	case FIELD_enum:
	case FIELD_enums:
		*ret = named(TYPE_enum, field_type(field));
		return true;
	case FIELD_record:
	case FIELD_records:
		*ret = named(TYPE_record, field_type(field));
		return true;
	case FIELD_union:
	case FIELD_unions:
	case FIELD_map:
		*ret = named(TYPE_union, field_type(field));
		return true;
	default:
		return false;
	}
}

/* ---- sets ---- */

void type_set_finish(struct type_set *set)
{
	vec_finish(&set->types);
}

/* False if the set already contains the type. */
static bool insert(struct type_set *set, const struct named_type *type)
{
	vec_for_each(it, &set->types) {
		if (it->kind == type->kind && it->type == type->type)
			return false;
	}
	vec_push(&set->types, *type);
	return true;
}

static void add_part(struct type_set *set, const struct named_type *type)
{
	if (insert(set, type) && !set->is_flat)
		type_set_add_parts(set, type->kind, type->type);
}

static void add_record_parts(struct type_set *set, const struct record *record)
{
	record_for_each(field, record) {
		struct named_type type;
		if (field_is_shown(set, field) && field_named_type(field, &type))
			add_part(set, &type);
	}
}

static void add_variant_parts(struct type_set *set, const struct variant *variant)
{
	if (!variant->body || variant->is_alias)
		return;
	if (variant->is_named && set->has_bodies) {
		struct named_type body = named(TYPE_record, variant->body);
		add_part(set, &body);
	} else {
		add_record_parts(set, variant->body);
	}
}

void type_set_add_parts(struct type_set *set, enum type_kind kind, const void *type)
{
	if (kind == TYPE_record)
		add_record_parts(set, type);
	if (kind != TYPE_union)
		return;
	const struct union_type *parts = type;
	for (size_t i = 0; i < parts->count; i++)
		add_variant_parts(set, &parts->variants[i]);
}

void type_set_add(struct type_set *set, enum type_kind kind, const void *type)
{
	struct named_type added = named(kind, type);
	add_part(set, &added);
}

static int compare_types(const void *a, const void *b)
{
	return strcmp(((const struct named_type *)a)->name, ((const struct named_type *)b)->name);
}

void type_set_sort(struct type_set *set)
{
	if (set->types.count)
		qsort(set->types.items, set->types.count, sizeof(*set->types.items), compare_types);
}
