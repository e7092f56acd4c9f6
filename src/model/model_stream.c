/* A response may consist of ten thousand small deltas. Each costs one parse into an arena that is reset, not freed, one
 * lookup of the type and one call. Nothing is copied, and only the final state is kept. */
#include "model/model_stream.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/model_usage.h"

static const struct str types[] = {
#define RESPONSE_EVENT(name, wire) [RESPONSE_##name] = {wire, sizeof(wire) - 1},
#include "model/response_event.def"
#undef RESPONSE_EVENT
};

void model_stream_init(struct model_stream *stream, response_event_fn on_event, void *self)
{
	*stream = (struct model_stream){.on_event = on_event, .self = self};
}

void model_stream_finish(struct model_stream *stream)
{
	arena_finish(&stream->arena);
}

static void emit_response(struct model_stream *stream, enum response_event_type type, const struct json *root)
{
	const struct json *response = json_get(root, "response");
	struct token_usage usage;
	struct response_event event = {.type = type, .id = json_get_str(response, "id")};
	if (model_usage_read(json_get(response, "usage"), &usage))
		event.usage = &usage;
	if (type == RESPONSE_completed)
		stream->state = MODEL_STREAM_COMPLETED;
	stream->on_event(&event, stream->self);
}

static void emit_item(struct model_stream *stream, enum response_event_type type, const struct json *root)
{
	struct response_event event = {.type = type, .item = json_get(root, "item")};
	if (json_is(event.item, JSON_object))
		stream->on_event(&event, stream->self);
}

static void emit_delta(struct model_stream *stream, enum response_event_type type, const struct json *root,
                       const char *index_key)
{
	struct response_event event = {.type = type, .id = json_get_str(root, "item_id")};
	if (type != RESPONSE_summary_part && !json_to_str(json_get(root, "delta"), &event.text))
		return;
	if (index_key)
		event.index = json_get_i64(root, index_key, 0);
	stream->on_event(&event, stream->self);
}

static void fail(struct model_stream *stream, const struct json *failure)
{
	stream->state = MODEL_STREAM_FAILED;
	model_error_from_failure(&stream->error, failure);
}

static void fail_incomplete(struct model_stream *stream, const struct json *root)
{
	struct str reason = STR("unknown");
	json_to_str(json_path(root, "response.incomplete_details.reason"), &reason);
	stream->state = MODEL_STREAM_FAILED;
	model_error_set(&stream->error, MODEL_ERROR_incomplete, reason);
}

/* Handles an `error` event; its members are at the top level or in `error`. */
static void fail_error(struct model_stream *stream, const struct json *root)
{
	const struct json *inner = json_get(root, "error");
	fail(stream, inner && inner->type != JSON_null ? inner : root);
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

static void dispatch(struct model_stream *stream, enum response_event_type type, const struct json *root)
{
	switch (type) {
	case RESPONSE_text_delta:
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
		emit_item(stream, type, root);
		break;
	case RESPONSE_created:
	case RESPONSE_completed:
		emit_response(stream, type, root);
		break;
	case RESPONSE_failed:
		fail(stream, json_path(root, "response.error"));
		break;
	case RESPONSE_incomplete:
		fail_incomplete(stream, root);
		break;
	case RESPONSE_error:
		fail_error(stream, root);
		break;
	default:
		break;
	}
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
	const struct json *root = json_parse(&stream->arena, data, NULL);
	if (!root && !text_is_utf8(data))
		root = parse_lossy(&stream->arena, data);
	if (json_is(root, JSON_object)) {
		stream->has_events = true;
		dispatch(stream, type_of(root, name), root);
	}
	arena_reset(&stream->arena);
	return stream->state == MODEL_STREAM_OPEN;
}
