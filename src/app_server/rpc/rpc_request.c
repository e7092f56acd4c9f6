/* Each request is answered exactly once because the answer ends it: rpc_reply and rpc_refuse write the response and
 * leave the scope. The connection counts waiting requests. Checks are made in the order of codex 0.169: method,
 * parameters, initialize, experimental API, paths. */
#include "app_server/rpc/rpc_request.h"

#include <assert.h>
#include <stdarg.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc.h"
#include "app_server/rpc/rpc_params.h"
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

/* Sends the response in `out`. A response that is too large is replaced by an error, so that the client does not
 * wait forever. */
static void respond(struct connection *connection, struct str id)
{
	auto_arena struct arena arena = {0};
	struct buf *out = &connection->server->out;
	if (out->over) {
		buf_reuse(out);
		rpc_write_error(
			out, id,
			rpc_error(&arena, APP_INTERNAL_ERROR,
		                  "The response is larger than %d MiB and cannot be sent. Request less at a time.",
		                  LIMIT_STREAM_QUEUE_HARD / MIB));
	}
	if (out->len)
		connection_send_frame(connection, buf_str(out));
	buf_reuse(out);
}

/* Ends a waiting request. A running one is ended by run(). */
static void finish(struct rpc_request *request)
{
	struct connection *connection = request->connection;
	respond(connection, request->id);
	if (!request->is_waiting)
		return;
	request_destroy(request);
	connection_on_answered(connection);
}

enum rpc_verdict rpc_reply(struct rpc_request *request, const void *result)
{
	rpc_write_result(&request->server->out, request->id, request->method->result, result);
	finish(request);
	return RPC_DONE;
}

enum rpc_verdict rpc_reply_json(struct rpc_request *request, struct str json)
{
	rpc_write_result_json(&request->server->out, request->id, json);
	finish(request);
	return RPC_DONE;
}

enum rpc_verdict rpc_reply_empty(struct rpc_request *request)
{
	assert(!request->method->result->word_count);
	return rpc_reply(request, NULL);
}

/* The list is sent from its own buffer, so `out` is empty when respond() would send it. */
enum rpc_verdict rpc_reply_with_items(struct rpc_request *request, const void *result, const char *path,
                                      struct buf *items)
{
	auto_arena struct arena arena = {0};
	struct buf *out = &request->server->out;
	if (items->over)
		return rpc_fail(request, APP_INTERNAL_ERROR, "The list is larger than %d MiB. Request it in pages.",
		                (int)(LIMIT_RPC_LIST / MIB));
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

enum rpc_verdict rpc_refuse(struct rpc_request *request, const struct rpc_error *error)
{
	rpc_write_error(&request->server->out, request->id, error);
	finish(request);
	return RPC_FAIL;
}

enum rpc_verdict rpc_fail(struct rpc_request *request, enum app_error_code code, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	const struct rpc_error *error = rpc_error_format(&request->arena, code, format, args);
	va_end(args);
	return rpc_refuse(request, error);
}

enum rpc_verdict rpc_fail_with(struct rpc_request *request, const struct error *err)
{
	return rpc_refuse(request, rpc_error_from(&request->arena, err));
}

enum rpc_verdict rpc_fail_submit(struct rpc_request *request, const struct error *err)
{
	return rpc_refuse(request, rpc_error_from_submit(&request->arena, err));
}

enum rpc_verdict rpc_wait(struct rpc_request *request, rpc_cancel_fn on_cancel, void *self)
{
	request->on_cancel = on_cancel;
	request->self = self;
	return RPC_WAIT;
}

/* Called when the client has disconnected. */
static void cancel_all(struct connection *connection)
{
	struct rpc_request *request;
	while ((request = list_first(&connection->requests, struct rpc_request, link))) {
		if (request->is_waiting)
			request->on_cancel(request);
		request_destroy(request);
	}
}

/* ---- handlers ---- */

typedef enum rpc_verdict (*rpc_fn)(struct rpc_request *request);

/* The table has a single type of function, but each handler takes the record of its row. */
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
		return rpc_reply_json(request, str_of(method->text));
	default:
		return rpc_unsupported(request);
	}
}

