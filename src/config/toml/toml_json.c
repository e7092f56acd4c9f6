/* Clients send settings as JSON. They are converted to a TOML tree, so that they pass the same checks with the same
 * errors. null becomes an absent key, because TOML has no null. */
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/toml/toml.h"

struct converter {
	struct arena *arena;
	const char *source;
	struct error *err;
};

static struct toml *convert(const struct converter *to, const struct json *json, unsigned depth);

static bool add_child(const struct converter *to, struct toml *parent, const struct json *it, unsigned depth)
{
	if (it->type == JSON_null)
		return true;
	if (parent->kind == TOML_table && toml_find(parent, it->key)) {
		error_set(to->err, ERR_config, "%s: `%.*s` appears twice", to->source, STR_ARG(it->key));
		return false;
	}
	struct toml *child = convert(to, it, depth + 1);
	if (!child)
		return false;
	if (parent->kind == TOML_table)
		toml_add(to->arena, parent, arena_str(to->arena, it->key), child);
	else
		toml_append(parent, child);
	return true;
}

static struct toml *convert_number(const struct converter *to, const struct json *json)
{
	int64_t integer;
	bool is_integer = json_to_i64(json, &integer);
	struct toml *node = toml_new(to->arena, is_integer ? TOML_integer : TOML_float, to->source, 1);
	if (is_integer)
		node->integer = integer;
	else
		json_to_double(json, &node->number);
	return node;
}

static struct toml *convert_list(const struct converter *to, const struct json *json, unsigned depth)
{
	enum toml_kind kind = json->type == JSON_object ? TOML_table : TOML_array;
	struct toml *node = toml_new(to->arena, kind, to->source, 1);
	json_for_each(it, json) {
		if (!add_child(to, node, it, depth))
			return NULL;
	}
	return node;
}

static struct toml *convert(const struct converter *to, const struct json *json, unsigned depth)
{
	struct toml *node;
	if (depth > LIMIT_TOML_DEPTH) {
		error_set(to->err, ERR_config, "%s: nested deeper than %d levels", to->source, LIMIT_TOML_DEPTH);
		return NULL;
	}
	switch (json->type) {
	case JSON_bool:
		node = toml_new(to->arena, TOML_bool, to->source, 1);
		node->boolean = json->boolean;
		return node;
	case JSON_number:
		return convert_number(to, json);
	case JSON_string:
		node = toml_new(to->arena, TOML_string, to->source, 1);
		node->text = arena_str(to->arena, json->text);
		return node;
	default:
		return convert_list(to, json, depth);
	}
}

struct toml *toml_from_json(struct arena *arena, const struct json *json, const char *source, struct error *err)
{
	struct converter to = {arena, source, err};
	if (json_is(json, JSON_object))
		return convert(&to, json, 0);
	error_set(err, ERR_config, "%s: expected an object", source);
	return NULL;
}
