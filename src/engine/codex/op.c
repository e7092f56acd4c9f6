/* A table from op.def maps each Op to its handler: an Op without one does not compile, unless op.def names the feature
 * that it lacks. Handlers act at once, even while a Task runs. Input that arrives while a Task runs joins it or
 * replaces it (on_input_while_running); it is never lost. */
#include "engine/codex/op.h"

#include <stdio.h>

#include "agent/agent_tree.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/config.h"
#include "engine/codex/agents.h"
#include "engine/codex/codex_session.h"
#include "engine/codex/op_priv.h"
#include "engine/session/conversation.h"
#include "engine/session/guardian.h"
#include "engine/session/resume.h"
#include "engine/session/session.h"
#include "engine/session/session_environment.h"
#include "engine/session/session_mcp.h"
#include "engine/session/session_mcp_list.h"
#include "engine/session/session_model.h"
#include "engine/session/session_skills.h"
#include "engine/task/task.h"
#include "engine/turn/turn.h"
#include "tool/exec/exec_session.h"
#include "tool/tool.h"

typedef void (*op_fn)(struct codex *codex, const struct submission *submission);

static const op_fn op_handlers[OP_count] = {
#define OP(tag, wire, record, doc) [OP_##tag] = on_op_##tag,
#define OP_UNIT(tag, wire, doc) [OP_##tag] = on_op_##tag,
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
};

/* Names the missing feature of each Op without a handler. */
static const struct op_lack {
	const char *op, *what;
} op_lacks[OP_count] = {
#define OP_LACKS(tag, wire, record, what, doc) [OP_##tag] = {wire, what},
#define OP_UNIT_LACKS(tag, wire, what, doc) [OP_##tag] = {wire, what},
#include "protocol/op/op_default.h"
#include "protocol/op/op.def"
#include "protocol/op/op_undef.h"
};

void op_refuse(struct codex *codex, const struct submission *submission, const char *info, const char *message)
{
	struct ev_error event = {.message = str_of(message), .codex_error_info = str_of(info)};
	eq_push(&codex->eq, submission->id, EV_error, &event, NULL);
}

void op_refuse_request(struct codex *codex, const struct submission *submission, const char *message)
{
	op_refuse(codex, submission, "\"bad_request\"", message);
}

static void refuse_lack(struct codex *codex, const struct submission *submission)
{
	char text[ERROR_TEXT_MAX];
	const struct op_lack *lack = &op_lacks[submission->op.tag];
	snprintf(text, sizeof(text),
	         "This version of Codex has no %s, so it cannot do `%s`. Nothing was changed; the session continues.",
	         lack->what, lack->op);
	op_refuse_request(codex, submission, text);
}

/* Submissions after a shutdown are discarded: shutdown_complete is the last event. */
void op_dispatch(struct codex *codex, const struct submission *submission)
{
	op_fn handler = op_handlers[submission->op.tag];
	if (codex->is_shut_down)
		return;
	if (!codex->session && submission->op.tag != OP_configure_session && submission->op.tag != OP_shutdown)
		op_refuse_request(codex, submission, "No session initialized, expected 'ConfigureSession' as first Op");
	else if (handler)
		handler(codex, submission);
	else
		refuse_lack(codex, submission);
}

/* ---- configuration ---- */

static void release_waits(struct codex *codex)
{
	resume_wait_release(&codex->resume_wait);
	mcp_wait_release(&codex->mcp_wait);
}

/* The provider may be another one, which needs the stored credentials. */
static void configure_again(struct codex *codex, const struct submission *submission)
{
	struct error err;
	const struct op_configure_session *op = submission->op.configure_session;
	if (resume_wait_fetch(&codex->resume_wait, submission))
		return;
	if (resume_wait_check(&codex->resume_wait, &err) != 0 ||
	    codex_reconfigure_session(codex, submission->id, op, &err) != 0)
		op_refuse_request(codex, submission, err.text);
	resume_wait_release(&codex->resume_wait);
}

