/* An item becomes a block of Messages; on Chat Completions a call keeps the index of its item, and reasoning is
 * reasoning_content. A custom call becomes a function whose only argument is "input". */
#include "server/mock/mock_event_other.h"

#include <inttypes.h>

#include "server/mock/mock_limits.h"

struct json_writer mock_event_begin(struct buf *out, const char *type)
{
	struct json_writer w = json_writer(out);
	buf_append_c(out, "event: ");
	buf_append_c(out, type);
	buf_append_c(out, "\ndata: ");
	jw_object(&w);
	jw_member_cstr(&w, "type", type);
	return w;
}

void mock_event_end(struct json_writer *w)
{
	jw_object_end(w);
	buf_append_c(w->out, "\n\n");
}

static bool is_call(const struct mock_item *item)
{
	return item->step->kind == MOCK_STEP_call || item->step->kind == MOCK_STEP_custom;
}

static bool is_thought(const struct mock_item *item)
{
	return item->step->kind == MOCK_STEP_reasoning;
}

/* Appends the arguments of a custom call. */
static void append_input(struct buf *out, struct str text)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "input", text);
	jw_object_end(&w);
}

static void write_id(struct json_writer *w, const struct mock_item *item)
{
	jw_key(w, "id");
	if (item->call_id.len)
		jw_str(w, item->call_id);
	else
		jw_strf(w, "call_%" PRIu64 "_%u", item->request, item->index + 1);
}

/* ---- Chat Completions ---- */

/* Begins a chunk, up to the members of its delta. */
static struct json_writer chunk_begin(struct buf *out, uint64_t request)
{
	struct json_writer w = json_writer(out);
	buf_append_c(out, "data: ");
	jw_object(&w);
	jw_key(&w, "id");
	jw_strf(&w, "chatcmpl_%" PRIu64, request);
	jw_member_cstr(&w, "object", "chat.completion.chunk");
	jw_key(&w, "choices");
	jw_array(&w);
	jw_object(&w);
	jw_member_i64(&w, "index", 0);
	jw_key(&w, "delta");
	jw_object(&w);
	return w;
}

static void chunk_end(struct json_writer *w, const char *reason)
{
	jw_object_end(w);
	jw_member_cstr(w, "finish_reason", reason);
	jw_object_end(w);
	jw_array_end(w);
	jw_object_end(w);
	buf_append_c(w->out, "\n\n");
}

static void chat_text(struct buf *out, const struct mock_item *item, struct str text)
{
	struct json_writer w = chunk_begin(out, item->request);
	jw_member_str(&w, is_thought(item) ? "reasoning_content" : "content", text);
	chunk_end(&w, NULL);
}

/* Writes a fragment of a call; the first one names it. */
static void chat_call(struct buf *out, const struct mock_item *item, bool is_first, struct str arguments)
{
	struct json_writer w = chunk_begin(out, item->request);
	jw_key(&w, "tool_calls");
	jw_array(&w);
	jw_object(&w);
	jw_member_i64(&w, "index", item->index);
	if (is_first) {
		write_id(&w, item);
		jw_member_cstr(&w, "type", "function");
	}
	jw_key(&w, "function");
	jw_object(&w);
	if (is_first)
		jw_member_str(&w, "name", item->step->name);
	jw_member_str(&w, "arguments", arguments);
	jw_object_end(&w);
	jw_object_end(&w);
	jw_array_end(&w);
	chunk_end(&w, NULL);
}

static void chat_completed(struct buf *out, uint64_t request, bool has_calls, const struct mock_counts *counts)
{
	struct json_writer w = chunk_begin(out, request);
	chunk_end(&w, has_calls ? "tool_calls" : "stop");
	w = json_writer(out);
	buf_append_c(out, "data: ");
	jw_object(&w);
	jw_member_raw(&w, "choices", STR("[]"));
	jw_key(&w, "usage");
	jw_object(&w);
	jw_member_i64(&w, "prompt_tokens", counts->input);
	jw_member_i64(&w, "completion_tokens", counts->output);
	jw_member_i64(&w, "total_tokens", counts->input + counts->output);
	jw_key(&w, "prompt_tokens_details");
	jw_object(&w);
	jw_member_i64(&w, "cached_tokens", counts->cached);
	jw_object_end(&w);
	jw_key(&w, "completion_tokens_details");
	jw_object(&w);
	jw_member_i64(&w, "reasoning_tokens", counts->reasoning);
	jw_object_end(&w);
	jw_object_end(&w);
	jw_object_end(&w);
	buf_append_c(out, "\n\ndata: [DONE]\n\n");
}

/* ---- Messages ---- */

