/* Structured content replaces the parts, because servers that send it repeat it as text. */
#include "tool/mcp/mcp_output.h"

#include "base/limits.h"
#include "tool/tool.h"

static const struct str no_audio = {"<audio content omitted because you do not support audio input>", 62};

/* ---- parts for the model ---- */

static void write_text(struct mcp_output *output, struct str text, struct json_writer *w)
{
	auto_buf struct buf whole, cut;
	size_t before = text_budget_bytes(output->budget);
	buf_init(&whole, LIMIT_TOOL_ITEM);
	buf_init(&cut, LIMIT_TOOL_ITEM);
	text_append_utf8_lossy(&whole, text);
	text_append_middle(&cut, buf_str(&whole), output->budget);
	size_t spent = cut.len < before ? cut.len : before;
	output->budget = (struct text_budget){TEXT_BYTES, before - spent};
	jw_object(w);
	jw_member_cstr(w, "type", "input_text");
	jw_member_str(w, "text", buf_str(&cut));
	jw_object_end(w);
}

static void write_image(struct mcp_output *output, const struct json *part, struct json_writer *w)
{
	struct str data = json_get_str(part, "data"), mime = json_get_str(part, "mimeType");
	jw_object(w);
	jw_member_cstr(w, "type", "input_image");
	jw_key(w, "image_url");
	jw_strf(w, "data:%.*s;base64,", STR_ARG(mime.len ? mime : STR("image/png")));
	output->parts->len--; /* the quotation mark: the data follows, which needs no escapes */
	buf_append_str(output->parts, data);
	buf_append_char(output->parts, '"');
	jw_member_cstr(w, "detail", "high");
	jw_object_end(w);
}

static bool is_base64(struct str data)
{
	for (size_t i = 0; i < data.len; i++) {
		char c = data.ptr[i];
		bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
		if (!is_letter && c != '+' && c != '/' && c != '=' && c != '-' && c != '_')
			return false;
	}
	return true;
}

static void write_part(struct mcp_output *output, const struct json *part, struct json_writer *w)
{
	struct str type = json_get_str(part, "type");
	if (str_is(type, "text"))
		write_text(output, json_get_str(part, "text"), w);
	else if (str_is(type, "image") && is_base64(json_get_str(part, "data")))
		write_image(output, part, w);
	else if (str_is(type, "audio"))
		write_text(output, no_audio, w);
	else
		write_text(output, part->span, w);
}

static void write_head(const struct mcp_output *output, struct buf *out)
{
	buf_printf(out, "Wall time: %.4f seconds\nOutput:", (double)output->wall_ns / 1e9);
}

static void write_parts(struct mcp_output *output, const struct json *content)
{
	struct json_writer w = json_writer(output->parts);
	auto_buf struct buf head;
	buf_init(&head, 1 * KIB);
	write_head(output, &head);
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", "input_text");
	jw_member_str(&w, "text", buf_str(&head));
	jw_object_end(&w);
	json_for_each(it, content)
		write_part(output, it, &w);
	jw_array_end(&w);
}

/* ---- the result ---- */

void mcp_output_write_error(struct mcp_output *output, struct str text)
{
	write_head(output, output->text);
	buf_append_char(output->text, '\n');
	text_append_utf8_lossy(output->text, text);
}

static bool is_present(const struct json *json)
{
	return json && json->type != JSON_null;
}

bool mcp_output_write(struct mcp_output *output, const struct json *answer)
{
	const struct json *content = json_get(answer, "content"), *data = json_get(answer, "structuredContent");
	if (!json_is(answer, JSON_object) || (is_present(content) && content->type != JSON_array) ||
	    (!is_present(content) && !is_present(data)))
		return false;
	json_for_each(it, content) {
		if (it->type != JSON_object || !json_get_str(it, "type").ptr)
			return false;
	}
	if (is_present(data))
		mcp_output_write_error(output, data->span);
	else if (!content || !content->count)
		write_head(output, output->text);
	else
		write_parts(output, content);
	return true;
}

/* ---- for clients ---- */

static void write_item_part(const struct json *part, struct json_writer *w)
{
	if (!str_is(json_get_str(part, "type"), "audio")) {
		jw_value(w, part);
		return;
	}
	jw_object(w);
	jw_member_cstr(w, "type", "text");
	jw_member_str(w, "text", no_audio);
	jw_object_end(w);
}

void mcp_output_write_item(const struct json *answer, struct json_writer *w)
{
	jw_object(w);
	jw_key(w, "content");
	jw_array(w);
	json_for_each(it, json_get(answer, "content"))
		write_item_part(it, w);
	jw_array_end(w);
	json_for_each(it, answer) {
		if (str_is(it->key, "content") || it->type == JSON_null)
			continue;
		jw_key_str(w, it->key);
		jw_value(w, it);
	}
	jw_object_end(w);
}

/* ---- events ---- */

void mcp_output_emit_begin(struct tool_call *call, struct mcp_invocation *invocation)
{
	struct ev_mcp_call_begin event = {.call_id = call->call_id, .invocation = invocation};
	call->host->emit(call->host, call->turn_id, EV_mcp_tool_call_begin, &event);
}

static void emit_end(struct tool_call *call, struct mcp_invocation *invocation, uint64_t wall_ns,
                     struct mcp_result *result)
{
	struct duration duration = {(int64_t)(wall_ns / 1000000000), (int64_t)(wall_ns % 1000000000)};
	struct ev_mcp_call_end event = {
		.call_id = call->call_id, .invocation = invocation, .duration = &duration, .result = result};
	call->host->emit(call->host, call->turn_id, EV_mcp_tool_call_end, &event);
}

void mcp_output_emit(struct tool_call *call, struct mcp_invocation *invocation, uint64_t wall_ns, struct str answer)
{
	struct mcp_answer body = {.answer = answer};
	struct mcp_result result = {.tag = mcp_result_ok, .ok = &body};
	emit_end(call, invocation, wall_ns, &result);
}

void mcp_output_emit_error(struct tool_call *call, struct mcp_invocation *invocation, uint64_t wall_ns,
                           struct str reason)
{
	struct mcp_failure failure = {.reason = reason};
	struct mcp_result result = {.tag = mcp_result_err, .err = &failure};
	emit_end(call, invocation, wall_ns, &result);
}
