/* On the wire a namespace is a list of tools; here each tool has the name of its namespace, because calls are looked up
 * by both names. The specs group tools by namespace in the order of their first tools. */
#include "tool/dynamic_tools.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"

struct tool_namespace {
	struct str name, description;
};

struct dynamic_tools {
	struct arena arena;
	VEC(struct dynamic_tool) list;
	VEC(struct tool_namespace) namespaces;
};

void dynamic_tools_destroy(struct dynamic_tools *tools)
{
	if (!tools)
		return;
	vec_finish(&tools->list);
	vec_finish(&tools->namespaces);
	arena_finish(&tools->arena);
	free(tools);
}

/* ---- validation of names ---- */

static bool is_name(struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.ptr[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
		if (!is_letter && !(c >= '0' && c <= '9') && c != '_' && c != '-')
			return false;
	}
	return true;
}

/* Checks the name of a tool or of a namespace; `what` is the word for it in the error message. */
static int check_name(struct str name, const char *what, size_t max, struct error *err)
{
	if (!str_trim(name).len)
		return error_set(err, ERR_invalid, "%s must not be empty", what);
	if (str_trim(name).len != name.len)
		return error_set(err, ERR_invalid, "%s has leading/trailing whitespace: %.*s", what, STR_ARG(name));
	if (!is_name(name))
		return error_set(err, ERR_invalid, "%s must match ^[a-zA-Z0-9_-]+$ to match Responses API: %.*s", what,
		                 STR_ARG(name));
	if (name.len > max)
		return error_set(err, ERR_invalid, "%s must be at most %zu characters to match Responses API: %.*s",
		                 what, max, STR_ARG(name));
	if (str_is(name, "mcp") || str_has_prefix(name, "mcp__"))
		return error_set(err, ERR_invalid, "%s is reserved: %.*s", what, STR_ARG(name));
	return 0;
}

static int check_new(const struct dynamic_tools *tools, const struct dynamic_tool *tool, struct error *err)
{
	if (!dynamic_tools_find(tools, tool->namespace, tool->name))
		return 0;
	if (!tool->namespace.ptr)
		return error_set(err, ERR_invalid, "duplicate dynamic tool name: %.*s", STR_ARG(tool->name));
	return error_set(err, ERR_invalid, "duplicate dynamic tool name in namespace %.*s: %.*s",
	                 STR_ARG(tool->namespace), STR_ARG(tool->name));
}

/* ---- reading ---- */

static int read_text(const struct json *json, const char *key, struct str *ret, struct error *err)
{
	const struct json *member = json_get(json, key);
	if (!member)
		return error_set(err, ERR_invalid, "Invalid request: missing field `%s`", key);
	if (!json_to_str(member, ret))
		return error_set(err, ERR_invalid, "Invalid request: `%s` of a dynamic tool must be a string", key);
	return 0;
}

static int read_schema(const struct json *json, struct dynamic_tool *tool, struct error *err)
{
	const struct json *schema = json_get(json, "inputSchema");
	if (!schema)
		return error_set(err, ERR_invalid, "Invalid request: missing field `inputSchema`");
	if (schema->type != JSON_object)
		return error_set(err, ERR_invalid,
		                 "dynamic tool input schema is not supported for %.*s: invalid type: %s, expected "
		                 "struct JsonSchema",
		                 STR_ARG(tool->name), json_type_name(schema->type));
	tool->schema = schema->span;
	return 0;
}

static struct tool_namespace *find_namespace(const struct dynamic_tools *tools, struct str name)
{
	for (size_t i = 0; i < tools->namespaces.count; i++) {
		if (str_eq(tools->namespaces.items[i].name, name))
			return &tools->namespaces.items[i];
	}
	return NULL;
}

static int add_tool(struct dynamic_tools *tools, const struct json *json, struct str namespace, struct error *err)
{
	struct dynamic_tool tool = {.namespace = namespace};
	if (read_text(json, "name", &tool.name, err) != 0 ||
	    read_text(json, "description", &tool.description, err) != 0 ||
	    check_name(tool.name, "dynamic tool name", LIMIT_TOOL_NAME, err) != 0 ||
	    check_new(tools, &tool, err) != 0 || read_schema(json, &tool, err) != 0)
		return -(int)err->code;
	tool.is_deferred = json_get_bool(json, "deferLoading", false);
	if (tool.is_deferred && !namespace.ptr)
		return error_set(err, ERR_invalid, "deferred dynamic tool must include a namespace: %.*s",
		                 STR_ARG(tool.name));
	if (tools->list.count == LIMIT_DYNAMIC_TOOLS)
		return error_set(err, ERR_limit, "a client may provide %d tools", LIMIT_DYNAMIC_TOOLS);
	vec_push(&tools->list, tool);
	return 0;
}

static int add_namespace(struct dynamic_tools *tools, struct str name, struct str description, struct error *err)
{
	if (check_name(name, "dynamic tool namespace", LIMIT_TOOL_NAMESPACE, err) != 0)
		return -(int)err->code;
	vec_push(&tools->namespaces, ((struct tool_namespace){name, description}));
	return 0;
}

