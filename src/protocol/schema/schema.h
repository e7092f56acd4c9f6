/* schema.h — the app-server's tables as JSON Schema (draft 7), for clients that check what they send or
 * make types of it.
 *
 * Titles, definitions and files are named as those of codex 0.169.0 are, whose clients find them by these names;
 * descriptions are the docs of the rows. Thread: any. Errors: those of the writer that is given. */
#ifndef PROTOCOL_SCHEMA_H
#define PROTOCOL_SCHEMA_H

#include "base/json.h"
#include "protocol/message/app_message.h"

struct error;

struct schema {
	struct json_writer *w;
	const struct type_set *set; /* what of it is shown */
	bool is_nested; /* definitions of v2 stand in a folder of their own */
};

/* The members of a type's schema, inside an object that is the caller's: type, properties, oneOf, … */
void schema_write_members(const struct schema *schema, enum type_kind kind, const void *type);
/* {"$ref":…} */
void schema_write_ref(const struct schema *schema, const char *name);

/* All files, one after the other, up to the first error. */
int schema_write_files(bool is_experimental, app_message_file_fn write, struct error *err, void *self);

#endif
