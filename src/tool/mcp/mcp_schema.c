/* Levels of detail, of which the first one that fits is written: all; without descriptions; without definitions, whose
 * references become {}; with composed schemas, and objects and lists below DEEP levels, as {}. The last one is written
 * even if it is too long. */
#include "tool/mcp/mcp_schema.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

enum detail { DETAIL_all, DETAIL_no_words, DETAIL_no_definitions, DETAIL_shallow };
enum { DEEP = 3 };

/* The kinds of values that keywords have. */
enum content { CONTENT_value, CONTENT_schema, CONTENT_schemas, CONTENT_named, CONTENT_definitions, CONTENT_words };

static const struct {
	const char *key;
	enum content content;
} keywords[] = {
	{"properties", CONTENT_named},
	{"patternProperties", CONTENT_named},
	{"items", CONTENT_schema},
	{"prefixItems", CONTENT_schemas},
	{"anyOf", CONTENT_schemas},
	{"oneOf", CONTENT_schemas},
	{"allOf", CONTENT_schemas},
	{"not", CONTENT_schema},
	{"additionalProperties", CONTENT_schema},
	{"$defs", CONTENT_definitions},
	{"definitions", CONTENT_definitions},
	{"description", CONTENT_words},
	{"title", CONTENT_words},
	{"examples", CONTENT_words},
	{"default", CONTENT_words},
	{"$comment", CONTENT_words},
};

static enum content content_of(struct str key)
{
	for (size_t i = 0; i < countof(keywords); i++) {
		if (str_is(key, keywords[i].key))
			return keywords[i].content;
	}
	return CONTENT_value;
}

static bool is_hidden(const struct json *schema, enum detail detail, int depth)
{
	struct str type = json_get_str(schema, "type");
	bool is_composed = json_get(schema, "anyOf") || json_get(schema, "oneOf") || json_get(schema, "allOf");
	if (detail >= DETAIL_no_definitions && json_get(schema, "$ref"))
		return true;
	return detail == DETAIL_shallow &&
	       (is_composed || (depth >= DEEP && (str_is(type, "object") || str_is(type, "array"))));
}

static void write_schema(const struct json *schema, enum detail detail, int depth, struct json_writer *w);

static void write_inner(const struct json *value, enum content content, enum detail detail, int depth,
                        struct json_writer *w)
{
	if (content == CONTENT_schema || value->type != (content == CONTENT_schemas ? JSON_array : JSON_object)) {
		write_schema(value, detail, depth, w);
		return;
	}
	content == CONTENT_schemas ? jw_array(w) : jw_object(w);
	json_for_each(it, value) {
		if (content != CONTENT_schemas)
			jw_key_str(w, it->key);
		write_schema(it, detail, depth, w);
	}
	content == CONTENT_schemas ? jw_array_end(w) : jw_object_end(w);
}

/* Providers demand type and properties of the whole, which has depth 0, and reject $schema. */
static void write_schema(const struct json *schema, enum detail detail, int depth, struct json_writer *w)
{
	if (schema && schema->type != JSON_object) {
		jw_value(w, schema);
		return;
	}
	jw_object(w);
	if (!depth && !json_get(schema, "type"))
		jw_member_cstr(w, "type", "object");
	json_for_each(it, depth && is_hidden(schema, detail, depth) ? NULL : schema) {
		enum content content = content_of(it->key);
		if (str_is(it->key, "$schema") || (content == CONTENT_words && detail >= DETAIL_no_words) ||
		    (content == CONTENT_definitions && detail >= DETAIL_no_definitions))
			continue;
		jw_key_str(w, it->key);
		if (content == CONTENT_value || content == CONTENT_words || detail == DETAIL_all)
			jw_value(w, it);
		else
			write_inner(it, content, detail, depth + 1, w);
	}
	if (!depth && !json_get(schema, "properties"))
		jw_member_raw(w, "properties", STR("{}"));
	jw_object_end(w);
}

void mcp_schema_write(const struct json *schema, size_t max, struct json_writer *w)
{
	for (enum detail detail = DETAIL_all; detail <= DETAIL_shallow; detail++) {
		auto_buf struct buf out;
		buf_init(&out, LIMIT_MCP_LIST);
		struct json_writer own = json_writer(&out);
		write_schema(schema, detail, 0, &own);
		if (!max || out.len <= max || detail == DETAIL_shallow) {
			jw_raw(w, buf_str(&out));
			return;
		}
	}
}
