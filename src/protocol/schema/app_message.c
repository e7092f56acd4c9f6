/* Methods, notifications and server requests have different columns, but the generators need the same three of each:
 * name, parameters and result. The program that serves has no results of the methods that it does not serve. */
#include "protocol/schema/app_message.h"

#include "base/mem.h"
#include "protocol/message/app.h"
#include "protocol/record/type_set.h"

static const struct record *const method_results[METHOD_count] = {
#define METHOD(tag, wire, params, result, ...) [METHOD_##tag] = &record_##result,
#define METHOD_LACKS METHOD
#define METHOD_REFUSES METHOD
#define METHOD_ANSWERS METHOD
#include "protocol/app/app_method.def"
#include "protocol/app/app_method_undef.h"
};

const char *app_message_kind_name(enum app_message_kind kind)
{
	static const char *const names[MESSAGE_kind_count] = {"ClientRequest", "ClientNotification", "ServerRequest",
	                                                      "ServerNotification"};
	return names[kind];
}

bool app_message_has_id(enum app_message_kind kind)
{
	return kind == MESSAGE_client_request || kind == MESSAGE_server_request;
}

size_t app_message_count(enum app_message_kind kind)
{
	static const size_t counts[MESSAGE_kind_count] = {METHOD_count, 1, ASK_count, NOTIFY_count};
	return counts[kind];
}

static const char *doc_of(struct str wire)
{
	return wire.ptr + wire.len + 1;
}

static struct app_message method_message(const struct app_method *method)
{
	return (struct app_message){
		.wire = method->wire.ptr,
		.params = method->params == &record_app_nothing ? NULL : method->params,
		.result = method_results[method - app_methods],
		.is_optional = method->flags & PARAMS_OPTIONAL,
		.is_experimental = method->flags & EXPERIMENTAL_API,
		.doc = doc_of(method->wire),
	};
}

struct app_message app_message_get(enum app_message_kind kind, size_t index)
{
	if (kind == MESSAGE_client_request)
		return method_message(&app_methods[index]);
	if (kind == MESSAGE_client_notification)
		return (struct app_message){.wire = "initialized", .doc = "The client has read what initialize gave."};
	if (kind == MESSAGE_server_request) {
		const struct app_server_request *ask = &app_server_requests[index];
		return (struct app_message){
			ask->wire.ptr,    ask->params, ask->result, false, ask->flags & EXPERIMENTAL_API,
			doc_of(ask->wire)};
	}
	const struct app_notification *note = &app_notifications[index];
	return (struct app_message){note->wire.ptr,    note->params, NULL, false, note->flags & EXPERIMENTAL_API,
	                            doc_of(note->wire)};
}

void app_message_add_types(enum app_message_kind kind, bool has_results, struct type_set *set)
{
	for (size_t i = 0; i < app_message_count(kind); i++) {
		struct app_message message = app_message_get(kind, i);
		if (message.is_experimental && !set->is_experimental)
			continue;
		if (message.params)
			type_set_add(set, TYPE_record, message.params);
		if (message.result && has_results)
			type_set_add(set, TYPE_record, message.result);
	}
}
