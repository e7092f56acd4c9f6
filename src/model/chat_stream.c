/* Chat Completions: the chunks of a response.
 *
 * Servers disagree about how the fragments of a call belong together (an index, an id, neither), about the end of a
 * response, and about the name of reasoning; the rules here accept all forms that are known. Calls are emitted when the
 * response is complete, because only then no fragment can follow. */
#include "model/chat.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "model/chat_details.h"
#include "model/chat_think.h"
#include "model/model_assembly.h"
#include "model/model_usage.h"
#include "protocol/record/types.h"

const char chat_thought_in_content[] = "<think>";
const char *const chat_thought_fields[CHAT_THOUGHT_FIELDS] = {"reasoning_content", "reasoning"};

struct chat_call {
	int64_t index;
	bool has_index;
	struct buf id, name, arguments;
	struct str extra; /* extra_content as JSON, owned */
};

enum { JUDGED_MAX = 16 * MIB };

struct chat_reading {
	struct model_assembly assembly;
	struct chat_details details;
	struct chat_think think;
	VEC(struct chat_call *) calls;
	size_t call_bytes;
	size_t judged;     /* bytes of arguments that were parsed, at most JUDGED_MAX */
	const char *field; /* the name under which reasoning came; NULL: none */
	bool is_named;     /* the server finds thoughts: tags in the text are text */
	size_t messages;   /* whose text has begun */
	bool has_thought;  /* with text */
	struct str id;     /* of the response, owned */
	struct token_usage usage;
	bool has_usage;
};

static void *open_reading(void)
{
	struct chat_reading *reading = xnew(struct chat_reading);
	model_assembly_init(&reading->assembly, CHAT_WIRE);
	chat_think_init(&reading->think);
	return reading;
}

static void call_destroy(struct chat_call *call)
{
	buf_finish(&call->id);
	buf_finish(&call->name);
	buf_finish(&call->arguments);
	str_free(&call->extra);
	free(call);
}

static void close_reading(void *self)
{
	struct chat_reading *reading = self;
	vec_for_each(call, &reading->calls)
		call_destroy(*call);
	vec_finish(&reading->calls);
	chat_details_finish(&reading->details);
	chat_think_finish(&reading->think);
	model_assembly_finish(&reading->assembly);
	str_free(&reading->id);
	free(reading);
}

/* ---- fragments of calls ---- */

struct chat_fragment {
	int64_t index;
	bool has_index;
	struct str id, name;
	struct str arguments; /* text, or an object as JSON */
};

static struct chat_fragment fragment_of(const struct json *json)
{
	const struct json *function = json_get(json, "function"), *arguments = json_get(function, "arguments");
	struct chat_fragment fragment = {.id = json_get_str(json, "id"), .name = json_get_str(function, "name")};
	fragment.has_index = json_to_i64(json_get(json, "index"), &fragment.index);
	if (json_is(arguments, JSON_object))
		fragment.arguments = arguments->span;
	else
		json_to_str(arguments, &fragment.arguments);
	return fragment;
}

/* Each fragment may cause a parse, so that the bytes of all parses of an answer have a limit. */
static bool is_whole_object(struct chat_reading *reading, struct str text)
{
	auto_arena struct arena arena = {0};
	bool is_too_long = text.len > LIMIT_WHOLE_CALL || reading->judged + text.len > JUDGED_MAX;
	if (is_too_long || !str_has_suffix(str_trim(text), "}"))
		return false;
	reading->judged += text.len;
	return json_is(json_parse(&arena, text, NULL), JSON_object);
}

/* True if a fragment with the index of a call begins another one. Gemini sends index 0 for all calls. Some gateways
 * make a new id for each fragment, but name the function only once. */
static bool begins_another(struct chat_reading *reading, const struct chat_call *call,
                           const struct chat_fragment *fragment)
{
	if (fragment->name.len == 0)
		return false;
	if (fragment->id.len)
		return call->id.len && !str_eq(buf_str(&call->id), fragment->id);
	return call->id.len == 0 && str_has_prefix(str_trim(fragment->arguments), "{") &&
	       is_whole_object(reading, buf_str(&call->arguments));
}

static struct chat_call *find_indexed(struct chat_reading *reading, const struct chat_fragment *fragment)
{
	struct chat_call *last = NULL;
	vec_for_each(call, &reading->calls) {
		if (!(*call)->has_index || (*call)->index != fragment->index)
			continue;
		if (fragment->id.len && str_eq(buf_str(&(*call)->id), fragment->id))
			return *call;
		last = *call;
	}
	return last && !begins_another(reading, last, fragment) ? last : NULL;
}

