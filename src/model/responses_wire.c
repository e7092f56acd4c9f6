/* The Responses API: the history is already in its form.
 *
 * A long session sends megabytes of history with each tool call. Only the few hundred bytes around it are written here;
 * the history is sent from the caller's buffer without a copy. The order of keys is that of codex 0.169, because prompt
 * caches compare bytes. In the response nothing is copied, and only the final state is kept. */
#include "model/model_wire.h"

#include "base/json.h"
#include "base/limits.h"
#include "model/model_catalog.h"
#include "model/model_history.h"
#include "model/model_usage.h"
#include "protocol/record/types.h"

/* ---- the request ---- */

static void write_reasoning(struct json_writer *w, const struct model_prompt *prompt)
{
	const char *effort = wire_effort(prompt);
	bool has_summary =
		(prompt->info->has_reasoning || prompt->has_summary) && prompt->summary != reasoning_summary_none;
	if (!effort && !has_summary)
		return;
	jw_key(w, "reasoning");
	jw_object(w);
	if (effort)
		jw_member_cstr(w, "effort", effort);
	if (has_summary)
		jw_member_cstr(w, "summary", enum_wire(&enum_reasoning_summary, prompt->summary));
	if (prompt->is_lite)
		jw_member_cstr(w, "context", "all_turns");
	jw_object_end(w);
}

static void write_format(struct json_writer *w, struct str schema)
{
	jw_key(w, "format");
	jw_object(w);
	jw_member_cstr(w, "type", "json_schema");
	jw_member_bool(w, "strict", true);
	jw_member_raw(w, "schema", schema);
	jw_member_cstr(w, "name", "codex_output_schema");
	jw_object_end(w);
}

static void write_text(struct json_writer *w, const struct model_prompt *prompt)
{
	enum verbosity verbosity = prompt->verbosity ? prompt->verbosity : prompt->info->default_verbosity;
	bool has_verbosity = prompt->info->has_verbosity && verbosity != verbosity_unset;
	if (!has_verbosity && !prompt->output_schema.len)
		return;
	jw_key(w, "text");
	jw_object(w);
	if (has_verbosity)
		jw_member_cstr(w, "verbosity", enum_wire(&enum_verbosity, verbosity));
	if (prompt->output_schema.len)
		write_format(w, prompt->output_schema);
	jw_object_end(w);
}

static void write_include(struct json_writer *w, const struct model_prompt *prompt)
{
	jw_key(w, "include");
	jw_array(w);
	if (prompt->info->has_reasoning || prompt->effort != reasoning_effort_unset || prompt->effort_word)
		jw_cstr(w, "reasoning.encrypted_content");
	jw_array_end(w);
}

/* Writes `{"model":…,"instructions":…,"input":[`. */
static void write_head(struct buf *out, const struct model_prompt *prompt)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "model", prompt->info->slug);
	if (prompt->instructions.ptr && !prompt->is_lite)
		jw_member_str(&w, "instructions", prompt->instructions);
	jw_key(&w, "input");
	jw_array(&w);
}

/* Writes the members that follow the tools. */
static void write_tail(struct buf *out, const struct model_prompt *prompt)
{
	struct json_writer w = json_writer(out);
	w.comma = true;
	jw_member_cstr(&w, "tool_choice", "auto");
	jw_member_bool(&w, "parallel_tool_calls",
	               prompt->info->has_parallel_calls && !prompt->is_serial && !prompt->is_lite);
	write_reasoning(&w, prompt);
	jw_member_bool(&w, "store", prompt->is_stored);
	jw_member_bool(&w, "stream", true);
	write_include(&w, prompt);
	jw_member_str(&w, "prompt_cache_key", prompt->thread_id);
	write_text(&w, prompt);
	if (prompt->max_output_tokens)
		jw_member_i64(&w, "max_output_tokens", prompt->max_output_tokens);
	if (prompt->service_tier.len)
		jw_member_str(&w, "service_tier", prompt->service_tier);
	if (prompt->previous_response_id.len)
		jw_member_str(&w, "previous_response_id", prompt->previous_response_id);
	jw_object_end(&w);
}

