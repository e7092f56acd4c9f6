/* The declarations are TypeScript, which models know well; they are made from the same schemas as the direct form. */
#include "tool/code/code_tools.h"

#include <ctype.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/host.h"
#include "base/json.h"
#include "tool/code/code_limits.h"
#include "tool/tool.h"
#include "tool/tool_spec.h"
#include "tool/tool_text.h"

enum { TYPE_DEPTH = 8 };

static const char exec_grammar[] = "start: with_pragma | SOURCE\n"
				   "with_pragma: PRAGMA LINE_END SOURCE\n"
				   "PRAGMA: /[ \\t]*\\/\\/ @exec:[^\\r\\n]*/\n"
				   "LINE_END: /\\r?\\n/\n"
				   "SOURCE: /[\\s\\S]+/\n";

static const char exec_result[] = "{ output: string; exit_code?: number; session_id?: number; "
				  "wall_time_seconds: number; chunk_id?: string; original_token_count?: number }";

/* ---- declarations ---- */

static void write_type(struct buf *out, const struct json *schema, int depth);

static bool is_required(const struct json *schema, struct str name)
{
	json_for_each(it, json_get(schema, "required")) {
		if (json_is(it, JSON_string) && str_eq(it->text, name))
			return true;
	}
	return false;
}

static bool is_identifier(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		if (!isalnum((unsigned char)name.ptr[i]) && name.ptr[i] != '_')
			return false;
	}
	return name.len && !isdigit((unsigned char)name.ptr[0]);
}

static void write_comment(struct buf *out, struct str text)
{
	buf_append_c(out, " // ");
	for (size_t i = 0; i < text.len; i++)
		buf_append_char(out, text.ptr[i] == '\n' || text.ptr[i] == '\r' ? ' ' : text.ptr[i]);
}

static void write_object(struct buf *out, const struct json *schema, int depth)
{
	const struct json *fields = json_get(schema, "properties");
	if (!fields || !fields->count) {
		buf_append_c(out, "Record<string, unknown>");
		return;
	}
	buf_append_c(out, "{\n");
	json_for_each(field, fields) {
		struct str doc = json_get_str(field, "description");
		buf_printf(out, "%*s", 2 * depth, "");
		if (is_identifier(field->key))
			buf_append_str(out, field->key);
		else
			json_quote(out, field->key);
		buf_append_c(out, is_required(schema, field->key) ? ": " : "?: ");
		write_type(out, field, depth + 1);
		buf_append_char(out, ';');
		if (doc.len)
			write_comment(out, doc);
		buf_append_char(out, '\n');
	}
	buf_printf(out, "%*s}", 2 * (depth - 1), "");
}

static void write_choices(struct buf *out, const struct json *choices, int depth, bool are_values)
{
	json_for_each(it, choices) {
		if (it != choices->child)
			buf_append_c(out, " | ");
		if (are_values)
			buf_append_str(out, it->span);
		else
			write_type(out, it, depth);
	}
}

static void write_type(struct buf *out, const struct json *schema, int depth)
{
	struct str type = json_get_str(schema, "type");
	const struct json *values = json_get(schema, "enum"), *any = json_get(schema, "anyOf");
	if (depth > TYPE_DEPTH) {
		buf_append_c(out, "unknown");
	} else if (json_is(values, JSON_array) && values->count) {
		write_choices(out, values, depth, true);
	} else if (json_is(any, JSON_array) && any->count) {
		write_choices(out, any, depth, false);
	} else if (str_is(type, "object")) {
		write_object(out, schema, depth);
	} else if (str_is(type, "array")) {
		buf_append_c(out, "Array<");
		write_type(out, json_get(schema, "items"), depth);
		buf_append_char(out, '>');
	} else if (str_is(type, "integer") || str_is(type, "number")) {
		buf_append_c(out, "number");
	} else if (str_is(type, "string") || str_is(type, "boolean") || str_is(type, "null")) {
		buf_append_str(out, type);
	} else {
		buf_append_c(out, "unknown");
	}
}

