/* Control Ops: configure, override, answer, interrupt, shut down. They act at once, also while a Task runs. */
#include "agent/agent_tree.h"
#include "base/error.h"
#include "engine/codex/agents.h"
#include "engine/codex/op_priv.h"
#include "engine/codex/codex_session.h"
#include "engine/session/session.h"
#include "engine/codex/session_host.h"
#include "engine/session/session_skills.h"
#include "engine/task/task.h"
#include "engine/turn/turn.h"
#include "tool/tool.h"
#include "tool/exec/exec_session.h"

void on_op_configure_session(struct codex *codex, const struct submission *submission)
{
	struct error err;
	const struct op_configure_session *op = submission->op.configure_session;
	if (codex->session) {
		if (codex_reconfigure_session(codex, submission->id, op, &err) != 0)
			op_refuse_request(codex, submission, err.text);
		return;
	}
	if (op->resume_path.ptr && resume_wait_load(&codex->resume_wait, submission))
		return;
	if (codex_open_session(codex, submission->id, op, &err) == 0) {
		agents_on_configured(codex);
	} else if (!resume_wait_for_lock(&codex->resume_wait, submission, &err)) {
		op_refuse_request(codex, submission, err.text);
		agents_on_configure_failed(codex, &err);
	}
}

void on_op_override_turn_context(struct codex *codex, const struct submission *submission)
{
	const struct op_override_turn_context *op = submission->op.override_turn_context;
	struct settings_change change = {
		.model = op->model,
		.cwd = op->cwd,
		.approval_policy = op->approval_policy,
		.sandbox = op->sandbox_policy,
		.has_effort = op->has_effort,
		.effort = op->effort,
		.has_summary = op->has_summary,
		.summary = op->summary,
		.mode = op->collaboration_mode,
		.has_personality = op->has_personality,
		.personality = op->personality,
	};
	struct error err;
	if (session_change_settings(codex->session, &change, &err) != 0)
		op_refuse_request(codex, submission, err.text);
}

/* ---- answers ---- */

void on_op_exec_approval(struct codex *codex, const struct submission *submission)
{
	const struct op_exec_approval *op = submission->op.exec_approval;
	op_answer(codex, EV_exec_approval_request, op->id, op->decision);
}

void on_op_patch_approval(struct codex *codex, const struct submission *submission)
{
	const struct op_patch_approval *op = submission->op.patch_approval;
	op_answer(codex, EV_apply_patch_approval_request, op->id, op->decision);
}

void on_op_user_input_answer(struct codex *codex, const struct submission *submission)
{
	const struct op_user_input_answer *op = submission->op.user_input_answer;
	if (op_answer(codex, EV_request_user_input, op->id, op->response) == OP_ANSWER_unknown)
		session_warn(codex->session, submission->id,
		             "No question of the turn `%.*s` waits for an answer; it was ignored.", STR_ARG(op->id));
}

/* An answer without a pending call is ignored, like an approval that was not requested. */
void on_op_dynamic_tool_response(struct codex *codex, const struct submission *submission)
{
	const struct op_dynamic_tool_response *op = submission->op.dynamic_tool_response;
	op_answer(codex, EV_dynamic_tool_call_request, op->id, op->response);
}

/* ---- ends ---- */

void on_op_interrupt(struct codex *codex, const struct submission *submission)
{
	(void)submission;
	rollout_stall_override(&codex->stall);
	agents_set_quiet(codex, true);
	agents_on_interrupt(codex);
	session_abort_shells(codex->session);
	if (codex->session->task)
		task_abort(codex->session->task, turn_abort_reason_interrupted);
	agents_set_quiet(codex, false);
}

void on_op_clean_background_terminals(struct codex *codex, const struct submission *submission)
{
	(void)submission;
	if (codex->session->exec)
		exec_sessions_end_background(codex->session->exec, 0);
}

void on_op_list_skills(struct codex *codex, const struct submission *submission)
{
	session_skills_list(codex->session, submission->id, submission->op.list_skills);
}

void on_op_list_custom_prompts(struct codex *codex, const struct submission *submission)
{
	session_prompts_list(codex->session, submission->id);
}

void on_op_shutdown(struct codex *codex, const struct submission *submission)
{
	rollout_stall_override(&codex->stall);
	if (codex->agents)
		agent_cancel_children(codex->env.agent);
	if (codex->session && codex->session->task)
		task_abort(codex->session->task, turn_abort_reason_interrupted);
	if (codex->session)
		session_end_commands(codex->session);
	codex->is_shut_down = true;
	eq_push_last(&codex->eq, submission->id, EV_shutdown_complete, NULL);
}
