/* Messages that wait for the end of a turn. A message that is added to an idle thread is sent at once. */
#include <stdio.h>

#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_input.h"
#include "app_server/threads/thread_queue.h"
#include "app_server/threads/thread_queue_send.h"
#include "app_server/threads/thread_turn.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "config/config.h"

static const char *home_of(const struct rpc_request *request)
{
	return config_home(request->server->config);
}

static enum rpc_verdict refuse(struct rpc_request *request, const struct error *err)
{
	return rpc_fail(request, APP_INVALID_REQUEST, "%s", err->text);
}

/* Checks the input of a message: text of a permitted length that the engine accepts. */
static const struct rpc_error *check(struct rpc_request *request, const struct thread *thread, struct str thread_id,
                                     const struct app_user_input *input, size_t count)
{
	struct error err;
	struct op_user_input ignored;
	const struct rpc_error *error = thread_input_check(request, thread, thread_id, input, count);
	if (error)
		return error;
	if (!count)
		return rpc_error(&request->arena, APP_INVALID_REQUEST,
		                 "only user input can be added to the user-message queue");
	if (thread_input_copy(input, count, &request->arena, &ignored, &err) != 0)
		return rpc_error(&request->arena, APP_INVALID_REQUEST, "%s", err.text);
	return NULL;
}

