/* Ops that bring user input. What happens to input while a Task runs is a setting
 * (on_input_while_running, protocol-v1 6, row 8); no input is lost either way. */
#include "base/error.h"
#include "config/config.h"
#include "engine/codex_priv.h"
#include "engine/session.h"
#include "engine/session_record.h"
#include "engine/task.h"

/* Seed 000: input may go on from after an earlier response instead of from the end. */
static int check_response(const struct session *session, struct str response_id, struct error *err)
{
	if (!response_id.ptr || context_find_response(&session->context, response_id))
		return 0;
	return error_set(err, ERR_not_found, "this session has no response `%.*s` to go on from", STR_ARG(response_id));
}

static void go_back_to(struct session *session, struct str response_id)
{
	if (!response_id.ptr)
		return;
	const struct context_mark *mark = context_find_response(&session->context, response_id);
	if (mark->item_count != session->context.items.count)
		session_rewind(session, mark);
}

static void start(struct codex *codex, const struct submission *submission, const struct task_input *input,
                  struct str response_id)
{
	struct session *session = codex->session;
	struct error err;
	if (session->task && codex->config->on_input_while_running == running_input_steer) {
		task_steer(session->task, input);
		return;
	}
	if (check_response(session, response_id, &err) != 0) {
		codex_refuse(codex, submission->id, "\"bad_request\"", err.text);
		return;
	}
	if (session->task)
		task_abort(session->task, turn_abort_reason_replaced);
	go_back_to(session, response_id);
	task_start(session, submission->id, input);
}

void on_op_user_input(struct codex *codex, const struct submission *submission)
{
	const struct op_user_input *op = submission->op.user_input;
	struct task_input input = {op->items, op->items_count, op->final_output_json_schema};
	start(codex, submission, &input, op->last_response_id);
}

void on_op_user_turn(struct codex *codex, const struct submission *submission)
{
	const struct op_user_turn *op = submission->op.user_turn;
	struct settings_change change = {
		.model = op->model,
		.cwd = op->cwd,
		.has_approval_policy = true,
		.approval_policy = op->approval_policy,
		.sandbox = op->sandbox_policy,
		.has_effort = op->has_effort,
		.effort = op->effort,
		.has_summary = true,
		.summary = op->summary,
		.mode = op->collaboration_mode,
	};
	struct error err;
	if (session_change_settings(codex->session, &change, &err) != 0) {
		codex_refuse(codex, submission->id, "\"bad_request\"", err.text);
		return;
	}
	struct task_input input = {op->items, op->items_count, op->final_output_json_schema};
	start(codex, submission, &input, op->last_response_id);
}
