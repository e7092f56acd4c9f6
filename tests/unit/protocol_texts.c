/* Expands the rows of protocol/record/types.def, op/ and event tables to their texts alone. */
#include "protocol_texts.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

struct text {
	const char *type; /* NULL: the type of the row before */
	const char *name; /* NULL: the type itself */
	const char *doc;
};

/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
static const struct text texts[] = {
#define RECORD(name, doc) {#name, NULL, doc},
#define RECORD_EMPTY(name, doc) {#name, NULL, doc},
#define RECORD_OPEN(name, doc) {#name, NULL, doc},
#define RECORD_SHOWN(name, as, doc) {#name, NULL, doc},
#define STRING(f, p, doc) {NULL, #f, doc},
#define STRING_NAMED(f, name, p, doc) {NULL, name, doc},
#define STRING_ALIAS(f, alias, doc) {NULL, alias, doc},
#define PATH(f, p, doc) {NULL, #f, doc},
#define BOOL(f, p, doc) {NULL, #f, doc},
#define OPT_BOOL(f, p, doc) {NULL, #f, doc},
#define INT(f, p, doc) {NULL, #f, doc},
#define OPT_INT(f, p, doc) {NULL, #f, doc},
#define FLOAT(f, p, doc) {NULL, #f, doc},
#define OPT_FLOAT(f, p, doc) {NULL, #f, doc},
#define CHOICE(f, t, p, doc) {NULL, #f, doc},
#define OPT_CHOICE(f, t, p, doc) {NULL, #f, doc},
#define JSON(f, p, doc) {NULL, #f, doc},
#define JSON_AS(f, as, p, doc) {NULL, #f, doc},
#define JSON_OF(f, as, t, p, doc) {NULL, #f, doc},
#define STRING_OF(f, t, p, doc) {NULL, #f, doc},
#define SUB(f, t, p, doc) {NULL, #f, doc},
#define ONE_OF(f, t, p, doc) {NULL, #f, doc},
#define STRINGS(f, p, doc) {NULL, #f, doc},
#define STRINGS_OF(f, t, p, doc) {NULL, #f, doc},
#define PATHS(f, p, doc) {NULL, #f, doc},
#define INTS(f, p, doc) {NULL, #f, doc},
#define CHOICES(f, t, p, doc) {NULL, #f, doc},
#define LIST(f, t, p, doc) {NULL, #f, doc},
#define LIST_OF(f, t, p, doc) {NULL, #f, doc},
#define MAP(f, t, p, doc) {NULL, #f, doc},
#define MAP_OF(f, t, p, doc) {NULL, #f, doc},
#define UNION(name, style, key, alt_key, doc) {#name, NULL, doc},
#define VARIANT(name, tag, wire, record, doc) {NULL, wire, doc},
#define NAMED(name, tag, wire, record, doc) {NULL, wire, doc},
#define VALUE_OF(name, tag, wire, record, doc) {NULL, wire, doc},
#define UNIT(name, tag, wire, doc) {NULL, wire, doc},
#include "protocol/record/record_default.h"
#include "protocol/record/types_tool.def"
#include "protocol/record/types.def"
#include "protocol/op/op_record.def"
#include "protocol/op/event_record.def"
#include "protocol/record/record_undef.h"
	{"op", NULL, "an operation"},
#define OP(tag, wire, record, doc) {NULL, wire, doc},
#define OP_UNIT(tag, wire, doc) {NULL, wire, doc},
#define OP_LACKS(tag, wire, record, what, doc) {NULL, wire, doc},
#define OP_UNIT_LACKS(tag, wire, what, doc) {NULL, wire, doc},
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
	{"event_msg", NULL, "an event of the engine"},
#define EVENT(tag, wire, record, doc) {NULL, wire, doc},
#define EVENT_UNIT(tag, wire, doc) {NULL, wire, doc},
#define EVENT_ALIAS(tag, wire, record)
#include "protocol/op/event_msg.def"
};
/* clang-format on */

const char *protocol_text(const char *type, const char *name)
{
	size_t i = 0;
	while (i < countof(texts) && !(texts[i].type && strcmp(texts[i].type, type) == 0))
		i++;
	if (!name)
		return i < countof(texts) ? texts[i].doc : "";
	for (i++; i < countof(texts) && !texts[i].type; i++) {
		if (strcmp(texts[i].name, name) == 0)
			return texts[i].doc;
	}
	return "";
}
