/* Frames are read by app_server/rpc and written here: this protocol has the member `jsonrpc`, and other error codes.
 *
 * A line that is not JSON is answered with a null id, because its id cannot be known. An answer that belongs to no
 * question is ignored: the question may have been withdrawn. */
#include "acp/acp_wire.h"

#include <stdarg.h>
#include <stdio.h>

#include "app_server/rpc/rpc.h"
#include "base/json.h"
#include "base/json_peek.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "transport/transport_stdio.h"

/* ---- flow ---- */

static void choose_input(struct acp_wire *wire)
{
	if (wire->has_ended)
		return;
	if (wire->unread_count > LIMIT_UNREAD_SUBMISSIONS)
		transport_pause(wire->transport);
	else
		transport_resume(wire->transport);
}

static void become_slow(struct acp_wire *wire)
{
	if (wire->is_slow)
		return;
	wire->is_slow = true;
	wire->owner->on_pace(true, wire->self);
}

static void on_drain(void *self)
{
	struct acp_wire *wire = self;
	wire->is_slow = false;
	wire->unread_count = 0;
	wire->owner->on_pace(false, wire->self);
	choose_input(wire);
}

/* ---- out ---- */

static void send_out(struct acp_wire *wire)
{
	if (wire->out.over)
		fprintf(stderr, "codex acp: a message is larger than %d MiB and was not sent\n",
		        LIMIT_STREAM_QUEUE_HARD / MIB);
	else if (!wire->has_ended && !transport_send(wire->transport, buf_str(&wire->out)))
		become_slow(wire);
	buf_reuse(&wire->out);
}

/* ---- requests ---- */

static void request_destroy(struct acp_request *request)
{
	struct arena arena = request->arena;
	list_remove(&request->link);
	request->wire->request_count -= request->id.ptr != NULL;
	arena_finish(&arena);
}

void acp_reply(struct acp_request *request, const void *result)
{
	if (request->id.ptr) {
		acp_write_result(&request->wire->out, request->id, request->method, result);
		send_out(request->wire);
	}
	request_destroy(request);
}

void acp_reply_after(struct acp_request *request, struct buf *frames, const void *result)
{
	struct acp_wire *wire = request->wire;
	acp_write_result(&wire->out, request->id, request->method, result);
	if (wire->has_ended)
		buf_finish(frames);
	else if (!transport_send_large(wire->transport, STR(""), frames, buf_str(&wire->out)))
		become_slow(wire);
	buf_reuse(&wire->out);
	request_destroy(request);
}

void acp_fail_data(struct acp_request *request, enum acp_error_code code, struct str message, const char *key,
                   struct str value)
{
	if (request->id.ptr) {
		acp_write_error(&request->wire->out, request->id, code, message, key, value);
		send_out(request->wire);
	}
	request_destroy(request);
}

void acp_fail(struct acp_request *request, enum acp_error_code code, const char *format, ...)
{
	auto_buf struct buf text;
	va_list args;
	buf_init(&text, LIMIT_RPC_ERROR);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	acp_fail_data(request, code, buf_str(&text), NULL, STR_NONE);
}

void acp_fail_no_session(struct acp_request *request, struct str session_id)
{
	auto_buf struct buf text;
	struct str shown = str_n(session_id.ptr, session_id.len < 64 ? session_id.len : 64);
	buf_init(&text, LIMIT_RPC_ERROR);
	buf_printf(&text, "Unknown session %.*s: create or load it first", STR_ARG(shown));
	acp_fail_data(request, ACP_NO_SESSION, buf_str(&text), "sessionId", session_id);
}

struct acp_request *acp_request_find(struct acp_wire *wire, struct str id)
{
	struct acp_request *it;
	list_for_each(it, &wire->requests, link) {
		if (str_eq(it->id, id))
			return it;
	}
	return NULL;
}

/* ---- updates ---- */

void acp_send_update(struct acp_wire *wire, struct str session_id, const struct acp_update *update)
{
	acp_write_update(&wire->out, session_id, update);
	send_out(wire);
}

/* ---- questions ---- */

static void ask_destroy(struct acp_ask *ask)
{
	list_remove(&ask->link);
	free(ask->key);
	free(ask->task);
	free(ask->self);
	free(ask);
}

