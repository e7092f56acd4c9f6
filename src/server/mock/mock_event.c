/* Redundant events of a real server (response.content_part.*, response.output_text.done, the items in
 * response.completed) are omitted: clients of the Responses API take items from output_item.done, and a script can
 * write other events itself. */
#include "server/mock/mock_event.h"

#include <inttypes.h>

#include "base/json.h"
#include "server/mock/mock_event_other.h"

/* How items differ on the wire. */
static const struct item_row {
	const char *type;
	const char *id_prefix;
	const char *delta;
} rows[MOCK_STEP_COUNT] = {
	[MOCK_STEP_message] = {"message", "msg", "response.output_text.delta"},
	[MOCK_STEP_delta] = {"message", "msg", "response.output_text.delta"},
	[MOCK_STEP_reasoning] = {"reasoning", "rs", "response.reasoning_summary_text.delta"},
	[MOCK_STEP_call] = {"function_call", "fc", "response.function_call_arguments.delta"},
	[MOCK_STEP_custom] = {"custom_tool_call", "ctc", "response.custom_tool_call_input.delta"},
};

static void write_response(struct json_writer *w, uint64_t request, const char *status)
{
	jw_key(w, "response");
	jw_object(w);
	jw_key(w, "id");
	jw_strf(w, "resp_%" PRIu64, request);
	jw_member_cstr(w, "object", "response");
	jw_member_cstr(w, "status", status);
}

void mock_event_created(struct buf *out, enum mock_api api, uint64_t request)
{
	if (api != MOCK_RESPONSES) {
		mock_other_created(out, api, request);
		return;
	}
	struct json_writer w = mock_event_begin(out, "response.created");
	write_response(&w, request, "in_progress");
	jw_object_end(&w);
	mock_event_end(&w);
}

static void write_details(struct json_writer *w, const char *details, const char *name, int64_t count)
{
	jw_key(w, details);
	jw_object(w);
	jw_member_i64(w, name, count);
	jw_object_end(w);
}

void mock_event_completed(struct buf *out, enum mock_api api, uint64_t request, bool has_calls,
                          const struct mock_counts *counts)
{
	if (api != MOCK_RESPONSES) {
		mock_other_completed(out, api, request, has_calls, counts);
		return;
	}
	struct json_writer w = mock_event_begin(out, "response.completed");
	write_response(&w, request, "completed");
	jw_key(&w, "usage");
	jw_object(&w);
	jw_member_i64(&w, "input_tokens", counts->input);
	write_details(&w, "input_tokens_details", "cached_tokens", counts->cached);
	jw_member_i64(&w, "output_tokens", counts->output);
	write_details(&w, "output_tokens_details", "reasoning_tokens", counts->reasoning);
	jw_member_i64(&w, "total_tokens", counts->input + counts->output);
	jw_object_end(&w);
	jw_object_end(&w);
	mock_event_end(&w);
}

static void write_id(struct json_writer *w, const struct mock_item *item, const char *key)
{
	jw_key(w, key);
	if (item->step->id.ptr)
		jw_str(w, item->step->id);
	else
		jw_strf(w, "%s_%" PRIu64 "_%u", rows[item->step->kind].id_prefix, item->request, item->index + 1);
}

static void write_call_id(struct json_writer *w, const struct mock_item *item)
{
	jw_key(w, "call_id");
	if (item->call_id.len > 0)
		jw_str(w, item->call_id);
	else
		jw_strf(w, "call_%" PRIu64 "_%u", item->request, item->index + 1);
}