static struct chat_call *find_call(struct chat_reading *reading, const struct chat_fragment *fragment)
{
	if (fragment->has_index)
		return find_indexed(reading, fragment);
	if (fragment->id.len == 0 && fragment->name.len == 0)
		return reading->calls.count ? reading->calls.items[reading->calls.count - 1] : NULL;
	vec_for_each(call, &reading->calls) {
		if (fragment->id.len && str_eq(buf_str(&(*call)->id), fragment->id))
			return *call;
	}
	return NULL;
}

static struct chat_call *add_call(struct chat_reading *reading, const struct chat_fragment *fragment)
{
	struct chat_call *call = xnew(struct chat_call);
	call->index = fragment->index;
	call->has_index = fragment->has_index;
	buf_init(&call->id, LIMIT_SSE_EVENT);
	buf_init(&call->name, LIMIT_SSE_EVENT);
	buf_init(&call->arguments, LIMIT_SSE_EVENT);
	vec_push(&reading->calls, call);
	return call;
}

static void read_fragment(struct model_stream *stream, const struct json *json)
{
	struct chat_reading *reading = stream->reading;
	struct chat_fragment fragment = fragment_of(json);
	const struct json *extra = json_get(json, "extra_content");
	struct chat_call *call = find_call(reading, &fragment);
	reading->call_bytes += json->span.len;
	if (reading->call_bytes > LIMIT_SSE_EVENT || (!call && reading->calls.count >= LIMIT_TOOL_CALLS)) {
		model_stream_fail_long(stream);
		return;
	}
	if (!call)
		call = add_call(reading, &fragment);
	if (call->id.len == 0)
		buf_append_str(&call->id, fragment.id);
	if (call->name.len == 0)
		buf_append_str(&call->name, fragment.name);
	buf_append_str(&call->arguments, fragment.arguments);
	if (json_is(extra, JSON_object)) {
		str_free(&call->extra);
		call->extra = str_copy(extra->span);
	}
}

/* ---- text ---- */

/* Writes what is needed to send a thought in the form in which it came. */
static void write_field(const struct chat_reading *reading, struct json_writer *w)
{
	if (!reading->field)
		return;
	jw_member_cstr(w, "field", reading->field);
	if (reading->field != chat_thought_in_content)
		return;
	jw_member_str(w, "before", buf_str(&reading->think.before));
	jw_member_str(w, "after", buf_str(&reading->think.after));
}

/* Closes an item because one of another kind follows. */
static void close_item(struct model_stream *stream)
{
	struct chat_reading *reading = stream->reading;
	auto_buf struct buf own;
	buf_init(&own, LIMIT_RESPONSE_ITEM);
	struct json_writer w = json_writer(&own);
	if (reading->assembly.open == ASSEMBLY_thought)
		write_field(reading, &w);
	else if (reading->messages > 1)
		jw_member_bool(&w, "continues", true);
	model_assembly_close(&reading->assembly, stream, buf_str(&own));
}

static void add_text(struct model_stream *stream, enum assembly_kind kind, struct str text)
{
	struct chat_reading *reading = stream->reading;
	if (text.len && reading->assembly.open != kind) {
		close_item(stream);
		reading->messages += kind == ASSEMBLY_message;
		reading->has_thought |= kind == ASSEMBLY_thought;
	}
	model_assembly_add(&reading->assembly, stream, kind, text);
}

/* Reasoning may come under two names with the same text: the first that is not empty counts. */
static void read_thought(struct model_stream *stream, const struct json *const *fields)
{
	struct chat_reading *reading = stream->reading;
	for (size_t i = 0; i < CHAT_THOUGHT_FIELDS; i++) {
		struct str text = STR_NONE;
		json_to_str(fields[i], &text);
		if (text.ptr && !reading->field)
			reading->field = chat_thought_fields[i];
		if (text.len == 0)
			continue;
		if (!reading->calls.count && reading->assembly.open == ASSEMBLY_none)
			reading->field = chat_thought_fields[i];
		reading->is_named = true;
		add_text(stream, ASSEMBLY_thought, text);
		break;
	}
}

/* Mistral sends a thought as a part with parts of its own. */
static void read_thinking_part(struct model_stream *stream, const struct json *thinking)
{
	struct str text;
	((struct chat_reading *)stream->reading)->is_named = true;
	if (json_to_str(thinking, &text))
		add_text(stream, ASSEMBLY_thought, text);
	json_for_each(part, thinking)
		add_text(stream, ASSEMBLY_thought, json_get_str(part, "text"));
}

static void on_think(bool is_thought, struct str text, void *self)
{
	struct model_stream *stream = self;
	if (is_thought)
		((struct chat_reading *)stream->reading)->field = chat_thought_in_content;
	add_text(stream, is_thought ? ASSEMBLY_thought : ASSEMBLY_message, text);
}

