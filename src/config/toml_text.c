/* Strings and numbers of JSON are strings and numbers of TOML; only braces look different. */
#include "config/toml_text.h"

#include "base/buf.h"
#include "base/json.h"

static void write_members(struct buf *out, const struct json *value)
{
	const char *before = "";
	json_for_each(it, value) {
		if (it->type == JSON_null)
			continue;
		buf_append_c(out, before);
		before = ", ";
		if (value->type == JSON_object) {
			json_quote(out, it->key);
			buf_append_c(out, " = ");
		}
		toml_write_json(out, it);
	}
}

void toml_write_json(struct buf *out, const struct json *value)
{
	switch (value->type) {
	case JSON_string:
		json_quote(out, value->text);
		return;
	case JSON_array:
		buf_append_char(out, '[');
		write_members(out, value);
		buf_append_char(out, ']');
		return;
	case JSON_object:
		buf_append_char(out, '{');
		write_members(out, value);
		buf_append_char(out, '}');
		return;
	default:
		buf_append_str(out, value->span);
	}
}