/* The request is waiting, so an answer of the handler ends it. */
void rpc_request_run_again(struct rpc_request *request)
{
	handlers[request->method - app_methods](request);
}

static void end(struct rpc_request *request)
{
	struct connection *connection = request->connection;
	request_destroy(request);
	connection_on_answered(connection);
}

static void run(struct rpc_request *request)
{
	if (answer(request) != RPC_WAIT) {
		end(request);
		return;
	}
	request->is_waiting = true;
	rpc_scope_hold(&request->server->scopes, &request->entry);
}

static void on_run(struct rpc_scope_entry *entry)
{
	run(container_of(entry, struct rpc_request, entry));
}

/* ---- arrival ---- */

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

/* Refuses a message that does not become a request. */
static void refuse(struct connection *connection, struct str id, const struct rpc_error *error)
{
	rpc_write_error(&connection->server->out, id, error);
	respond(connection, id);
}

static const struct rpc_error *unknown_method(struct arena *arena, struct str name)
{
	auto_buf struct buf names;
	buf_init(&names, LIMIT_RPC_ERROR);
	for (size_t i = 0; i < METHOD_count; i++)
		buf_printf(&names, "%s`%s`", i ? ", " : "", app_methods[i].wire.ptr);
	return rpc_error(arena, APP_INVALID_REQUEST, "Invalid request: unknown variant `%.*s`, expected one of %.*s",
	                 (int)(name.len < 200 ? name.len : 200), name.ptr, STR_ARG(buf_str(&names)));
}

static const struct rpc_error *check_gate(const struct rpc_request *request, const struct json *params,
                                          struct arena *arena)
{
	char name[FIELD_NAME_SIZE];
	const struct app_method *method = request->method;
	const struct connection *connection = request->connection;
	bool is_initialize = method == &app_methods[METHOD_initialize];
	if (!connection->is_initialized && !is_initialize)
		return rpc_error(arena, APP_INVALID_REQUEST, "Not initialized");
	if (connection->has_experimental_api || is_initialize)
		return NULL;
	if (method->flags & EXPERIMENTAL_API)
		return rpc_error(arena, APP_INVALID_REQUEST, "%s requires experimentalApi capability",
		                 method->wire.ptr);
	const struct field *field = rpc_params_find_experimental(method->params, params);
	if (!field)
		return NULL;
	return rpc_error(arena, APP_INVALID_REQUEST, "%s.%s requires experimentalApi capability", method->wire.ptr,
	                 field_wire_name(method->params, field, name));
}

static const struct rpc_error *check(struct rpc_request *request, const struct json *params)
{
	struct error err;
	struct arena *arena = &request->arena;
	if (rpc_params_decode(request->method, params, arena, &request->params, &err) != 0)
		return rpc_error(arena, APP_INVALID_REQUEST, "Invalid request: %s", err.text);
	request->entry.params = request->params;
	const struct rpc_error *error = check_gate(request, params, arena);
	if (!error && rpc_params_has_bad_path(params))
		error = rpc_error(arena, APP_INVALID_REQUEST, "file name contained an unexpected NUL byte");
	return error;
}

static void start(struct rpc_request *request, const struct json *params)
{
	const struct rpc_error *error = check(request, params);
	if (error) {
		rpc_refuse(request, error);
		end(request);
	} else if (rpc_scope_enter(&request->server->scopes, &request->entry)) {
		run(request);
	}
}

static void take(struct connection *connection, const struct rpc_message *message)
{
	auto_arena struct arena arena = {0};
	const struct app_method *method = app_method_find(message->method);
	if (message->has_bad_id)
		refuse(connection, STR_NONE,
		       rpc_error(&arena, APP_INVALID_REQUEST,
		                 "Invalid request: `id` must be a string or an integer, not %.*s",
		                 (int)(message->id.len < 40 ? message->id.len : 40), message->id.ptr));
	else if (!method)
		refuse(connection, message->id, unknown_method(&arena, message->method));
	else
		start(request_create(connection, method, message->id), message->body);
}

static void refuse_long(struct connection *connection, struct str head)
{
	rpc_write_too_long(&connection->server->out, head);
	respond(connection, STR_NONE);
}

const struct server_requests rpc_requests = {take, refuse_long, cancel_all};
