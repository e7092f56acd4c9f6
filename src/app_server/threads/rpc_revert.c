/* thread/revert removes the last turns of a thread. A worker reads the rollout to find the turn. The Op is queued
 * before the response is written, so that the client's next request sees the shorter history. */
#include "app_server/rpc/server.h"
#include "app_server/history/history_page.h"
#include "app_server/threads/thread_read_state.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/threads/thread_load.h"
#include "app_server/threads/thread_restore.h"
#include "base/error.h"
#include "engine/codex/codex.h"

static void on_cancel(struct rpc_request *request)
{
	thread_load_destroy(request->self);
}

static enum rpc_verdict refuse_running(struct rpc_request *request)
{
	return rpc_fail(request, APP_INVALID_REQUEST,
	                "a turn is in progress: interrupt it or wait for its end before you revert the thread");
}

/* Counts messages of the user, as the engine does: a turn with additional input has several. */
static int64_t count_user_messages(const struct thread_history *history, const struct app_turn *from)
{
	int64_t count = 0;
	for (const struct app_turn *turn = from; turn < history->turns + history->count; turn++) {
		for (size_t i = 0; i < turn->items_count; i++)
			count += turn->items[i].tag == app_thread_item_user_message;
	}
	return count;
}

static enum rpc_verdict answer_revert(struct rpc_request *request, struct thread *thread, const struct app_turn *left,
                                      size_t count)
{
	auto_arena struct arena arena = {0};
	struct app_thread view;
	thread_view(thread, &arena, &view);
	struct app_thread_revert_response response = {
		.thread = &view,
		.turns_backwards_cursor = history_turns_end(str_of(thread->id), count, &arena),
		.items_backwards_cursor = history_items_end(str_of(thread->id), left, count, &arena),
	};
	enum rpc_verdict verdict = rpc_reply(request, &response);
	struct app_thread_reverted_notification event = {str_of(thread->id)};
	thread_notify(thread, NOTIFY_thread_reverted, &event);
	return verdict;
}

static enum rpc_verdict revert(struct rpc_request *request, struct thread *thread, const struct thread_load *load)
{
	struct error err;
	const struct thread_history *history = &load->history;
	const struct app_thread_revert_params *params = request->params;
	const struct app_turn *turn = thread_history_find(history, params->before_turn_id);
	if (!turn)
		return rpc_fail(request, APP_INVALID_REQUEST, "turn not found: %.*s", STR_ARG(params->before_turn_id));
	if (thread->turn)
		return refuse_running(request);
	struct op_thread_rollback rollback = {.num_turns = count_user_messages(history, turn)};
	struct op op = {.tag = OP_thread_rollback, .thread_rollback = &rollback};
	if (!rollback.num_turns)
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "neither that turn nor a later one has a user message: choose an earlier turn");
	if (codex_submit_op(thread->codex, STR("revert"), &op, &err) != 0)
		return rpc_fail_submit(request, &err);
	thread_set_last_turn(thread, turn > history->turns ? turn[-1].id : STR_NONE);
	thread_read_state_on_revert(thread, history, turn);
	thread_restore_git(load, thread);
	return answer_revert(request, thread, history->turns, (size_t)(turn - history->turns));
}

static void on_loaded(struct thread_load *load, void *self)
{
	struct rpc_request *request = self;
	const struct app_thread_revert_params *params = request->params;
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		rpc_refuse(request, threads_not_found(request, params->thread_id));
	else if (load->err.code)
		rpc_fail(request, APP_INVALID_REQUEST, "turn not found: %.*s", STR_ARG(params->before_turn_id));
	else
		revert(request, thread, load);
	thread_load_destroy(load);
}

enum rpc_verdict on_rpc_thread_revert(struct rpc_request *request, const struct app_thread_revert_params *params)
{
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (!thread->path)
		return rpc_fail(request, APP_INVALID_REQUEST, "ephemeral threads cannot be reverted");
	if (thread->turn)
		return refuse_running(request);
	return rpc_wait(request, on_cancel,
	                thread_load_create(request->server, params->thread_id, str_of(thread->path), NULL, false,
	                                   on_loaded, request));
}