struct acp_ask *acp_ask_send(struct acp_wire *wire, enum acp_ask_tag tag, const void *params, void *owner,
                             struct str key, acp_answer_fn on_answer)
{
	struct acp_ask *ask = xnew(struct acp_ask);
	ask->tag = tag;
	ask->owner = owner;
	ask->key = str_dup(key);
	ask->task = wire->task.len ? str_dup(wire->task) : NULL;
	ask->wire = wire;
	ask->id = ++wire->last_ask;
	ask->on_answer = on_answer;
	list_append(&wire->asks, &ask->link);
	acp_write_ask(&wire->out, ask->id, &acp_ask_types[tag], params);
	send_out(wire);
	return ask;
}

void acp_asks_withdraw(struct acp_wire *wire, const void *owner, struct str key, struct str task)
{
	struct acp_ask *it;
	list_for_each(it, &wire->asks, link) {
		if (it->owner != owner || (key.ptr && !str_is(key, it->key)) ||
		    (task.ptr && it->task && !str_is(task, it->task)))
			continue;
		acp_write_withdrawal(&wire->out, it->id);
		send_out(wire);
		ask_destroy(it);
	}
}

/* id: JSON text. */
static struct acp_ask *ask_find(struct acp_wire *wire, struct str text)
{
	int64_t id;
	struct acp_ask *it;
	if (!str_to_i64(text, &id))
		return NULL;
	list_for_each(it, &wire->asks, link) {
		if (it->id == id)
			return it;
	}
	return NULL;
}

static void ask_end(struct acp_ask *ask, const void *result, struct str error)
{
	struct acp_wire *wire = ask->wire;
	list_remove(&ask->link);
	wire->task = str_of(ask->task); /* also of the next question */
	ask->on_answer(ask, result, error);
	wire->task = STR_NONE;
	ask_destroy(ask);
}

static void take_answer(struct acp_wire *wire, const struct rpc_message *message, struct arena *arena)
{
	struct error err;
	struct acp_ask *ask = ask_find(wire, message->id);
	if (!ask)
		return;
	const struct record *type = acp_ask_types[ask->tag].result;
	void *result = arena_alloc(arena, type->size);
	/* methods without a result are also answered with null */
	bool is_empty = type == &record_acp_nothing && json_is(message->body, JSON_null);
	if (message->kind == RPC_ERROR)
		ask_end(ask, NULL, json_get_str(message->body, "message"));
	else if (!is_empty && record_decode(type, message->body, arena, result, &err) != 0)
		ask_end(ask, NULL, str_of(err.text));
	else
		ask_end(ask, result, STR_NONE);
}

/* ---- in ---- */

