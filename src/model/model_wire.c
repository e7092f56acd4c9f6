/* Names: providers other than OpenAI know functions only, and most of them limit names to 64 characters. A tool in a
 * namespace is called NAMESPACE__NAME there; the response's reader translates it back, so that the history keeps both
 * parts. */
#include "model/model_wire.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/model_catalog.h"

const char *wire_effort(const struct model_prompt *prompt)
{
	enum reasoning_effort effort = prompt->effort ? prompt->effort : prompt->info->default_effort;
	if (prompt->effort_word)
		return prompt->effort_word;
	return effort != reasoning_effort_unset ? enum_wire(&enum_reasoning_effort, (int)effort) : NULL;
}

/* ---- tools ---- */

static bool is_name_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/* Shortens a name; the hash keeps long names with the same beginning apart. */
static struct str flatten(struct arena *arena, struct str namespace, struct str name)
{
	const char *whole =
		arena_printf(arena, "%.*s%s%.*s", STR_ARG(namespace), namespace.len ? "__" : "", STR_ARG(name));
	struct str flat = str_of(whole);
	if (flat.len > WIRE_NAME_MAX)
		flat = str_of(arena_printf(arena, "%.*s_%08x", WIRE_NAME_MAX - 9, whole, (unsigned)str_hash(flat)));
	char *text = (char *)arena_cstr(arena, flat);
	for (size_t i = 0; i < flat.len; i++)
		text[i] = is_name_char(text[i]) ? text[i] : '_';
	return flat.len ? str_n(text, flat.len) : STR("tool");
}

const struct model_name *wire_find_name(const struct model_request *request, struct str flat)
{
	const struct model_memo *memo = request->memo;
	for (size_t i = 0; memo && i < memo->names.count; i++) {
		if (str_eq(memo->names.items[i].flat, flat))
			return &memo->names.items[i];
	}
	return NULL;
}

static struct str add_name(struct model_request *request, struct str namespace, struct str name)
{
	struct arena *arena = &request->memo->arena;
	struct str plain = flatten(arena, namespace, name), flat = plain;
	for (unsigned i = 2; wire_find_name(request, flat); i++)
		flat = str_of(arena_printf(arena, "%.*s_%u", (int)(plain.len < 58 ? plain.len : 58), plain.ptr, i));
	vec_push(&request->memo->names, (struct model_name){flat, arena_str(arena, namespace), arena_str(arena, name)});
	return flat;
}

struct str wire_call_name(struct model_request *request, const struct json *call)
{
	struct str namespace = json_get_str(call, "namespace"), name = json_get_str(call, "name");
	vec_for_each(it, &request->memo->names) {
		if (str_eq(it->namespace, namespace) && str_eq(it->name, name))
			return it->flat;
	}
	return flatten(&request->arena, namespace, name);
}

static const char no_parameters[] = "{\"type\":\"object\",\"properties\":{}}";
static const char input_parameters[] =
	"{\"type\":\"object\",\"properties\":{\"input\":{\"type\":\"string\"}},\"required\":[\"input\"],"
	"\"additionalProperties\":false}";

/* The schema of a function must be that of an object. */
static struct str parameters_of(const struct json *tool)
{
	const struct json *parameters = json_get(tool, "parameters");
	bool is_object = str_is(json_get_str(parameters, "type"), "object");
	return is_object ? parameters->span : str_of(no_parameters);
}

struct tool_list {
	struct model_request *request;
	VEC(struct wire_tool) tools;
};

bool wire_is_call_tool(const struct json *tool)
{
	struct str type = json_get_str(tool, "type");
	return str_is(type, "custom") || str_is(type, "function");
}

static void add_tool(struct tool_list *list, const struct json *tool, struct str namespace)
{
	bool is_custom = str_is(json_get_str(tool, "type"), "custom");
	if (!wire_is_call_tool(tool))
		return;
	struct wire_tool add = {
		.name = add_name(list->request, namespace, json_get_str(tool, "name")),
		.description = json_get_str(tool, "description"),
		.parameters = is_custom ? str_of(input_parameters) : parameters_of(tool),
		.is_strict = json_get_bool(tool, "strict", false),
	};
	vec_push(&list->tools, add);
}

