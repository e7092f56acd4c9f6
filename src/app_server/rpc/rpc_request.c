/* A request is answered exactly once because the answer ends it: rpc_reply and rpc_fail write the response and
 * release its scope, and the connection counts the requests that still wait. The order of the checks is that of codex
 * 0.169: name, parameters, initialize, experimental API. */
#include "app_server/rpc/rpc_request.h"

#include <stdarg.h>
#include <stdio.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

/* ---- answers ---- */

static void request_destroy(struct rpc_request *request)
{
	if (!request)
		return;
	rpc_scope_leave(&request->server->scopes, &request->entry);
	list_remove(&request->link);
	struct arena arena = request->arena;
	arena_finish(&arena);
}

static void send_out(struct connection *connection, struct buf *out)
{
	if (out->over)
		fprintf(stderr, "codex app-server: a message is larger than %d MiB and was not sent\n",
		        LIMIT_STREAM_QUEUE_HARD / MIB);
	else
		connection_send_frame(connection, buf_str(out));
	buf_reuse(out);
}

/* The answer is written; who waited is done with it. A request that runs is ended by who runs it. */
static void finish(struct rpc_request *request)
{
	send_out(request->connection, &request->server->out);
	if (!request->is_waiting)
		return;
	struct connection *connection = request->connection;
	request_destroy(request);
	connection_on_answered(connection);
}

enum rpc_verdict rpc_reply(struct rpc_request *request, const void *result)
{
	rpc_write_result(&request->server->out, request->id, request->method->result, result);
	finish(request);
	return RPC_DONE;
}

enum rpc_verdict rpc_reply_with_items(struct rpc_request *request, const void *result, const char *path,
                                      struct buf *items)
{
	auto_arena struct arena arena = {0};
	struct buf *out = &request->server->out;
	rpc_write_result(out, request->id, request->method->result, result);
	const struct json *list = json_path(json_parse(&arena, buf_str(out), NULL), path);
	if (json_is(list, JSON_array)) {
		size_t at = (size_t)(list->span.ptr + 1 - out->data);
		connection_send_large(request->connection, str_n(out->data, at), items, str_skip(buf_str(out), at));
		buf_clear(out);
	}
	finish(request);
	return RPC_DONE;
}

enum rpc_verdict rpc_fail_data(struct rpc_request *request, enum app_error_code code, struct str message,
                               struct str data)
{
	rpc_write_error(&request->server->out, request->id, (int)code, message, data);
	finish(request);
	return RPC_FAIL;
}

enum rpc_verdict rpc_fail(struct rpc_request *request, enum app_error_code code, const char *format, ...)
{
	auto_buf struct buf text;
	va_list args;
	buf_init(&text, LIMIT_RPC_ERROR);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	return rpc_fail_data(request, code, buf_str(&text), STR_NONE);
}

enum rpc_verdict rpc_fail_with(struct rpc_request *request, const struct error *err)
{
	bool is_system = err->sys || err->code == ERR_internal;
	return rpc_fail(request, is_system ? APP_INTERNAL_ERROR : APP_INVALID_REQUEST, "%s", err->text);
}

enum rpc_verdict rpc_fail_submit(struct rpc_request *request, const struct error *err)
{
	if (err->code == ERR_limit)
		return rpc_fail(request, APP_OVERLOADED, "Server overloaded; retry later.");
	return rpc_fail_with(request, err);
}

enum rpc_verdict rpc_wait(struct rpc_request *request, rpc_cancel_fn on_cancel, void *self)
{
	request->on_cancel = on_cancel;
	request->self = self;
	return RPC_WAIT;
}

/* The client is gone. */
static void cancel_all(struct connection *connection)
{
	struct rpc_request *request;
	while ((request = list_first(&connection->requests, struct rpc_request, link))) {
		if (request->is_waiting)
			request->on_cancel(request);
		request_destroy(request);
	}
}

/* ---- what runs ---- */

typedef enum rpc_verdict (*rpc_fn)(struct rpc_request *request);

/* A handler takes its row's record, the table a common type. */
#define METHOD(tag, wire, params_, result, scope, class, flags, doc)    \
	static enum rpc_verdict call_##tag(struct rpc_request *request) \
	{                                                               \
		return on_rpc_##tag(request, request->params);          \
	}
#include "protocol/app/app_method_default.h"
#include "protocol/app/app_method.def"
#include "protocol/app/app_method_undef.h"

static const rpc_fn handlers[METHOD_count] = {
#define METHOD(tag, ...) [METHOD_##tag] = call_##tag,
#include "protocol/app/app_method_default.h"
#include "protocol/app/app_method.def"
#include "protocol/app/app_method_undef.h"
};

static enum rpc_verdict rpc_unsupported(struct rpc_request *request)
{
	const struct app_method *method = request->method;
	return rpc_fail(request, APP_INVALID_REQUEST,
	                "This version of Codex has no %s, so it cannot do `%s`. Nothing was changed.", method->text,
	                method->wire.ptr);
}

static enum rpc_verdict answer(struct rpc_request *request)
{
	const struct app_method *method = request->method;
	switch (method->outcome) {
	case APP_SERVED:
		return handlers[method - app_methods](request);
	case APP_REFUSES:
		return rpc_fail(request, method->code, "%s", method->text);
	case APP_ANSWERS:
		rpc_write_result_json(&request->server->out, request->id, str_of(method->text));
		finish(request);
		return RPC_DONE;
	default:
		return rpc_unsupported(request);
	}
}

/* The response of a waiting request frees it: nothing may follow. */
void rpc_request_run_again(struct rpc_request *request)
{
	handlers[request->method - app_methods](request);
}

