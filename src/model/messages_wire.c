/* Anthropic Messages: the body of a request.
 *
 * Roles alternate, so that consecutive messages of the user are one message with several blocks. The outputs of calls
 * are the first blocks after the message with the calls. Blocks are written in the order of the history and never
 * change afterwards, except for the cache marks: a request with the same beginning is charged for its new part only.
 * One mark is at the end of the system blocks, one at the end of the request, and one where the previous request ended,
 * because the server looks back only 20 blocks from a mark. */
#include "model/messages.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/model_catalog.h"
#include "model/model_history.h"

enum thinking_form { THINKING_none, THINKING_budget, THINKING_adaptive };

static const struct messages_model {
	const char *part;
	enum thinking_form form;
	int64_t output;
} models[] = {
#define MESSAGES_MODEL(part, form, output) {part, THINKING_##form, output},
#include "model/messages_model.def"
#undef MESSAGES_MODEL
};

enum { DEFAULT_MAX_TOKENS = 32000, MIN_BUDGET = 1024, MARKS = 2 };

static const char cache_mark[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";

struct messages_body {
	struct model_request *request;
	const struct model_prompt *prompt;
	const struct messages_model *model;
	struct model_history history;
	struct json_writer w;
	bool has_thinking;
	const char *role;    /* of the open message; NULL: none is open */
	VEC(struct str) ids; /* of all calls so far, from the request's arena */
	size_t marks[MARKS]; /* offsets before the end of the last block of the last messages of the user */
	size_t system_mark;  /* the same, of the system blocks; 0: none */
};

/* ---- messages and blocks ---- */

static void close_message(struct messages_body *body)
{
	if (!body->role)
		return;
	jw_array_end(&body->w);
	jw_object_end(&body->w);
	body->role = NULL;
}

/* Continues the open message of this role, or begins one. */
static void enter_role(struct messages_body *body, const char *role)
{
	if (body->role && strcmp(body->role, role) == 0)
		return;
	close_message(body);
	body->role = role;
	jw_object(&body->w);
	jw_member_cstr(&body->w, "role", role);
	jw_key(&body->w, "content");
	jw_array(&body->w);
	if (strcmp(role, "user") == 0) {
		body->marks[0] = body->marks[1];
		body->marks[1] = 0;
	}
}

/* Ends a block of the user, which the last mark may follow. */
static void end_user_block(struct messages_body *body)
{
	body->marks[1] = body->request->head.len;
	jw_object_end(&body->w);
}

static void begin_block(struct messages_body *body, const char *type)
{
	jw_object(&body->w);
	jw_member_cstr(&body->w, "type", type);
}

static void write_user_text(struct messages_body *body, struct str text)
{
	if (text_trim(text).len == 0) /* servers refuse a blank block */
		return;
	enter_role(body, "user");
	begin_block(body, "text");
	jw_member_str(&body->w, "text", text);
	end_user_block(body);
}

/* Writes the members of an image block: its source. False if the server does not know the kind of image. */
static bool write_source(struct json_writer *w, struct str url)
{
	static const char *const types[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
	struct str rest = url, type;
	bool is_data = str_cut_prefix(&rest, "data:");
	size_t known = 0;
	if (is_data && !str_next_part(&rest, ';', &type))
		return false;
	while (is_data && known < countof(types) && !str_is(type, types[known]))
		known++;
	if (is_data && (known == countof(types) || !str_cut_prefix(&rest, "base64,") || rest.len == 0))
		return false;
	jw_object(w);
	jw_member_cstr(w, "type", "image");
	jw_key(w, "source");
	jw_object(w);
	jw_member_cstr(w, "type", is_data ? "base64" : "url");
	if (is_data)
		jw_member_cstr(w, "media_type", types[known]);
	jw_member_str(w, is_data ? "data" : "url", is_data ? rest : url);
	jw_object_end(w);
	return true;
}

static void write_user_image(struct messages_body *body, struct str url)
{
	if (!body->prompt->info->has_image_input)
		return;
	enter_role(body, "user");
	if (write_source(&body->w, url))
		end_user_block(body);
	else
		write_user_text(body, STR("(an image of a type that this model does not read was left out)"));
}

static void write_user(struct messages_body *body, const struct json *message)
{
	struct str text;
	const struct json *content = json_get(message, "content");
	if (json_to_str(content, &text))
		write_user_text(body, text);
	json_for_each(part, content) {
		struct str url = wire_image_url(part);
		if (url.len)
			write_user_image(body, url);
		else
			write_user_text(body, json_get_str(part, "text"));
	}
}

/* ---- what the model said ---- */

/* Thoughts are sent back unchanged, and only while thinking is on: their signature is checked. */
static void write_thought(struct messages_body *body, const struct json *item)
{
	const struct json *own = history_own(item, MESSAGES_WIRE, body->prompt->provider);
	struct str signature = json_get_str(own, "signature"), data = json_get_str(own, "data");
	if (!body->has_thinking || (!signature.len && !data.len))
		return;
	enter_role(body, "assistant");
	begin_block(body, data.len ? "redacted_thinking" : "thinking");
	if (data.len) {
		jw_member_str(&body->w, "data", data);
	} else {
		auto_buf struct buf text;
		buf_init(&text, LIMIT_SSE_EVENT);
		wire_append_text(&text, json_get(item, "content"), "");
		jw_member_str(&body->w, "thinking", buf_str(&text));
		jw_member_str(&body->w, "signature", signature);
	}
	jw_object_end(&body->w);
}

static void write_answer(struct messages_body *body, const struct json *item)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_SSE_EVENT);
	wire_append_text(&text, json_get(item, "content"), "");
	struct str trimmed = text_trim_end(buf_str(&text));
	if (text_trim(trimmed).len == 0)
		return;
	enter_role(body, "assistant");
	begin_block(body, "text");
	jw_member_str(&body->w, "text", trimmed);
	jw_object_end(&body->w);
}

