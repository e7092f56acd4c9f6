/* A response may consist of ten thousand small deltas. Each costs one parse into an arena that is reset, not freed, and
 * one call of the wire's reader. */
#include "model/model_stream.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

void model_stream_init(struct model_stream *stream, const struct model_reader *reader, response_event_fn on_event,
                       void *self)
{
	*stream = (struct model_stream){.reader = reader, .on_event = on_event, .self = self};
	if (reader->open)
		stream->reading = reader->open();
}

void model_stream_finish(struct model_stream *stream)
{
	arena_finish(&stream->arena);
	if (stream->reading)
		stream->reader->close(stream->reading);
	stream->reading = NULL;
	str_free(&stream->response_id);
	str_free(&stream->refusal);
}

void model_stream_emit(struct model_stream *stream, const struct response_event *event)
{
	stream->on_event(event, stream->self);
}

void model_stream_emit_item(struct model_stream *stream, enum response_event_type type, const struct json *item)
{
	struct response_event event = {.type = type, .item = item};
	if (json_is(item, JSON_object))
		model_stream_emit(stream, &event);
}

void model_stream_complete(struct model_stream *stream, struct str id, const struct token_usage *usage)
{
	struct response_event event = {
		.type = RESPONSE_completed,
		.id = id,
		.usage = usage,
		.cache_writes = stream->cache_writes,
		.is_paused = stream->is_paused,
	};
	stream->state = MODEL_STREAM_COMPLETED;
	stream->response_id = str_copy(id);
	model_stream_emit(stream, &event);
}

void model_stream_fail(struct model_stream *stream, const struct json *failure)
{
	stream->state = MODEL_STREAM_FAILED;
	model_error_from_failure(&stream->error, failure);
}

void model_stream_fail_status(struct model_stream *stream, const struct json *root)
{
	model_stream_fail(stream, json_get(root, "error"));
	stream->refusal = str_copy(root->span);
}

void model_stream_fail_incomplete(struct model_stream *stream, struct str reason)
{
	stream->state = MODEL_STREAM_FAILED;
	model_error_set(&stream->error, MODEL_ERROR_incomplete, reason);
}

void model_stream_refuse(struct model_stream *stream, const struct model_refusal *refusal)
{
	stream->state = MODEL_STREAM_FAILED;
	model_error_from_refusal(&stream->error, refusal);
}

void model_stream_fail_long(struct model_stream *stream)
{
	stream->state = MODEL_STREAM_FAILED;
	model_error_set(&stream->error, MODEL_ERROR_too_long, STR_NONE);
}

/* Parses again with invalid bytes replaced by U+FFFD, so that a single wrong byte does not lose a long message. */
static const struct json *parse_lossy(struct arena *arena, struct str data)
{
	auto_buf struct buf clean;
	buf_init(&clean, 3 * (size_t)LIMIT_SSE_EVENT);
	text_append_utf8_lossy(&clean, data);
	return json_parse_copy(arena, buf_str(&clean), NULL);
}

bool model_stream_feed(struct model_stream *stream, struct str name, struct str data)
{
	if (stream->state != MODEL_STREAM_OPEN)
		return false;
	if (str_is(data, "[DONE]")) {
		model_stream_end(stream, true);
		return stream->state == MODEL_STREAM_OPEN;
	}
	const struct json *root = json_parse(&stream->arena, data, NULL);
	if (!root && !text_is_utf8(data))
		root = parse_lossy(&stream->arena, data);
	if (json_is(root, JSON_object)) {
		stream->has_events = true;
		stream->reader->read(stream, name, root);
	}
	arena_reset(&stream->arena);
	return stream->state == MODEL_STREAM_OPEN;
}

void model_stream_end(struct model_stream *stream, bool is_marked)
{
	if (stream->state == MODEL_STREAM_OPEN && stream->reader->end)
		stream->reader->end(stream, is_marked);
}
