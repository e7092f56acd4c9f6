/* type_set.h — the types of the app-server that have a name, as files for other languages need them: which there are,
 * what they are made of, and where each of them stands.
 *
 * A record, union or enum has the name that is its own in PascalCase; the bodies of a union's variants have none and
 * are written where they stand. A set holds each type once, sorted by name. It owns its names; the types are tables.
 * Thread: any. */
#ifndef PROTOCOL_TYPE_SET_H
#define PROTOCOL_TYPE_SET_H

#include "base/vec.h"
#include "protocol/record/enum.h"
#include "protocol/record/record.h"

enum type_kind { TYPE_record, TYPE_union, TYPE_enum, TYPE_path };

struct named_type {
	enum type_kind kind;
	const void *type; /* struct record, union_type or enum_type; NULL for TYPE_path */
	char name[FIELD_NAME_SIZE];
};

struct type_set {
	VEC(struct named_type) types;
	bool is_experimental; /* also what is marked EXPERIMENTAL */
	bool is_flat;         /* without what its types are made of */
};

void type_set_finish(struct type_set *set);
/* Adds the type, and all that it is made of unless the set is flat. */
void type_set_add(struct type_set *set, enum type_kind kind, const void *type);
/* Adds what a type is made of, not the type itself; of a flat set, only what it names itself. */
void type_set_add_parts(struct type_set *set, enum type_kind kind, const void *type);
void type_set_sort(struct type_set *set);

/* "ThreadStartParams" for app_thread_start_params, "ReasoningEffort" for reasoning_effort. */
const char *type_name(const char *name, char buffer[FIELD_NAME_SIZE]);
/* That of a record, or of the union that is published in its place. */
const char *record_type_name(const struct record *record, char buffer[FIELD_NAME_SIZE]);
/* The named type that a field's value, or each of its items, is; false if it has none. */
bool field_named_type(const struct field *field, struct named_type *ret);
bool field_is_shown(const struct type_set *set, const struct field *field);
/* Whether null is understood, or told. */
bool field_is_nullable(const struct field *field);
/* "inProgress", "on-request", "input_text" as part of a title: "InProgress", "OnRequest", "InputText". */
const char *word_title(const char *word, char buffer[FIELD_NAME_SIZE]);

/* "", "v1/" or "v2/" (app_folder.def). */
const char *type_schema_folder(const char *name);
const char *type_script_folder(const char *name);

#endif
