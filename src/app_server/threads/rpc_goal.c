/* Goals of loaded threads. The engine has the goal and starts its turns; a change is answered first and notified
 * afterwards, because events are delivered later. */
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/notify_handlers.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_goal.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "engine/codex/codex.h"

/* The enums of both protocols have the same order. */
_Static_assert((int)goal_status_count == (int)app_thread_goal_status_count, "states of goals");

static struct app_thread_goal view_of(const struct thread_goal *goal)
{
	return (struct app_thread_goal){
		.thread_id = goal->threadId,
		.objective = goal->objective,
		.status = (enum app_thread_goal_status)goal->status,
		.has_token_budget = goal->has_tokenBudget,
		.token_budget = goal->tokenBudget,
		.tokens_used = goal->tokensUsed,
		.time_used_seconds = goal->timeUsedSeconds,
		.created_at = goal->createdAt,
		.updated_at = goal->updatedAt,
	};
}

static void notify(struct thread *thread, const struct thread_goal *goal, struct str turn_id)
{
	struct app_thread_goal_cleared_notification cleared = {str_of(thread->id)};
	if (!goal) {
		thread_notify(thread, NOTIFY_thread_goal_cleared, &cleared);
		return;
	}
	struct app_thread_goal view = view_of(goal);
	struct app_thread_goal_updated_notification updated = {str_of(thread->id), &view, turn_id};
	thread_notify(thread, NOTIFY_thread_goal_updated, &updated);
}

void on_event_thread_goal_updated(struct thread *thread, const struct event *event)
{
	notify(thread, event->msg.thread_goal_updated->goal, event->msg.thread_goal_updated->turnId);
}

void thread_notify_goal(struct thread *thread, struct str turn_id)
{
	struct thread_goal goal;
	notify(thread, codex_goal(thread->codex, &goal) ? &goal : NULL, turn_id);
}

enum rpc_verdict on_rpc_thread_goal_get(struct rpc_request *request, const struct app_thread_goal_get_params *params)
{
	struct thread_goal goal;
	struct app_thread_goal view;
	struct app_thread_goal_get_response response = {0};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (codex_goal(thread->codex, &goal)) {
		view = view_of(&goal);
		response.goal = &view;
	}
	return rpc_reply(request, &response);
}

/* A goal without a state is active. */
enum rpc_verdict on_rpc_thread_goal_set(struct rpc_request *request, const struct app_thread_goal_set_params *params)
{
	struct error err;
	struct thread_goal goal;
	struct goal_change change = {
		.objective = params->objective,
		.has_status = params->has_status,
		.status = (enum goal_status)params->status,
		.has_token_budget = params->has_token_budget,
		.token_budget = params->token_budget,
	};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (codex_change_goal(thread->codex, &change, &err) != 0 || !codex_goal(thread->codex, &goal))
		return rpc_fail(request, APP_INVALID_REQUEST, "%s", err.text);
	struct app_thread_goal view = view_of(&goal);
	struct app_thread_goal_set_response response = {&view};
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_thread_goal_clear(struct rpc_request *request,
                                          const struct app_thread_goal_clear_params *params)
{
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	struct app_thread_goal_clear_response response = {codex_clear_goal(thread->codex)};
	return rpc_reply(request, &response);
}
