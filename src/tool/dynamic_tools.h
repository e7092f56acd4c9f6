/* dynamic_tools.h — the tools that a client provides.
 *
 * Read from an array of specs in one of two forms: {type:"function"|"namespace",…}, or the older {name, description,
 * inputSchema, namespace?, deferLoading?}; stored and written in the first. Immutable after reading.
 * Owns: copies of everything. Thread: any. Errors: ERR_invalid with the texts of codex 0.169. */
#ifndef TOOL_DYNAMIC_TOOLS_H
#define TOOL_DYNAMIC_TOOLS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct json_writer;

struct dynamic_tool {
	struct str name, description;
	struct str schema;    /* JSON Schema as text */
	struct str namespace; /* STR_NONE: the tool has no namespace */
	bool is_deferred;     /* sent only to models that can search for tools */
};

struct dynamic_tools;

/* Reads the JSON array of specs. NULL and err if one of the tools cannot be used. */
must_check struct dynamic_tools *dynamic_tools_read(struct str json, struct error *err);
void dynamic_tools_destroy(struct dynamic_tools *tools); /* NULL is fine */

/* Returns NULL if there is no such tool; tools may be NULL. */
const struct dynamic_tool *dynamic_tools_find(const struct dynamic_tools *tools, struct str namespace, struct str name);
/* Writes the elements of a request's tools array. is_taken returns true for names of built-in tools, which are
 * omitted. */
void dynamic_tools_write_specs(const struct dynamic_tools *tools, bool (*is_taken)(struct str name),
                               struct json_writer *w);
/* Writes the array in the form that dynamic_tools_read accepts. */
void dynamic_tools_write(const struct dynamic_tools *tools, struct json_writer *w);

#endif
