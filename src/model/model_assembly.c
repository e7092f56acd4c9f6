/* An item is written as JSON and parsed again, so that the engine gets the same kind of node from every wire. That
 * costs reading the text of each item once more, not for each delta. */
#include "model/model_assembly.h"

#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "model/model_history.h"
#include "model/model_stream.h"
#include "model/model_wire.h"

void model_assembly_init(struct model_assembly *assembly, const char *wire)
{
	*assembly = (struct model_assembly){.wire = wire};
	buf_init(&assembly->text, LIMIT_SSE_EVENT);
}

void model_assembly_finish(struct model_assembly *assembly)
{
	buf_finish(&assembly->text);
}

static void emit_json(struct model_stream *stream, enum response_event_type type, const struct buf *json)
{
	auto_arena struct arena arena = {0};
	if (json->over)
		model_stream_fail_long(stream);
	else
		model_stream_emit_item(stream, type, json_parse(&arena, buf_str(json), NULL));
}

void model_assembly_open(struct model_assembly *assembly, struct model_stream *stream, enum assembly_kind kind)
{
	auto_buf struct buf json = {0};
	if (assembly->open == kind)
		return;
	model_assembly_close(assembly, stream, STR_NONE);
	assembly->open = kind;
	buf_init(&json, KIB);
	buf_append_c(&json, kind == ASSEMBLY_thought ? "{\"type\":\"reasoning\",\"summary\":[]}"
	                                             : "{\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}");
	emit_json(stream, RESPONSE_item_added, &json);
}

void model_assembly_add(struct model_assembly *assembly, struct model_stream *stream, enum assembly_kind kind,
                        struct str text)
{
	struct response_event event = {
		.type = kind == ASSEMBLY_thought ? RESPONSE_reasoning_delta : RESPONSE_text_delta,
		.text = text,
	};
	if (text.len == 0 || stream->state != MODEL_STREAM_OPEN)
		return;
	model_assembly_open(assembly, stream, kind);
	buf_append_str(&assembly->text, text);
	if (assembly->text.over)
		model_stream_fail_long(stream);
	else
		model_stream_emit(stream, &event);
}

static void write_own(const struct model_assembly *assembly, const struct model_stream *stream, struct json_writer *w,
                      struct str own)
{
	if (own.len == 0)
		return;
	jw_key(w, HISTORY_WIRE);
	jw_object(w);
	jw_member_cstr(w, "name", assembly->wire);
	jw_member_str(w, "provider", stream->provider.ptr ? stream->provider : STR(""));
	jw_raw(w, own);
	jw_object_end(w);
}

static void write_content(struct json_writer *w, const char *type, struct str text)
{
	jw_key(w, "content");
	jw_array(w);
	if (text.len) {
		jw_object(w);
		jw_member_cstr(w, "type", type);
		jw_member_str(w, "text", text);
		jw_object_end(w);
	}
	jw_array_end(w);
}

void model_assembly_close(struct model_assembly *assembly, struct model_stream *stream, struct str own)
{
	auto_buf struct buf json = {0};
	struct json_writer w = json_writer(&json);
	enum assembly_kind kind = assembly->open;
	bool is_thought = kind == ASSEMBLY_thought;
	if (kind == ASSEMBLY_none)
		return;
	assembly->open = ASSEMBLY_none;
	buf_init(&json, LIMIT_RESPONSE_ITEM);
	jw_object(&w);
	jw_member_cstr(&w, "type", is_thought ? "reasoning" : "message");
	write_own(assembly, stream, &w, own);
	if (is_thought)
		jw_member_raw(&w, "summary", STR("[]"));
	else
		jw_member_cstr(&w, "role", "assistant");
	write_content(&w, is_thought ? "reasoning_text" : "output_text", buf_str(&assembly->text));
	jw_object_end(&w);
	buf_reuse(&assembly->text);
	emit_json(stream, RESPONSE_item_done, &json);
}

/* ---- calls ---- */

enum { MADE_ID_LEN = 9 }; /* the only length that Mistral accepts */

static void make_id(char out[MADE_ID_LEN + 1])
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
	unsigned char random[MADE_ID_LEN];
	host_random(random, sizeof(random));
	for (size_t i = 0; i < MADE_ID_LEN; i++)
		out[i] = digits[random[i] % (sizeof(digits) - 1)];
	out[MADE_ID_LEN] = '\0';
}

static void write_name(const struct model_stream *stream, struct json_writer *w, struct str flat)
{
	const struct model_name *name = stream->request ? wire_find_name(stream->request, flat) : NULL;
	if (name && name->namespace.ptr)
		jw_member_str(w, "namespace", name->namespace);
	jw_member_str(w, "name", name ? name->name : flat);
}

void model_assembly_call(const struct model_assembly *assembly, struct model_stream *stream,
                         const struct assembly_call *call)
{
	auto_buf struct buf json = {0};
	struct json_writer w = json_writer(&json);
	char made[MADE_ID_LEN + 1];
	make_id(made);
	buf_init(&json, LIMIT_RESPONSE_ITEM);
	jw_object(&w);
	jw_member_cstr(&w, "type", "function_call");
	write_own(assembly, stream, &w, call->own);
	jw_member_str(&w, "call_id", call->id.len && call->id.len <= LIMIT_CALL_ID ? call->id : str_of(made));
	write_name(stream, &w, call->name);
	jw_member_str(&w, "arguments", str_is_blank(call->arguments) ? STR("{}") : call->arguments);
	jw_object_end(&w);
	emit_json(stream, RESPONSE_item_done, &json);
}
