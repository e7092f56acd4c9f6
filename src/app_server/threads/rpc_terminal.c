/* A background command is an open item with a process, so the list of open items includes all of them. */
#include <stdlib.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_items.h"
#include "app_server/threads/threads.h"
#include "base/vec.h"
#include "engine/codex/codex.h"

/* Returns the script alone if it could be separated from its shell, else the whole command. */
static struct str script_of(const struct app_item_command_execution *command)
{
	const struct app_command_action *action = command->command_actions;
	if (command->command_actions_count == 1 && action->tag == app_command_action_unknown)
		return action->unknown->command;
	return command->command;
}

static bool is_terminal(const struct thread_item *item)
{
	return item->item.tag == app_thread_item_command_execution && item->item.command_execution->process_id.ptr;
}

static struct app_thread_background_terminal describe(const struct thread_item *item)
{
	const struct app_item_command_execution *command = item->item.command_execution;
	return (struct app_thread_background_terminal){
		.item_id = item->id,
		.process_id = command->process_id,
		.command = script_of(command),
		.cwd = command->cwd,
	};
}

enum rpc_verdict
on_rpc_thread_background_terminals_list(struct rpc_request *request,
                                        const struct app_thread_background_terminals_list_params *params)
{
	VEC(struct app_thread_background_terminal) data = {0};
	struct app_thread_background_terminals_list_response response = {0};
	const struct thread_item *it;
	struct thread *thread = threads_find(request->server, params->thread_id);
	size_t limit = params->has_limit && params->limit > 0 ? (size_t)params->limit : SIZE_MAX;
	bool is_on = !params->cursor.ptr; /* the cursor names the last item of the previous page */
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	list_for_each(it, &thread->items, link) {
		if (is_on && is_terminal(it) && data.count == limit) {
			response.next_cursor = data.items[data.count - 1].item_id;
			break;
		}
		if (is_on && is_terminal(it))
			vec_push(&data, describe(it));
		is_on |= params->cursor.ptr && str_eq(params->cursor, it->id);
	}
	response.data = data.items;
	response.data_count = data.count;
	enum rpc_verdict verdict =
		is_on ? rpc_reply(request, &response)
		      : rpc_fail(request, APP_INVALID_REQUEST, "invalid cursor: %.*s", STR_ARG(params->cursor));
	vec_finish(&data);
	return verdict;
}

static bool parse_id(struct str text, int64_t *ret)
{
	*ret = 0;
	for (size_t i = 0; i < text.len; i++) {
		if (text.ptr[i] < '0' || text.ptr[i] > '9' || *ret > INT32_MAX)
			return false;
		*ret = *ret * 10 + (text.ptr[i] - '0');
	}
	return text.len && *ret <= INT32_MAX;
}

enum rpc_verdict
on_rpc_thread_background_terminals_terminate(struct rpc_request *request,
                                             const struct app_thread_background_terminals_terminate_params *params)
{
	int64_t id;
	struct app_thread_background_terminals_terminate_response response = {0};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (!parse_id(params->process_id, &id))
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "invalid background terminal process id: invalid digit found in string");
	response.terminated = id && codex_end_command(thread->codex, id);
	return rpc_reply(request, &response);
}

enum rpc_verdict
on_rpc_thread_background_terminals_clean(struct rpc_request *request,
                                         const struct app_thread_background_terminals_clean_params *params)
{
	struct app_thread_background_terminals_clean_response response = {0};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	codex_end_command(thread->codex, 0);
	return rpc_reply(request, &response);
}