static void refuse(struct acp_wire *wire, struct str id, enum acp_error_code code, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static void refuse(struct acp_wire *wire, struct str id, enum acp_error_code code, const char *format, ...)
{
	auto_buf struct buf text;
	va_list args;
	buf_init(&text, LIMIT_RPC_ERROR);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	acp_write_error(&wire->out, id, code, buf_str(&text), NULL, STR_NONE);
	send_out(wire);
}

static struct acp_request *request_create(struct acp_wire *wire, const struct acp_method *method,
                                          const struct rpc_message *message)
{
	struct arena arena = {0};
	struct acp_request *request = arena_new(&arena, struct acp_request);
	request->arena = arena;
	request->wire = wire;
	request->method = method;
	list_init(&request->link);
	if (message->kind == RPC_REQUEST) {
		request->id = arena_str(&request->arena, message->id);
		list_append(&wire->requests, &request->link);
		wire->request_count++;
	}
	return request;
}

/* Absent parameters are an empty object. */
static void start(struct acp_request *request, const struct json *params)
{
	struct error err;
	struct acp_wire *wire = request->wire;
	const struct record *type = request->method->params;
	void *record = arena_alloc(&request->arena, type->size);
	const struct json *given = params ? params : json_parse(&request->arena, STR("{}"), NULL);
	const struct json *meta = json_get(given, "_meta");
	if (record_decode(type, given, &request->arena, record, &err) != 0) {
		acp_fail(request, ACP_INVALID_PARAMS, "Invalid params of %s: %s", request->method->wire.ptr, err.text);
		return;
	}
	request->params = record;
	request->meta = meta ? arena_str(&request->arena, meta->span) : STR_NONE;
	wire->owner->on_request(request, wire->self);
}

static void take_call(struct acp_wire *wire, const struct rpc_message *message)
{
	const struct acp_method *method = acp_method_find(message->method);
	bool is_note = message->kind == RPC_NOTIFICATION;
	bool is_initialize = method == &acp_methods[ACP_METHOD_initialize];
	struct str shown = str_n(message->method.ptr, message->method.len < 200 ? message->method.len : 200);
	if (message->has_bad_id)
		refuse(wire, STR_NONE, ACP_INVALID_REQUEST, "Invalid request: `id` must be a string or an integer");
	else if (is_note && (!method || method->result))
		return; /* unknown notifications are ignored */
	else if (!method || !method->result != is_note)
		refuse(wire, message->id, ACP_METHOD_NOT_FOUND, "Unknown method %.*s", STR_ARG(shown));
	else if (!is_note && acp_request_find(wire, message->id))
		refuse(wire, message->id, ACP_INVALID_REQUEST, "Invalid request: a request with this id is running");
	else if (!is_note && wire->request_count >= LIMIT_RPC_PENDING)
		refuse(wire, message->id, ACP_INTERNAL_ERROR, "%d requests have no response yet: wait for some of them",
		       LIMIT_RPC_PENDING);
	else if (!wire->is_initialized && !is_initialize && !is_note)
		refuse(wire, message->id, ACP_INVALID_REQUEST, "Not initialized: send `initialize` first");
	else
		start(request_create(wire, method, message), message->body);
}

static void on_frame(struct str frame, void *self)
{
	auto_arena struct arena arena = {0}, second = {0};
	struct acp_wire *wire = self;
	struct rpc_message message;
	struct error err;
	wire->unread_count += wire->is_slow;
	if (str_is_blank(frame))
		return;
	if (rpc_read(frame, &arena, &message, &err) != 0) {
		bool is_json = json_parse(&second, frame, NULL);
		refuse(wire, STR_NONE, is_json ? ACP_INVALID_REQUEST : ACP_PARSE_ERROR, "%s: %s",
		       is_json ? "Invalid request" : "Parse error", err.text);
	} else if (message.kind == RPC_REQUEST || message.kind == RPC_NOTIFICATION) {
		take_call(wire, &message);
	} else {
		take_answer(wire, &message, &arena);
	}
	choose_input(wire);
}

static void on_long_frame(struct str head, void *self)
{
	auto_arena struct arena arena = {0};
	struct acp_wire *wire = self;
	struct str id = STR_NONE;
	bool is_answer = json_peek_has(head, "result") || json_peek_has(head, "error");
	const struct json *json = json_peek_member(head, "id", &id) ? json_parse(&arena, id, NULL) : NULL;
	bool has_id = json_is(json, JSON_string) || json_is(json, JSON_number);
	struct acp_ask *ask = is_answer && has_id ? ask_find(wire, id) : NULL;
	wire->unread_count += wire->is_slow;
	if (ask)
		ask_end(ask, NULL, STR("the answer is too long"));
	refuse(wire, has_id && !is_answer ? id : STR_NONE, ACP_INVALID_REQUEST,
	       "Invalid request: a line is longer than %d MiB and was skipped", LIMIT_LINE / MIB);
	choose_input(wire);
}

static void on_end(const struct error *err, void *self)
{
	struct acp_wire *wire = self;
	wire->has_ended = wire->has_ended || err;
	wire->owner->on_end(wire->self);
}

static const struct transport_events events = {on_frame, on_long_frame, on_end, on_drain};

/* ---- life ---- */

int acp_wire_init(struct acp_wire *wire, struct loop *loop, int in, int out, const struct acp_wire_owner *owner,
                  void *self, struct error *err)
{
	*wire = (struct acp_wire){.owner = owner, .self = self};
	list_init(&wire->requests);
	list_init(&wire->asks);
	buf_init(&wire->out, LIMIT_STREAM_QUEUE_HARD);
	wire->transport = transport_stdio_create(loop, in, out, &events, wire, err);
	return wire->transport ? 0 : -(int)err->code;
}

void acp_wire_finish(struct acp_wire *wire)
{
	struct acp_request *request;
	struct acp_ask *ask;
	if (!wire->owner)
		return;
	transport_destroy(steal(wire->transport), true);
	wire->has_ended = true;
	list_for_each(request, &wire->requests, link)
		request_destroy(request);
	list_for_each(ask, &wire->asks, link)
		ask_destroy(ask);
	buf_finish(&wire->out);
}