const struct wire_tool *wire_read_tools(struct model_request *request, struct str tools, size_t *ret_count)
{
	struct tool_list list = {.request = request};
	const struct json *root = tools.len ? json_parse(&request->arena, tools, NULL) : NULL;
	json_for_each(tool, root) {
		if (!str_is(json_get_str(tool, "type"), "namespace")) {
			add_tool(&list, tool, STR_NONE);
			continue;
		}
		json_for_each(inner, json_get(tool, "tools"))
			add_tool(&list, inner, json_get_str(tool, "name"));
	}
	struct wire_tool *copy = arena_array(&request->arena, struct wire_tool, list.tools.count);
	if (list.tools.count)
		memcpy(copy, list.tools.items, list.tools.count * sizeof(*copy));
	*ret_count = list.tools.count;
	vec_finish(&list.tools);
	return copy;
}

void wire_keep_tools(struct model_request *request, const struct model_prompt *prompt,
                     void (*write)(struct json_writer *w, const struct wire_tool *tools, size_t count))
{
	struct json_writer w = json_writer(&request->memo->tools);
	size_t count;
	if (request->memo->tools.len)
		return;
	const struct wire_tool *tools = wire_read_tools(request, prompt->tools, &count);
	if (count)
		write(&w, tools, count);
}

static struct str input_as_arguments(struct arena *arena, struct str input)
{
	auto_buf struct buf out;
	buf_init(&out, 6 * input.len + 64);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_str(&w, "input", input.ptr ? input : STR(""));
	jw_object_end(&w);
	return arena_str(arena, buf_str(&out));
}

struct str wire_arguments(struct arena *arena, const struct json *call)
{
	struct str arguments = json_get_str(call, "arguments");
	if (str_is(json_get_str(call, "type"), "custom_tool_call"))
		return input_as_arguments(arena, json_get_str(call, "input"));
	const struct json *json = arguments.ptr ? json_parse(arena, arguments, NULL) : NULL;
	return json_is(json, JSON_object) ? arguments : STR("{}");
}

/* ---- the kept part of the history ---- */

void wire_attach_memo(struct model_request *request, const struct model_prompt *prompt, bool has_thoughts)
{
	bool has_own_tools = prompt->wire == wire_api_responses && !prompt->has_flat_tools;
	struct memo_key key = {
		.history_id = prompt->history_id,
		.wire = prompt->wire,
		.provider = prompt->provider,
		.tools = has_own_tools ? STR_NONE : prompt->tools,
		.has_images = prompt->info->has_image_input,
		.has_thoughts = has_thoughts,
		.has_flat_tools = prompt->has_flat_tools,
	};
	request->memo = model_memo_get(prompt->memo, &key, prompt->input, prompt->input_count);
}

/* Adds the part of a text that begins at `at` which is in [from, to). */
static void add_part(struct model_request *request, struct str text, size_t at, size_t from, size_t to)
{
	size_t end = at + text.len;
	if (from >= end || to <= at)
		return;
	size_t skip = from > at ? from - at : 0;
	vec_push(&request->body, str_n(text.ptr + skip, (to < end ? to : end) - at - skip));
}

void wire_add_rounds(struct model_request *request, size_t from, size_t to)
{
	size_t at = 0;
	vec_for_each(block, &request->memo->blocks) {
		add_part(request, str_n(block->bytes, block->len), at, from, to);
		at += block->len;
	}
	add_part(request, buf_str(&request->own), at, from, to);
}

int wire_check_length(const struct model_request *request, struct error *err)
{
	size_t len = 0;
	vec_for_each(slice, &request->body)
		len += slice->len;
	if (!request->head.over && !request->tail.over && !request->own.over && len <= LIMIT_REQUEST_BODY)
		return 0;
	return error_set(err, ERR_limit, "the request is longer than %d MiB; start a new thread",
	                 LIMIT_REQUEST_BODY / MIB);
}

/* ---- content ---- */

static struct str part_text(const struct json *part)
{
	struct str text = json_get_str(part, "text");
	return text.ptr ? text : json_get_str(part, "refusal");
}

void wire_append_text(struct buf *out, const struct json *content, const char *separator)
{
	struct str text;
	if (json_to_str(content, &text)) {
		buf_append_str(out, text);
		return;
	}
	size_t start = out->len;
	json_for_each(part, content) {
		text = part_text(part);
		if (text.len && out->len > start)
			buf_append_c(out, separator);
		buf_append_str(out, text);
	}
}

struct str wire_image_url(const struct json *part)
{
	return str_is(json_get_str(part, "type"), "input_image") ? json_get_str(part, "image_url") : STR_NONE;
}

bool wire_has_image(const struct json *content)
{
	json_for_each(part, content) {
		if (wire_image_url(part).len)
			return true;
	}
	return false;
}