/* The thought may be empty. */
static void feed_think(struct model_stream *stream, struct str text)
{
	struct chat_reading *reading = stream->reading;
	chat_think_feed(&reading->think, text, on_think, stream);
	if (reading->think.before.len)
		reading->field = chat_thought_in_content;
}

/* A server that names thoughts leaves none in the text. */
static void read_text(struct model_stream *stream, struct str text)
{
	struct chat_reading *reading = stream->reading;
	if (reading->think.state == THINK_AFTER ||
	    (reading->is_named && reading->think.state == THINK_BEFORE && !reading->think.held.len))
		add_text(stream, ASSEMBLY_message, text);
	else
		feed_think(stream, text);
}

static void read_content(struct model_stream *stream, const struct json *content)
{
	struct str text;
	if (json_to_str(content, &text)) {
		read_text(stream, text);
		return;
	}
	json_for_each(part, content) {
		if (str_is(json_get_str(part, "type"), "thinking"))
			read_thinking_part(stream, json_get(part, "thinking"));
		else
			read_text(stream, json_get_str(part, "text"));
	}
}

/* ---- the end ---- */

/* Writes what the wire needs to send an item again. With all: the details, and the field even if it was empty. */
static void write_own(const struct chat_reading *reading, bool all, struct str extra, struct buf *out)
{
	struct json_writer w = json_writer(out);
	if (all)
		write_field(reading, &w);
	if (all && reading->messages > 1 && reading->assembly.open == ASSEMBLY_message)
		jw_member_bool(&w, "continues", true);
	if (reading->details.list.count && all) {
		jw_key(&w, "details");
		chat_details_write(&reading->details, &w);
	}
	if (extra.len)
		jw_member_raw(&w, "extra_content", extra);
}

static bool is_id_taken(const struct chat_reading *reading, size_t index)
{
	for (size_t i = 0; i < index; i++) {
		if (str_eq(buf_str(&reading->calls.items[i]->id), buf_str(&reading->calls.items[index]->id)))
			return true;
	}
	return false;
}

static void emit_calls(struct model_stream *stream, bool has_own)
{
	struct chat_reading *reading = stream->reading;
	for (size_t i = 0; i < reading->calls.count && stream->state == MODEL_STREAM_OPEN; i++) {
		const struct chat_call *call = reading->calls.items[i];
		auto_buf struct buf own;
		buf_init(&own, LIMIT_RESPONSE_ITEM);
		write_own(reading, i == 0 && has_own, call->extra, &own);
		struct assembly_call emit = {
			.id = is_id_taken(reading, i) ? STR_NONE : buf_str(&call->id),
			.name = buf_str(&call->name),
			.arguments = buf_str(&call->arguments),
			.own = buf_str(&own),
		};
		model_assembly_call(&reading->assembly, stream, &emit);
	}
}

/* Gives the user a thought that is the whole response, and was not closed, as the answer: models that were trained on
 * it forget the tag. The answer is not sent back to them, because the thought is. */
static void answer_with_thought(struct model_stream *stream)
{
	struct chat_reading *reading = stream->reading;
	struct model_assembly *assembly = &reading->assembly;
	auto_buf struct buf text, own;
	buf_init(&text, LIMIT_SSE_EVENT);
	buf_append_str(&text, buf_str(&assembly->text));
	add_text(stream, ASSEMBLY_message, buf_str(&text));
	buf_init(&own, KIB);
	buf_append_c(&own, "\"is_thought\":true");
	model_assembly_close(assembly, stream, buf_str(&own));
}

static void complete(struct model_stream *stream)
{
	struct chat_reading *reading = stream->reading;
	auto_buf struct buf own = {0};
	bool is_unclosed = reading->think.state == THINK_INSIDE;
	buf_init(&own, LIMIT_RESPONSE_ITEM);
	chat_think_end(&reading->think, on_think, stream);
	if (is_unclosed && !reading->messages && !reading->calls.count)
		answer_with_thought(stream);
	write_own(reading, true, STR_NONE, &own);
	bool is_empty_thought = reading->think.before.len && !reading->has_thought;
	bool must_keep = reading->details.list.count || reading->messages > 1 || is_empty_thought;
	bool has_open =
		reading->assembly.open == ASSEMBLY_thought || (reading->assembly.open == ASSEMBLY_message && must_keep);
	model_assembly_close(&reading->assembly, stream, has_open ? buf_str(&own) : STR_NONE);
	emit_calls(stream, !has_open);
	if (stream->state == MODEL_STREAM_OPEN)
		model_stream_complete(stream, reading->id, reading->has_usage ? &reading->usage : NULL);
}

