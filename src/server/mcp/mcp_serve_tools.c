/* Both the schemas and the checks follow from the rows, so that a client that trusts a schema is never refused. */
#include "server/mcp/mcp_serve_tools.h"

#include "base/buf.h"
#include "base/error.h"

enum argument_kind { ARGUMENT_text, ARGUMENT_needed, ARGUMENT_choice, ARGUMENT_table };

static const struct {
	const char *name, *title, *doc, *failure;
} tools[MCP_SERVE_TOOL_count] = {
#define TOOL(id, name, title, doc) {name, title, doc, "Failed to parse configuration for " title " tool"},
#include "server/mcp/mcp_serve_tool.def"
};

static const struct argument {
	enum mcp_serve_tool tool;
	const char *name;
	enum argument_kind kind;
	const char *words; /* "a|b|c" */
	const char *doc;
} arguments[MCP_SERVE_ARGUMENT_count] = {
#define ARGUMENT(tool, id, name, kind, words, doc) {MCP_SERVE_TOOL_##tool, name, ARGUMENT_##kind, words, doc},
#include "server/mcp/mcp_serve_tool.def"
};

/* ---- the list ---- */

static void write_argument(struct json_writer *w, const struct argument *argument)
{
	struct str words = str_of(argument->words), word;
	jw_key(w, argument->name);
	jw_object(w);
	jw_member_cstr(w, "type", argument->kind == ARGUMENT_table ? "object" : "string");
	jw_member_cstr(w, "description", argument->doc);
	if (argument->kind == ARGUMENT_table)
		jw_member_bool(w, "additionalProperties", true);
	if (words.ptr) {
		jw_key(w, "enum");
		jw_array(w);
		while (str_next_part(&words, '|', &word))
			jw_str(w, word);
		jw_array_end(w);
	}
	jw_object_end(w);
}

static void write_input(struct json_writer *w, enum mcp_serve_tool tool)
{
	jw_object(w);
	jw_member_cstr(w, "type", "object");
	jw_key(w, "properties");
	jw_object(w);
	for (size_t i = 0; i < MCP_SERVE_ARGUMENT_count; i++)
		if (arguments[i].tool == tool)
			write_argument(w, &arguments[i]);
	jw_object_end(w);
	jw_key(w, "required");
	jw_array(w);
	for (size_t i = 0; i < MCP_SERVE_ARGUMENT_count; i++)
		if (arguments[i].tool == tool && arguments[i].kind == ARGUMENT_needed)
			jw_cstr(w, arguments[i].name);
	jw_array_end(w);
	jw_member_bool(w, "additionalProperties", false);
	jw_object_end(w);
}

void mcp_serve_tools_write(struct json_writer *w)
{
	static const char output[] = "{\"type\":\"object\",\"properties\":{\"threadId\":{\"type\":\"string\"},"
				     "\"content\":{\"type\":\"string\"}},\"required\":[\"threadId\",\"content\"]}";
	jw_array(w);
	for (size_t i = 0; i < MCP_SERVE_TOOL_count; i++) {
		jw_object(w);
		jw_member_cstr(w, "name", tools[i].name);
		jw_member_cstr(w, "title", tools[i].title);
		jw_member_cstr(w, "description", tools[i].doc);
		jw_key(w, "inputSchema");
		write_input(w, (enum mcp_serve_tool)i);
		jw_member_raw(w, "outputSchema", str_of(output));
		jw_object_end(w);
	}
	jw_array_end(w);
}

enum mcp_serve_tool mcp_serve_tool_find(struct str name)
{
	size_t at = 0;
	while (at < MCP_SERVE_TOOL_count && !str_is(name, tools[at].name))
		at++;
	return (enum mcp_serve_tool)at;
}

/* ---- the arguments of a call ---- */

static size_t find(enum mcp_serve_tool tool, struct str name)
{
	size_t at = 0;
	while (at < MCP_SERVE_ARGUMENT_count && (arguments[at].tool != tool || !str_is(name, arguments[at].name)))
		at++;
	return at;
}

static int fail_unknown(enum mcp_serve_tool tool, struct str name, struct error *err)
{
	auto_buf struct buf known;
	const char *before = "";
	buf_init(&known, ERROR_TEXT_MAX / 2);
	for (size_t i = 0; i < MCP_SERVE_ARGUMENT_count; i++) {
		if (arguments[i].tool != tool)
			continue;
		buf_printf(&known, "%s`%s`", before, arguments[i].name);
		before = ", ";
	}
	return error_set(err, ERR_invalid, "%s: unknown field `%.*s`, expected one of %.*s", tools[tool].failure,
	                 (int)(name.len < 64 ? name.len : 64), name.ptr, STR_ARG(buf_str(&known)));
}

static bool has_word(const char *list, struct str word)
{
	struct str words = str_of(list), it;
	while (str_next_part(&words, '|', &it))
		if (str_eq(it, word))
			return true;
	return false;
}

static int check(const struct argument *argument, const struct json *value, struct error *err)
{
	enum json_type want = argument->kind == ARGUMENT_table ? JSON_object : JSON_string;
	if (value->type != want)
		return error_set(err, ERR_invalid, "%s: invalid type for `%s`: %s, expected %s",
		                 tools[argument->tool].failure, argument->name, json_type_name(value->type),
		                 json_type_name(want));
	if (argument->kind == ARGUMENT_choice && !has_word(argument->words, value->text))
		return error_set(err, ERR_invalid, "%s: unknown variant `%.*s` for `%s`, expected one of %s",
		                 tools[argument->tool].failure, (int)(value->text.len < 64 ? value->text.len : 64),
		                 value->text.ptr, argument->name, argument->words);
	if (want == JSON_string && str_has_nul(value->text))
		return error_set(err, ERR_invalid, "%s: `%s` contains a NUL character", tools[argument->tool].failure,
		                 argument->name);
	return 0;
}

int mcp_serve_arguments_read(enum mcp_serve_tool tool, const struct json *json, struct mcp_serve_arguments *ret,
                             struct error *err)
{
	*ret = (struct mcp_serve_arguments){0};
	if (json && json->type != JSON_object && json->type != JSON_null)
		return error_set(err, ERR_invalid, "%s: arguments must be an object", tools[tool].failure);
	json_for_each(it, json) {
		size_t at = find(tool, it->key);
		if (at == MCP_SERVE_ARGUMENT_count)
			return fail_unknown(tool, it->key, err);
		if (it->type == JSON_null)
			continue;
		if (check(&arguments[at], it, err) != 0)
			return -ERR_invalid;
		ret->values[at] = it;
	}
	for (size_t i = 0; i < MCP_SERVE_ARGUMENT_count; i++)
		if (arguments[i].tool == tool && arguments[i].kind == ARGUMENT_needed && !ret->values[i])
			return error_set(err, ERR_invalid, "%s: missing field `%s`", tools[tool].failure,
			                 arguments[i].name);
	return 0;
}

struct str mcp_serve_text(const struct mcp_serve_arguments *call, enum mcp_serve_argument index)
{
	return call->values[index] ? call->values[index]->text : STR_NONE;
}
