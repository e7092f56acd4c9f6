/* Each message is allocated in an arena of its own: a short Op needs one block, a delta costs one allocation, and
 * one call frees a message. */
#include "protocol/message/message.h"

#include "base/error.h"
#include "base/mem.h"

/* ---- submissions ---- */

static struct submission *submission_alloc(void)
{
	struct arena arena = {0};
	struct submission *submission = arena_new(&arena, struct submission);
	submission->arena = arena;
	list_init(&submission->link);
	return submission;
}

struct submission *submission_create(struct str id, const struct op *op)
{
	struct submission *submission = submission_alloc();
	submission->id = arena_str(&submission->arena, id);
	union_copy(&union_op, op, &submission->arena, &submission->op);
	return submission;
}

/* A submission with two ids or two Ops is rejected, because either could be the wrong one. */
static const char *find_duplicate(const struct json *root)
{
	size_t ids = 0, ops = 0;
	json_for_each(member, root) {
		ids += str_is(member->key, "id");
		ops += str_is(member->key, "op");
	}
	return ids > 1 ? "id" : ops > 1 ? "op" : NULL;
}

static int decode_into(struct submission *submission, const struct json *root, struct error *err)
{
	const struct json *id = json_get(root, "id"), *op = json_get(root, "op");
	struct str text;
	if (!json_is(root, JSON_object))
		return error_set(err, ERR_invalid, "a submission is an object {\"id\":…,\"op\":…}");
	const char *twice = find_duplicate(root);
	if (twice)
		return error_set(err, ERR_invalid, "duplicate field `%s`", twice);
	if (!id)
		return error_set(err, ERR_invalid, "missing field `id`");
	if (!json_to_str(id, &text))
		return error_set(err, ERR_invalid, "id: invalid type: %s, expected a string", json_type_name(id->type));
	if (!op)
		return error_set(err, ERR_invalid, "missing field `op`");
	submission->id = arena_str(&submission->arena, text);
	submission->mode_word = arena_str(&submission->arena, json_get_str(json_get(op, "collaboration_mode"), "mode"));
	return union_decode(&union_op, op, &submission->arena, &submission->op, err);
}

struct submission *submission_decode(struct str json, struct error *err)
{
	auto_arena struct arena scratch = {0};
	const struct json *root = json_parse(&scratch, json, err);
	if (!root)
		return NULL;
	struct submission *submission = submission_alloc();
	if (decode_into(submission, root, err) != 0) {
		submission_destroy(submission);
		return NULL;
	}
	return submission;
}

void submission_destroy(struct submission *submission)
{
	if (!submission)
		return;
	struct arena arena = submission->arena;
	arena_finish(&arena);
}

/* ---- events ---- */

struct event *event_create(struct str id, enum event_tag tag, const void *body)
{
	return event_create_held(id, tag, body, NULL);
}

struct event *event_create_held(struct str id, enum event_tag tag, const void *body, struct shared_text *held)
{
	struct arena arena = {0};
	struct event *event = arena_new(&arena, struct event);
	event->arena = arena;
	if (held)
		arena_hold(&event->arena, held);
	list_init(&event->link);
	event->id = arena_str(&event->arena, id);
	struct union_head head = {.tag = (int)tag, .body = (void *)(uintptr_t)body};
	union_copy(&union_event_msg, &head, &event->arena, &event->msg);
	return event;
}

void event_encode(const struct event *event, struct json_writer *w)
{
	jw_object(w);
	jw_member_str(w, "id", event->id);
	jw_key(w, "msg");
	union_encode(&union_event_msg, &event->msg, w);
	jw_object_end(w);
}

static int decode_event(struct event *event, const struct json *root, struct error *err)
{
	const struct json *msg = json_get(root, "msg");
	struct str type = json_get_str(msg, "type");
	if (!type.ptr)
		return error_set(err, ERR_invalid, "an event is an object {\"id\":…,\"msg\":{\"type\":…}}");
	if (!union_find_wire(&union_event_msg, type))
		return error_set(err, ERR_unsupported, "unknown event type `%.*s`", STR_ARG(type));
	event->id = arena_str(&event->arena, json_get_str(root, "id"));
	return union_decode(&union_event_msg, msg, &event->arena, &event->msg, err);
}

struct event *event_decode(struct str json, struct error *err)
{
	auto_arena struct arena scratch = {0};
	struct arena arena = {0};
	const struct json *root = json_parse(&scratch, json, err);
	if (!root)
		return NULL;
	struct event *event = arena_new(&arena, struct event);
	event->arena = arena;
	list_init(&event->link);
	if (decode_event(event, root, err) != 0) {
		event_destroy(event);
		return NULL;
	}
	return event;
}

void event_destroy(struct event *event)
{
	if (!event)
		return;
	struct arena arena = event->arena;
	arena_finish(&arena);
}
