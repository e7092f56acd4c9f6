/* type_set.h — the named types of the app-server for generated schema files: their names, parts and folders.
 *
 * The name of a record, union or enum is its C name in PascalCase; bodies of union variants are written inline,
 * except NAMED ones in TypeScript. A set holds each type once, sorted by name. It owns the names; the types are static
 * tables. Thread: any. */
#ifndef PROTOCOL_TYPE_SET_H
#define PROTOCOL_TYPE_SET_H

#include "base/vec.h"
#include "protocol/record/enum.h"
#include "protocol/record/record.h"

enum type_kind { TYPE_record, TYPE_union, TYPE_enum, TYPE_path };

struct named_type {
	enum type_kind kind;
	const void *type; /* a struct record, union_type or enum_type; NULL for TYPE_path */
	char name[FIELD_NAME_SIZE];
};

struct type_set {
	VEC(struct named_type) types;
	bool is_experimental; /* includes fields and messages marked EXPERIMENTAL */
	bool is_flat;         /* excludes the parts of its types */
	bool has_bodies;      /* NAMED bodies of variants count as types (TypeScript) */
};

void type_set_finish(struct type_set *set);
/* Adds the type, and its parts recursively unless the set is flat. */
void type_set_add(struct type_set *set, enum type_kind kind, const void *type);
/* Adds the parts of a type, not the type itself; for a flat set, only the direct parts. */
void type_set_add_parts(struct type_set *set, enum type_kind kind, const void *type);
void type_set_sort(struct type_set *set);

/* Returns "ThreadStartParams" for app_thread_start_params, "ReasoningEffort" for reasoning_effort. */
const char *type_name(const char *name, char buffer[FIELD_NAME_SIZE]);
/* Returns the name of a record, or of the union that is published in its place. */
const char *record_type_name(const struct record *record, char buffer[FIELD_NAME_SIZE]);
/* Sets *ret to the named type of a field's value or of its items; false if the type has no name. */
bool field_named_type(const struct field *field, struct named_type *ret);
bool field_is_shown(const struct type_set *set, const struct field *field);
/* True if the field accepts or emits null. */
bool field_is_nullable(const struct field *field);
/* Returns the form of a word in titles: "InProgress", "OnRequest", "InputText" for "inProgress", "on-request",
 * "input_text". */
const char *word_title(const char *word, char buffer[FIELD_NAME_SIZE]);

/* Returns "", "v1/" or "v2/" (app_folder.def). */
const char *type_schema_folder(const char *name);
const char *type_script_folder(const char *name);
/* Returns the name in TypeScript, which differs if two folders have types of the same name. */
const char *type_script_name(const char *name);

#endif
