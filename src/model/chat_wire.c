/* Chat Completions: the body of a request.
 *
 * A round of the history becomes one assistant message with all its calls, a tool message for each call in their order,
 * then images of the outputs, then messages of the user: servers refuse any other order. Instructions and the
 * developer messages at the start are one system message, because most servers refuse the role developer, and many
 * templates a system message elsewhere. */
#include "model/chat.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/model_catalog.h"
#include "model/model_history.h"

struct chat_body {
	struct model_request *request;
	const struct model_prompt *prompt;
	struct model_history history;
	struct json_writer w; /* of the rounds that are not kept */
	struct buf system;    /* what the first round adds to the system message */
};

/* ---- messages of the user and of the program ---- */

static void write_text_part(struct json_writer *w, struct str text)
{
	jw_object(w);
	jw_member_cstr(w, "type", "text");
	jw_member_str(w, "text", text);
	jw_object_end(w);
}

static void write_image_part(struct json_writer *w, struct str url)
{
	jw_object(w);
	jw_member_cstr(w, "type", "image_url");
	jw_key(w, "image_url");
	jw_object(w);
	jw_member_str(w, "url", url);
	jw_object_end(w);
	jw_object_end(w);
}

static void write_parts(struct json_writer *w, const struct json *content)
{
	jw_array(w);
	json_for_each(part, content) {
		struct str url = wire_image_url(part), text = json_get_str(part, "text");
		if (url.len)
			write_image_part(w, url);
		else if (text.len)
			write_text_part(w, text);
	}
	jw_array_end(w);
}

static void write_message(struct json_writer *w, const char *role, struct str text)
{
	jw_object(w);
	jw_member_cstr(w, "role", role);
	jw_member_str(w, "content", text);
	jw_object_end(w);
}

static void write_user(struct chat_body *body, const struct json *message)
{
	const struct json *content = json_get(message, "content");
	if (wire_has_image(content) && body->prompt->info->has_image_input) {
		jw_object(&body->w);
		jw_member_cstr(&body->w, "role", "user");
		jw_key(&body->w, "content");
		write_parts(&body->w, content);
		jw_object_end(&body->w);
		return;
	}
	auto_buf struct buf text;
	buf_init(&text, LIMIT_USER_ITEM);
	wire_append_text(&text, content, "\n");
	if (text.len) /* servers refuse an empty message */
		write_message(&body->w, "user", buf_str(&text));
}

/* Writes the instructions and the developer messages of the first round. */
static void write_system(struct chat_body *body, struct json_writer *w)
{
	const struct model_memo *memo = body->request->memo;
	struct str more = buf_str(memo->place.rounds ? &memo->system : &body->system);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_REQUEST_FRAME);
	buf_append_str(&text, body->prompt->instructions);
	buf_append_c(&text, text.len && more.len ? "\n\n" : "");
	buf_append_str(&text, more);
	if (text.len)
		write_message(w, "system", buf_str(&text));
}

/* ---- what the model said ---- */

struct chat_thought {
	struct buf text;
	const char *field; /* the name under which this provider sends reasoning; NULL: none */
	struct str details;
	struct str before, after; /* of a thought in the text: the tags with their blanks */
	bool has_tags;            /* that it came with; it may be empty */
};

/* Returns the static name of a field for reasoning; NULL if it is not one. */
static const char *field_named(struct str name)
{
	if (str_is(name, chat_thought_in_content))
		return chat_thought_in_content;
	for (size_t i = 0; i < CHAT_THOUGHT_FIELDS; i++) {
		if (str_is(name, chat_thought_fields[i]))
			return chat_thought_fields[i];
	}
	return NULL;
}

/* Collects what this provider sent as reasoning in a round. A call can say that the field was there, but empty. */
static void collect_thought(const struct chat_body *body, struct chat_thought *thought)
{
	buf_init(&thought->text, LIMIT_SSE_EVENT);
	thought->before = STR("<think>\n");
	thought->after = STR("\n</think>\n\n");
	vec_for_each(item, &body->history.said) {
		const struct json *own = history_own(*item, CHAT_WIRE, body->prompt->provider);
		const char *field = field_named(json_get_str(own, "field"));
		const struct json *details = json_get(own, "details");
		thought->field = field ? field : thought->field;
		if (json_is(details, JSON_array))
			thought->details = details->span;
		thought->has_tags |= json_to_str(json_get(own, "before"), &thought->before);
		json_to_str(json_get(own, "after"), &thought->after);
		if (own && history_kind_of(*item) == HISTORY_reasoning)
			wire_append_text(&thought->text, json_get(*item, "content"), "");
	}
}

static void write_call(struct chat_body *body, const struct json *call, struct str id)
{
	struct json_writer *w = &body->w;
	const struct json *own = history_own(call, CHAT_WIRE, body->prompt->provider);
	const struct json *extra = json_get(own, "extra_content");
	jw_object(w);
	jw_member_str(w, "id", id);
	jw_member_cstr(w, "type", "function");
	jw_key(w, "function");
	jw_object(w);
	jw_member_str(w, "name", wire_call_name(body->request, call));
	jw_member_str(w, "arguments", wire_arguments(&body->history.arena, call));
	jw_object_end(w);
	if (extra)
		jw_member_raw(w, "extra_content", extra->span);
	jw_object_end(w);
}

