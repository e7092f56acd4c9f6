/* Defines the runtime descriptions of the structs in app.h, by a second expansion of the same rows. */
#include "protocol/message/app.h"

#include "base/mem.h"

/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define RECORD_FAMILY RECORD_CAMEL
/* The documentation of these types would be a fortieth of the program; generated types and schemas do without. */
#include "protocol/record/record_pooled.h"
#define RECORD_LAYOUT
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"
#undef RECORD_LAYOUT
#define RECORD_WORDS
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"
#undef RECORD_WORDS
#include "protocol/record/record_text.h"
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"
#include "protocol/record/record_rows.h"
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"

#define UNION(name, style, key, alt_key, doc) static const struct variant name##_variants[] = {
#define VARIANT(name, tag, wire, record, doc) {wire "\0" "", &record_##record, name##_##tag, false, false},
#define NAMED(name, tag, wire, record, doc) {wire "\0" "", &record_##record, name##_##tag, false, false, true},
#define UNIT(name, tag, wire, doc) {wire "\0" "", NULL, name##_##tag, false, false},
#define VALUE_OF(name, tag, wire, record, doc) {wire "\0" "", &record_##record, name##_##tag, false, true},
#define VARIANT_ALIAS(name, tag, wire, record) {wire "\0" "", &record_##record, name##_##tag, true, false},
#define UNIT_ALIAS(name, tag, wire) {wire "\0" "", NULL, name##_##tag, true, false},
#define UNION_END(name) };
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"

#define UNION(name, style, key, alt_key, doc) \
	const struct union_type union_##name = {#name,           style,                    key, alt_key, \
	                                        name##_variants, countof(name##_variants), ""};
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"

/* The words of the scope column. They expand to text with commas, so rows paste their names instead of passing them
 * as arguments. */
#define SCOPE_ANY .scope = APP_SCOPE_ANY
#define SCOPE_THREAD .scope = APP_SCOPE_THREAD, .scope_key = "threadId"
#define SCOPE_GLOBAL(key) .scope = APP_SCOPE_GLOBAL, .scope_key = key
#define SCOPE_SHARED(key) .scope = APP_SCOPE_SHARED, .scope_key = key
#define SCOPE_BY(param) .scope = APP_SCOPE_BY, .scope_key = param

/* The results of methods that are not served are in protocol/schema: only generated types need them. */
#define ROW(tag, wire_, params_, result_, scope_, class_, flags_, doc_)                                              \
	[METHOD_##tag] = {.wire = {wire_ "\0" "", sizeof(wire_) - 1}, .params = &record_##params_, \
			  scope_, .class = APP_##class_, .flags = flags_

const struct app_method app_methods[METHOD_count] = {
#define METHOD(tag, wire, params, result_, scope, class, flags, doc) \
	ROW(tag, wire, params, result_, SCOPE_##scope, class, flags, doc), .outcome = APP_SERVED, \
		.result = &record_##result_},
#define METHOD_LACKS(tag, wire, params, result, scope, class, flags, what, doc) \
	ROW(tag, wire, params, result, SCOPE_##scope, class, flags, doc), .outcome = APP_LACKS, .text = what},
#define METHOD_REFUSES(tag, wire, params, result, scope, class, flags, error, message, doc) \
	ROW(tag, wire, params, result, SCOPE_##scope, class, flags, doc), .outcome = APP_REFUSES, .code = APP_##error, \
		.text = message},
#define METHOD_ANSWERS(tag, wire, params, result, scope, class, flags, json, doc) \
	ROW(tag, wire, params, result, SCOPE_##scope, class, flags, doc), .outcome = APP_ANSWERS, .text = json},
#include "protocol/app/app_method_default.h"
#include "protocol/app/app_method.def"
#include "protocol/app/app_method_undef.h"
};

const struct app_notification app_notifications[NOTIFY_count] = {
#define NOTIFICATION(tag, wire, record, audience, flags, doc) \
	[NOTIFY_##tag] = {{wire "\0" "", sizeof(wire) - 1}, &record_##record, APP_TO_##audience, flags},
#include "protocol/app/app_notification.def"
#undef NOTIFICATION
};

const struct app_server_request app_server_requests[ASK_count] = {
#define SERVER_REQUEST(tag, wire, params, result, flags, doc) \
	[ASK_##tag] = {{wire "\0" "", sizeof(wire) - 1}, &record_##params, &record_##result, flags},
#include "protocol/app/app_server_request.def"
#undef SERVER_REQUEST
	/* clang-format on */
};

const struct app_method *app_method_find(struct str wire)
{
	for (size_t i = 0; i < METHOD_count; i++) {
		if (str_eq(app_methods[i].wire, wire))
			return &app_methods[i];
	}
	return NULL;
}

enum app_notification_tag app_notification_find(struct str wire)
{
	int i = 0;
	while (i < NOTIFY_count && !str_eq(app_notifications[i].wire, wire))
		i++;
	return (enum app_notification_tag)i;
}
