/* acp.h — the Agent Client Protocol in C: structs of its records, and tables of its methods, notifications and requests
 * (acp_record.def, acp_update.def, acp_method.def, acp_ask.def).
 *
 * Owns: nothing; tables are static. Thread: any. */
#ifndef PROTOCOL_ACP_H
#define PROTOCOL_ACP_H

#include "protocol/record/types.h"

/* ---- records ---- */

/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define UNION(name, style, key, alt_key, doc) enum name##_tag {
#define VARIANT(name, tag, wire, record, doc) name##_##tag,
#define UNION_END(name) name##_tag_count };
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"

#define UNION(name, style, key, alt_key, doc) struct name { enum name##_tag tag; union { void *body;
#define VARIANT(name, tag, wire, record, doc) struct record *tag;
#define UNION_END(name) }; };
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"

#include "protocol/record/record_struct.h"
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"

#define RECORD(name, doc) extern const struct record record_##name;
#define UNION(name, style, key, alt_key, doc) extern const struct union_type union_##name;
#include "protocol/record/record_default.h"
#include "protocol/acp/acp_record.def"
#include "protocol/record/record_undef.h"
/* clang-format on */

/* ---- methods ---- */

enum acp_method_tag {
#define METHOD(tag, ...) ACP_METHOD_##tag,
#define NOTE(tag, ...) ACP_METHOD_##tag,
#include "protocol/acp/acp_method.def"
#undef METHOD
#undef NOTE
	ACP_METHOD_count
};

struct acp_method {
	struct str wire;
	const struct record *params, *result; /* result is NULL for a notification */
};

extern const struct acp_method acp_methods[ACP_METHOD_count];
/* Returns NULL if the method is unknown. */
const struct acp_method *acp_method_find(struct str wire);

/* ---- requests to the client ---- */

enum acp_ask_tag {
#define ASK(tag, ...) ACP_ASK_##tag,
#include "protocol/acp/acp_ask.def"
#undef ASK
	ACP_ASK_count
};

struct acp_ask_type {
	struct str wire;
	const struct record *params, *result;
};

extern const struct acp_ask_type acp_ask_types[ACP_ASK_count];

/* JSON-RPC error codes. */
enum acp_error_code {
	ACP_PARSE_ERROR = -32700,
	ACP_INVALID_REQUEST = -32600,
	ACP_METHOD_NOT_FOUND = -32601,
	ACP_INVALID_PARAMS = -32602,
	ACP_INTERNAL_ERROR = -32603,
	ACP_AUTH_REQUIRED = -32000,
	ACP_NO_SESSION = -32002,
	ACP_CANCELLED = -32800,
};

/* ---- frames: JSON-RPC 2.0, each with its newline ---- */

struct buf;

void acp_write_update(struct buf *out, struct str session_id, const struct acp_update *update);
/* id: JSON text. result: NULL for an empty one. */
void acp_write_result(struct buf *out, struct str id, const struct acp_method *method, const void *result);
/* id: JSON text; STR_NONE writes null. key: the only member of `data`, or NULL for none. */
void acp_write_error(struct buf *out, struct str id, enum acp_error_code code, struct str message, const char *key,
                     struct str value);
void acp_write_ask(struct buf *out, int64_t id, const struct acp_ask_type *type, const void *params);
/* Writes $/cancel_request for a request to the client. */
void acp_write_withdrawal(struct buf *out, int64_t id);

#endif