void on_op_configure_session(struct codex *codex, const struct submission *submission)
{
	struct error err;
	const struct op_configure_session *op = submission->op.configure_session;
	if (codex->session) {
		configure_again(codex, submission);
		return;
	}
	if (mcp_wait_begin(&codex->mcp_wait, submission))
		return;
	if (resume_wait_load(&codex->resume_wait, submission))
		return;
	if (resume_wait_check(&codex->resume_wait, &err) == 0 && mcp_wait_check(&codex->mcp_wait, &err) == 0 &&
	    codex_open_session(codex, submission->id, op, &err) == 0) {
		release_waits(codex);
		agents_on_configured(codex);
	} else if (!resume_wait_for_lock(&codex->resume_wait, submission, &err)) {
		release_waits(codex);
		op_refuse_request(codex, submission, err.text);
		agents_on_configure_failed(codex, &err);
	}
}

/* The members of a settings_change that two Ops have under the same names. */
#define CHANGE_OF(op)                                                                            \
	.model = (op)->model, .cwd = (op)->cwd, .approval_policy = (op)->approval_policy,        \
	.has_reviewer = (op)->has_approvals_reviewer, .reviewer = (op)->approvals_reviewer,      \
	.sandbox = (op)->sandbox_policy, .has_effort = (op)->has_effort, .effort = (op)->effort, \
	.mode = (op)->collaboration_mode, .has_personality = (op)->has_personality, .personality = (op)->personality

void on_op_override_turn_context(struct codex *codex, const struct submission *submission)
{
	const struct op_override_turn_context *op = submission->op.override_turn_context;
	struct settings_change change = {
		CHANGE_OF(op),
		.has_summary = op->has_summary,
		.summary = op->summary,
	};
	struct error err;
	if (session_environment_select(codex->session, op->environments, op->environments_count, &change, &err) != 0 ||
	    session_change_settings(codex->session, &change, &err) != 0)
		op_refuse_request(codex, submission, err.text);
	else
		conversation_record_environment(&codex->session->conversation);
}

/* ---- answers ---- */

void on_op_approve_guardian_denied_action(struct codex *codex, const struct submission *submission)
{
	guardian_approve(codex->session, submission->id, submission->op.approve_guardian_denied_action->event);
}

void on_op_exec_approval(struct codex *codex, const struct submission *submission)
{
	const struct op_exec_approval *op = submission->op.exec_approval;
	codex->ops->answer(codex, EV_exec_approval_request, op->id, op->decision);
}

void on_op_patch_approval(struct codex *codex, const struct submission *submission)
{
	const struct op_patch_approval *op = submission->op.patch_approval;
	codex->ops->answer(codex, EV_apply_patch_approval_request, op->id, op->decision);
}

void on_op_user_input_answer(struct codex *codex, const struct submission *submission)
{
	const struct op_user_input_answer *op = submission->op.user_input_answer;
	if (codex->ops->answer(codex, EV_request_user_input, op->id, op->response) == ANSWER_unknown)
		session_warn(codex->session, submission->id,
		             "No question of turn `%.*s` is pending; the answer was ignored.", STR_ARG(op->id));
}

/* An answer without a pending call is ignored, like an approval that was not requested. */
void on_op_dynamic_tool_response(struct codex *codex, const struct submission *submission)
{
	const struct op_dynamic_tool_response *op = submission->op.dynamic_tool_response;
	codex->ops->answer(codex, EV_dynamic_tool_call_request, op->id, op->response);
}

/* The id is that of the event, which is a string. */
void on_op_resolve_elicitation(struct codex *codex, const struct submission *submission)
{
	auto_arena struct arena arena = {0};
	const struct op_resolve_elicitation *op = submission->op.resolve_elicitation;
	struct str id = STR_NONE;
	if (!json_to_str(json_parse(&arena, op->request_id, NULL), &id) ||
	    codex->ops->answer(codex, EV_elicitation_request, id, op) == ANSWER_unknown)
		session_warn(codex->session, submission->id,
		             "No question of an MCP server is pending under %.*s; the answer was ignored.",
		             STR_ARG(op->request_id));
}

/* Returns true if the question under this id is one of request_permissions, or if several agents ask under it, for
 * which the answer is refused. The elicitation of an MCP server or of another tool may have the same id; this Op must
 * not accept it. */
static bool asks_for_permissions(struct codex *codex, struct str id)
{
	const struct tool_call *own = pending_find(&codex->session->requests, PENDING_elicitation, id);
	size_t count;
	const struct tool_call *below = agents_find_pending(codex, PENDING_elicitation, id, &count);
	const struct tool_call *call = own ? own : below;
	return (own != NULL) + count > 1 || (call && call->type == tool_get(TOOL_request_permissions));
}

