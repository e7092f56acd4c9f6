/* toml_text.h — writes values as TOML, and TOML as JSON. Any thread. */
#ifndef CONFIG_TOML_TEXT_H
#define CONFIG_TOML_TEXT_H

#include <stddef.h>

#include "base/str.h"

struct buf;
struct json;
struct json_writer;
struct toml;

/* Appends a value on one line; objects become inline tables, and null members are omitted. */
void toml_write_json(struct buf *out, const struct json *value);

/* As toml_write_json, for a node. */
void toml_write_value(struct buf *out, const struct toml *node);
/* Appends a key, quoted if necessary. */
void toml_write_key(struct buf *out, struct str key);
void toml_write_path(struct buf *out, const struct str *path, size_t count);
/* Appends a table as [path] with its pairs, followed by its sub-tables, as complete lines. */
void toml_write_section(struct buf *out, const struct str *path, size_t count, const struct toml *table,
                        const char *newline);

/* Converts to JSON; times become strings, numbers that JSON lacks become null. */
void toml_to_json(struct json_writer *w, const struct toml *node);
/* As toml_to_json, with the members of every table sorted by name, so that equal trees give equal texts. */
void toml_to_sorted_json(struct json_writer *w, const struct toml *node);

#endif
