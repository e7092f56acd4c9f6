/* thread/fork resumes a copy of the rollout; the source thread continues unchanged, loaded or not. */
#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/rpc_thread.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/threads/thread_fork.h"
#include "app_server/threads/thread_load.h"
#include "app_server/threads/thread_turn.h"
#include "base/error.h"
#include "rollout/rollout_reader.h"

_Static_assert(sizeof(struct app_thread_fork_response) == sizeof(struct app_thread_start_response),
               "one body serves both");

static void answer(struct thread *thread, struct rpc_request *request)
{
	auto_arena struct arena arena = {0};
	const struct app_thread_fork_params *params = request->params;
	struct thread_load *load = thread->opening.load;
	struct connection *connection = request->connection;
	bool shows_turns = !params->exclude_turns; /* params are freed with the response */
	struct app_thread_start_response response;
	thread_load_tell_origin(load, thread);
	thread_fork_keep(load->fork);
	thread_set_last_turn(thread, thread_history_last(&load->history));
	rpc_thread_describe(thread, &arena, &response);
	struct app_thread view = *response.thread;
	if (shows_turns)
		rpc_reply_with_items(request, &response, "result.thread.turns", &load->turns.text);
	else
		rpc_reply(request, &response);
	thread_load_tell_usage(load, thread, shows_turns ? connection : NULL);
	struct app_thread_started_notification event = {&view};
	thread_notify(thread, NOTIFY_thread_started, &event);
}

static struct app_thread_start_params *wishes_of(const struct app_thread_fork_params *params,
                                                 const struct thread_load *load, struct arena *arena)
{
	struct app_thread_start_params *wishes = arena_new(arena, struct app_thread_start_params);
	*wishes = (struct app_thread_start_params){
		.model = params->model,
		.model_provider =
			params->model_provider.ptr ? params->model_provider : load->reader->meta.model_provider,
		.cwd = params->cwd,
		.approval_policy = params->approval_policy,
		.has_sandbox = params->has_sandbox,
		.sandbox = params->sandbox,
		.permissions = params->permissions,
		.config = params->config,
		.base_instructions = params->base_instructions,
		.developer_instructions = params->developer_instructions,
		.ephemeral = params->ephemeral,
	};
	return wishes;
}

static void on_loaded(struct thread_load *load, void *self)
{
	struct error err = load->err;
	struct rpc_request *request = self;
	if (err.code) {
		rpc_fail(request, APP_INVALID_REQUEST, "%s", err.text);
		thread_load_destroy(load);
		return;
	}
	struct thread_opening opening = {
		.wishes = wishes_of(request->params, load, &request->arena),
		.load = load,
		.refusal = "failed to fork the thread",
		.answer = answer,
	};
	thread_load_continue(load, &opening, &request->arena);
	opening.session.resume_path = str_of(load->reader->path);
	if (!thread_open(request, &opening, &err))
		rpc_fail_with(request, &err);
}

static void on_cancel(struct rpc_request *request)
{
	thread_load_destroy(request->self);
}

enum rpc_verdict on_rpc_thread_fork(struct rpc_request *request, const struct app_thread_fork_params *params)
{
	const struct thread *source = threads_find(request->server, params->thread_id);
	if (params->last_turn_id.ptr && params->before_turn_id.ptr)
		return rpc_fail(request, APP_INVALID_REQUEST, "`lastTurnId` cannot be combined with `beforeTurnId`");
	if (!params->path.ptr && !uuid_is_valid(params->thread_id))
		return threads_refuse_id(request, APP_INVALID_REQUEST, "thread", params->thread_id);
	if (source && !source->path && !params->path.ptr)
		return rpc_fail(request, APP_INVALID_REQUEST, "no rollout found for thread id %s", source->id);
	struct thread_fork *fork = thread_fork_create(params->last_turn_id, params->before_turn_id,
	                                              source && source->turn ? source->turn->id : NULL,
	                                              request->connection->client_name, params->ephemeral);
	return rpc_wait(request, on_cancel,
	                thread_load_create(request->server, params->thread_id, params->path, fork,
	                                   !params->exclude_turns, on_loaded, request));
}