static const struct str in_namespace = {"\"namespace\":\"", 13};

/* True if the history has this text. Within strings the quotes are escaped. */
static bool has_text(const struct model_prompt *prompt, struct str text)
{
	for (size_t i = 0; i < prompt->input_count; i++) {
		if (str_find(prompt->input[i], text) >= 0)
			return true;
	}
	return false;
}

static bool is_foreign(const struct model_prompt *prompt, struct str items)
{
	return str_find(items, STR("\"" HISTORY_WIRE "\":{\"name\":\"")) >= 0 ||
	       (prompt->has_flat_tools && str_find(items, in_namespace) >= 0);
}

/* True if an item of the history has a member that only another wire knows, or a name that this server does not. The
 * memo has the place up to which none has. */
static bool has_foreign(struct model_request *request, const struct model_prompt *prompt)
{
	struct memo_place start = {0}, *at = &start;
	if (prompt->history_id && !request->memo)
		wire_attach_memo(request, prompt, false);
	if (request->memo)
		at = &request->memo->place;
	for (; at->slice < prompt->input_count; at->slice++, at->offset = 0) {
		struct str rest = str_skip(prompt->input[at->slice], at->offset);
		if (is_foreign(prompt, rest))
			return true;
		at->rounds = 1;
		at->offset += rest.len;
		if (at->slice + 1 == prompt->input_count)
			break;
	}
	return false;
}

static void write_item(struct model_request *request, struct json_writer *w, const struct json *item, bool is_flat)
{
	bool is_named = is_flat && history_kind_of(item) == HISTORY_call && json_get(item, "namespace");
	if (json_get(item, HISTORY_WIRE) && str_is(json_get_str(item, "type"), "reasoning"))
		return;
	jw_object(w);
	json_for_each(member, item) {
		if (str_is(member->key, HISTORY_WIRE) || (is_named && str_is(member->key, "namespace")))
			continue;
		jw_key_str(w, member->key);
		if (is_named && str_is(member->key, "name"))
			jw_str(w, wire_call_name(request, item));
		else
			jw_value(w, member);
	}
	jw_object_end(w);
}

/* Writes the history without the reasoning of other wires, and without what they have added to items. */
static int write_own_input(struct model_request *request, const struct model_prompt *prompt, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct json_writer w = json_writer(&request->own);
	for (size_t i = 0; i < prompt->input_count; i++) {
		struct str rest = prompt->input[i];
		while (!str_is_blank(rest)) {
			const struct json *item = json_parse_next(&arena, &rest, err);
			if (!item)
				return error_wrap(err, "the history cannot be read");
			write_item(request, &w, item, prompt->has_flat_tools);
			arena_reset(&arena);
		}
	}
	if (request->own.over)
		return error_set(err, ERR_limit, "the history is longer than %d MiB; start a new thread",
		                 LIMIT_REQUEST_BODY / MIB);
	vec_push(&request->body, buf_str(&request->own));
	return 0;
}

/* Adds the slices of a list of items, with commas between them. */
#define ADD_ITEMS(to, slices, count)                          \
	for (size_t i_ = 0, added_ = 0; i_ < (count); i_++) { \
		if (!(slices)[i_].len)                        \
			continue;                             \
		if (added_++)                                 \
			vec_push((to), STR(","));             \
		vec_push((to), (slices)[i_]);                 \
	}

static int add_input(struct model_request *request, const struct model_prompt *prompt, struct error *err)
{
	if (has_foreign(request, prompt))
		return write_own_input(request, prompt, err);
	ADD_ITEMS(&request->body, prompt->input, prompt->input_count);
	request->has_fresh = prompt->fresh_after.len > 0;
	request->fresh_after = arena_str(&request->arena, prompt->fresh_after);
	ADD_ITEMS(&request->fresh, prompt->fresh, prompt->fresh_count);
	return 0;
}

static void write_tool(struct json_writer *w, const struct wire_tool *tool)
{
	jw_object(w);
	jw_member_cstr(w, "type", "function");
	jw_member_str(w, "name", tool->name);
	jw_member_str(w, "description", tool->description.ptr ? tool->description : STR(""));
	jw_member_bool(w, "strict", tool->is_strict);
	jw_member_raw(w, "parameters", tool->parameters);
	jw_object_end(w);
}

