/* An answer names its request as the event protocol does: by the call, by the turn, or by the submission. */
#include "attach/attach_frame.h"

#include "base/json.h"

void attach_greeting_write(const struct attach_greeting *greeting, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_i64(&w, "attach", ATTACH_VERSION);
	jw_member_str(&w, "session_id", greeting->session_id);
	jw_member_str(&w, "name", greeting->name);
	jw_member_str(&w, "cwd", greeting->cwd);
	jw_member_str(&w, "program", greeting->program);
	jw_member_str(&w, "rollout", greeting->rollout);
	jw_member_i64(&w, "recorded", (int64_t)greeting->recorded);
	jw_object_end(&w);
	buf_append_char(out, '\n');
}

static struct str member(const struct json *root, const char *key, struct arena *arena)
{
	struct str text = json_get_str(root, key);
	return text.ptr ? arena_str(arena, text) : STR_NONE;
}

int attach_greeting_read(struct str line, struct arena *arena, struct attach_greeting *ret, struct error *err)
{
	auto_arena struct arena scratch = {0};
	const struct json *root = json_parse(&scratch, line, err);
	int64_t version = json_get_i64(root, "attach", 0), recorded = json_get_i64(root, "recorded", 0);
	if (!root || !version)
		return error_set(err, ERR_transport, "no session answers at this socket");
	if (version != ATTACH_VERSION)
		return error_set(err, ERR_unsupported, "the session runs in another version of codex");
	*ret = (struct attach_greeting){
		.session_id = member(root, "session_id", arena),
		.name = member(root, "name", arena),
		.cwd = member(root, "cwd", arena),
		.program = member(root, "program", arena),
		.rollout = member(root, "rollout", arena),
		.recorded = recorded > 0 ? (uint64_t)recorded : 0,
	};
	if (!ret->session_id.ptr || !ret->cwd.ptr)
		return error_set(err, ERR_transport, "no session answers at this socket");
	return 0;
}

void attach_answered_write(struct str request, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "answered", request);
	jw_object_end(&w);
	buf_append_char(out, '\n');
}

bool attach_answered_read(struct str line, struct arena *arena, struct str *ret_request)
{
	if (!str_has_prefix(line, "{\"answered\":"))
		return false;
	const struct json *root = json_parse_copy(arena, line, NULL);
	*ret_request = json_get_str(root, "answered");
	return ret_request->ptr != NULL;
}

/* ---- requests and their answers ---- */

struct str attach_request_id(const struct event *event)
{
	switch (event->msg.tag) {
	case EV_exec_approval_request:
		return event->msg.exec_approval_request->call_id;
	case EV_apply_patch_approval_request:
		return event->msg.apply_patch_approval_request->call_id;
	case EV_request_user_input:
		return event->msg.request_user_input->call_id;
	case EV_elicitation_request:
		return event->msg.elicitation_request->id;
	default:
		return STR_NONE;
	}
}

struct str attach_answer_id(const struct op *op)
{
	switch (op->tag) {
	case OP_exec_approval:
		return op->exec_approval->id;
	case OP_patch_approval:
		return op->patch_approval->id;
	case OP_user_input_answer:
		return op->user_input_answer->id;
	case OP_resolve_elicitation:
		return op->resolve_elicitation->request_id;
	default:
		return STR_NONE;
	}
}

bool attach_is_answer(const struct op *op)
{
	return attach_answer_id(op).ptr != NULL;
}

static bool is_any(struct str id, const struct event *request, struct str call_id, struct str turn_id)
{
	return str_eq(id, call_id) || str_eq(id, turn_id) || str_eq(id, request->id);
}

bool attach_answers(const struct op *op, const struct event *request)
{
	const struct event_msg *msg = &request->msg;
	if (op->tag == OP_exec_approval && msg->tag == EV_exec_approval_request)
		return is_any(op->exec_approval->id, request, msg->exec_approval_request->call_id,
		              msg->exec_approval_request->turn_id);
	if (op->tag == OP_patch_approval && msg->tag == EV_apply_patch_approval_request)
		return is_any(op->patch_approval->id, request, msg->apply_patch_approval_request->call_id,
		              msg->apply_patch_approval_request->turn_id);
	if (op->tag == OP_user_input_answer && msg->tag == EV_request_user_input)
		return is_any(op->user_input_answer->id, request, msg->request_user_input->call_id,
		              msg->request_user_input->turn_id);
	if (op->tag == OP_resolve_elicitation && msg->tag == EV_elicitation_request)
		return str_eq(op->resolve_elicitation->server_name, msg->elicitation_request->server_name) &&
		       str_eq(op->resolve_elicitation->request_id, msg->elicitation_request->id);
	return false;
}
