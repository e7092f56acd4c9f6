/* Requests about loaded threads: starting, listing, unsubscribing, and out-of-band elicitations. */
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/thread_unload.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_open.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "engine/codex/codex.h"
#include "tool/dynamic_tools.h"

/* ---- thread/start ---- */

static void answer_start(struct thread *thread, struct rpc_request *request)
{
	auto_arena struct arena arena = {0};
	struct app_thread_start_response response;
	thread_open_describe(thread, &arena, &response);
	rpc_reply(request, &response);
	struct app_thread_started_notification event = {response.thread};
	thread_notify(thread, NOTIFY_thread_started, &event);
}

/* Checks the tools here, because the session would reject them with the error of a configuration that cannot be
 * loaded. */
static int check_tools(struct str described, struct error *err)
{
	struct dynamic_tools *tools = described.ptr ? dynamic_tools_read(described, err) : NULL;
	dynamic_tools_destroy(tools);
	return described.ptr && !tools ? -(int)err->code : 0;
}

enum rpc_verdict on_rpc_thread_start(struct rpc_request *request, const struct app_thread_start_params *params)
{
	struct error err;
	struct thread_opening opening = {
		.params = params,
		.refusal = "failed to load configuration",
		.answer = answer_start,
	};
	if (check_tools(params->dynamic_tools, &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "%s", err.text);
	return thread_open(request, &opening, &err) ? RPC_WAIT : rpc_fail_with(request, &err);
}

/* ---- loaded threads, subscribers ---- */

enum rpc_verdict on_rpc_thread_loaded_list(struct rpc_request *request,
                                           const struct app_thread_loaded_list_params *params)
{
	VEC(struct str) ids = {0};
	struct thread *it;
	bool is_on = !params->cursor.ptr; /* the cursor is the last id of the previous page */
	size_t limit = params->has_limit && params->limit > 0 ? (size_t)params->limit : SIZE_MAX;
	struct app_thread_loaded_list_response response = {0};
	list_for_each(it, &request->server->threads->all, link) {
		if (is_on && it->id[0] && ids.count == limit) {
			response.next_cursor = ids.items[ids.count - 1];
			break;
		}
		if (is_on && it->id[0])
			vec_push(&ids, str_of(it->id));
		is_on |= str_is(params->cursor, it->id);
	}
	response.data = ids.items;
	response.data_count = ids.count;
	enum rpc_verdict verdict =
		is_on ? rpc_reply(request, &response)
		      : rpc_fail(request, APP_INVALID_REQUEST, "invalid cursor: %.*s", STR_ARG(params->cursor));
	vec_finish(&ids);
	return verdict;
}

enum rpc_verdict on_rpc_thread_unsubscribe(struct rpc_request *request,
                                           const struct app_thread_unsubscribe_params *params)
{
	struct app_thread_unsubscribe_response response = {.status = app_thread_unsubscribe_status_not_loaded};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread && !uuid_is_valid(params->thread_id))
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (thread)
		response.status = subscribers_remove(thread, request->connection)
		                          ? app_thread_unsubscribe_status_unsubscribed
		                          : app_thread_unsubscribe_status_not_subscribed;
	return rpc_reply(request, &response);
}

/* ---- thread/increment_elicitation, thread/decrement_elicitation ---- */

/* Counts elicitations: a command waits for a user whom its client asks. While the count is not zero the Codex is
 * held, so that commands do not time out. */
enum rpc_verdict on_rpc_thread_increment_elicitation(struct rpc_request *request,
                                                     const struct app_thread_increment_elicitation_params *params)
{
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (!thread_has_subscriber(thread, request->connection))
		return rpc_fail(request, APP_INVALID_REQUEST, "not subscribed to thread %s: resume it first",
		                thread->id);
	if (!thread->elicitations++)
		codex_hold(thread->codex);
	struct app_thread_increment_elicitation_response response = {thread->elicitations, true};
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_thread_decrement_elicitation(struct rpc_request *request,
                                                     const struct app_thread_decrement_elicitation_params *params)
{
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (!thread->elicitations)
		return rpc_fail(request, APP_INVALID_REQUEST, "out-of-band elicitation count is already zero");
	if (!--thread->elicitations)
		codex_release(thread->codex);
	struct app_thread_decrement_elicitation_response response = {thread->elicitations, thread->elicitations > 0};
	return rpc_reply(request, &response);
}