/* Writes the tools of namespaces as functions, and all others as they are. */
static void write_flat_tools(struct json_writer *w, const struct json *root, const struct wire_tool *next)
{
	jw_array(w);
	json_for_each(tool, root) {
		if (!str_is(json_get_str(tool, "type"), "namespace")) {
			jw_value(w, tool);
			next += wire_is_call_tool(tool);
			continue;
		}
		json_for_each(inner, json_get(tool, "tools")) {
			if (wire_is_call_tool(inner))
				write_tool(w, next++);
		}
	}
	jw_array_end(w);
}

/* Returns the tools as the server knows them, which requests with the same tools share. */
static struct str convert_tools(struct model_request *request, const struct model_prompt *prompt)
{
	if (!prompt->has_flat_tools)
		return prompt->tools;
	if (str_find(prompt->tools, STR("\"type\":\"namespace\"")) < 0 && !has_text(prompt, in_namespace))
		return prompt->tools;
	wire_attach_memo(request, prompt, false);
	struct buf *out = &request->memo->tools;
	struct json_writer w = json_writer(out);
	size_t count;
	if (out->len)
		return buf_str(out);
	const struct wire_tool *tools = wire_read_tools(request, prompt->tools, &count);
	write_flat_tools(&w, prompt->tools.len ? json_parse(&request->arena, prompt->tools, NULL) : NULL, tools);
	return buf_str(out);
}

static int write_body(struct model_request *request, const struct model_prompt *prompt, struct error *err)
{
	struct str tools = convert_tools(request, prompt);
	write_head(&request->head, prompt);
	write_tail(&request->tail, prompt);
	if (request->head.over || request->tail.over)
		return error_set(err, ERR_limit, "instructions or output schema are longer than %d MiB; shorten them",
		                 LIMIT_REQUEST_FRAME / MIB);
	vec_push(&request->body, buf_str(&request->head));
	if (add_input(request, prompt, err) < 0)
		return -(int)err->code;
	request->input_slices = request->body.count - 1;
	request->may_use_socket = !prompt->previous_response_id.len && !prompt->avoids_socket;
	if (prompt->is_lite) {
		vec_push(&request->body, STR("]"));
	} else {
		vec_push(&request->body, STR("],\"tools\":"));
		vec_push(&request->body, tools.len ? tools : STR("[]"));
	}
	vec_push(&request->body, buf_str(&request->tail));
	return 0;
}

/* ---- the response ---- */

static const struct str types[] = {
#define RESPONSE_EVENT(name, wire) [RESPONSE_##name] = {wire, sizeof(wire) - 1},
#include "model/response_event.def"
#undef RESPONSE_EVENT
	[RESPONSE_rate_limits] = {"codex.rate_limits", sizeof("codex.rate_limits") - 1}, /* over WebSocket only */
};

const char *model_stream_kind(enum response_event_type type)
{
	return type < RESPONSE_rate_limits ? types[type].ptr : NULL;
}

static void emit_response(struct model_stream *stream, enum response_event_type type, const struct json *root)
{
	const struct json *response = json_get(root, "response");
	struct token_usage usage;
	struct response_event event = {.type = type, .id = json_get_str(response, "id")};
	if (model_usage_read(json_get(response, "usage"), &usage))
		event.usage = &usage;
	json_to_i64(json_path(response, "usage.input_tokens_details.cache_write_tokens"), &stream->cache_writes);
	if (type == RESPONSE_completed)
		model_stream_complete(stream, event.id, event.usage);
	else
		model_stream_emit(stream, &event);
}

/* Emits a call whose name in the request was flat with its namespace. */
static void emit_named(struct model_stream *stream, enum response_event_type type, const struct json *item,
                       const struct model_name *name)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_RESPONSE_ITEM);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	json_for_each(member, item) {
		bool is_name = str_is(member->key, "name");
		if (is_name && name->namespace.ptr)
			jw_member_str(&w, "namespace", name->namespace);
		jw_key_str(&w, member->key);
		if (is_name)
			jw_str(&w, name->name);
		else
			jw_value(&w, member);
	}
	jw_object_end(&w);
	if (text.over)
		model_stream_fail_long(stream);
	else
		model_stream_emit_item(stream, type, json_parse(&arena, buf_str(&text), NULL));
}

