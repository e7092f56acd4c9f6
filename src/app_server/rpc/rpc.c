/* The envelope is encoded by hand and not from a record: clients rely on the order of its members, and an id keeps its
 * type. */
#include "app_server/rpc/rpc.h"

#include <stdio.h>

#include "app_server/rpc/rpc_error.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json_peek.h"
#include "base/limits.h"

/* ---- in ---- */

/* True for 7 and "a", but not for 7.0 or null: every client must be able to match the echoed id. */
static bool is_id(const struct json *id)
{
	int64_t number;
	if (json_is(id, JSON_string))
		return true;
	return json_is(id, JSON_number) && str_to_i64(id->text, &number);
}

static int read_call(const struct json *root, const struct json *method, struct rpc_message *ret, struct error *err)
{
	const struct json *id = json_get(root, "id");
	if (!json_to_str(method, &ret->method))
		return error_set(err, ERR_invalid, "`method` must be a string");
	ret->kind = id ? RPC_REQUEST : RPC_NOTIFICATION;
	ret->has_bad_id = id && !is_id(id);
	ret->id = id ? id->span : STR_NONE;
	ret->body = json_get(root, "params");
	return 0;
}

static int read_answer(const struct json *root, struct rpc_message *ret, struct error *err)
{
	const struct json *id = json_get(root, "id"), *error = json_get(root, "error");
	ret->body = error ? error : json_get(root, "result");
	if (!ret->body || !id)
		return error_set(err, ERR_invalid, "it has neither `method`, nor `id` with `result` or `error`");
	ret->kind = error ? RPC_ERROR : RPC_RESULT;
	ret->id = id->span;
	return 0;
}

int rpc_read(struct str frame, struct arena *arena, struct rpc_message *ret, struct error *err)
{
	const struct json *root = json_parse(arena, frame, err);
	if (!root)
		return -(int)err->code;
	*ret = (struct rpc_message){0};
	if (root->type != JSON_object)
		return error_set(err, ERR_invalid, "a message must be an object, not %s", json_type_name(root->type));
	const struct json *method = json_get(root, "method");
	return method ? read_call(root, method, ret, err) : read_answer(root, ret, err);
}

/* ---- out ---- */

static void write_id(struct json_writer *w, struct str id)
{
	jw_member_raw(w, "id", id.ptr ? id : STR("null"));
}

/* Replaces newlines between tokens of a client's JSON by spaces, because they would end the frame. */
static void end_frame(struct json_writer *w, size_t start)
{
	jw_object_end(w);
	struct buf *out = w->out;
	for (char *at = out->data + start; (at = memchr(at, '\n', out->len - (size_t)(at - out->data)));)
		*at = ' ';
	buf_append_char(out, '\n');
}

void rpc_write_result(struct buf *out, struct str id, const struct record *record, const void *result)
{
	size_t start = out->len;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	write_id(&w, id);
	jw_key(&w, "result");
	record_encode(record, result, &w);
	end_frame(&w, start);
}

void rpc_write_result_json(struct buf *out, struct str id, struct str json)
{
	size_t start = out->len;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	write_id(&w, id);
	jw_member_raw(&w, "result", json);
	end_frame(&w, start);
}

void rpc_write_error(struct buf *out, struct str id, const struct rpc_error *error)
{
	size_t start = out->len;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_key(&w, "error");
	jw_object(&w);
	jw_member_i64(&w, "code", (int)error->code);
	jw_member_str(&w, "message", error->message);
	if (error->data.ptr)
		jw_member_raw(&w, "data", error->data);
	jw_object_end(&w);
	write_id(&w, id);
	end_frame(&w, start);
}

/* Returns the id of a truncated request, but not that of a response: it belongs to a request of the server and must
 * not be echoed. */
static struct str peek_id(struct str head)
{
	auto_arena struct arena arena = {0};
	struct str id;
	if (!json_peek_member(head, "id", &id) || json_peek_has(head, "result") || json_peek_has(head, "error"))
		return STR_NONE;
	const struct json *json = json_parse(&arena, id, NULL);
	return json && is_id(json) ? id : STR_NONE;
}

void rpc_write_too_long(struct buf *out, struct str head)
{
	auto_arena struct arena arena = {0};
	rpc_write_error(
		out, peek_id(head),
		rpc_error(&arena, APP_INVALID_REQUEST, "Invalid request: it is longer than %d MiB", LIMIT_LINE / MIB));
}

bool rpc_write_notification(struct buf *out, const struct app_notification *type, const void *params, int64_t now_ms)
{
	size_t start = out->len;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "method", type->wire);
	jw_key(&w, "params");
	record_encode(type->params, params, &w);
	jw_member_i64(&w, "emittedAtMs", now_ms);
	end_frame(&w, start);
	if (out->over)
		fprintf(stderr, "codex app-server: a notification %s is larger than %zu MiB and was not sent\n",
		        type->wire.ptr, out->max / MIB);
	return !out->over;
}

void rpc_write_request(struct buf *out, const struct app_server_request *type, int64_t id, const void *params)
{
	size_t start = out->len;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "method", type->wire);
	jw_member_i64(&w, "id", id);
	jw_key(&w, "params");
	record_encode(type->params, params, &w);
	end_frame(&w, start);
}
