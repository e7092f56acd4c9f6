/* toml_text.h — values in the words of TOML, and TOML in those of JSON. Any thread. */
#ifndef CONFIG_TOML_TEXT_H
#define CONFIG_TOML_TEXT_H

#include <stddef.h>

#include "base/str.h"

struct buf;
struct json;
struct json_writer;
struct toml;

/* Appends a value for one line; objects become inline tables, and members that are null are left out. */
void toml_write_json(struct buf *out, const struct json *value);

/* The same of a node. */
void toml_write_value(struct buf *out, const struct toml *node);
/* A key, in quotes if it needs them; and several with dots between them. */
void toml_write_key(struct buf *out, struct str key);
void toml_write_path(struct buf *out, const struct str *path, size_t count);
/* A table as [path] with its pairs, and below it the tables in it: lines that end in newline. */
void toml_write_section(struct buf *out, const struct str *path, size_t count, const struct toml *table,
                        const char *newline);

/* As JSON; times are strings, numbers that JSON does not have are null. */
void toml_to_json(struct json_writer *w, const struct toml *node);
/* The same with the members of every table in the order of their names: equal trees give equal texts. */
void toml_to_sorted_json(struct json_writer *w, const struct toml *node);

#endif
