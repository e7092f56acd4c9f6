/* The methods of gRPC: codex.proto has their messages. Payloads are the JSON texts of the event protocol. */
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/json_peek.h"
#include "base/limits.h"
#include "net/http_head.h"
#include "protocol/message/message.h"
#include "server/grpc_struct.h"
#include "server/grpc_wire.h"
#include "server/http_proto_priv.h"
#include "server/kept_session.h"

/* ---- what methods share ---- */

/* Ends the call and returns false if the message is invalid. */
static bool read_message(struct grpc_call *call, struct str message, const struct grpc_field *fields, size_t count)
{
	enum grpc_status status = grpc_read(message, fields, count);
	if (status != GRPC_OK)
		grpc_call_end(call, status, "the message cannot be decoded");
	return status == GRPC_OK;
}

static void answer(struct grpc_call *call, size_t mark)
{
	grpc_end(&call->out, mark);
	grpc_call_send(call);
	grpc_call_end(call, GRPC_OK, "");
}

/* Finds the session of a call; ends the call if it is missing. */
static bool find(struct grpc_call *call, struct str id)
{
	call->session = http_session_find(call->proto, id);
	if (!call->session)
		grpc_call_end(call, GRPC_NOT_FOUND, "there is no session with this id; it may have ended");
	return call->session;
}

static enum grpc_status status_of(const struct error *err)
{
	return err->code == ERR_limit       ? GRPC_RESOURCE_EXHAUSTED
	       : err->code == ERR_not_found ? GRPC_NOT_FOUND
	                                    : GRPC_INTERNAL;
}

/* ---- submissions ---- */

/* Decodes a message Submission. NULL and err if it is not one; *ret_id is set in any case. */
static struct submission *read_submission(struct str message, struct str *ret_id, struct error *err)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text, given = {0};
	struct str op = STR_NONE, tree = STR_NONE;
	const struct grpc_field fields[] = {{1, GRPC_TEXT, ret_id}, {2, GRPC_TEXT, &op}, {3, GRPC_MESSAGE, &tree}};
	*ret_id = STR("");
	buf_init(&text, LIMIT_STREAM_QUEUE_HARD);
	if (grpc_read(message, fields, countof(fields)) != GRPC_OK) {
		error_set(err, ERR_invalid, "the message cannot be decoded");
		return NULL;
	}
	if (!tree.ptr == !op.len) {
		error_set(err, ERR_invalid, "a submission needs either `op_json` or `op`");
		return NULL;
	}
	buf_init(&given, LIMIT_LINE);
	if (tree.ptr && grpc_struct_to_json(tree, &given, err) != 0)
		return NULL;
	if (tree.ptr)
		op = buf_str(&given);
	if (!json_is(json_parse(&arena, op, err), JSON_object)) {
		error_wrap(err, "`op_json` is not a JSON object");
		return NULL;
	}
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	jw_member_str(&w, "id", *ret_id);
	jw_member_raw(&w, "op", op);
	jw_object_end(&w);
	return submission_decode(buf_str(&text), err);
}

void on_grpc_submit(struct grpc_call *call, struct str message)
{
	struct error err;
	struct str session = STR(""), inner = STR(""), id;
	const struct grpc_field fields[] = {{1, GRPC_TEXT, &session}, {2, GRPC_MESSAGE, &inner}};
	if (!read_message(call, message, fields, countof(fields)) || !find(call, session))
		return;
	struct kept_session *kept = call->session->kept;
	struct submission *submission = read_submission(inner, &id, &err);
	if (!submission)
		grpc_call_end(call, GRPC_INVALID_ARGUMENT, err.text);
	else if (kept_session_is_ending(kept))
		grpc_call_end(call, GRPC_FAILED_PRECONDITION, "the session is shutting down");
	else if (!kept_session_room(kept))
		grpc_call_end(call, GRPC_RESOURCE_EXHAUSTED, "too many submissions of this session are pending");
	if (call->has_ended) {
		submission_destroy(submission);
		return;
	}
	bool is_new = kept_session_submit(kept, submission);
	size_t mark = grpc_begin(&call->out);
	grpc_put_number(&call->out, 1, !is_new);
	answer(call, mark);
}

/* ---- events ---- */

/* Returns the text of a member that is a JSON string; decoded in the arena if it has escapes. */
static struct str peek_text(struct arena *arena, struct str line, const char *name)
{
	struct str raw;
	if (!json_peek_member(line, name, &raw) || raw.len < 2 || raw.ptr[0] != '"')
		return STR("");
	if (str_find_char(raw, '\\') < 0)
		return str_n(raw.ptr + 1, raw.len - 2);
	const struct json *text = json_parse(arena, raw, NULL);
	return json_is(text, JSON_string) ? text->text : STR("");
}

