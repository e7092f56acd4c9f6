/* app.h — the app-server protocol in C: structs of its records, and tables of its methods, notifications and
 * server requests (app_method.def, app_notification.def, app_server_request.def; records: app_record.def).
 *
 * Owns: nothing; tables are static. Thread: any. */
#ifndef PROTOCOL_APP_H
#define PROTOCOL_APP_H

#include "protocol/record/types.h"

/* ---- records ---- */

/* The braces do not balance within one macro, which clang-format cannot handle. */
/* clang-format off */
#define UNION(name, style, key, alt_key, doc) enum name##_tag {
#define VARIANT(name, tag, wire, record, doc) name##_##tag,
#define NAMED(name, tag, wire, record, doc) name##_##tag,
#define UNIT(name, tag, wire, doc) name##_##tag,
#define VALUE_OF(name, tag, wire, record, doc) name##_##tag,
#define UNION_END(name) name##_tag_count };
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"

#define UNION(name, style, key, alt_key, doc) struct name { enum name##_tag tag; union { void *body;
#define VARIANT(name, tag, wire, record, doc) struct record *tag;
#define NAMED(name, tag, wire, record, doc) struct record *tag;
#define VALUE_OF(name, tag, wire, record, doc) struct record *tag;
#define UNION_END(name) }; };
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"

#include "protocol/record/record_struct.h"
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"

#define RECORD(name, doc) extern const struct record record_##name;
#define RECORD_EMPTY(name, doc) extern const struct record record_##name;
#define RECORD_OPEN(name, doc) extern const struct record record_##name;
#define RECORD_SHOWN(name, as, doc) extern const struct record record_##name;
#define UNION(name, style, key, alt_key, doc) extern const struct union_type union_##name;
#include "protocol/record/record_default.h"
#include "protocol/app/app_record.def"
#include "protocol/record/record_undef.h"

/* ---- methods ---- */

enum app_method_tag {
#define METHOD(tag, ...) METHOD_##tag,
#define METHOD_LACKS(tag, ...) METHOD_##tag,
#define METHOD_REFUSES(tag, ...) METHOD_##tag,
#define METHOD_ANSWERS(tag, ...) METHOD_##tag,
#include "protocol/app/app_method_default.h"
#include "protocol/app/app_method.def"
#include "protocol/app/app_method_undef.h"
	METHOD_count
};

enum app_scope_kind {
	APP_SCOPE_ANY,    /* requests are not serialized */
	APP_SCOPE_THREAD, /* exclusive on the thread */
	APP_SCOPE_GLOBAL, /* exclusive on the key */
	APP_SCOPE_SHARED, /* shared on the key */
	APP_SCOPE_BY,     /* exclusive on the value of the parameter that the key names */
};

enum app_class { APP_LOCAL, APP_MODEL, APP_PARTLY, APP_CLOUD, APP_VENDOR, APP_WINDOWS };

enum app_flag {
	EXPERIMENTAL_API = 1, /* only for clients that opted in */
	PARAMS_OPTIONAL = 2,  /* params may be absent */
	RESOLVED = 4,         /* serverRequest/resolved reports the end of this request */
};

enum app_audience { APP_TO_ALL, APP_TO_WATCHERS, APP_TO_CALLER };

/* JSON-RPC error codes that clients rely on. */
enum app_error_code {
	APP_INVALID_REQUEST = -32600, /* unknown methods, invalid parameters and unknown threads included */
	APP_METHOD_NOT_FOUND = -32601,
	APP_INVALID_PARAMS = -32602,
	APP_INTERNAL_ERROR = -32603,
	APP_OVERLOADED = -32001,
};

enum app_outcome {
	APP_SERVED,
	APP_LACKS,   /* text: the missing feature */
	APP_REFUSES, /* text: the message of the error; code: its number */
	APP_ANSWERS, /* text: the result */
};

struct app_method {
	struct str wire; /* followed, after a NUL, by the documentation */
	const struct record *params;
	const struct record *result; /* NULL unless it is served */
	const char *scope_key;
	const char *text;
	enum app_scope_kind scope : 8;
	enum app_class class : 8;
	unsigned flags : 8;
	enum app_outcome outcome : 8;
	enum app_error_code code : 16;
};

extern const struct app_method app_methods[METHOD_count];
/* Returns NULL if the method is unknown. */
const struct app_method *app_method_find(struct str wire);

/* ---- notifications, requests to clients ---- */

enum app_notification_tag {
#define NOTIFICATION(tag, ...) NOTIFY_##tag,
#include "protocol/app/app_notification.def"
#undef NOTIFICATION
	NOTIFY_count
};

struct app_notification {
	struct str wire; /* as in app_method */
	const struct record *params;
	enum app_audience audience;
	unsigned flags;
};

extern const struct app_notification app_notifications[NOTIFY_count];
/* Returns NOTIFY_count if the notification is unknown. */
enum app_notification_tag app_notification_find(struct str wire);

enum app_server_request_tag {
#define SERVER_REQUEST(tag, ...) ASK_##tag,
#include "protocol/app/app_server_request.def"
#undef SERVER_REQUEST
	/* clang-format on */
	ASK_count
};

struct app_server_request {
	struct str wire; /* as in app_method */
	const struct record *params, *result;
	unsigned flags;
};

extern const struct app_server_request app_server_requests[ASK_count];

#endif