/* Writes [{"type": type, "text": text}], or [] without text. */
static void write_part(struct json_writer *w, const char *key, const char *type, struct str text)
{
	jw_key(w, key);
	jw_array(w);
	if (text.ptr) {
		jw_object(w);
		jw_member_cstr(w, "type", type);
		jw_member_str(w, "text", text);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void write_message(struct json_writer *w, const struct mock_item *item, struct str text)
{
	jw_member_cstr(w, "role", "assistant");
	if (item->step->phase.ptr)
		jw_member_str(w, "phase", item->step->phase);
	write_part(w, "content", "output_text", text);
}

static void write_reasoning(struct json_writer *w, const struct mock_item *item, struct str text, struct str content)
{
	write_part(w, "summary", "summary_text", text);
	if (content.ptr)
		write_part(w, "content", "reasoning_text", content);
	if (text.ptr && item->step->encrypted.ptr)
		jw_member_str(w, "encrypted_content", item->step->encrypted);
}

static void write_call(struct json_writer *w, const struct mock_item *item, const char *key, struct str text)
{
	write_call_id(w, item);
	jw_member_str(w, "name", item->step->name);
	jw_member_str(w, key, text.ptr ? text : STR(""));
}

/* Writes the item object; an item that starts has no text. */
static void write_item(struct json_writer *w, const struct mock_item *item, struct str text, struct str content)
{
	enum mock_step_kind kind = item->step->kind;
	jw_key(w, "item");
	jw_object(w);
	jw_member_cstr(w, "type", rows[kind].type);
	write_id(w, item, "id");
	jw_member_cstr(w, "status", text.ptr ? "completed" : "in_progress");
	if (kind == MOCK_STEP_reasoning)
		write_reasoning(w, item, text, content);
	else if (kind == MOCK_STEP_call)
		write_call(w, item, "arguments", text);
	else if (kind == MOCK_STEP_custom)
		write_call(w, item, "input", text);
	else
		write_message(w, item, text);
	jw_object_end(w);
}

/* Announces a part of a reasoning summary, which precedes the text of the part. */
static void write_summary_part(struct buf *out, const struct mock_item *item)
{
	struct json_writer w = mock_event_begin(out, "response.reasoning_summary_part.added");
	write_id(&w, item, "item_id");
	jw_member_i64(&w, "output_index", item->index);
	jw_member_i64(&w, "summary_index", 0);
	jw_member_raw(&w, "part", STR("{\"type\":\"summary_text\",\"text\":\"\"}"));
	mock_event_end(&w);
}

void mock_event_item_added(struct buf *out, const struct mock_item *item)
{
	if (item->api != MOCK_RESPONSES) {
		mock_other_item_added(out, item);
		return;
	}
	struct json_writer w = mock_event_begin(out, "response.output_item.added");
	jw_member_i64(&w, "output_index", item->index);
	write_item(&w, item, STR_NONE, STR_NONE);
	mock_event_end(&w);
	if (item->step->kind == MOCK_STEP_reasoning)
		write_summary_part(out, item);
}

static void write_delta(struct buf *out, const struct mock_item *item, const char *type, const char *index,
                        struct str delta)
{
	struct json_writer w = mock_event_begin(out, type);
	write_id(&w, item, "item_id");
	jw_member_i64(&w, "output_index", item->index);
	if (index)
		jw_member_i64(&w, index, 0);
	jw_member_str(&w, "delta", delta);
	mock_event_end(&w);
}

void mock_event_item_delta(struct buf *out, const struct mock_item *item, struct str delta)
{
	if (item->api != MOCK_RESPONSES) {
		mock_other_item_delta(out, item, delta);
		return;
	}
	enum mock_step_kind kind = item->step->kind;
	const char *index = kind == MOCK_STEP_reasoning ? "summary_index" : "content_index";
	bool is_call = kind == MOCK_STEP_call || kind == MOCK_STEP_custom;
	write_delta(out, item, rows[kind].delta, is_call ? NULL : index, delta);
}

void mock_event_content_delta(struct buf *out, const struct mock_item *item, struct str delta)
{
	if (item->api != MOCK_RESPONSES)
		mock_other_item_delta(out, item, delta);
	else
		write_delta(out, item, "response.reasoning_text.delta", "content_index", delta);
}

void mock_event_item_done(struct buf *out, const struct mock_item *item, struct str text, struct str content)
{
	if (item->api != MOCK_RESPONSES) {
		mock_other_item_done(out, item, text);
		return;
	}
	struct json_writer w = mock_event_begin(out, "response.output_item.done");
	jw_member_i64(&w, "output_index", item->index);
	write_item(&w, item, text, content);
	mock_event_end(&w);
}

void mock_event_item_verbatim(struct buf *out, unsigned index, struct str json)
{
	struct json_writer w = mock_event_begin(out, "response.output_item.done");
	jw_member_i64(&w, "output_index", index);
	jw_member_raw(&w, "item", json);
	mock_event_end(&w);
}

void mock_event_verbatim(struct buf *out, struct str type, struct str json)
{
	if (type.len > 0) {
		buf_append_c(out, "event: ");
		buf_append_str(out, type);
		buf_append_c(out, "\n");
	}
	buf_append_c(out, "data: ");
	buf_append_str(out, json);
	buf_append_c(out, "\n\n");
}