enum rpc_verdict on_rpc_thread_queue_add(struct rpc_request *request, const struct app_thread_queue_add_params *params)
{
	struct error err;
	struct app_queued_submission added;
	struct thread *thread = threads_find(request->server, params->thread_id);
	struct app_queued_submission message = {
		.client_user_message_id = params->client_user_message_id,
		.input = params->input,
		.input_count = params->input_count,
		.responsesapi_client_metadata = params->responsesapi_client_metadata,
	};
	const struct rpc_error *error = check(request, thread, params->thread_id, params->input, params->input_count);
	if (error)
		return rpc_refuse(request, error);
	if (thread_queue_add(home_of(request), params->thread_id, &message, &request->arena, &added, &err) < 0)
		return refuse(request, &err);
	thread_queue_notify(thread);
	thread_queue_send_next(thread);
	struct app_thread_queue_add_response response = {&added};
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_thread_queue_list(struct rpc_request *request,
                                          const struct app_thread_queue_list_params *params)
{
	struct error err;
	struct thread_queue queue;
	uint64_t start = 0;
	char next[32] = "";
	if (!threads_find(request->server, params->thread_id))
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (params->cursor.ptr && !str_to_u64(params->cursor, &start))
		return rpc_fail(request, APP_INVALID_REQUEST, "invalid queue pagination cursor: %.*s",
		                STR_ARG(params->cursor));
	if (thread_queue_read(home_of(request), params->thread_id, &request->arena, &queue, &err) != 0)
		return refuse(request, &err);
	size_t at = start < queue.count ? (size_t)start : queue.count, count = queue.count - at;
	if (params->has_limit && params->limit >= 0 && (uint64_t)params->limit < count) {
		count = params->limit ? (size_t)params->limit : 1;
		snprintf(next, sizeof(next), "%zu", at + count);
	}
	struct app_thread_queue_list_response response = {queue.items + at, count, next[0] ? str_of(next) : STR_NONE};
	return rpc_reply(request, &response);
}

static int update(struct thread_queue *queue, struct arena *arena, void *self, struct error *err)
{
	const struct app_thread_queue_update_params *params = self;
	struct app_queued_submission *found = thread_queue_find(queue, params->queued_submission_id);
	(void)arena;
	if (!found)
		return error_set(err, ERR_not_found, "queued submission not found: %.*s",
		                 STR_ARG(params->queued_submission_id));
	found->input = params->input;
	found->input_count = params->input_count;
	if (params->responsesapi_client_metadata.ptr)
		found->responsesapi_client_metadata = params->responsesapi_client_metadata;
	return 1;
}

enum rpc_verdict on_rpc_thread_queue_update(struct rpc_request *request,
                                            const struct app_thread_queue_update_params *params)
{
	struct error err;
	struct thread_queue queue;
	struct thread *thread = threads_find(request->server, params->thread_id);
	const struct rpc_error *error = check(request, thread, params->thread_id, params->input, params->input_count);
	if (error)
		return rpc_refuse(request, error);
	if (thread_queue_change(home_of(request), params->thread_id, &request->arena, update, (void *)(uintptr_t)params,
	                        &err) < 0 ||
	    thread_queue_read(home_of(request), params->thread_id, &request->arena, &queue, &err) != 0)
		return refuse(request, &err);
	struct app_queued_submission *found = thread_queue_find(&queue, params->queued_submission_id);
	if (!found)
		return rpc_fail(request, APP_INVALID_REQUEST, "queued submission not found: %.*s",
		                STR_ARG(params->queued_submission_id));
	thread_queue_notify(thread);
	struct app_thread_queue_update_response response = {found};
	return rpc_reply(request, &response);
}

static int drop(struct thread_queue *queue, struct arena *arena, void *self, struct error *err)
{
	const struct app_thread_queue_delete_params *params = self;
	const struct app_queued_submission *found = thread_queue_find(queue, params->queued_submission_id);
	(void)arena;
	(void)err;
	if (found)
		thread_queue_take(queue, found);
	return found ? 1 : 0;
}

enum rpc_verdict on_rpc_thread_queue_delete(struct rpc_request *request,
                                            const struct app_thread_queue_delete_params *params)
{
	struct error err;
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	int status = thread_queue_change(home_of(request), params->thread_id, &request->arena, drop,
	                                 (void *)(uintptr_t)params, &err);
	if (status < 0)
		return refuse(request, &err);
	if (status)
		thread_queue_notify(thread);
	struct app_thread_queue_delete_response response = {status > 0};
	return rpc_reply(request, &response);
}

static int reorder(struct thread_queue *queue, struct arena *arena, void *self, struct error *err)
{
	const struct app_thread_queue_reorder_params *params = self;
	size_t count = params->queued_submission_ids_count;
	struct thread_queue sorted = {arena_array(arena, struct app_queued_submission, queue->count + 1), 0};
	for (size_t i = 0; i < count && count == queue->count; i++) {
		const struct app_queued_submission *found = thread_queue_find(queue, params->queued_submission_ids[i]);
		if (!found || thread_queue_find(&sorted, found->id))
			break;
		sorted.items[sorted.count++] = *found;
	}
	if (sorted.count != count || count != queue->count)
		return error_set(err, ERR_invalid, "queue reorder must include every queued submission exactly once");
	*queue = sorted;
	return 1;
}

enum rpc_verdict on_rpc_thread_queue_reorder(struct rpc_request *request,
                                             const struct app_thread_queue_reorder_params *params)
{
	struct error err;
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (thread_queue_change(home_of(request), params->thread_id, &request->arena, reorder,
	                        (void *)(uintptr_t)params, &err) < 0)
		return refuse(request, &err);
	thread_queue_notify(thread);
	return rpc_reply_empty(request);
}

enum rpc_verdict on_rpc_thread_queue_start(struct rpc_request *request,
                                           const struct app_thread_queue_start_params *params)
{
	struct error err;
	struct app_turn view;
	struct thread_queue queue;
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (thread_queue_read(home_of(request), params->thread_id, &request->arena, &queue, &err) != 0)
		return refuse(request, &err);
	if (params->queued_submission_id.ptr && !thread_queue_find(&queue, params->queued_submission_id))
		return rpc_fail(request, APP_INVALID_REQUEST, "queued submission not found: %.*s",
		                STR_ARG(params->queued_submission_id));
	if (!queue.count)
		return rpc_fail(request, APP_INVALID_REQUEST, "queue is empty");
	if (!thread_queue_is_ready(thread))
		return rpc_fail(request, APP_INVALID_REQUEST, "thread already has an active or pending turn");
	int status = thread_queue_send(thread, params->queued_submission_id, &err);
	if (status < 0)
		return refuse(request, &err);
	if (!status)
		return rpc_fail(request, APP_INVALID_REQUEST, "queue is empty");
	thread_turn_view(thread->turn, &view);
	view.has_started_at = false; /* omitted, because turn/started reports it */
	struct app_thread_queue_start_response response = {&view};
	return rpc_reply(request, &response);
}