static void put_payload(struct buf *out, struct str msg, bool is_struct)
{
	auto_buf struct buf tree;
	buf_init(&tree, LIMIT_STREAM_QUEUE_HARD);
	if (is_struct && grpc_struct_from_json(msg, &tree, NULL) == 0)
		grpc_put_bytes(out, 5, buf_str(&tree));
	else
		grpc_put_text(out, 4, msg);
}

static void append_event(struct buf *out, struct str line, uint64_t seq, bool is_struct)
{
	auto_arena struct arena arena = {0};
	struct str msg = STR("");
	json_peek_member(line, "msg", &msg);
	size_t mark = grpc_begin(out);
	grpc_put_number(out, 1, seq);
	grpc_put_text(out, 2, peek_text(&arena, line, "id"));
	grpc_put_text(out, 3, peek_text(&arena, msg, "type"));
	put_payload(out, msg, is_struct);
	grpc_end(out, mark);
}

static void send_events(struct grpc_call *call)
{
	enum kept_next next = KEPT_EVENT;
	struct str line;
	uint64_t seq;
	while (!call->is_stalled && next == KEPT_EVENT) {
		next = kept_watcher_next(call->watcher, &line, &seq);
		if (next == KEPT_EVENT && call->has_lines)
			lines_append_event(&call->out, line, seq);
		else if (next == KEPT_EVENT)
			append_event(&call->out, line, seq, call->wants_struct);
		if (next != KEPT_EVENT || call->out.len > LIMIT_STREAM_KEEP)
			grpc_call_send(call);
	}
	if (call->is_stalled)
		kept_watcher_stall(call->watcher);
	if (next == KEPT_ENDED)
		grpc_call_end(call, GRPC_OK, "");
	else if (next == KEPT_LOST)
		grpc_call_end(call, GRPC_OUT_OF_RANGE, "the next event is no longer kept; the client reads too slowly");
}

void grpc_call_on_news(void *self)
{
	struct grpc_call *call = self;
	if (call->awaits_end && kept_session_has_ended(call->session->kept)) {
		size_t mark = grpc_begin(&call->out);
		grpc_put_number(&call->out, 1, kept_session_last_seq(call->session->kept));
		answer(call, mark);
	}
	if (call->awaits_end || call->has_ended)
		return;
	if (!call->is_stalled)
		send_events(call);
	grpc_call_run(call); /* the session may have room for submissions again */
}

/* Starts to send the events of call->session after a number. */
static void watch(struct grpc_call *call, uint64_t after)
{
	char text[96];
	uint64_t first = kept_session_first_seq(call->session->kept);
	if (after < first - 1) {
		snprintf(text, sizeof(text), "events before %llu are no longer kept", (unsigned long long)first);
		grpc_call_end(call, GRPC_OUT_OF_RANGE, text);
		return;
	}
	call->watcher = kept_watcher_create(call->session->kept, after, grpc_call_on_news, call);
	grpc_call_head(call);
}

void on_grpc_watch(struct grpc_call *call, struct str message)
{
	struct str session = STR("");
	uint64_t after = 0;
	const struct grpc_field fields[] = {{1, GRPC_TEXT, &session}, {2, GRPC_NUMBER, &after}};
	if (read_message(call, message, fields, countof(fields)) && find(call, session))
		watch(call, after);
}

/* ---- Session: submissions and events of one stream ---- */

/* Opens the session of the stream, unless it is open. */
static void start(struct grpc_call *call)
{
	struct error err;
	if (call->session)
		return;
	call->session = http_session_open(call->proto, STR_NONE, false, true, &err);
	if (call->session)
		watch(call, 0);
	else
		grpc_call_end(call, status_of(&err), err.text);
}

static void on_start(void *self)
{
	start(self);
}

/* A new session is opened by the first message, or after a moment: streams that are reset at once cost nothing. */
void grpc_session_begin(struct grpc_call *call, const struct http_head *head)
{
	struct str id = http_head_get(head, "codex-session-id"), seq = http_head_get(head, "codex-after-seq");
	uint64_t after = 0;
	call->is_own = !id.ptr;
	if (seq.len && !str_to_u64(seq, &after))
		grpc_call_end(call, GRPC_INVALID_ARGUMENT, "codex-after-seq is not a number");
	else if (!call->is_own && find(call, id))
		watch(call, after);
	if (call->has_ended || !call->is_own)
		return;
	call->start = loop_timer_create(call->proto->options.loop, on_start, call);
	loop_timer_start(call->start, LIMIT_GRPC_START_MS);
}

