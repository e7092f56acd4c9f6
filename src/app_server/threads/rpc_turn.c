/* turn/start is answered when the turn is queued; everything later is reported by notifications. Input that arrives
 * while a turn runs joins that turn. */
#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/threads/thread_input.h"
#include "app_server/threads/thread_settings.h"
#include "app_server/threads/thread_turn.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "engine/codex/codex.h"

/* ---- turn/start, turn/steer, turn/interrupt ---- */

static int apply(struct rpc_request *request, struct thread *thread, const struct app_turn_start_params *params,
                 struct error *err)
{
	bool is_changed;
	if (thread_settings_change(request, thread, params, &is_changed, err) != 0)
		return -(int)err->code;
	if (is_changed)
		thread_settings_notify(thread);
	return 0;
}

static enum rpc_verdict answer_start(struct rpc_request *request, const struct thread_turn *turn)
{
	struct app_turn view;
	thread_turn_view(turn, &view);
	view.has_started_at = false; /* omitted, because turn/started reports it */
	struct app_turn_start_response response = {&view};
	return rpc_reply(request, &response);
}

static enum rpc_verdict start(struct rpc_request *request, struct thread *thread, const struct op_user_input *input,
                              struct str client_id)
{
	struct error err;
	struct thread_turn *turn = thread_input_start(thread, input, client_id, &err);
	return turn ? answer_start(request, turn) : rpc_fail_submit(request, &err);
}

static int join(struct thread *thread, const struct op_user_input *input, struct str client_id, struct error *err)
{
	char id[UUID_TEXT_SIZE]; /* an id for a new turn, in case this one has ended when the engine takes the input */
	uuid_v7(id);
	return thread_input_submit(thread, input, str_of(id), client_id, err);
}

static enum rpc_verdict refuse_review(struct rpc_request *request, enum app_error_code code, const char *message)
{
	static const char data[] = "{\"codexErrorInfo\":{\"activeTurnNotSteerable\":{\"turnKind\":\"review\"}}}";
	return rpc_refuse(request, rpc_error_data(&request->arena, code, str_of(data), "%s", message));
}

enum rpc_verdict on_rpc_turn_start(struct rpc_request *request, const struct app_turn_start_params *params)
{
	struct error err;
	struct op_user_input input = {.final_output_json_schema = params->output_schema};
	struct thread *thread = threads_find(request->server, params->thread_id);
	const struct rpc_error *error =
		thread_input_check(request, thread, params->thread_id, params->input, params->input_count);
	if (error)
		return rpc_refuse(request, error);
	if (thread->turn && thread->turn->is_review)
		return refuse_review(request, APP_INTERNAL_ERROR,
		                     "failed to submit turn input: ActiveTurnNotSteerable { turn_kind: Review }");
	if (thread_input_copy(params->input, params->input_count, &request->arena, &input, &err) != 0 ||
	    apply(request, thread, params, &err) != 0)
		return rpc_fail_submit(request, &err);
	if (!thread->turn)
		return start(request, thread, &input, params->client_user_message_id);
	if (join(thread, &input, params->client_user_message_id, &err) != 0)
		return rpc_fail_submit(request, &err);
	return answer_start(request, thread->turn);
}