static void run(struct rpc_request *request)
{
	if (answer(request) != RPC_WAIT) {
		struct connection *connection = request->connection;
		request_destroy(request);
		connection_on_answered(connection);
		return;
	}
	request->is_waiting = true;
	rpc_scope_hold(&request->server->scopes, &request->entry);
}

static void on_run(struct rpc_scope_entry *entry)
{
	run(container_of(entry, struct rpc_request, entry));
}

/* ---- what comes in ---- */

static void refuse(struct connection *connection, struct str id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void refuse(struct connection *connection, struct str id, const char *format, ...)
{
	auto_buf struct buf text;
	va_list args;
	buf_init(&text, LIMIT_RPC_ERROR);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	rpc_write_error(&connection->server->out, id, APP_INVALID_REQUEST, buf_str(&text), STR_NONE);
	send_out(connection, &connection->server->out);
}

static void refuse_unknown(struct connection *connection, const struct rpc_message *message)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_RPC_ERROR);
	buf_printf(&text, "Invalid request: unknown variant `%.*s`, expected one of ",
	           (int)(message->method.len < 200 ? message->method.len : 200), message->method.ptr);
	for (size_t i = 0; i < METHOD_count; i++)
		buf_printf(&text, "%s`%s`", i ? ", " : "", app_methods[i].wire.ptr);
	rpc_write_error(&connection->server->out, message->id, APP_INVALID_REQUEST, buf_str(&text), STR_NONE);
	send_out(connection, &connection->server->out);
}

static int decode_params(struct rpc_request *request, const struct json *params, struct error *err)
{
	const struct record *record = request->method->params;
	request->entry.params = request->params = arena_alloc(&request->arena, record->size);
	if (params && params->type != JSON_null)
		return record_decode(record, params, &request->arena, request->params, err);
	if (request->method->flags & PARAMS_OPTIONAL)
		return 0;
	return error_set(err, ERR_invalid, "missing field `params`");
}

/* The first experimental field in the parameters, or NULL. */
static const struct field *find_experimental(const struct record *record, const struct json *params)
{
	size_t count = 0;
	char name[FIELD_NAME_SIZE];
	const struct field *fields = record->fields ? record->fields(&count) : NULL;
	for (size_t i = 0; i < count; i++) {
		if (!(fields[i].presence & EXPERIMENTAL))
			continue;
		const struct json *member = json_get(params, field_wire_name(record, &fields[i], name));
		if (member && member->type != JSON_null && !(member->type == JSON_bool && !member->boolean))
			return &fields[i];
	}
	return NULL;
}

static bool check_gate(struct connection *connection, const struct app_method *method,
                       const struct rpc_message *message)
{
	char name[FIELD_NAME_SIZE];
	bool is_initialize = method == &app_methods[METHOD_initialize];
	if (!connection->is_initialized && !is_initialize) {
		refuse(connection, message->id, "Not initialized");
		return false;
	}
	if (connection->has_experimental_api || is_initialize)
		return true;
	const struct field *field = find_experimental(method->params, message->body);
	if (method->flags & EXPERIMENTAL_API)
		refuse(connection, message->id, "%s requires experimentalApi capability", method->wire.ptr);
	else if (field)
		refuse(connection, message->id, "%s.%s requires experimentalApi capability", method->wire.ptr,
		       field_wire_name(method->params, field, name));
	return !field && !(method->flags & EXPERIMENTAL_API);
}

static struct rpc_request *request_create(struct connection *connection, const struct app_method *method, struct str id)
{
	struct arena arena = {0};
	struct rpc_request *request = arena_new(&arena, struct rpc_request);
	request->arena = arena;
	request->server = connection->server;
	request->connection = connection;
	request->method = method;
	request->id = arena_str(&request->arena, id);
	rpc_scope_entry_init(&request->entry);
	request->entry.method = method;
	request->entry.run = on_run;
	list_append(&connection->requests, &request->link);
	connection->request_count++;
	return request;
}

static bool holds_nul(const struct json *value)
{
	struct str text;
	return json_to_str(value, &text) && str_find_char(text, '\0') >= 0;
}

/* Refuses a path with a NUL byte: the system would use only the part before it, which names another file. */
static bool check_paths(struct connection *connection, const struct rpc_message *message)
{
	static const char *const members[] = {"cwd", "path", "roots"};
	for (size_t i = 0; i < countof(members); i++) {
		const struct json *member = json_get(message->body, members[i]);
		bool is_bad = holds_nul(member);
		if (json_is(member, JSON_array)) {
			json_for_each(it, member)
				is_bad |= holds_nul(it);
		}
		if (is_bad) {
			refuse(connection, message->id, "file name contained an unexpected NUL byte");
			return false;
		}
	}
	return true;
}

static void take(struct connection *connection, const struct rpc_message *message)
{
	const struct app_method *method = app_method_find(message->method);
	struct error err;
	if (message->has_bad_id) {
		refuse(connection, STR_NONE, "Invalid request: `id` must be a string or a whole number, and was %.*s",
		       (int)(message->id.len < 40 ? message->id.len : 40), message->id.ptr);
		return;
	}
	if (!method) {
		refuse_unknown(connection, message);
		return;
	}
	struct rpc_request *request = request_create(connection, method, message->id);
	if (decode_params(request, message->body, &err) != 0)
		refuse(connection, message->id, "Invalid request: %s", err.text);
	else if (check_gate(connection, method, message) && check_paths(connection, message)) {
		if (rpc_scope_enter(&connection->server->scopes, &request->entry))
			run(request);
		return;
	}
	request_destroy(request);
	connection_on_answered(connection);
}

static void refuse_long(struct connection *connection, struct str head)
{
	rpc_write_too_long(&connection->server->out, head);
	send_out(connection, &connection->server->out);
}

const struct server_requests rpc_requests = {take, refuse_long, cancel_all};