static struct submission *read_line(struct arena *arena, struct str line, struct str *ret_id, struct error *err)
{
	*ret_id = peek_text(arena, line, "id");
	return submission_decode(line, err);
}

void on_grpc_session(struct grpc_call *call, struct str message)
{
	auto_arena struct arena arena = {0};
	struct error err;
	struct str id;
	if (call->has_lines && str_is_blank(message))
		return;
	start(call);
	if (call->has_ended)
		return;
	struct submission *submission =
		call->has_lines ? read_line(&arena, message, &id, &err) : read_submission(message, &id, &err);
	if (submission)
		kept_session_submit(call->session->kept, submission);
	else
		kept_session_report(call->session->kept, id, err.text);
}

void grpc_session_half_close(struct grpc_call *call)
{
	if (!call->is_own) {
		grpc_call_end(call, GRPC_OK, "");
		return;
	}
	start(call);
	if (!call->has_ended)
		kept_session_finish(call->session->kept);
}

/* ---- kept sessions ---- */

void on_grpc_open(struct grpc_call *call, struct str message)
{
	struct error err;
	struct str resume = STR_NONE;
	uint64_t is_unconfigured = 0;
	const struct grpc_field fields[] = {{1, GRPC_TEXT, &resume}, {2, GRPC_NUMBER, &is_unconfigured}};
	if (!read_message(call, message, fields, countof(fields)))
		return;
	struct http_session *session = http_session_open(call->proto, resume, is_unconfigured, false, &err);
	if (!session) {
		grpc_call_end(call, status_of(&err), err.text);
		return;
	}
	size_t mark = grpc_begin(&call->out);
	grpc_put_text(&call->out, 1, str_of(kept_session_id(session->kept)));
	answer(call, mark);
}

static void append_info(struct buf *out, const struct kept_session *kept)
{
	auto_buf struct buf info;
	buf_init(&info, KIB);
	grpc_put_text(&info, 1, str_of(kept_session_id(kept)));
	grpc_put_text(&info, 2, str_of(kept_session_state(kept)));
	grpc_put_number(&info, 3, kept_session_first_seq(kept));
	grpc_put_number(&info, 4, kept_session_last_seq(kept));
	grpc_put_number(&info, 5, kept_session_watchers(kept));
	grpc_put_text(out, 1, buf_str(&info));
}

void on_grpc_list(struct grpc_call *call, struct str message)
{
	struct http_session *it;
	if (!read_message(call, message, NULL, 0))
		return;
	size_t mark = grpc_begin(&call->out);
	list_for_each(it, &call->proto->sessions, link)
		if (!it->is_own && !kept_session_has_ended(it->kept))
			append_info(&call->out, it->kept);
	answer(call, mark);
}

void on_grpc_close(struct grpc_call *call, struct str message)
{
	struct str session = STR("");
	const struct grpc_field fields[] = {{1, GRPC_TEXT, &session}};
	if (!read_message(call, message, fields, countof(fields)) || !find(call, session))
		return;
	call->awaits_end = true;
	call->watcher = kept_watcher_create(call->session->kept, 0, grpc_call_on_news, call);
	kept_session_shut_down(call->session->kept);
}

/* ---- grpc.health.v1.Health ---- */

enum { SERVING = 1, NOT_SERVING = 2, SERVICE_UNKNOWN = 3 };

static bool read_service(struct grpc_call *call, struct str message)
{
	struct str service = STR("");
	const struct grpc_field fields[] = {{1, GRPC_TEXT, &service}};
	call->is_known = read_message(call, message, fields, countof(fields)) &&
	                 (!service.len || str_is(service, "codex.v1.Codex"));
	return !call->has_ended;
}

static size_t append_health(struct grpc_call *call)
{
	size_t mark = grpc_begin(&call->out);
	grpc_put_number(&call->out, 1,
	                !call->is_known            ? SERVICE_UNKNOWN
	                : call->proto->is_draining ? NOT_SERVING
	                                           : SERVING);
	return mark;
}

void on_grpc_check(struct grpc_call *call, struct str message)
{
	if (!read_service(call, message))
		return;
	if (call->is_known)
		answer(call, append_health(call));
	else
		grpc_call_end(call, GRPC_NOT_FOUND, "there is no such service");
}

void grpc_health_report(struct grpc_call *call)
{
	grpc_end(&call->out, append_health(call));
	grpc_call_send(call);
}

void on_grpc_health(struct grpc_call *call, struct str message)
{
	if (!read_service(call, message))
		return;
	call->is_health = true;
	grpc_health_report(call);
}