static const char *result_of(struct str js_name)
{
	if (str_is(js_name, "exec_command") || str_is(js_name, "write_stdin"))
		return exec_result;
	if (str_is(js_name, "view_image"))
		return "{ image_url: string }";
	if (str_is(js_name, "apply_patch") || str_is(js_name, "update_plan"))
		return "{}";
	return str_has_prefix(js_name, "mcp__") ? "CallToolResult" : "unknown";
}

static struct str declare(struct arena *arena, struct str js_name, const struct json *tool)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_TOOLS_JSON);
	buf_printf(&out, "declare const tools: { %.*s(", STR_ARG(js_name));
	if (str_is(json_get_str(tool, "type"), "custom")) {
		buf_append_c(&out, "text: string");
	} else {
		buf_append_c(&out, "args: ");
		write_type(&out, json_get(tool, "parameters"), 1);
	}
	buf_printf(&out, "): Promise<%s>; }", result_of(js_name));
	return arena_str(arena, buf_str(&out));
}

/* ---- the list ---- */

static struct str js_name_of(struct arena *arena, struct str namespace, struct str name)
{
	char *text = (char *)(uintptr_t)arena_printf(arena, "%.*s%s%.*s", STR_ARG(namespace), namespace.len ? "__" : "",
	                                             STR_ARG(name));
	for (char *at = text; *at; at++) {
		if (!isalnum((unsigned char)*at) && *at != '_')
			*at = '_';
	}
	return str_of(text);
}

/* Returns the slot of this name, or the free one where it belongs. */
static uint32_t *slot_of(const struct code_tools *tools, struct str js_name)
{
	for (size_t at = str_hash_keyed(js_name, tools->key);; at++) {
		uint32_t *slot = &tools->slots[at & (tools->slot_count - 1)];
		if (!*slot || str_eq(tools->list.items[*slot - 1].js_name, js_name))
			return slot;
	}
}

static void add(struct code_tools *tools, struct str namespace, const struct json *tool)
{
	struct arena *arena = &tools->arena;
	struct str type = json_get_str(tool, "type"), name = json_get_str(tool, "name");
	bool is_custom = str_is(type, "custom");
	if ((!is_custom && !str_is(type, "function")) || !name.len)
		return;
	struct code_tool it = {.is_custom = is_custom, .is_deferred = json_get_bool(tool, "defer_loading", false)};
	it.js_name = js_name_of(arena, namespace, name);
	uint32_t *slot = slot_of(tools, it.js_name);
	if (*slot)
		return;
	it.namespace = namespace.len ? arena_str(arena, namespace) : STR_NONE;
	it.name = arena_str(arena, name);
	it.declared = declare(arena, it.js_name, tool);
	it.described = str_of(
		arena_printf(arena, "%s\n\n%s", arena_cstr(arena, json_get_str(tool, "description")), it.declared.ptr));
	vec_push(&tools->list, it);
	*slot = (uint32_t)tools->list.count;
}

static void make_slots(struct code_tools *tools, const struct json *root)
{
	size_t most = 1;
	json_for_each(tool, root) {
		const struct json *list = json_get(tool, "tools");
		most += 1 + (json_is(list, JSON_array) ? list->count : 0);
	}
	for (tools->slot_count = 16; tools->slot_count < 2 * most; tools->slot_count *= 2)
		;
	tools->slots = xcalloc(tools->slot_count, sizeof(*tools->slots));
	host_random(&tools->key, sizeof(tools->key));
}

void code_tools_read(struct code_tools *tools, struct str json)
{
	auto_arena struct arena arena = {0};
	const struct json *root = json_parse(&arena, json, NULL);
	*tools = (struct code_tools){0};
	make_slots(tools, root);
	json_for_each(tool, root) {
		if (!str_is(json_get_str(tool, "type"), "namespace")) {
			add(tools, STR_NONE, tool);
			continue;
		}
		json_for_each(it, json_get(tool, "tools"))
			add(tools, json_get_str(tool, "name"), it);
	}
}

void code_tools_finish(struct code_tools *tools)
{
	vec_finish(&tools->list);
	free(steal(tools->slots));
	arena_finish(&tools->arena);
}

