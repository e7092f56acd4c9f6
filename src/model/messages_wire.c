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

static const char cache_mark[] = ",\"cache_control\":{\"type\":\"ephemeral\"}";

struct messages_body {
	struct model_request *request;
	const struct model_prompt *prompt;
	struct model_memo *memo;
	struct model_history history;
	struct json_writer w; /* of the rounds that are not kept */
	bool has_thinking;
	const char *role;    /* of the open message; NULL: none is open */
	VEC(struct str) ids; /* of the calls of this round, from the request's arena */
	/* offsets in all rounds before the end of the last block of the last messages of the user; 0: none */
	size_t marks[2];
	struct buf system; /* blocks of the first round for the system message */
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
	body->marks[1] = body->memo->len + body->request->own.len;
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
	return model_memo_has_id(body->memo, id);
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
	for (size_t i = body->memo->id_count + body->ids.count; is_id_used(body, id); i++)
		id = str_of(arena_printf(arena, "%s_%zu", text, i));
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

/* Adds a system block; a blank one is refused by servers. */
static void write_system_block(struct buf *out, struct str text)
{
	struct json_writer w = json_writer(out);
	if (text_trim(text).len == 0)
		return;
	w.comma = out->len;
	jw_object(&w);
	jw_member_cstr(&w, "type", "text");
	jw_member_str(&w, "text", text);
	jw_object_end(&w);
}

static void write_developer(struct messages_body *body, const struct json *message)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_REQUEST_FRAME);
	wire_append_text(&text, json_get(message, "content"), "\n");
	write_system_block(&body->system, buf_str(&text));
}

static void write_round(struct messages_body *body)
{
	const struct model_history *history = &body->history;
	size_t said = count_said(history);
	if (said && history->is_first)
		write_user_text(body, STR("(The conversation begins with an answer.)"));
	for (size_t i = 0; i < said; i++)
		write_said(body, history->said.items[i]);
	for (size_t i = 0; i < history->calls.count; i++)
		write_output(body, &history->calls.items[i], body->ids.items[i]);
	vec_for_each(message, &history->heard) {
		if (history->is_first && history_is_developer(*message))
			write_developer(body, *message);
		else
			write_user(body, *message);
	}
}

/* Moves the round to the memo, because another one follows. */
static int keep_round(struct messages_body *body, struct error *err)
{
	struct model_memo *memo = body->memo;
	if (model_memo_keep(memo, &body->request->own, model_history_place(&body->history), err) < 0)
		return -(int)err->code;
	if (body->history.is_first)
		buf_append_str(&memo->system, buf_str(&body->system));
	vec_for_each(id, &body->ids)
		model_memo_add_id(memo, *id);
	memo->has_comma = body->w.comma;
	memo->role = body->role;
	memo->marks[0] = body->marks[0];
	memo->marks[1] = body->marks[1];
	body->ids.count = 0;
	return 0;
}

/* Servers refuse a request that ends with a message of the model. */
static void end_messages(struct messages_body *body)
{
	if (!body->role || strcmp(body->role, "assistant") == 0)
		write_user_text(body, STR("Continue."));
	close_message(body);
}

static int write_rounds(struct messages_body *body, struct error *err)
{
	bool has_round = true;
	int status = 0;
	body->w.comma = body->memo->has_comma;
	body->role = body->memo->role;
	body->marks[0] = body->memo->marks[0];
	body->marks[1] = body->memo->marks[1];
	while (status == 0 && has_round) {
		status = model_history_next(&body->history, &has_round, err);
		if (status == 0 && has_round)
			write_round(body);
		if (status == 0 && body->history.is_closed)
			status = keep_round(body, err);
	}
	end_messages(body);
	return status;
}

/* ---- the body ---- */

static void write_tools(struct json_writer *w, const struct wire_tool *tools, size_t count)
{
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

/* Adds the slices of all rounds, cut at the marks. */
static void add_rounds(struct messages_body *body)
{
	struct model_request *request = body->request;
	size_t done = 0;
	for (size_t i = 0; i < countof(body->marks); i++) {
		if (body->marks[i] == 0)
			continue;
		wire_add_rounds(request, done, body->marks[i]);
		vec_push(&request->body, str_of(cache_mark));
		done = body->marks[i];
	}
	wire_add_rounds(request, done, body->memo->len + request->own.len);
}

/* Adds the slices of the list of system blocks; its mark is within the last block. */
static void add_system(struct messages_body *body)
{
	struct model_request *request = body->request;
	struct str more = buf_str(body->memo->place.rounds ? &body->memo->system : &body->system);
	buf_append_c(&request->head, ",\"system\":[");
	auto_buf struct buf blocks;
	buf_init(&blocks, LIMIT_REQUEST_FRAME);
	write_system_block(&blocks, body->prompt->instructions);
	buf_append_c(&blocks, blocks.len && more.len ? "," : "");
	buf_append_str(&blocks, more);
	if (blocks.len) {
		buf_append(&request->head, blocks.data, blocks.len - 1);
		buf_append_c(&request->head, cache_mark);
		buf_append_char(&request->head, '}');
	}
	buf_append_c(&request->head, "],\"messages\":[");
}

static void add_slices(struct messages_body *body)
{
	struct model_request *request = body->request;
	struct json_writer head = json_writer(&request->head), tail = json_writer(&request->tail);
	size_t begun;
	jw_object(&head);
	jw_member_str(&head, "model", body->prompt->info->slug);
	jw_member_i64(&head, "max_tokens", messages_max_tokens(body->prompt));
	jw_member_bool(&head, "stream", true);
	begun = request->head.len;
	add_system(body);
	tail.comma = true;
	buf_append_c(&request->tail, "]");
	messages_write_options(&tail, body->prompt);
	jw_object_end(&tail);
	vec_push(&request->body, str_n(request->head.data, begun));
	if (body->memo->tools.len) {
		vec_push(&request->body, STR(",\"tools\":"));
		vec_push(&request->body, buf_str(&body->memo->tools));
	}
	vec_push(&request->body, str_skip(buf_str(&request->head), begun));
	add_rounds(body);
	vec_push(&request->body, buf_str(&request->tail));
}

static int write_body(struct model_request *request, const struct model_prompt *prompt, struct error *err)
{
	struct messages_body body = {.request = request, .prompt = prompt, .w = json_writer(&request->own)};
	body.has_thinking = messages_has_thinking(prompt);
	wire_attach_memo(request, prompt, body.has_thinking);
	body.memo = request->memo;
	wire_keep_tools(request, prompt, write_tools);
	buf_init(&body.system, LIMIT_REQUEST_FRAME);
	model_history_init(&body.history, prompt, &body.memo->place);
	int status = write_rounds(&body, err);
	if (status == 0)
		add_slices(&body);
	model_history_finish(&body.history);
	vec_finish(&body.ids);
	buf_finish(&body.system);
	return status < 0 ? status : wire_check_length(request, err);
}

const struct model_wire model_wire_messages = {
	.api = "Anthropic Messages API",
	.end_mark = "message_stop",
	.write_body = write_body,
	.reader = &messages_reader,
};
