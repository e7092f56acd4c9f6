/* thread/sample and thread/sample/cancel: a question to the model after the last turn, outside the history. */
#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "engine/codex/codex.h"

static void on_cancel(struct rpc_request *request)
{
	codex_sample_destroy(request->self);
}

static void on_done(const struct codex_sample_result *result, const struct error *err, void *self)
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
	const struct codex_sample_options options = {params->prompt, params->effort, on_done, request};
	struct codex_sample *sample = codex_sample_create(thread->codex, &options, &err);
	return sample ? rpc_wait(request, on_cancel, sample) : rpc_fail_submit(request, &err);
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