const struct code_tool *code_tools_find(const struct code_tools *tools, struct str js_name)
{
	uint32_t slot = tools->slots ? *slot_of(tools, js_name) : 0;
	return slot ? &tools->list.items[slot - 1] : NULL;
}

void code_tools_write(const struct code_tools *tools, struct json_writer *w)
{
	jw_array(w);
	vec_for_each(it, &tools->list) {
		jw_object(w);
		jw_member_str(w, "name", it->js_name);
		jw_member_str(w, "description", it->described);
		jw_object_end(w);
	}
	jw_array_end(w);
}

/* ---- exec and wait ---- */

void code_tools_write_exec(const struct code_tools *tools, struct json_writer *w)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_TOOLS_JSON);
	buf_append_str(&text, tool_text_exec);
	vec_for_each(it, &tools->list) {
		if (!it->is_deferred)
			buf_printf(&text, "\n\n## %.*s\n%s", STR_ARG(it->js_name), it->described.ptr);
	}
	jw_object(w);
	jw_member_cstr(w, "type", "custom");
	jw_member_cstr(w, "name", "exec");
	jw_member_str(w, "description", text.over ? tool_text_exec : buf_str(&text));
	jw_key(w, "format");
	jw_object(w);
	jw_member_cstr(w, "type", "grammar");
	jw_member_cstr(w, "syntax", "lark");
	jw_member_cstr(w, "definition", exec_grammar);
	jw_object_end(w);
	jw_object_end(w);
	tool_spec_write(tool_get(TOOL_code_wait), false, false, w);
}

/* ---- the pragma: the model reads the errors, each of which names the form that is right ---- */

enum { DEFAULT_YIELD_MS = 30000, DEFAULT_TOKENS = 10000 };

#define FORM "write // @exec: {\"yield_time_ms\": N, \"max_output_tokens\": N}"

static int read_field(const struct json *field, struct code_pragma *ret, struct error *err)
{
	int64_t value;
	bool is_time = str_is(field->key, "yield_time_ms");
	if (!is_time && !str_is(field->key, "max_output_tokens"))
		return error_set(err, ERR_invalid, "the pragma has an unknown field `%.*s`; " FORM,
		                 STR_ARG(field->key));
	if (!json_to_i64(field, &value) || value < 0)
		return error_set(err, ERR_invalid, "`%.*s` of the pragma must be a whole number of at least 0",
		                 STR_ARG(field->key));
	if (value > LIMIT_CODE_YIELD_MS)
		value = LIMIT_CODE_YIELD_MS;
	*(is_time ? &ret->yield_time_ms : &ret->max_output_tokens) = value;
	return 0;
}

static int read_fields(struct str text, struct code_pragma *ret, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct error why;
	text = str_trim(text);
	if (!text.len)
		return error_set(err, ERR_invalid, "the pragma is empty: it needs a JSON object; " FORM);
	const struct json *root = json_parse(&arena, text, &why);
	if (!root)
		return error_set(err, ERR_invalid, "the pragma is not JSON (%s); " FORM, why.text);
	if (root->type != JSON_object)
		return error_set(err, ERR_invalid, "the pragma must be a JSON object; " FORM);
	json_for_each(field, root) {
		if (read_field(field, ret, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

int code_pragma_read(struct str script, struct code_pragma *ret, struct error *err)
{
	struct str rest = script, line;
	*ret = (struct code_pragma){DEFAULT_YIELD_MS, DEFAULT_TOKENS};
	if (str_is_blank(script))
		return error_set(err, ERR_invalid, "the script is empty: exec runs JavaScript source");
	str_next_line(&rest, &line);
	while (line.len && (line.ptr[0] == ' ' || line.ptr[0] == '\t'))
		line = str_skip(line, 1);
	if (!str_cut_prefix(&line, "// @exec:"))
		return 0;
	if (read_fields(line, ret, err) != 0)
		return -(int)err->code;
	return str_is_blank(rest) ? error_set(err, ERR_invalid, "no source follows the pragma") : 0;
}
