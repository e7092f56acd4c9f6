/* The endpoints that are answered at once; http_proto_watch.c has those that wait for a session. */
#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/vec.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "protocol/message/message.h"
#include "server/grpc_text.h"
#include "server/http_proto_priv.h"
#include "server/kept_session.h"
#include "server/server_limits.h"

void on_route_alive(struct http_request *request)
{
	http_reply(request->exchange, 200, NULL, STR(""));
}

void on_route_ready(struct http_request *request)
{
	http_reply(request->exchange, request->proto->is_draining ? 503 : 200, NULL, STR(""));
}

void on_route_proto(struct http_request *request)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROTO_FILE);
	buf_append_str(&text, grpc_text_codex);
	buf_append_char(&text, '\n');
	http_reply(request->exchange, 200, "text/plain", buf_str(&text));
}

void http_write_sessions(struct http_proto *proto, struct json_writer *w)
{
	struct http_session *it;
	jw_object(w);
	jw_key(w, "sessions");
	jw_array(w);
	list_for_each(it, &proto->sessions, link) {
		if (!it->is_own && !kept_session_has_ended(it->kept))
			kept_session_write_info(it->kept, w);
	}
	jw_array_end(w);
	jw_object_end(w);
}

void on_route_list(struct http_request *request)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_PAGE_LIST);
	struct json_writer w = json_writer(&out);
	http_write_sessions(request->proto, &w);
	http_request_answer(request, 200, buf_str(&out), NULL, 0);
}

void on_route_info(struct http_request *request)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_PAGE_LIST);
	struct json_writer w = json_writer(&out);
	kept_session_write_info(request->session->kept, &w);
	http_request_answer(request, 200, buf_str(&out), NULL, 0);
}

/* ---- POST /v1/sessions ---- */

static void answer_opened(struct http_request *request, const char *id)
{
	char header[128], json[128];
	snprintf(header, sizeof(header), "location: /v1/sessions/%s", id);
	snprintf(json, sizeof(json), "{\"session_id\":\"%s\"}", id);
	struct str headers[] = {str_of(header)};
	http_request_answer(request, 201, str_of(json), headers, 1);
}

/* Returns false, and answers, if the body is neither empty nor an object whose members have the right types. */
static bool read_open(struct http_request *request, struct arena *arena, struct str *ret_resume, bool *ret_unconfigured)
{
	struct error err;
	const struct json *options = NULL, *resume, *unconfigured;
	if (!str_is_blank(request->body)) {
		options = json_parse(arena, request->body, &err);
		if (!json_is(options, JSON_object)) {
			http_request_refuse(request, 400, options ? "the body is not a JSON object" : err.text);
			return false;
		}
	}
	resume = json_get(options, "resume");
	unconfigured = json_get(options, "no_auto_configure");
	if ((resume && !json_to_str(resume, ret_resume)) ||
	    (unconfigured && !json_to_bool(unconfigured, ret_unconfigured))) {
		http_request_refuse(request, 400, "`resume` must be a text and `no_auto_configure` a boolean");
		return false;
	}
	return true;
}

void on_route_open(struct http_request *request)
{
	auto_arena struct arena arena = {0};
	struct error err;
	struct str resume = STR_NONE;
	bool is_unconfigured = false;
	if (!read_open(request, &arena, &resume, &is_unconfigured))
		return;
	if (request->proto->is_draining) {
		http_request_refuse(request, 503, "the server is shutting down");
		return;
	}
	struct http_session *session = http_session_open(request->proto, resume, is_unconfigured, false, &err);
	if (session)
		answer_opened(request, kept_session_id(session->kept));
	else
		http_request_refuse(request,
		                    err.code == ERR_limit       ? 503
		                    : err.code == ERR_not_found ? 404
		                    : err.code == ERR_busy      ? 409
		                                                : 500,
		                    err.text);
}

/* ---- POST /v1/sessions/ID/submissions ---- */

struct batch {
	VEC(struct submission *) items;
	size_t line; /* the line that was read last, empty lines not counted */
};

static void batch_finish(struct batch *batch)
{
	vec_for_each(it, &batch->items)
		submission_destroy(*it);
	vec_finish(&batch->items);
}

static bool add(struct batch *batch, struct str text, struct error *err)
{
	struct submission *submission = submission_decode(text, err);
	batch->line++;
	if (submission)
		vec_push(&batch->items, submission);
	return submission;
}

static bool read_lines(struct batch *batch, struct str body, size_t room, struct error *err)
{
	struct str line;
	while (str_next_line(&body, &line)) {
		if (str_is_blank(line))
			continue;
		if (batch->items.count == room) {
			error_set(err, ERR_limit, "the session takes %zu more submissions now", room);
			return false;
		}
		if (!add(batch, line, err))
			return false;
	}
	return true;
}

enum body_kind { BODY_ONE, BODY_LINES, BODY_UNKNOWN };

static enum body_kind body_kind_of(const struct http_head *head)
{
	struct str rest = http_head_get(head, "content-type"), type;
	if (!rest.ptr)
		return BODY_ONE;
	str_next_part(&rest, ';', &type);
	type = str_trim(type);
	if (str_equal_fold(type, STR("application/json")))
		return BODY_ONE;
	return str_equal_fold(type, STR("application/x-ndjson")) ? BODY_LINES : BODY_UNKNOWN;
}

/* `answers` of the query is the number of the event that asked: calls of a task can have the same id, so an answer
 * that names its request by the ids alone can reach the one after that. */
static bool are_current(struct http_request *request, const struct batch *batch)
{
	struct str query = request->query, pair;
	uint64_t seq = 0;
	while (str_next_part(&query, '&', &pair)) {
		if (!str_cut_prefix(&pair, "answers="))
			continue;
		str_to_u64(pair, &seq); /* no event has the number 0 */
		vec_for_each(it, &batch->items)
			if (!kept_session_has_open(request->session->kept, seq, *it))
				return false;
	}
	return true;
}

static void carry_out(struct http_request *request, struct batch *batch)
{
	char json[96];
	size_t accepted = 0, count = batch->items.count;
	if (!are_current(request, batch)) {
		http_request_refuse(request, 409, "the request was answered already, or has ended");
		return;
	}
	vec_for_each(it, &batch->items)
		accepted += kept_session_submit(request->session->kept, *it);
	batch->items.count = 0; /* the session has taken them */
	snprintf(json, sizeof(json), "{\"accepted\":%zu,\"duplicates\":%zu}", accepted, count - accepted);
	http_request_answer(request, 202, str_of(json), NULL, 0);
}

void on_route_submit(struct http_request *request)
{
	struct error err;
	struct batch batch = {0};
	enum body_kind kind = body_kind_of(request->head);
	size_t room = kept_session_room(request->session->kept);
	if (kind == BODY_UNKNOWN)
		http_request_refuse(request, 415, "send application/json or application/x-ndjson");
	else if (kept_session_is_ending(request->session->kept))
		http_request_refuse(request, 404, "the session is shutting down");
	else if (!room)
		http_request_refuse(request, 503, "too many submissions of this session are pending; try again later");
	else if (kind == BODY_ONE ? add(&batch, request->body, &err) : read_lines(&batch, request->body, room, &err))
		carry_out(request, &batch);
	else if (err.code == ERR_limit && kind == BODY_LINES && batch.items.count == room)
		http_request_refuse(request, 503, err.text);
	else
		http_request_refuse_with(request, 400, err.text, kind == BODY_LINES ? "line" : NULL, batch.line);
	batch_finish(&batch);
}