/* The engine asks by an elicitation; this Op accepts it with what is granted. */
void on_op_request_permissions_response(struct codex *codex, const struct submission *submission)
{
	const struct op_request_permissions_response *op = submission->op.request_permissions_response;
	auto_buf struct buf content;
	buf_init(&content, LIMIT_LINE);
	struct json_writer w = json_writer(&content);
	jw_object(&w);
	jw_member_raw(&w, "permissions", op->response->permissions);
	jw_object_end(&w);
	const struct op_resolve_elicitation accept = {
		.decision = content.over ? elicitation_action_decline : elicitation_action_accept,
		.content = buf_str(&content),
		._meta = op->response->scope == grant_scope_session ? STR("{\"persist\":\"session\"}") : STR_NONE,
	};
	if (!asks_for_permissions(codex, op->id) ||
	    codex->ops->answer(codex, EV_elicitation_request, op->id, &accept) == ANSWER_unknown)
		session_warn(codex->session, submission->id,
		             "No request for permissions is pending under `%.*s`; the answer was ignored.",
		             STR_ARG(op->id));
}

/* ---- interrupt, shutdown, lists ---- */

void on_op_interrupt(struct codex *codex, const struct submission *submission)
{
	(void)submission;
	rollout_stall_override(&codex->stall);
	agents_set_quiet(codex, true);
	agents_on_interrupt(codex);
	session_abort_shells(codex->session);
	codex_interrupt(codex);
	agents_set_quiet(codex, false);
}

void on_op_clean_background_terminals(struct codex *codex, const struct submission *submission)
{
	(void)submission;
	if (codex->session->exec)
		exec_sessions_end_background(codex->session->exec, 0);
}

void on_op_list_mcp_tools(struct codex *codex, const struct submission *submission)
{
	session_mcp_list(codex->session, submission->id);
}

void on_op_refresh_mcp_servers(struct codex *codex, const struct submission *submission)
{
	struct error err;
	const struct mcp_refresh_config *wanted = submission->op.refresh_mcp_servers->config;
	struct config *config = config_with_servers(codex->env.config, wanted->mcp_servers, &err);
	if (config)
		session_mcp_reload(codex->session, config);
	else
		op_refuse_request(codex, submission, err.text);
	config_unref(config);
}

void on_op_list_skills(struct codex *codex, const struct submission *submission)
{
	session_skills_list(codex->session, submission->id, submission->op.list_skills);
}

void on_op_list_custom_prompts(struct codex *codex, const struct submission *submission)
{
	session_prompts_list(codex->session, submission->id);
}

void op_shut_down(struct codex *codex)
{
	rollout_stall_override(&codex->stall);
	if (codex->agents)
		agent_cancel_children(codex->env.agent);
	if (codex->session && codex->session->task)
		task_abort(codex->session->task, turn_abort_reason_interrupted);
	if (codex->session)
		codex_end_commands(codex);
	codex->is_shut_down = true;
}

void on_op_shutdown(struct codex *codex, const struct submission *submission)
{
	op_shut_down(codex);
	codex_end_session(codex, submission->id);
}

/* ---- input of the user ---- */

/* The members that both Ops have. */
struct request {
	struct task_input input;
	struct str response_id; /* the response to continue from, or STR_NONE */
	bool has_mode;
	enum running_input mode;
};

/* Precedence: the submission's mode, the configuration, the front end's default. By default, input never replaces a
 * running user shell command. Input with last_response_id cannot join a Task. */
static bool steers(const struct codex *codex, const struct request *request)
{
	enum running_input wish = codex->env.config->on_input_while_running;
	if (request->has_mode && request->mode != running_input_unset)
		wish = request->mode;
	if (request->response_id.ptr)
		return false;
	if (wish == running_input_unset)
		return codex->steers || task_is_waiting(codex->session->task);
	return wish == running_input_steer;
}

/* Checks the input. It may continue from an earlier response instead of the end of the history; a provider that
 * stores responses may have one that this session does not know. */
static int check_input(const struct session *session, const struct request *request, struct error *err)
{
	struct str id = request->response_id;
	if (!id.ptr)
		return 0;
	if (request->has_mode && request->mode == running_input_steer)
		return error_set(err, ERR_invalid,
		                 "input cannot both join the running task and continue from an earlier response: omit "
		                 "mode or last_response_id");
	if (context_find_response(&session->conversation.context, id) || session_is_chained(session))
		return 0;
	return error_set(err, ERR_not_found, "this session has no response `%.*s` to continue from", STR_ARG(id));
}

