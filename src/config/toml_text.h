/* toml_text.h — a JSON value in the words of TOML: what a client gives for a setting. */
#ifndef CONFIG_TOML_TEXT_H
#define CONFIG_TOML_TEXT_H

struct buf;
struct json;

/* Appends a value for one line; objects become inline tables, and members that are null are left out. */
void toml_write_json(struct buf *out, const struct json *value);

#endif
