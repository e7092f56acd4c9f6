/* Ops with user input. Input that arrives while a Task runs joins it or replaces it (on_input_while_running); it is
 * never lost. */
#include "base/error.h"
#include "base/limits.h"
#include "config/config.h"
#include "engine/codex/agents.h"
#include "engine/codex/op_priv.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/session/resume.h"
#include "engine/task/task.h"

/* The common part of both Ops. */
struct request {
	struct task_input input;
	struct str response_id; /* to continue from, or absent */
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

/* Input may continue from an earlier response instead of from the end. A provider that stores responses may have one
 * that this session does not. */
static int check(const struct session *session, const struct request *request, struct error *err)
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

static void start(struct codex *codex, struct str id, const struct request *request)
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
	if (check(codex->session, &request, &err) != 0)
		op_refuse_request(codex, submission, err.text);
	else
		start(codex, submission->id, &request);
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
		.model = op->model,
		.cwd = op->cwd,
		.approval_policy = op->approval_policy,
		.sandbox = op->sandbox_policy,
		.has_effort = op->has_effort,
		.effort = op->effort,
		.has_summary = true,
		.summary = op->summary,
		.mode = op->collaboration_mode,
		.has_personality = op->has_personality,
		.personality = op->personality,
	};
	struct error err;
	if (check(codex->session, &request, &err) != 0 || session_change_settings(codex->session, &change, &err) != 0)
		op_refuse_request(codex, submission, err.text);
	else
		start(codex, submission->id, &request);
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

/* Runs in parallel to a Task; does not replace it. */
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