static void end(struct model_stream *stream, bool is_marked)
{
	if (stream->is_ending || (is_marked && stream->has_events))
		complete(stream);
}

static void read_finish(struct model_stream *stream, struct str reason)
{
	if (str_is(reason, "length") || str_is(reason, "max_tokens"))
		model_stream_fail_incomplete(stream, STR("max_output_tokens"));
	else if (str_is(reason, "content_filter"))
		model_stream_fail_incomplete(stream, STR("content_filter"));
	else if (reason.len)
		stream->is_ending = true;
}

/* ---- chunks ---- */

/* The members of an object are found in one pass, because most deltas are shorter than the objects around them. */
#define NAME(text)                     \
	{                              \
		text, sizeof(text) - 1 \
	}

enum { DELTA_thoughts, DELTA_details = CHAT_THOUGHT_FIELDS, DELTA_content, DELTA_calls, DELTA_count };

static void read_delta(struct model_stream *stream, const struct json *delta)
{
	static const struct str names[DELTA_count] = {NAME("reasoning_content"), NAME("reasoning"),
	                                              NAME("reasoning_details"), NAME("content"), NAME("tool_calls")};
	struct chat_reading *reading = stream->reading;
	const struct json *found[DELTA_count];
	json_pick(delta, names, DELTA_count, found);
	read_thought(stream, &found[DELTA_thoughts]);
	chat_details_add(&reading->details, found[DELTA_details]);
	read_content(stream, found[DELTA_content]);
	json_for_each(fragment, found[DELTA_calls]) {
		if (fragment->type == JSON_object && stream->state == MODEL_STREAM_OPEN)
			read_fragment(stream, fragment);
	}
}

static void read_usage(struct chat_reading *reading, const struct json *usage)
{
	struct token_usage read;
	if (!model_usage_read_chat(usage, &read))
		return;
	reading->usage = read;
	reading->has_usage = true;
}

static void read_id(struct chat_reading *reading, struct str id)
{
	if (id.len && id.len <= LIMIT_CALL_ID)
		reading->id = str_copy(id);
}

enum { CHOICE_usage, CHOICE_index, CHOICE_delta, CHOICE_message, CHOICE_finish, CHOICE_count };

static void read_choice(struct model_stream *stream, const struct json *choice)
{
	static const struct str names[CHOICE_count] = {NAME("usage"), NAME("index"), NAME("delta"), NAME("message"),
	                                               NAME("finish_reason")};
	const struct json *found[CHOICE_count];
	struct str reason = STR_NONE;
	int64_t index = 0;
	json_pick(choice, names, CHOICE_count, found);
	read_usage(stream->reading, found[CHOICE_usage]); /* where Moonshot puts it */
	json_to_i64(found[CHOICE_index], &index);
	if (stream->state != MODEL_STREAM_OPEN || index != 0)
		return;
	read_delta(stream, found[json_is(found[CHOICE_delta], JSON_object) ? CHOICE_delta : CHOICE_message]);
	json_to_str(found[CHOICE_finish], &reason);
	if (stream->state == MODEL_STREAM_OPEN)
		read_finish(stream, reason);
}

enum { CHUNK_error, CHUNK_object, CHUNK_id, CHUNK_usage, CHUNK_choices, CHUNK_count };

/* An object is "error", or has one. */
static bool is_refused(struct model_stream *stream, const struct json *root, const struct json *const *found)
{
	struct model_refusal refusal;
	struct str object = STR_NONE;
	json_to_str(found[CHUNK_object], &object);
	if ((!found[CHUNK_error] && object.len != sizeof("error") - 1) || !model_error_read_refusal(root, &refusal))
		return false;
	model_stream_refuse(stream, &refusal);
	return true;
}

static void read_chunk(struct model_stream *stream, struct str name, const struct json *root)
{
	static const struct str names[CHUNK_count] = {NAME("error"), NAME("object"), NAME("id"), NAME("usage"),
	                                              NAME("choices")};
	struct chat_reading *reading = stream->reading;
	const struct json *found[CHUNK_count];
	struct str id = STR_NONE;
	(void)name;
	json_pick(root, names, CHUNK_count, found);
	if (is_refused(stream, root, found))
		return;
	json_to_str(found[CHUNK_id], &id);
	if (!reading->id.ptr)
		read_id(reading, id);
	read_usage(reading, found[CHUNK_usage]);
	json_for_each(choice, found[CHUNK_choices])
		read_choice(stream, choice);
}

const struct model_reader chat_reader = {
	.read = read_chunk,
	.end = end,
	.open = open_reading,
	.close = close_reading,
};