static void message_start(struct buf *out, uint64_t request)
{
	struct json_writer w = mock_event_begin(out, "message_start");
	jw_key(&w, "message");
	jw_object(&w);
	jw_key(&w, "id");
	jw_strf(&w, "msg_%" PRIu64, request);
	jw_member_cstr(&w, "role", "assistant");
	jw_member_raw(&w, "content", STR("[]"));
	jw_member_raw(&w, "usage", STR("{\"input_tokens\":0,\"output_tokens\":0}"));
	jw_object_end(&w);
	mock_event_end(&w);
}

static void block_start(struct buf *out, const struct mock_item *item)
{
	struct json_writer w = mock_event_begin(out, "content_block_start");
	const char *type = is_call(item) ? "tool_use" : is_thought(item) ? "thinking" : "text";
	jw_member_i64(&w, "index", item->index);
	jw_key(&w, "content_block");
	jw_object(&w);
	jw_member_cstr(&w, "type", type);
	if (is_call(item)) {
		write_id(&w, item);
		jw_member_str(&w, "name", item->step->name);
		jw_member_raw(&w, "input", STR("{}"));
	} else {
		jw_member_cstr(&w, type, "");
	}
	jw_object_end(&w);
	mock_event_end(&w);
}

static void block_delta(struct buf *out, const struct mock_item *item, const char *type, const char *key,
                        struct str text)
{
	struct json_writer w = mock_event_begin(out, "content_block_delta");
	jw_member_i64(&w, "index", item->index);
	jw_key(&w, "delta");
	jw_object(&w);
	jw_member_cstr(&w, "type", type);
	jw_member_str(&w, key, text);
	jw_object_end(&w);
	mock_event_end(&w);
}

static void block_text(struct buf *out, const struct mock_item *item, struct str text)
{
	if (is_call(item))
		block_delta(out, item, "input_json_delta", "partial_json", text);
	else if (is_thought(item))
		block_delta(out, item, "thinking_delta", "thinking", text);
	else
		block_delta(out, item, "text_delta", "text", text);
}

static void block_stop(struct buf *out, const struct mock_item *item)
{
	if (is_thought(item))
		block_delta(out, item, "signature_delta", "signature",
		            item->step->encrypted.ptr ? item->step->encrypted : STR("c2ln"));
	struct json_writer w = mock_event_begin(out, "content_block_stop");
	jw_member_i64(&w, "index", item->index);
	mock_event_end(&w);
}

static void message_stop(struct buf *out, bool has_calls, const struct mock_counts *counts)
{
	struct json_writer w = mock_event_begin(out, "message_delta");
	jw_key(&w, "delta");
	jw_object(&w);
	jw_member_cstr(&w, "stop_reason", has_calls ? "tool_use" : "end_turn");
	jw_object_end(&w);
	jw_key(&w, "usage");
	jw_object(&w);
	jw_member_i64(&w, "input_tokens", counts->input - counts->cached);
	jw_member_i64(&w, "cache_read_input_tokens", counts->cached);
	jw_member_i64(&w, "output_tokens", counts->output);
	jw_object_end(&w);
	mock_event_end(&w);
	w = mock_event_begin(out, "message_stop");
	mock_event_end(&w);
}

/* ---- both ---- */

void mock_other_created(struct buf *out, enum mock_api api, uint64_t request)
{
	if (api == MOCK_MESSAGES) {
		message_start(out, request);
		return;
	}
	struct json_writer w = chunk_begin(out, request);
	jw_member_cstr(&w, "role", "assistant");
	chunk_end(&w, NULL);
}

void mock_other_completed(struct buf *out, enum mock_api api, uint64_t request, bool has_calls,
                          const struct mock_counts *counts)
{
	if (api == MOCK_MESSAGES)
		message_stop(out, has_calls, counts);
	else
		chat_completed(out, request, has_calls, counts);
}

void mock_other_item_added(struct buf *out, const struct mock_item *item)
{
	if (item->api == MOCK_MESSAGES)
		block_start(out, item);
	else if (is_call(item))
		chat_call(out, item, true, STR(""));
}

void mock_other_item_delta(struct buf *out, const struct mock_item *item, struct str delta)
{
	if (item->step->kind == MOCK_STEP_custom)
		return; /* its arguments are sent at the end */
	if (item->api == MOCK_MESSAGES)
		block_text(out, item, delta);
	else if (is_call(item))
		chat_call(out, item, false, delta);
	else
		chat_text(out, item, delta);
}

void mock_other_item_done(struct buf *out, const struct mock_item *item, struct str text)
{
	bool is_custom = item->step->kind == MOCK_STEP_custom;
	auto_buf struct buf input;
	buf_init(&input, 8 * (size_t)LIMIT_MOCK_TEXT);
	if (is_custom)
		append_input(&input, text);
	if (is_custom && item->api == MOCK_MESSAGES)
		block_text(out, item, buf_str(&input));
	else if (is_custom)
		chat_call(out, item, false, buf_str(&input));
	else if (is_call(item) && !item->has_pieces)
		mock_other_item_delta(out, item, text);
	if (item->api == MOCK_MESSAGES)
		block_stop(out, item);
}
