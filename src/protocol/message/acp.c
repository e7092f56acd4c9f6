/* Defines the runtime descriptions of the structs in acp.h, by a second expansion of the same rows, and writes frames.
 */
#include "protocol/message/acp.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define RECORD_FAMILY RECORD_CAMEL
/* These types have no schema, for which documentation would be needed. */
#include "protocol/record/record_pooled.h"
#define RECORD_LAYOUT
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"
#undef RECORD_LAYOUT
#define RECORD_WORDS
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"
#undef RECORD_WORDS
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"
#include "protocol/record/record_rows.h"
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"

#define UNION(name, style, key, alt_key, doc) static const struct variant name##_variants[] = {
#define VARIANT(name, tag, wire, record, doc) {wire "\0", &record_##record, name##_##tag, false, false},
#define UNION_END(name) };
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"

#define UNION(name, style, key, alt_key, doc) \
	const struct union_type union_##name = {#name,           style,                    key, alt_key, \
	                                        name##_variants, countof(name##_variants), ""};
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"

const struct acp_method acp_methods[ACP_METHOD_count] = {
#define METHOD(tag, wire, params, result, doc) \
	[ACP_METHOD_##tag] = {{wire, sizeof(wire) - 1}, &record_##params, &record_##result},
#define NOTE(tag, wire, params, doc) [ACP_METHOD_##tag] = {{wire, sizeof(wire) - 1}, &record_##params, NULL},
#include "protocol/acp/acp_method.def"
#undef METHOD
#undef NOTE
};

const struct acp_ask_type acp_ask_types[ACP_ASK_count] = {
#define ASK(tag, wire, params, result, doc) \
	[ACP_ASK_##tag] = {{wire, sizeof(wire) - 1}, &record_##params, &record_##result},
#include "protocol/acp/acp_ask.def"
#undef ASK
	/* clang-format on */
};

const struct acp_method *acp_method_find(struct str wire)
{
	for (size_t i = 0; i < ACP_METHOD_count; i++) {
		if (str_eq(acp_methods[i].wire, wire))
			return &acp_methods[i];
	}
	return NULL;
}

/* ---- frames ---- */

static struct json_writer begin_frame(struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "jsonrpc", STR("2.0"));
	return w;
}

/* Replaces line ends between the tokens of embedded JSON by spaces, because they would end the frame. */
static void end_frame(struct json_writer *w, size_t start)
{
	jw_object_end(w);
	struct buf *out = w->out;
	for (char *at = out->over ? NULL : out->data + start;
	     at && (at = memchr(at, '\n', out->len - (size_t)(at - out->data)));)
		*at = ' ';
	buf_append_char(out, '\n');
}

void acp_write_update(struct buf *out, struct str session_id, const struct acp_update *update)
{
	size_t start = out->len;
	struct acp_session_update_params params = {session_id, (struct acp_update *)(uintptr_t)update};
	struct json_writer w = begin_frame(out);
	jw_member_str(&w, "method", STR("session/update"));
	jw_key(&w, "params");
	record_encode(&record_acp_session_update_params, &params, &w);
	end_frame(&w, start);
}

void acp_write_result(struct buf *out, struct str id, const struct acp_method *method, const void *result)
{
	size_t start = out->len;
	struct json_writer w = begin_frame(out);
	jw_member_raw(&w, "id", id);
	jw_key(&w, "result");
	if (result)
		record_encode(method->result, result, &w);
	else
		jw_raw(&w, STR("{}"));
	end_frame(&w, start);
}

void acp_write_error(struct buf *out, struct str id, enum acp_error_code code, struct str message, const char *key,
                     struct str value)
{
	size_t start = out->len;
	struct json_writer w = begin_frame(out);
	jw_member_raw(&w, "id", id.ptr ? id : STR("null"));
	jw_key(&w, "error");
	jw_object(&w);
	jw_member_i64(&w, "code", (int)code);
	jw_member_str(&w, "message", message);
	if (key) {
		jw_key(&w, "data");
		jw_object(&w);
		jw_member_str(&w, key, value);
		jw_object_end(&w);
	}
	jw_object_end(&w);
	end_frame(&w, start);
}

void acp_write_ask(struct buf *out, int64_t id, const struct acp_ask_type *type, const void *params)
{
	size_t start = out->len;
	struct json_writer w = begin_frame(out);
	jw_member_i64(&w, "id", id);
	jw_member_str(&w, "method", type->wire);
	jw_key(&w, "params");
	record_encode(type->params, params, &w);
	end_frame(&w, start);
}

void acp_write_withdrawal(struct buf *out, int64_t id)
{
	size_t start = out->len;
	struct json_writer w = begin_frame(out);
	jw_member_str(&w, "method", STR("$/cancel_request"));
	jw_key(&w, "params");
	jw_object(&w);
	jw_member_i64(&w, "requestId", id);
	jw_object_end(&w);
	end_frame(&w, start);
}