/* Returns the id of a call; one that an earlier call of the round has gets a suffix. */
static struct str call_id_of(struct chat_body *body, size_t index)
{
	const struct history_call *calls = body->history.calls.items;
	struct str id = json_get_str(calls[index].item, "call_id");
	for (size_t i = 0; i < index; i++) {
		if (str_eq(json_get_str(calls[i].item, "call_id"), id))
			return str_of(arena_printf(&body->history.arena, "%.*s_%zu", STR_ARG(id), index));
	}
	return id;
}

static bool is_in_content(const struct chat_thought *thought)
{
	return thought->field == chat_thought_in_content && (thought->text.len || thought->has_tags);
}

static void write_content(struct chat_body *body, const struct chat_thought *thought, struct str answer)
{
	auto_buf struct buf text = {0};
	if (is_in_content(thought)) {
		buf_init(&text, LIMIT_REQUEST_BODY);
		buf_append_str(&text, thought->before);
		buf_append_str(&text, buf_str(&thought->text));
		buf_append_str(&text, thought->after);
		buf_append_str(&text, answer);
		answer = buf_str(&text);
	}
	jw_member_str(&body->w, "content", answer.len ? answer : STR_NONE);
}

static void write_thought(struct chat_body *body, const struct chat_thought *thought)
{
	bool has_calls = body->history.calls.count;
	/* DeepSeek and Kimi want the field in every message with calls, even if it is empty. */
	if (thought->field && thought->field != chat_thought_in_content && (thought->text.len || has_calls))
		jw_member_str(&body->w, thought->field, buf_str(&thought->text));
	if (thought->details.ptr)
		jw_member_raw(&body->w, "reasoning_details", thought->details);
}

/* Appends the text between thoughts as it came. */
static void append_answers(const struct chat_body *body, struct buf *out)
{
	vec_for_each(item, &body->history.said) {
		const struct json *own = history_own(*item, CHAT_WIRE, body->prompt->provider);
		if (history_kind_of(*item) != HISTORY_answer || json_get_bool(own, "is_thought", false))
			continue;
		if (out->len && !json_get_bool(own, "continues", false))
			buf_append_c(out, "\n\n");
		wire_append_text(out, json_get(*item, "content"), "");
	}
}

static void write_assistant(struct chat_body *body, const struct str *ids)
{
	struct json_writer *w = &body->w;
	struct chat_thought thought = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_REQUEST_BODY);
	append_answers(body, &text);
	collect_thought(body, &thought);
	if (text.len || body->history.calls.count || is_in_content(&thought)) {
		jw_object(w);
		jw_member_cstr(w, "role", "assistant");
		write_content(body, &thought, buf_str(&text));
		write_thought(body, &thought);
		if (body->history.calls.count) {
			jw_key(w, "tool_calls");
			jw_array(w);
			for (size_t i = 0; i < body->history.calls.count; i++)
				write_call(body, body->history.calls.items[i].item, ids[i]);
			jw_array_end(w);
		}
		jw_object_end(w);
	}
	buf_finish(&thought.text);
}

static void write_output(struct chat_body *body, const struct history_call *call, struct str id)
{
	struct json_writer *w = &body->w;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_TOOL_ITEM);
	if (call->output)
		wire_append_text(&text, json_get(call->output, "output"), "\n");
	else
		buf_append_c(&text, "aborted");
	jw_object(w);
	jw_member_cstr(w, "role", "tool");
	jw_member_str(w, "tool_call_id", id);
	jw_member_str(w, "content", buf_str(&text));
	jw_object_end(w);
}

/* Images of outputs follow as a message of the user, because a tool message is only text. */
static void write_output_images(struct chat_body *body)
{
	bool is_open = false;
	vec_for_each(call, &body->history.calls) {
		json_for_each(part, json_get(call->output, "output")) {
			struct str url = wire_image_url(part);
			if (!url.len || !body->prompt->info->has_image_input)
				continue;
			if (!is_open) {
				jw_object(&body->w);
				jw_member_cstr(&body->w, "role", "user");
				jw_key(&body->w, "content");
				jw_array(&body->w);
			}
			is_open = true;
			write_image_part(&body->w, url);
		}
	}
	if (!is_open)
		return;
	jw_array_end(&body->w);
	jw_object_end(&body->w);
}

static void write_round(struct chat_body *body)
{
	const struct model_history *history = &body->history;
	struct str *ids = arena_array(&body->history.arena, struct str, history->calls.count);
	for (size_t i = 0; i < history->calls.count; i++)
		ids[i] = call_id_of(body, i);
	write_assistant(body, ids);
	for (size_t i = 0; i < history->calls.count; i++)
		write_output(body, &history->calls.items[i], ids[i]);
	write_output_images(body);
	vec_for_each(message, &history->heard) {
		if (!history->is_first || !history_is_developer(*message)) {
			write_user(body, *message);
			continue;
		}
		buf_append_c(&body->system, body->system.len ? "\n\n" : "");
		wire_append_text(&body->system, json_get(*message, "content"), "\n");
	}
}