static void emit_item(struct model_stream *stream, enum response_event_type type, const struct json *item)
{
	bool is_plain = !json_get(item, "namespace") && str_is(json_get_str(item, "type"), "function_call");
	const struct model_name *name =
		stream->request && is_plain ? wire_find_name(stream->request, json_get_str(item, "name")) : NULL;
	if (name)
		emit_named(stream, type, item, name);
	else
		model_stream_emit_item(stream, type, item);
}

static void emit_delta(struct model_stream *stream, enum response_event_type type, const struct json *root,
                       const char *index_key)
{
	struct response_event event = {.type = type, .id = json_get_str(root, "item_id")};
	if (type != RESPONSE_summary_part && !json_to_str(json_get(root, "delta"), &event.text))
		return;
	if (index_key)
		event.index = json_get_i64(root, index_key, 0);
	model_stream_emit(stream, &event);
}

static void fail_incomplete(struct model_stream *stream, const struct json *root)
{
	struct str reason = STR("unknown");
	json_to_str(json_path(root, "response.incomplete_details.reason"), &reason);
	model_stream_fail_incomplete(stream, reason);
}

/* Handles an `error` event; its members are at the top level or in `error`. */
static void fail_error(struct model_stream *stream, const struct json *root)
{
	const struct json *inner = json_get(root, "error");
	int64_t status = json_get_i64(root, "status", 0);
	if (json_is(inner, JSON_object) && status >= 400 && status < 600) {
		model_stream_fail_status(stream, root);
		return;
	}
	model_stream_fail(stream, inner && inner->type != JSON_null ? inner : root);
}

static enum response_event_type type_named(struct str name)
{
	for (size_t i = 0; i < countof(types); i++) {
		if (str_eq(name, types[i]))
			return (enum response_event_type)i;
	}
	return RESPONSE_count;
}

static enum response_event_type type_of(const struct json *root, struct str name)
{
	struct str type = json_get_str(root, "type");
	if (type.ptr)
		return type_named(type);
	enum response_event_type named = type_named(name);
	return named == RESPONSE_count && json_get(root, "error") ? RESPONSE_error : named;
}

static void emit_limits(struct model_stream *stream, const struct json *root)
{
	struct rate_limits limits;
	struct response_event event = {.type = RESPONSE_rate_limits, .limits = &limits};
	model_usage_read_limits(root, &stream->arena, &limits);
	if (limits.primary || limits.secondary || limits.credits)
		model_stream_emit(stream, &event);
}

static void read_event(struct model_stream *stream, struct str name, const struct json *root)
{
	enum response_event_type type = type_of(root, name);
	switch (type) {
	case RESPONSE_text_delta:
	case RESPONSE_input_delta:
		emit_delta(stream, type, root, NULL);
		break;
	case RESPONSE_summary_part:
	case RESPONSE_summary_delta:
		emit_delta(stream, type, root, "summary_index");
		break;
	case RESPONSE_reasoning_delta:
		emit_delta(stream, type, root, "content_index");
		break;
	case RESPONSE_item_added:
	case RESPONSE_item_done:
		emit_item(stream, type, json_get(root, "item"));
		break;
	case RESPONSE_created:
	case RESPONSE_completed:
		emit_response(stream, type, root);
		break;
	case RESPONSE_failed:
		model_stream_fail(stream, json_path(root, "response.error"));
		break;
	case RESPONSE_incomplete:
		fail_incomplete(stream, root);
		break;
	case RESPONSE_error:
		fail_error(stream, root);
		break;
	case RESPONSE_rate_limits:
		emit_limits(stream, root);
		break;
	default:
		break;
	}
}

static const struct model_reader reader = {.read = read_event};

const struct model_wire model_wire_responses = {
	.api = "Responses API",
	.end_mark = "response.completed",
	.write_body = write_body,
	.reader = &reader,
};
