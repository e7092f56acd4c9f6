/* Defines the runtime descriptions of the structs in types.h, by a second expansion of the same rows with
 * record_rows.h. Tools use record_rows.h for their arguments, too. */
#include "protocol/record/types.h"

#include "base/mem.h"
#include "protocol/record/fields.h"

const char field_names[] = FIELD_NAMES;

/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define RECORD_LAYOUT
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "protocol/record/record_all.def"
#include "protocol/record/record_undef.h"
#undef RECORD_LAYOUT
#define RECORD_WORDS
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "protocol/record/record_all.def"
#include "protocol/record/record_undef.h"
#undef RECORD_WORDS
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "protocol/record/record_all.def"
#include "protocol/record/record_undef.h"
#include "protocol/record/record_rows.h"
#include "protocol/record/record_default.h"
#include "protocol/record/record_all.def"
#include "protocol/record/record_undef.h"

#define UNION(name, style, key, alt_key, doc) static const struct variant name##_variants[] = {
#define VARIANT(name, tag, wire, record, doc) {wire "\0" doc, &record_##record, name##_##tag, false, false},
#define NAMED(name, tag, wire, record, doc) {wire "\0" doc, &record_##record, name##_##tag, false, false, true},
#define UNIT(name, tag, wire, doc) {wire "\0" doc, NULL, name##_##tag, false, false},
#define VALUE_OF(name, tag, wire, record, doc) {wire "\0" doc, &record_##record, name##_##tag, false, true},
#define VARIANT_ALIAS(name, tag, wire, record) {wire "\0", &record_##record, name##_##tag, true, false},
#define UNIT_ALIAS(name, tag, wire) {wire "\0", NULL, name##_##tag, true, false},
#define UNION_END(name) };
#include "protocol/record/record_default.h"
#include "protocol/record/types.def"
#include "protocol/record/record_undef.h"

#define UNION(name, style, key, alt_key, doc)                                                                          \
	const struct union_type union_##name = {#name, style, key, alt_key, name##_variants, countof(name##_variants), \
	                                        doc};
#include "protocol/record/record_default.h"
#include "protocol/record/types.def"
#include "protocol/record/record_undef.h"

static const struct variant op_variants[] = {
#define OP(tag, wire, record, doc) {wire "\0", &record_##record, OP_##tag, false, false},
#define OP_UNIT(tag, wire, doc) {wire "\0", NULL, OP_##tag, false, false},
#define OP_LACKS(tag, wire, record, what, doc) {wire "\0", &record_##record, OP_##tag, false, false},
#define OP_UNIT_LACKS(tag, wire, what, doc) {wire "\0", NULL, OP_##tag, false, false},
#define OP_ALIAS(tag, wire, record) {wire "\0", &record_##record, OP_##tag, true, false},
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
};

static const struct variant event_variants[] = {
#define EVENT(tag, wire, record, doc) {wire "\0", &record_##record, EV_##tag, false, false},
#define EVENT_UNIT(tag, wire, doc) {wire "\0", NULL, EV_##tag, false, false},
#define EVENT_ALIAS(tag, wire, record) {wire "\0", &record_##record, EV_##tag, true, false},
#include "protocol/op/event_msg.def"
};
/* clang-format on */

const struct union_type union_op = {"op", UNION_INTERNAL, "type", NULL, op_variants, countof(op_variants), ""};
const struct union_type union_event_msg = {"event_msg",    UNION_INTERNAL,          "type", NULL,
                                           event_variants, countof(event_variants), ""};
