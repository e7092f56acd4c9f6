/* An answer names its request as the event protocol does: by the call, by the turn, or by the submission. */
#include "attach/attach_frame.h"

#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"

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
	jw_key(&w, "agents");
	jw_raw(&w, greeting->agents.len ? greeting->agents : STR("[]"));
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
	const struct json *agents = json_get(root, "agents");
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
		.agents = agents ? arena_str(arena, agents->span) : STR_NONE,
	};
	if (!ret->session_id.ptr || !ret->cwd.ptr)
		return error_set(err, ERR_transport, "no session answers at this socket");
	return 0;
}

void attach_answered_write(const struct event *request, uint64_t seq, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "answered", attach_request_id(request));
	jw_member_str(&w, "task", request->id);
	jw_member_i64(&w, "seq", (int64_t)seq);
	jw_object_end(&w);
	buf_append_char(out, '\n');
}

bool attach_answered_read(struct str line, struct arena *arena, struct attach_answered *ret)
{
	if (!str_has_prefix(line, "{\"answered\":"))
		return false;
	const struct json *root = json_parse_copy(arena, line, NULL);
	ret->request = json_get_str(root, "answered");
	ret->task = json_get_str(root, "task");
	ret->seq = (uint64_t)json_get_i64(root, "seq", 0);
	return ret->request.ptr != NULL;
}

uint64_t attach_seq(struct str line)
{
	auto_arena struct arena arena = {0};
	return (uint64_t)json_get_i64(json_parse(&arena, line, NULL), "seq", 0);
}

struct str attach_from(struct str line, struct arena *arena)
{
	return member(json_parse_copy(arena, line, NULL), "from", arena);
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

/* Returns the id of the request that the Op answers, STR_NONE for an Op that answers none. */
static struct str answer_id(const struct op *op)
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
	case OP_request_permissions_response:
		return op->request_permissions_response->id;
	default:
		return STR_NONE;
	}
}

void attach_answer_rename(const struct op *op, struct str id)
{
	if (op->tag == OP_exec_approval)
		op->exec_approval->id = id;
	else if (op->tag == OP_patch_approval)
		op->patch_approval->id = id;
	else if (op->tag == OP_user_input_answer)
		op->user_input_answer->id = id;
}

bool attach_is_answer(const struct op *op)
{
	return answer_id(op).ptr != NULL;
}

/* An approval is of a command or of a patch: for the engine the Ops are the same. */
static bool is_of_kind(const struct op *op, const struct event *event)
{
	enum event_tag request = event->msg.tag;
	switch (op->tag) {
	case OP_exec_approval:
	case OP_patch_approval:
		return request == EV_exec_approval_request || request == EV_apply_patch_approval_request;
	case OP_user_input_answer:
		return request == EV_request_user_input;
	case OP_request_permissions_response: /* a server's question has its name */
		return request == EV_elicitation_request && !event->msg.elicitation_request->server_name.len;
	default:
		return op->tag == OP_resolve_elicitation && request == EV_elicitation_request;
	}
}

/* The id of an elicitation is JSON; request_permissions_response has it as text. */
static bool is_named(const struct op *op, const struct event *request)
{
	auto_buf struct buf quoted;
	struct str id = answer_id(op);
	buf_init(&quoted, LIMIT_LINE);
	if (op->tag == OP_request_permissions_response) {
		json_quote(&quoted, id);
		id = buf_str(&quoted);
	}
	return str_eq(id, attach_request_id(request));
}

/* True if the Op answers this request, which it names by its id or, but for an elicitation, by its Task. */
static bool answers(const struct op *op, const struct event *request)
{
	bool has_own_id = op->tag == OP_resolve_elicitation || op->tag == OP_request_permissions_response;
	return is_of_kind(op, request) &&
	       (is_named(op, request) || (!has_own_id && str_eq(answer_id(op), request->id)));
}

void attach_match_add(struct attach_match *match, const struct event *request)
{
	if (!answers(match->op, request))
		return;
	bool has_name = is_named(match->op, request);
	match->is_ambiguous |= match->found && !str_eq(match->found->id, request->id);
	if (!match->found || (has_name && !match->is_named))
		match->found = request;
	match->is_named |= has_name;
}
