/* schema.h — the app-server's tables as JSON Schema (draft 7), for clients that validate messages or generate types.
 *
 * Titles, definitions and files have the names used by codex 0.169.0, because clients depend on them. Descriptions are
 * the docs of the rows. Thread: any. Errors: those of the given writer. */
#ifndef PROTOCOL_SCHEMA_H
#define PROTOCOL_SCHEMA_H

#include "base/error.h"
#include "base/json.h"
#include "protocol/record/type_set.h"
#include "protocol/schema/app_message.h"

struct schema {
	struct json_writer *w;
	const struct type_set *set; /* the types to include */
	bool is_nested;             /* definitions of v2 are in a separate folder */
};

/* Writes the members of a type's schema (type, properties, oneOf, …) into an object that the caller opened. */
void schema_write_members(const struct schema *schema, enum type_kind kind, const void *type);
/* Writes {"$ref":…}. */
void schema_write_ref(const struct schema *schema, const char *name);

/* Writes all files; stops at the first error. */
must_check int schema_write_files(bool is_experimental, app_message_file_fn write, struct error *err, void *self);

#endif
