/* thread/fork is a resume of a copy; the source keeps running, in this process or another one. */
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_fork.h"
#include "app_server/threads/thread_load.h"
#include "app_server/threads/thread_open.h"
#include "app_server/threads/thread_restore.h"
#include "app_server/threads/threads.h"

_Static_assert(sizeof(struct app_thread_fork_response) == sizeof(struct app_thread_start_response),
               "one body serves both");

static void answer(struct thread *thread, struct rpc_request *request)
{
	auto_arena struct arena arena = {0};
	const struct app_thread_fork_params *params = request->params;
	struct thread_load *load = thread->opening.load;
	struct connection *connection = request->connection;
	bool shows_turns = !params->exclude_turns; /* the response frees the parameters */
	struct app_thread_start_response response;
	thread_restore_origin(load, thread);
	thread_fork_keep(load->fork);
	thread_set_last_turn(thread, thread_history_last(&load->history));
	thread_open_describe(thread, &arena, &response);
	struct app_thread view = *response.thread;
	if (shows_turns)
		rpc_reply_with_items(request, &response, "result.thread.turns", &load->turns.text);
	else
		rpc_reply(request, &response);
	thread_restore_usage(load, thread, shows_turns ? connection : NULL);
	struct app_thread_started_notification event = {&view};
	thread_notify(thread, NOTIFY_thread_started, &event);
}

static void on_loaded(struct thread_load *load, void *self)
{
	struct rpc_request *request = self;
	const struct app_thread_fork_params *fork = request->params;
	if (load->err.code) {
		rpc_fail(request, APP_INVALID_REQUEST, "%s", load->err.text);
		thread_load_destroy(load);
		return;
	}
	const struct app_thread_start_params params = {THREAD_RESTORE_PARAMS(fork), .ephemeral = fork->ephemeral};
	thread_restore_open(request, load, &params, "failed to fork the thread", answer);
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
		return rpc_refuse(request,
		                  rpc_error_bad_id(&request->arena, APP_INVALID_REQUEST, "thread", params->thread_id));
	if (source && !source->path && !params->path.ptr)
		return rpc_fail(request, APP_INVALID_REQUEST, "no rollout found for thread id %s", source->id);
	struct thread_fork *fork = thread_fork_create(params->last_turn_id, params->before_turn_id,
	                                              source && source->turn ? source->turn->id : NULL,
	                                              request->connection->client_name, params->ephemeral);
	return rpc_wait(request, on_cancel,
	                thread_load_create(request->server, params->thread_id, params->path, fork,
	                                   !params->exclude_turns, on_loaded, request));
}
