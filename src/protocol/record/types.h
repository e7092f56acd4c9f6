/* types.h — the C structs, enums and descriptions of everything in types.def, op*.def and event*.def.
 * A union struct is { enum NAME_tag tag; union { void *body; struct … *variant; … }; }. */
#ifndef PROTOCOL_TYPES_H
#define PROTOCOL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "protocol/record/enum.h"
#include "protocol/record/record.h"

/* The tags of unions: enum user_input_tag { user_input_text, … } */
/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define UNION(name, style, key, alt_key, doc) enum name##_tag {
#define VARIANT(name, tag, wire, record, doc) name##_##tag,
#define NAMED(name, tag, wire, record, doc) name##_##tag,
#define UNIT(name, tag, wire, doc) name##_##tag,
#define VALUE_OF(name, tag, wire, record, doc) name##_##tag,
#define UNION_END(name) name##_tag_count };
#include "protocol/record/record_default.h"
#include "protocol/record/types.def"
#include "protocol/record/record_undef.h"

/* The structs of unions; the bodies are declared below. */
#define UNION(name, style, key, alt_key, doc) struct name { enum name##_tag tag; union { void *body;
#define VARIANT(name, tag, wire, record, doc) struct record *tag;
#define NAMED(name, tag, wire, record, doc) struct record *tag;
#define VALUE_OF(name, tag, wire, record, doc) struct record *tag;
#define UNION_END(name) }; };
#include "protocol/record/record_default.h"
#include "protocol/record/types.def"
#include "protocol/record/record_undef.h"

/* The structs of records. */
#include "protocol/record/record_struct.h"
#include "protocol/record/record_default.h"
#include "protocol/record/types_tool.def"
#include "protocol/record/types.def"
#include "protocol/op/op_record.def"
#include "protocol/op/event_record.def"
#include "protocol/record/record_undef.h"

/* The tags and structs of Ops: enum op_tag { OP_user_turn, … }; struct op { enum op_tag tag; union { void *body; …
 * }; } */
enum op_tag {
#define OP(tag, wire, record, doc) OP_##tag,
#define OP_UNIT(tag, wire, doc) OP_##tag,
#define OP_LACKS(tag, wire, record, what, doc) OP_##tag,
#define OP_UNIT_LACKS(tag, wire, what, doc) OP_##tag,
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
	OP_count
};

struct op {
	enum op_tag tag;
	union {
		void *body;
#define OP(tag, wire, record, doc) struct record *tag;
#define OP_LACKS(tag, wire, record, what, doc) struct record *tag;
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
	};
};

enum event_tag {
#define EVENT(tag, wire, record, doc) EV_##tag,
#define EVENT_UNIT(tag, wire, doc) EV_##tag,
#define EVENT_ALIAS(tag, wire, record)
#include "protocol/op/event_msg.def"
#undef EVENT
#undef EVENT_UNIT
	EV_count
};

struct event_msg {
	enum event_tag tag;
	union {
		void *body;
#define EVENT(tag, wire, record, doc) struct record *tag;
#define EVENT_UNIT(tag, wire, doc)
#include "protocol/op/event_msg.def"
#undef EVENT
#undef EVENT_UNIT
#undef EVENT_ALIAS
	};
};

/* Declares `const struct record record_NAME` or `const struct union_type union_NAME` for each row. */
#define RECORD(name, doc) extern const struct record record_##name;
#define RECORD_EMPTY(name, doc) extern const struct record record_##name;
#define UNION(name, style, key, alt_key, doc) extern const struct union_type union_##name;
#include "protocol/record/record_default.h"
#include "protocol/record/types_tool.def"
#include "protocol/record/types.def"
#include "protocol/op/op_record.def"
#include "protocol/op/event_record.def"
#include "protocol/record/record_undef.h"
/* clang-format on */

extern const struct union_type union_op;
extern const struct union_type union_event_msg;

#endif
