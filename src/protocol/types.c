/* The descriptions behind the structs of types.h: the same rows, expanded a second time.
 * Each RECORD opens a function so that `Self` can name the struct inside offsetof. */
#include "protocol/types.h"

#include "base/mem.h"

#define RECORD(name, doc)                                             \
	static const struct field *name##_fields(size_t *ret_count)   \
	{                                                             \
		typedef struct name Self;                             \
		static const struct field fields[] = {
#define RECORD_END(name)                                              \
		};                                                    \
		*ret_count = countof(fields);                         \
		return fields;                                        \
	}                                                             \
	const struct record record_##name = {#name, "", sizeof(struct name), name##_fields};
#define AT(f) offsetof(Self, f)
#define STRING(f, p, doc) {#f, FIELD_str, p, AT(f), 0, 0, NULL, doc},
#define BOOL(f, p, doc) {#f, FIELD_bool, p, AT(f), 0, 0, NULL, doc},
#define OPT_BOOL(f, p, doc) {#f, FIELD_bool, p, AT(f), AT(has_##f) + 1, 0, NULL, doc},
#define INT(f, p, doc) {#f, FIELD_i64, p, AT(f), 0, 0, NULL, doc},
#define OPT_INT(f, p, doc) {#f, FIELD_i64, p, AT(f), AT(has_##f) + 1, 0, NULL, doc},
#define FLOAT(f, p, doc) {#f, FIELD_f64, p, AT(f), 0, 0, NULL, doc},
#define OPT_FLOAT(f, p, doc) {#f, FIELD_f64, p, AT(f), AT(has_##f) + 1, 0, NULL, doc},
#define CHOICE(f, t, p, doc) {#f, FIELD_enum, p, AT(f), 0, 0, &enum_##t, doc},
#define OPT_CHOICE(f, t, p, doc) {#f, FIELD_enum, p, AT(f), AT(has_##f) + 1, 0, &enum_##t, doc},
#define JSON(f, p, doc) {#f, FIELD_json, p, AT(f), 0, 0, NULL, doc},
#define SUB(f, t, p, doc) {#f, FIELD_record, p, AT(f), 0, 0, &record_##t, doc},
#define ONE_OF(f, t, p, doc) {#f, FIELD_union, p, AT(f), 0, 0, &union_##t, doc},
#define STRINGS(f, p, doc) {#f, FIELD_strs, p, AT(f), AT(f##_count), 0, NULL, doc},
#define LIST(f, t, p, doc) {#f, FIELD_records, p, AT(f), AT(f##_count), 0, &record_##t, doc},
#define LIST_OF(f, t, p, doc) {#f, FIELD_unions, p, AT(f), AT(f##_count), 0, &union_##t, doc},
#define MAP_OF(f, t, p, doc) {#f, FIELD_map, p, AT(f), AT(f##_count), AT(f##_keys), &union_##t, doc},
#include "protocol/record_default.h"
#include "protocol/types.def"
#include "protocol/op_record.def"
#include "protocol/event_record.def"
#include "protocol/record_undef.h"

#define UNION(name, style, key, alt_key, doc) static const struct variant name##_variants[] = {
#define VARIANT(name, tag, wire, record, doc) {wire, name##_##tag, false, &record_##record, doc},
#define UNIT(name, tag, wire, doc) {wire, name##_##tag, false, NULL, doc},
#define VARIANT_ALIAS(name, tag, wire, record) {wire, name##_##tag, true, &record_##record, ""},
#define UNIT_ALIAS(name, tag, wire) {wire, name##_##tag, true, NULL, ""},
#define UNION_END(name) };
#include "protocol/record_default.h"
#include "protocol/types.def"
#include "protocol/record_undef.h"

#define UNION(name, style, key, alt_key, doc) \
	const struct union_type union_##name = {#name, style, key, alt_key, name##_variants, countof(name##_variants)};
#include "protocol/record_default.h"
#include "protocol/types.def"
#include "protocol/record_undef.h"

static const struct variant op_variants[] = {
#define OP(tag, wire, record, doc) {wire, OP_##tag, false, &record_##record, doc},
#define OP_UNIT(tag, wire, doc) {wire, OP_##tag, false, NULL, doc},
#define OP_ALIAS(tag, wire, record) {wire, OP_##tag, true, &record_##record, ""},
#include "protocol/op.def"
};

static const struct variant event_variants[] = {
#define EVENT(tag, wire, record, doc) {wire, EV_##tag, false, &record_##record, doc},
#define EVENT_UNIT(tag, wire, doc) {wire, EV_##tag, false, NULL, doc},
#define EVENT_ALIAS(tag, wire, record) {wire, EV_##tag, true, &record_##record, ""},
#include "protocol/event_msg.def"
};

const struct union_type union_op = {"op", UNION_INTERNAL, "type", NULL, op_variants, countof(op_variants)};
const struct union_type union_event_msg = {"event_msg", UNION_INTERNAL, "type", NULL, event_variants, countof(event_variants)};
