/* Anthropic Messages: the events of a response. Blocks come one after the other, each with its start, deltas and stop;
 * unknown events, deltas and blocks are skipped. A signature belongs to the thought of its block, so every block of
 * thinking becomes an item of its own. */
#include "model/messages.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/model_assembly.h"
#include "model/model_usage.h"
#include "protocol/record/types.h"

enum block_kind { BLOCK_none, BLOCK_text, BLOCK_thinking, BLOCK_redacted, BLOCK_tool };

struct messages_reading {
	struct model_assembly assembly;
	enum block_kind block; /* the open block */
	int64_t index;
	struct buf signature; /* or the data of redacted thinking */
	struct buf id, name, input;
	struct str whole_input; /* the input that came with the start of the block; owned */
	size_t calls;
	struct str message_id;       /* owned */
	struct messages_usage usage; /* so far */
	bool is_paused;              /* the response asks to be continued */
};

static void *open_reading(void)
{
	struct messages_reading *reading = xnew(struct messages_reading);
	model_assembly_init(&reading->assembly, MESSAGES_WIRE);
	buf_init(&reading->signature, LIMIT_SSE_EVENT);
	buf_init(&reading->id, LIMIT_SSE_EVENT);
	buf_init(&reading->name, LIMIT_SSE_EVENT);
	buf_init(&reading->input, LIMIT_SSE_EVENT);
	return reading;
}

static void close_reading(void *self)
{
	struct messages_reading *reading = self;
	model_assembly_finish(&reading->assembly);
	buf_finish(&reading->signature);
	buf_finish(&reading->id);
	buf_finish(&reading->name);
	buf_finish(&reading->input);
	str_free(&reading->whole_input);
	str_free(&reading->message_id);
	free(reading);
}

/* ---- the end of a block ---- */

static void close_thought(struct model_stream *stream, const char *member)
{
	struct messages_reading *reading = stream->reading;
	auto_buf struct buf own;
	buf_init(&own, LIMIT_RESPONSE_ITEM);
	struct json_writer w = json_writer(&own);
	if (reading->signature.len)
		jw_member_str(&w, member, buf_str(&reading->signature));
	model_assembly_close(&reading->assembly, stream, buf_str(&own));
}

static void emit_call(struct model_stream *stream)
{
	struct messages_reading *reading = stream->reading;
	struct assembly_call call = {
		.id = buf_str(&reading->id),
		.name = buf_str(&reading->name),
		.arguments = reading->input.len ? buf_str(&reading->input) : reading->whole_input,
	};
	if (++reading->calls > LIMIT_TOOL_CALLS)
		model_stream_fail_long(stream);
	else
		model_assembly_call(&reading->assembly, stream, &call);
}

static void end_block(struct model_stream *stream)
{
	struct messages_reading *reading = stream->reading;
	bool is_over = reading->signature.over || reading->input.over || reading->id.over || reading->name.over;
	if (is_over)
		model_stream_fail_long(stream);
	else if (reading->block == BLOCK_thinking)
		close_thought(stream, "signature");
	else if (reading->block == BLOCK_redacted)
		close_thought(stream, "data");
	else if (reading->block == BLOCK_tool)
		emit_call(stream);
	else if (reading->block == BLOCK_text)
		model_assembly_close(&reading->assembly, stream, STR_NONE);
	reading->block = BLOCK_none;
	buf_reuse(&reading->signature);
	buf_reuse(&reading->id);
	buf_reuse(&reading->name);
	buf_reuse(&reading->input);
	str_free(&reading->whole_input);
}

/* ---- blocks ---- */

static enum block_kind kind_named(struct str type)
{
	static const struct {
		const char *type;
		enum block_kind kind;
	} kinds[] = {
		{"text", BLOCK_text},
		{"thinking", BLOCK_thinking},
		{"redacted_thinking", BLOCK_redacted},
		{"tool_use", BLOCK_tool},
	};
	for (size_t i = 0; i < countof(kinds); i++) {
		if (str_is(type, kinds[i].type))
			return kinds[i].kind;
	}
	return BLOCK_none;
}

static void start_block(struct model_stream *stream, const struct json *root)
{
	struct messages_reading *reading = stream->reading;
	const struct json *block = json_get(root, "content_block"), *input = json_get(block, "input");
	end_block(stream);
	reading->block = kind_named(json_get_str(block, "type"));
	reading->index = json_get_i64(root, "index", 0);
	switch (reading->block) {
	case BLOCK_text:
		model_assembly_add(&reading->assembly, stream, ASSEMBLY_message, json_get_str(block, "text"));
		break;
	case BLOCK_thinking:
	case BLOCK_redacted:
		model_assembly_open(&reading->assembly, stream, ASSEMBLY_thought);
		model_assembly_add(&reading->assembly, stream, ASSEMBLY_thought, json_get_str(block, "thinking"));
		buf_append_str(&reading->signature,
		               json_get_str(block, reading->block == BLOCK_redacted ? "data" : "signature"));
		break;
	case BLOCK_tool:
		buf_append_str(&reading->id, json_get_str(block, "id"));
		buf_append_str(&reading->name, json_get_str(block, "name"));
		if (json_is(input, JSON_object))
			reading->whole_input = str_copy(input->span);
		break;
	case BLOCK_none:
		break;
	}
}