static int read_namespace(struct dynamic_tools *tools, const struct json *json, struct error *err)
{
	struct str name, description;
	const struct json *list = json_get(json, "tools");
	if (read_text(json, "name", &name, err) != 0 || read_text(json, "description", &description, err) != 0)
		return -(int)err->code;
	if (!json_is(list, JSON_array))
		return error_set(err, ERR_invalid, "Invalid request: missing field `tools`");
	if (find_namespace(tools, name))
		return error_set(err, ERR_invalid, "duplicate dynamic tool namespace: %.*s", STR_ARG(name));
	if (!list->count)
		return error_set(err, ERR_invalid, "dynamic tool namespace must contain at least one tool: %.*s",
		                 STR_ARG(name));
	if (add_namespace(tools, name, description, err) != 0)
		return -(int)err->code;
	json_for_each(it, list) {
		if (add_tool(tools, it, name, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

static int read_old(struct dynamic_tools *tools, const struct json *json, struct error *err)
{
	struct str namespace = json_get_str(json, "namespace");
	if (namespace.ptr && !find_namespace(tools, namespace) && add_namespace(tools, namespace, STR(""), err) != 0)
		return -(int)err->code;
	return add_tool(tools, json, namespace, err);
}

static int read_spec(struct dynamic_tools *tools, const struct json *json, struct error *err)
{
	struct str type = json_get_str(json, "type");
	if (!type.ptr)
		return read_old(tools, json, err);
	if (str_is(type, "namespace"))
		return read_namespace(tools, json, err);
	if (str_is(type, "function"))
		return add_tool(tools, json, STR_NONE, err);
	return error_set(err, ERR_invalid,
	                 "Invalid request: unknown variant `%.*s`, expected `function` or `namespace`", STR_ARG(type));
}

static int read_all(struct dynamic_tools *tools, const struct json *list, struct error *err)
{
	size_t old = 0;
	if (!json_is(list, JSON_array))
		return error_set(err, ERR_invalid, "Invalid request: invalid type: %s, expected a sequence",
		                 list && list->type == JSON_object ? "map" : "no list");
	json_for_each(it, list)
		old += !json_get(it, "type");
	if (old && old != list->count)
		return error_set(err, ERR_invalid,
		                 "Invalid request: dynamic tools must use either canonical or legacy format "
		                 "consistently");
	json_for_each(it, list) {
		if (read_spec(tools, it, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

struct dynamic_tools *dynamic_tools_read(struct str json, struct error *err)
{
	struct dynamic_tools *tools = xnew(struct dynamic_tools);
	const struct json *list = json_parse_copy(&tools->arena, json, err);
	if (list && read_all(tools, list, err) == 0)
		return tools;
	dynamic_tools_destroy(tools);
	return NULL;
}

const struct dynamic_tool *dynamic_tools_find(const struct dynamic_tools *tools, struct str namespace, struct str name)
{
	for (size_t i = 0; tools && i < tools->list.count; i++) {
		const struct dynamic_tool *it = &tools->list.items[i];
		if (str_eq(it->name, name) && str_eq(it->namespace, namespace))
			return it;
	}
	return NULL;
}

/* ---- writing ---- */

static void write_spec(const struct dynamic_tool *tool, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "type", "function");
	jw_member_str(w, "name", tool->name);
	jw_member_str(w, "description", tool->description);
	jw_member_bool(w, "strict", false);
	jw_member_raw(w, "parameters", tool->schema);
	jw_object_end(w);
}

static bool is_listed(const struct dynamic_tool *tool, struct str namespace)
{
	return str_eq(tool->namespace, namespace) && !tool->is_deferred;
}

static void write_namespace_spec(const struct dynamic_tools *tools, const struct tool_namespace *namespace,
                                 struct json_writer *w)
{
	size_t count = 0;
	vec_for_each(it, &tools->list)
		count += is_listed(it, namespace->name);
	if (!count)
		return;
	jw_object(w);
	jw_member_cstr(w, "type", "namespace");
	jw_member_str(w, "name", namespace->name);
	if (namespace->description.len)
		jw_member_str(w, "description", namespace->description);
	else
		jw_strf((jw_key(w, "description"), w), "Tools of the client, under %.*s.", STR_ARG(namespace->name));
	jw_key(w, "tools");
	jw_array(w);
	vec_for_each(it, &tools->list) {
		if (is_listed(it, namespace->name))
			write_spec(it, w);
	}
	jw_array_end(w);
	jw_object_end(w);
}

void dynamic_tools_write_specs(const struct dynamic_tools *tools, bool (*is_taken)(struct str name),
                               struct json_writer *w)
{
	if (!tools)
		return;
	vec_for_each(it, &tools->list) {
		if (!it->namespace.ptr && !is_taken(it->name))
			write_spec(it, w);
	}
	vec_for_each(it, &tools->namespaces)
		write_namespace_spec(tools, it, w);
}

static void write_tool(const struct dynamic_tool *tool, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "type", "function");
	jw_member_str(w, "name", tool->name);
	jw_member_str(w, "description", tool->description);
	jw_member_raw(w, "inputSchema", tool->schema);
	if (tool->is_deferred)
		jw_member_bool(w, "deferLoading", true);
	jw_object_end(w);
}

void dynamic_tools_write(const struct dynamic_tools *tools, struct json_writer *w)
{
	jw_array(w);
	vec_for_each(it, &tools->list) {
		if (!it->namespace.ptr)
			write_tool(it, w);
	}
	vec_for_each(namespace, &tools->namespaces) {
		jw_object(w);
		jw_member_cstr(w, "type", "namespace");
		jw_member_str(w, "name", namespace->name);
		jw_member_str(w, "description", namespace->description);
		jw_key(w, "tools");
		jw_array(w);
		vec_for_each(it, &tools->list) {
			if (str_eq(it->namespace, namespace->name))
				write_tool(it, w);
		}
		jw_array_end(w);
		jw_object_end(w);
	}
	jw_array_end(w);
}