/* ---- the body ---- */

/* Moves the round to the memo, because another one follows. */
static int keep_round(struct chat_body *body, struct error *err)
{
	struct model_memo *memo = body->request->memo;
	if (model_memo_keep(memo, &body->request->own, model_history_place(&body->history), err) < 0)
		return -(int)err->code;
	if (body->history.is_first)
		buf_append_str(&memo->system, buf_str(&body->system));
	memo->has_comma = body->w.comma;
	return 0;
}

static int write_rounds(struct chat_body *body, struct error *err)
{
	bool has_round = true;
	int status = 0;
	while (status == 0 && has_round) {
		status = model_history_next(&body->history, &has_round, err);
		if (status == 0 && has_round)
			write_round(body);
		if (status == 0 && body->history.is_closed)
			status = keep_round(body, err);
	}
	return status;
}

static void write_tools(struct json_writer *w, const struct wire_tool *tools, size_t count)
{
	jw_array(w);
	for (size_t i = 0; i < count; i++) {
		jw_object(w);
		jw_member_cstr(w, "type", "function");
		jw_key(w, "function");
		jw_object(w);
		jw_member_str(w, "name", tools[i].name);
		jw_member_str(w, "description", tools[i].description.ptr ? tools[i].description : STR(""));
		jw_member_raw(w, "parameters", tools[i].parameters);
		if (tools[i].is_strict)
			jw_member_bool(w, "strict", true);
		jw_object_end(w);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void write_schema(struct json_writer *w, struct str schema)
{
	jw_key(w, "response_format");
	jw_object(w);
	jw_member_cstr(w, "type", "json_schema");
	jw_key(w, "json_schema");
	jw_object(w);
	jw_member_cstr(w, "name", "codex_output_schema");
	jw_member_bool(w, "strict", true);
	jw_member_raw(w, "schema", schema);
	jw_object_end(w);
	jw_object_end(w);
}

static void write_options(struct json_writer *w, const struct model_prompt *prompt)
{
	if (prompt->effort_word)
		jw_member_cstr(w, "reasoning_effort", prompt->effort_word);
	else if (prompt->effort != reasoning_effort_unset && prompt->effort != reasoning_effort_none)
		jw_member_cstr(w, "reasoning_effort", enum_wire(&enum_reasoning_effort, (int)prompt->effort));
	if (prompt->output_schema.len)
		write_schema(w, prompt->output_schema);
	if (prompt->max_output_tokens)
		jw_member_i64(w, "max_tokens", prompt->max_output_tokens);
	if (prompt->service_tier.len)
		jw_member_str(w, "service_tier", prompt->service_tier);
	jw_member_bool(w, "stream", true);
	jw_key(w, "stream_options");
	jw_object(w);
	jw_member_bool(w, "include_usage", true);
	jw_object_end(w);
}

/* Writes what surrounds the rounds, and adds the slices of the body. */
static void add_slices(struct chat_body *body)
{
	struct model_request *request = body->request;
	struct json_writer head = json_writer(&request->head), tail = json_writer(&request->tail);
	size_t len = request->memo->len + request->own.len;
	jw_object(&head);
	jw_member_str(&head, "model", body->prompt->info->slug);
	jw_key(&head, "messages");
	jw_array(&head);
	write_system(body, &head);
	if (len && head.comma)
		buf_append_c(&request->head, ",");
	tail.comma = true;
	write_options(&tail, body->prompt);
	jw_object_end(&tail);
	vec_push(&request->body, buf_str(&request->head));
	wire_add_rounds(request, 0, len);
	vec_push(&request->body, STR("]"));
	if (request->memo->tools.len) {
		vec_push(&request->body, STR(",\"tools\":"));
		vec_push(&request->body, buf_str(&request->memo->tools));
	}
	vec_push(&request->body, buf_str(&request->tail));
}

static int write_body(struct model_request *request, const struct model_prompt *prompt, struct error *err)
{
	struct chat_body body = {.request = request, .prompt = prompt, .w = json_writer(&request->own)};
	wire_attach_memo(request, prompt, false);
	wire_keep_tools(request, prompt, write_tools);
	buf_init(&body.system, LIMIT_REQUEST_FRAME);
	body.w.comma = request->memo->has_comma;
	model_history_init(&body.history, prompt, &request->memo->place);
	int status = write_rounds(&body, err);
	model_history_finish(&body.history);
	if (status == 0)
		add_slices(&body);
	buf_finish(&body.system);
	return status < 0 ? status : wire_check_length(request, err);
}

const struct model_wire model_wire_chat = {
	.api = "Chat Completions API",
	.end_mark = "finish_reason or [DONE]",
	.write_body = write_body,
	.reader = &chat_reader,
};