static bool is_id_used(const struct messages_body *body, struct str id)
{
	vec_for_each(used, &body->ids) {
		if (str_eq(*used, id))
			return true;
	}
	return false;
}

/* Returns an id of [a-zA-Z0-9_-] that no earlier call has. Ids of other wires may have other characters. */
static struct str take_id(struct messages_body *body, struct str call_id)
{
	struct arena *arena = &body->request->arena;
	char *text = (char *)arena_cstr(arena, call_id.len ? call_id : STR("call"));
	for (char *at = text; *at; at++) {
		bool is_plain = (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
		                (*at >= 'A' && *at <= 'Z') || *at == '_' || *at == '-';
		*at = is_plain ? *at : '_';
	}
	struct str id = str_of(text);
	if (is_id_used(body, id))
		id = str_of(arena_printf(arena, "%s_%zu", text, body->ids.count));
	vec_push(&body->ids, id);
	return id;
}

static void write_call(struct messages_body *body, const struct json *item)
{
	enter_role(body, "assistant");
	begin_block(body, "tool_use");
	jw_member_str(&body->w, "id", take_id(body, json_get_str(item, "call_id")));
	jw_member_str(&body->w, "name", wire_call_name(body->request, item));
	jw_member_raw(&body->w, "input", str_trim(wire_arguments(&body->history.arena, item)));
	jw_object_end(&body->w);
}

static void write_said(struct messages_body *body, const struct json *item)
{
	switch (history_kind_of(item)) {
	case HISTORY_reasoning:
		write_thought(body, item);
		break;
	case HISTORY_answer:
		write_answer(body, item);
		break;
	case HISTORY_call:
		write_call(body, item);
		break;
	default:
		break;
	}
}

/* ---- outputs of calls ---- */

static void write_output_parts(struct messages_body *body, const struct json *output)
{
	jw_array(&body->w);
	json_for_each(part, output) {
		struct str url = wire_image_url(part), text = json_get_str(part, "text");
		bool has_image = url.len && body->prompt->info->has_image_input && write_source(&body->w, url);
		if (!has_image && text_trim(text).len == 0)
			continue;
		if (!has_image) {
			begin_block(body, "text");
			jw_member_str(&body->w, "text", text);
		}
		jw_object_end(&body->w);
	}
	jw_array_end(&body->w);
}

static void write_output(struct messages_body *body, const struct history_call *call, struct str id)
{
	const struct json *output = json_get(call->output, "output");
	struct str text = STR("");
	enter_role(body, "user");
	begin_block(body, "tool_result");
	jw_member_str(&body->w, "tool_use_id", id);
	jw_key(&body->w, "content");
	if (json_is(output, JSON_array)) {
		write_output_parts(body, output);
	} else {
		json_to_str(output, &text);
		jw_str(&body->w, call->output ? text : STR("aborted"));
	}
	end_user_block(body);
}

/* ---- the history ---- */

/* Returns the number of items up to the last one that is no thought: a message must not end with a thought. */
static size_t count_said(const struct model_history *history)
{
	size_t count = history->said.count;
	while (count && history_kind_of(history->said.items[count - 1]) == HISTORY_reasoning)
		count--;
	return count;
}

static void write_round(struct messages_body *body)
{
	const struct model_history *history = &body->history;
	size_t first = body->ids.count;
	size_t said = count_said(history);
	if (said && history->is_first)
		write_user_text(body, STR("(The conversation begins with an answer.)"));
	for (size_t i = 0; i < said; i++)
		write_said(body, history->said.items[i]);
	for (size_t i = 0; i < history->calls.count; i++)
		write_output(body, &history->calls.items[i], body->ids.items[first + i]);
	vec_for_each(message, &history->heard) {
		if (!history->is_first || !history_is_developer(*message))
			write_user(body, *message);
	}
}

static void write_system_block(struct messages_body *body, struct str text)
{
	if (text_trim(text).len == 0)
		return;
	jw_object(&body->w);
	jw_member_cstr(&body->w, "type", "text");
	jw_member_str(&body->w, "text", text);
	body->system_mark = body->request->head.len;
	jw_object_end(&body->w);
}

static void write_system(struct messages_body *body)
{
	jw_key(&body->w, "system");
	jw_array(&body->w);
	write_system_block(body, body->prompt->instructions);
	vec_for_each(message, &body->history.heard) {
		if (!body->history.is_first || !history_is_developer(*message))
			continue;
		auto_buf struct buf text;
		buf_init(&text, LIMIT_REQUEST_FRAME);
		wire_append_text(&text, json_get(*message, "content"), "\n");
		write_system_block(body, buf_str(&text));
	}
	jw_array_end(&body->w);
}

/* Servers refuse a request that ends with a message of the model. */
static void end_messages(struct messages_body *body)
{
	if (!body->role || strcmp(body->role, "assistant") == 0)
		write_user_text(body, STR("Continue."));
	close_message(body);
	jw_array_end(&body->w);
}

static int write_messages(struct messages_body *body, struct error *err)
{
	bool has_round = true, is_begun = false;
	int status = 0;
	while (status == 0 && has_round) {
		status = model_history_next(&body->history, &has_round, err);
		if (!is_begun) {
			write_system(body);
			jw_key(&body->w, "messages");
			jw_array(&body->w);
		}
		is_begun = true;
		if (status == 0 && has_round)
			write_round(body);
	}
	end_messages(body);
	return status;
}

/* ---- the other members ---- */

static void write_tools(struct json_writer *w, const struct wire_tool *tools, size_t count)
{
	if (count == 0)
		return;
	jw_key(w, "tools");
	jw_array(w);
	for (size_t i = 0; i < count; i++) {
		jw_object(w);
		jw_member_str(w, "name", tools[i].name);
		jw_member_str(w, "description", tools[i].description.ptr ? tools[i].description : STR(""));
		jw_member_raw(w, "input_schema", tools[i].parameters);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static const struct messages_model *model_named(struct str slug)
{
	size_t i = 0;
	while (str_find(slug, str_of(models[i].part)) < 0 && models[i].part[0])
		i++;
	return &models[i];
}

static int64_t max_tokens_of(const struct model_prompt *prompt, const struct messages_model *model)
{
	int64_t max = prompt->max_output_tokens ? prompt->max_output_tokens : DEFAULT_MAX_TOKENS;
	return model->output && max > model->output ? model->output : max;
}

static int64_t budget_of(enum reasoning_effort effort, int64_t max_tokens)
{
	static const int64_t budgets[] = {
		[reasoning_effort_minimal] = 1024, [reasoning_effort_low] = 2048,    [reasoning_effort_medium] = 8192,
		[reasoning_effort_high] = 16384,   [reasoning_effort_xhigh] = 24000, [reasoning_effort_max] = 30000,
		[reasoning_effort_ultra] = 30000,
	};
	int64_t budget = budgets[effort];
	return budget < max_tokens ? budget : max_tokens - 1;
}

static const char *effort_word(enum reasoning_effort effort)
{
	if (effort == reasoning_effort_minimal)
		return "low";
	return effort == reasoning_effort_ultra ? "max" : enum_wire(&enum_reasoning_effort, (int)effort);
}

static bool wants_thinking(const struct model_prompt *prompt, const struct messages_model *model)
{
	bool has_effort = prompt->effort != reasoning_effort_unset && prompt->effort != reasoning_effort_none;
	if (!has_effort || model->form == THINKING_none)
		return false;
	return model->form == THINKING_adaptive ||
	       budget_of(prompt->effort, max_tokens_of(prompt, model)) >= MIN_BUDGET;
}

static void write_thinking(struct messages_body *body)
{
	struct json_writer *w = &body->w;
	if (!body->has_thinking)
		return;
	bool is_adaptive = body->model->form == THINKING_adaptive;
	jw_key(w, "thinking");
	jw_object(w);
	jw_member_cstr(w, "type", is_adaptive ? "adaptive" : "enabled");
	if (!is_adaptive)
		jw_member_i64(w, "budget_tokens",
		              budget_of(body->prompt->effort, max_tokens_of(body->prompt, body->model)));
	jw_object_end(w);
}

static void write_output_config(struct messages_body *body)
{
	struct json_writer *w = &body->w;
	bool has_effort = body->has_thinking && body->model->form == THINKING_adaptive;
	if (!has_effort && !body->prompt->output_schema.len)
		return;
	jw_key(w, "output_config");
	jw_object(w);
	if (has_effort)
		jw_member_cstr(w, "effort", effort_word(body->prompt->effort));
	if (body->prompt->output_schema.len) {
		jw_key(w, "format");
		jw_object(w);
		jw_member_cstr(w, "type", "json_schema");
		jw_member_raw(w, "schema", body->prompt->output_schema);
		jw_object_end(w);
	}
	jw_object_end(w);
}

/* Cuts the written body at the marks and adds the slices to the request. */
static void add_slices(struct messages_body *body)
{
	struct str rest = buf_str(&body->request->head);
	size_t at[] = {body->system_mark, body->marks[0], body->marks[1]}, done = 0;
	for (size_t i = 0; i < countof(at); i++) {
		if (at[i] == 0)
			continue;
		vec_push(&body->request->body, str_n(rest.ptr, at[i] - done));
		vec_push(&body->request->body, str_of(cache_mark));
		rest = str_skip(rest, at[i] - done);
		done = at[i];
	}
	vec_push(&body->request->body, rest);
}

static int write_body(struct model_request *request, const struct model_prompt *prompt, struct error *err)
{
	struct messages_body body = {.request = request, .prompt = prompt, .w = json_writer(&request->head)};
	size_t count;
	const struct wire_tool *tools = wire_read_tools(request, prompt->tools, &count);
	body.model = model_named(prompt->info->slug);
	body.has_thinking = wants_thinking(prompt, body.model);
	model_history_init(&body.history, prompt);
	jw_object(&body.w);
	jw_member_str(&body.w, "model", prompt->info->slug);
	jw_member_i64(&body.w, "max_tokens", max_tokens_of(prompt, body.model));
	jw_member_bool(&body.w, "stream", true);
	write_tools(&body.w, tools, count);
	int status = write_messages(&body, err);
	write_thinking(&body);
	write_output_config(&body);
	jw_object_end(&body.w);
	model_history_finish(&body.history);
	vec_finish(&body.ids);
	if (status < 0)
		return status;
	if (request->head.over)
		return error_set(err, ERR_limit, "the request is longer than %d MiB; start a new thread",
		                 LIMIT_REQUEST_BODY / MIB);
	add_slices(&body);
	return 0;
}

const struct model_wire model_wire_messages = {
	.api = "Anthropic Messages API",
	.end_mark = "message_stop",
	.write_body = write_body,
	.reader = &messages_reader,
};