static void read_delta(struct model_stream *stream, const struct json *root)
{
	struct messages_reading *reading = stream->reading;
	const struct json *delta = json_get(root, "delta");
	struct str type = json_get_str(delta, "type");
	if (json_get_i64(root, "index", reading->index) != reading->index)
		return;
	if (reading->block == BLOCK_text && str_is(type, "text_delta"))
		model_assembly_add(&reading->assembly, stream, ASSEMBLY_message, json_get_str(delta, "text"));
	else if (reading->block == BLOCK_thinking && str_is(type, "thinking_delta"))
		model_assembly_add(&reading->assembly, stream, ASSEMBLY_thought, json_get_str(delta, "thinking"));
	else if (reading->block == BLOCK_thinking && str_is(type, "signature_delta"))
		buf_append_str(&reading->signature, json_get_str(delta, "signature"));
	else if (reading->block == BLOCK_tool && str_is(type, "input_json_delta"))
		buf_append_str(&reading->input, json_get_str(delta, "partial_json"));
}

/* ---- the message ---- */

static void start_message(struct model_stream *stream, const struct json *root)
{
	struct messages_reading *reading = stream->reading;
	const struct json *message = json_get(root, "message");
	struct str id = json_get_str(message, "id");
	if (!reading->message_id.ptr && id.len && id.len <= LIMIT_CALL_ID)
		reading->message_id = str_copy(id);
	model_usage_read_messages(json_get(message, "usage"), &reading->usage);
}

static void read_stop(struct model_stream *stream, struct str reason)
{
	struct messages_reading *reading = stream->reading;
	struct model_refusal refusal = {.type = reason, .message = reason};
	reading->is_paused = str_is(reason, "pause_turn");
	if (str_is(reason, "max_tokens"))
		model_stream_fail_incomplete(stream, STR("max_output_tokens"));
	else if (str_is(reason, "refusal"))
		model_stream_fail_incomplete(stream, STR("content_filter"));
	else if (str_is(reason, "model_context_window_exceeded"))
		model_stream_refuse(stream, &refusal);
	else if (reason.len)
		stream->is_ending = true;
}

static void complete(struct model_stream *stream)
{
	struct messages_reading *reading = stream->reading;
	struct token_usage usage;
	end_block(stream);
	model_assembly_close(&reading->assembly, stream, STR_NONE);
	bool has_usage = model_usage_of_messages(&reading->usage, &usage);
	stream->is_paused = reading->is_paused;
	stream->cache_writes = reading->usage.cache_creation;
	if (stream->state == MODEL_STREAM_OPEN)
		model_stream_complete(stream, reading->message_id, has_usage ? &usage : NULL);
}

static void end(struct model_stream *stream, bool is_marked)
{
	(void)is_marked;
	if (stream->is_ending)
		complete(stream);
}

static void end_message(struct model_stream *stream, const struct json *root)
{
	(void)root;
	complete(stream);
}

static void read_message_delta(struct model_stream *stream, const struct json *root)
{
	struct messages_reading *reading = stream->reading;
	model_usage_read_messages(json_get(root, "usage"), &reading->usage);
	read_stop(stream, json_get_str(json_get(root, "delta"), "stop_reason"));
}

static void stop_block(struct model_stream *stream, const struct json *root)
{
	(void)root;
	end_block(stream);
}

/* Handles an error, as an event or as a body. */
static void read_error(struct model_stream *stream, const struct json *root)
{
	struct model_refusal refusal;
	if (!model_error_read_refusal(root, &refusal))
		refusal.message = STR("the server reported an error");
	model_stream_refuse(stream, &refusal);
}

static const struct {
	const char *type;
	void (*read)(struct model_stream *stream, const struct json *root);
} rows[] = {
	{"content_block_delta", read_delta},
	{"content_block_start", start_block},
	{"content_block_stop", stop_block},
	{"message_start", start_message},
	{"message_delta", read_message_delta},
	{"message_stop", end_message},
	{"error", read_error},
};

static void read_event(struct model_stream *stream, struct str name, const struct json *root)
{
	struct str type = json_get_str(root, "type");
	if (!type.ptr)
		type = json_is(json_get(root, "error"), JSON_object) ? STR("error") : name;
	for (size_t i = 0; i < countof(rows); i++) {
		if (str_is(type, rows[i].type)) {
			rows[i].read(stream, root);
			return;
		}
	}
}

const struct model_reader messages_reader = {
	.read = read_event,
	.end = end,
	.open = open_reading,
	.close = close_reading,
};