static void go_back_to(struct session *session, struct str response_id)
{
	const struct context_mark *mark = context_find_response(&session->conversation.context, response_id);
	if (!mark)
		session_go_elsewhere(session, response_id);
	else if (mark->item_count != session->conversation.context.items.count)
		session_rewind(session, mark);
}

static void start_input(struct codex *codex, struct str id, const struct request *request)
{
	struct session *session = codex->session;
	if (session->task && task_can_steer(session->task) && steers(codex, request)) {
		task_steer(session->task, &request->input);
		agents_on_input(session);
		return;
	}
	if (session->task)
		task_abort(session->task, turn_abort_reason_replaced);
	if (request->response_id.ptr)
		go_back_to(session, request->response_id);
	task_start_user(&codex->tasks, id, &request->input);
}

void on_op_user_input(struct codex *codex, const struct submission *submission)
{
	const struct op_user_input *op = submission->op.user_input;
	struct request request = {
		.input = {op->items, op->items_count, op->final_output_json_schema, op->client_id},
		.response_id = op->last_response_id,
		.has_mode = op->has_mode,
		.mode = op->mode,
	};
	struct error err;
	if (check_input(codex->session, &request, &err) != 0)
		op_refuse_request(codex, submission, err.text);
	else
		start_input(codex, submission->id, &request);
}

void on_op_user_turn(struct codex *codex, const struct submission *submission)
{
	const struct op_user_turn *op = submission->op.user_turn;
	struct request request = {
		.input = {op->items, op->items_count, op->final_output_json_schema, STR_NONE},
		.response_id = op->last_response_id,
		.has_mode = op->has_mode,
		.mode = op->mode,
	};
	struct settings_change change = {
		CHANGE_OF(op),
		.has_summary = true,
		.summary = op->summary,
	};
	struct error err;
	if (check_input(codex->session, &request, &err) != 0 ||
	    session_change_settings(codex->session, &change, &err) != 0)
		op_refuse_request(codex, submission, err.text);
	else
		start_input(codex, submission->id, &request);
}

void on_op_compact(struct codex *codex, const struct submission *submission)
{
	if (codex->session->task)
		task_abort(codex->session->task, turn_abort_reason_replaced);
	task_start_compact(&codex->tasks, submission->id);
}

static int check_review(const struct review_request *request, struct error *err)
{
	const struct review_target *target = request->target;
	if (!target)
		return str_trim(request->prompt).len
		               ? 0
		               : error_set(err, ERR_invalid, "a review needs a target or a prompt");
	if (target->tag == review_target_base_branch && !str_trim(target->base_branch->branch).len)
		return error_set(err, ERR_invalid, "branch must not be empty");
	if (target->tag == review_target_commit && !str_trim(target->commit->sha).len)
		return error_set(err, ERR_invalid, "sha must not be empty");
	if (target->tag == review_target_custom && !str_trim(target->custom->instructions).len)
		return error_set(err, ERR_invalid, "instructions must not be empty");
	return 0;
}

void on_op_review(struct codex *codex, const struct submission *submission)
{
	struct error err;
	const struct review_request *request = submission->op.review->review_request;
	if (check_review(request, &err) != 0) {
		op_refuse_request(codex, submission, err.text);
		return;
	}
	if (codex->session->task)
		task_abort(codex->session->task, turn_abort_reason_replaced);
	if (task_start_review(&codex->tasks, submission->id, request, &err) != 0)
		op_refuse_request(codex, submission, err.text);
}

/* Runs in parallel to a task and does not replace it. */
void on_op_run_user_shell_command(struct codex *codex, const struct submission *submission)
{
	const struct op_run_user_shell_command *op = submission->op.run_user_shell_command;
	struct session *session = codex->session;
	struct shell_request request = {op->command, LIMIT_USER_COMMAND_MS};
	if (op->command.len > LIMIT_USER_COMMAND || (op->has_timeout_ms && op->timeout_ms < 0)) {
		op_refuse_request(codex, submission,
		                  "command may have at most 128 KiB, and timeout_ms must not be negative.");
		return;
	}
	if (op->has_timeout_ms)
		request.timeout_ms = (uint64_t)op->timeout_ms;
	if (session->task)
		task_add_shell(session->task, &request);
	else
		task_start_shell(&codex->tasks, submission->id, &request);
}