enum rpc_verdict on_rpc_turn_steer(struct rpc_request *request, const struct app_turn_steer_params *params)
{
	struct error err;
	struct op_user_input input = {0};
	struct thread *thread = threads_find(request->server, params->thread_id);
	const struct rpc_error *error =
		thread_input_check(request, thread, params->thread_id, params->input, params->input_count);
	if (error)
		return rpc_refuse(request, error);
	if (thread->turn && !str_is(params->expected_turn_id, thread->turn->id))
		return rpc_fail(request, APP_INVALID_REQUEST, "expected active turn id `%.*s` but found `%s`",
		                STR_ARG(params->expected_turn_id), thread->turn->id);
	if (!params->input_count)
		return rpc_fail(request, APP_INVALID_REQUEST, "input must not be empty");
	if (!thread->turn)
		return rpc_fail(request, APP_INVALID_REQUEST, "no active turn to steer");
	if (thread->turn->is_review)
		return refuse_review(request, APP_INVALID_REQUEST, "cannot steer a review turn");
	if (thread_input_copy(params->input, params->input_count, &request->arena, &input, &err) != 0)
		return rpc_fail_submit(request, &err);
	if (join(thread, &input, params->client_user_message_id, &err) != 0)
		return rpc_fail_submit(request, &err);
	struct app_turn_steer_response response = {str_of(thread->turn->id)};
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_turn_interrupt(struct rpc_request *request, const struct app_turn_interrupt_params *params)
{
	struct error err;
	struct op op = {.tag = OP_interrupt};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (!thread->turn)
		return rpc_fail(request, APP_INVALID_REQUEST, "no active turn to interrupt");
	if (!str_is(params->turn_id, thread->turn->id))
		return rpc_fail(request, APP_INVALID_REQUEST, "expected active turn id `%.*s` but found `%s`",
		                STR_ARG(params->turn_id), thread->turn->id);
	if (codex_submit_op(thread->codex, STR(""), &op, &err) != 0)
		return rpc_fail_submit(request, &err);
	return thread_turn_wait(thread->turn, request);
}

/* ---- thread/compact/start ---- */

/* Submits an Op whose task is a turn. If a turn runs, the engine decides whether the Op joins or replaces it. */
static int start_task(struct thread *thread, const struct op *op, struct error *err)
{
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	if (codex_submit_op(thread->codex, str_of(id), op, err) != 0)
		return -(int)err->code;
	if (!thread->turn)
		thread_turn_create(thread, str_of(id))->is_service = true;
	return 0;
}

enum rpc_verdict on_rpc_thread_compact_start(struct rpc_request *request,
                                             const struct app_thread_compact_start_params *params)
{
	struct error err;
	struct app_thread_compact_start_response response = {0};
	const struct op op = {.tag = OP_compact};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (start_task(thread, &op, &err) != 0)
		return rpc_fail_submit(request, &err);
	return rpc_reply(request, &response);
}

/* ---- thread/shellCommand ---- */

/* Runs the command; it joins a running turn. */
enum rpc_verdict on_rpc_thread_shell_command(struct rpc_request *request,
                                             const struct app_thread_shell_command_params *params)
{
	struct error err;
	struct app_thread_shell_command_response response = {0};
	struct op_run_user_shell_command command = {str_trim(params->command), params->has_timeout_ms,
	                                            params->timeout_ms};
	const struct op op = {.tag = OP_run_user_shell_command, .run_user_shell_command = &command};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (!command.command.len)
		return rpc_fail(request, APP_INVALID_REQUEST, "command must not be empty");
	if (command.command.len > LIMIT_USER_COMMAND)
		return rpc_fail(request, APP_INVALID_REQUEST, "command must not have more than %d bytes",
		                LIMIT_USER_COMMAND);
	if (command.has_timeout_ms && command.timeout_ms < 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "timeoutMs must not be negative");
	if (start_task(thread, &op, &err) != 0)
		return rpc_fail_submit(request, &err);
	return rpc_reply(request, &response);
}

/* ---- thread/sample: a response of the model after the last turn, which the history does not record ---- */

static void on_sample_cancel(struct rpc_request *request)
{
	codex_sample_destroy(request->self);
}

static void on_sample_done(const struct codex_sample_result *result, const struct error *err, void *self)
{
	struct rpc_request *request = self;
	const struct app_thread_sample_params *params = request->params;
	if (err) {
		rpc_fail(request, APP_INTERNAL_ERROR, "%s", err->text);
		return;
	}
	struct app_thread_sample_response response = {
		.response_id = result->response_id,
		.source_turn_id = params->expected_turn_id,
		.text = result->text,
	};
	if (result->usage) {
		response.has_input_tokens = response.has_cached_input_tokens = response.has_output_tokens = true;
		response.input_tokens = result->usage->input_tokens;
		response.cached_input_tokens = result->usage->cached_input_tokens;
		response.output_tokens = result->usage->output_tokens;
	}
	rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_thread_sample(struct rpc_request *request, const struct app_thread_sample_params *params)
{
	struct error err;
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_fail(request, APP_INVALID_REQUEST, "thread/sample requires a loaded source");
	if (thread->turn || !thread->last_turn_id || !str_is(params->expected_turn_id, thread->last_turn_id))
		return rpc_fail(request, APP_INVALID_REQUEST, "sample source turn must be the latest finished turn");
	const struct codex_sample_options options = {params->prompt, params->effort, on_sample_done, request};
	struct codex_sample *sample = codex_sample_create(thread->codex, &options, &err);
	return sample ? rpc_wait(request, on_sample_cancel, sample) : rpc_fail_submit(request, &err);
}

enum rpc_verdict on_rpc_thread_sample_cancel(struct rpc_request *request,
                                             const struct app_thread_sample_cancel_params *params)
{
	struct app_thread_sample_cancel_response response = {0};
	struct rpc_request *it;
	list_for_each(it, &request->connection->requests, link) {
		if (it->method != &app_methods[METHOD_thread_sample] || !it->is_waiting ||
		    !str_eq(it->id, params->request_id))
			continue;
		codex_sample_destroy(it->self);
		rpc_fail(it, APP_INVALID_REQUEST, "the sample was cancelled");
		break;
	}
	return rpc_reply(request, &response);
}
