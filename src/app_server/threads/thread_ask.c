/* Converts the engine's events to requests, and the clients' results to the engine's answers. It keeps no list: the
 * engine knows what is pending (engine/session/session.h), rpc_ask.h the frames and clients. */
#include "app_server/threads/thread_ask.h"

#include "app_server/rpc/server.h"
#include "app_server/history/item_view.h"
#include "app_server/rpc/rpc_ask.h"
#include "app_server/threads/notify_handlers.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_elicit.h"
#include "app_server/threads/thread_items.h"
#include "app_server/threads/thread_policy.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "remote/environment.h"

/* Returns the event of the engine that corresponds to this request. */
static enum event_tag event_of(const struct rpc_ask *ask)
{
	switch (ask->tag) {
	case ASK_item_file_change_request_approval:
	case ASK_apply_patch_approval:
		return EV_apply_patch_approval_request;
	case ASK_item_tool_request_user_input:
		return EV_request_user_input;
	case ASK_item_tool_call:
		return EV_dynamic_tool_call_request;
	case ASK_mcp_server_elicitation_request:
	case ASK_item_permissions_request_approval:
		return EV_elicitation_request;
	default:
		return EV_exec_approval_request;
	}
}

static struct rpc_ask *next_ask(const struct thread *thread, const struct rpc_ask *ask)
{
	return rpc_asks_next(&thread->server->asks, thread, ask);
}

static struct rpc_ask *find_ask(const struct thread *thread, enum app_server_request_tag tag, struct str call_id)
{
	struct rpc_ask *ask = NULL;
	while ((ask = next_ask(thread, ask)) && (ask->tag != tag || !str_eq(call_id, ask->key)))
		continue;
	return ask;
}

static void notify_resolved(struct thread *thread, const struct rpc_ask *ask)
{
	char id[24];
	snprintf(id, sizeof(id), "%lld", (long long)ask->id);
	struct app_server_request_resolved_notification event = {str_of(thread->id), str_of(id)};
	thread_withdraw_attached(thread, ask->key);
	if (app_server_requests[ask->tag].flags & RESOLVED)
		thread_notify(thread, NOTIFY_server_request_resolved, &event);
}

/* ---- answers ---- */

/* Records that the user has declined. The item's status becomes `declined` with the event that completes it. */
static void decline_item(struct thread *thread, const struct rpc_ask *ask)
{
	struct thread_item *item = thread_item_find(thread, ask->key);
	if (item)
		item->is_declined = true;
}

static struct review_decision of_patch(enum app_file_change_approval_decision decision)
{
	static const enum review_decision_tag tags[] = {
		[app_file_change_approval_decision_accept] = review_decision_approved,
		[app_file_change_approval_decision_accept_for_session] = review_decision_approved_for_session,
		[app_file_change_approval_decision_decline] = review_decision_denied,
		[app_file_change_approval_decision_cancel] = review_decision_abort,
	};
	return (struct review_decision){.tag = tags[decision]};
}

/* Reads the decision; an unusable answer is a denial. */
static struct review_decision read_answer(const struct rpc_ask *ask, const void *result,
                                          struct exec_amendment *amendment)
{
	const struct app_command_execution_request_approval_response *command = result;
	const struct app_file_change_request_approval_response *patch = result;
	const struct app_exec_command_approval_response *legacy = result; /* both legacy answers have the same form */
	if (!result)
		return (struct review_decision){.tag = review_decision_denied};
	switch (ask->tag) {
	case ASK_item_command_execution_request_approval:
		return policy_decision(command->decision, amendment);
	case ASK_item_file_change_request_approval:
		return of_patch(patch->decision);
	default:
		return *legacy->decision;
	}
}

static bool answer_engine(struct thread *thread, const struct rpc_ask *ask, const void *answer)
{
	return codex_answer(thread->codex, event_of(ask), ask->key, answer);
}

static bool answer_decision(struct thread *thread, const struct rpc_ask *ask, const void *result)
{
	struct exec_amendment amendment;
	struct review_decision decision = read_answer(ask, result, &amendment);
	if (!answer_engine(thread, ask, &decision))
		return false;
	if (decision.tag == review_decision_denied || decision.tag == review_decision_abort)
		decline_item(thread, ask);
	return true;
}

static bool answer_question(struct thread *thread, const struct rpc_ask *ask,
                            const struct app_tool_request_user_input_response *response)
{
	struct user_input_answers answers = {.answers = response ? response->answers : STR("{}")};
	return answer_engine(thread, ask, &answers);
}

static bool answer_failure(struct thread *thread, const struct rpc_ask *ask, const char *why)
{
	struct dynamic_tool_answer answer = {.output = str_of(why), .success = false};
	return answer_engine(thread, ask, &answer);
}

static void write_items(const struct app_dynamic_tool_call_response *response, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_array(&w);
	for (size_t i = 0; i < response->content_items_count; i++)
		union_encode(&union_app_dynamic_tool_call_output_content_item, &response->content_items[i], &w);
	jw_array_end(&w);
}

static bool answer_tool(struct thread *thread, const struct rpc_ask *ask, enum rpc_ask_outcome outcome,
                        const struct app_dynamic_tool_call_response *response)
{
	auto_buf struct buf items;
	buf_init(&items, LIMIT_LINE);
	if (outcome == RPC_ASK_FAILED)
		return answer_failure(thread, ask, "dynamic tool request failed");
	if (outcome == RPC_ASK_INVALID)
		return answer_failure(thread, ask, "dynamic tool response was invalid");
	write_items(response, &items);
	struct dynamic_tool_answer answer = {.content_items = buf_str(&items), .success = response->success};
	return answer_engine(thread, ask, &answer);
}

/* Passes the answer to the engine. False if the engine does not have the request any more; the event that ended it
 * withdraws this one. */
static bool on_answer(const struct rpc_ask *ask, enum rpc_ask_outcome outcome, const void *result)
{
	struct thread *thread = ask->owner;
	if (ask->tag == ASK_item_tool_call)
		return answer_tool(thread, ask, outcome, result);
	bool is_taken = ask->tag == ASK_item_tool_request_user_input ? answer_question(thread, ask, result)
	                : thread_elicit_is(ask)                      ? thread_elicit_answer(thread, ask, result)
	                                                             : answer_decision(thread, ask, result);
	if (!is_taken)
		return false;
	notify_resolved(thread, ask);
	if (thread->turn)
		thread_notify_status(thread);
	return true;
}

/* ---- ends without an answer ---- */

void thread_asks_forget_call(struct thread *thread, struct str call_id)
{
	struct rpc_ask *ask = find_ask(thread, ASK_item_tool_call, call_id);
	if (ask)
		rpc_ask_withdraw(ask);
}

/* The key of an elicitation is the id of its call, or that id, a colon and a number. */
static bool is_about_call(struct str key, struct str call_id)
{
	return key.len >= call_id.len && memcmp(key.ptr, call_id.ptr, call_id.len) == 0 &&
	       (key.len == call_id.len || key.ptr[call_id.len] == ':');
}

void thread_asks_forget_elicitations(struct thread *thread, struct str call_id)
{
	for (struct rpc_ask *next = next_ask(thread, NULL), *ask; (ask = next);) {
		next = next_ask(thread, ask);
		if (ask->tag != ASK_mcp_server_elicitation_request || !is_about_call(ask->key, call_id))
			continue;
		notify_resolved(thread, ask);
		rpc_ask_withdraw(ask);
	}
}

void thread_asks_abandon(struct thread *thread)
{
	for (struct rpc_ask *next = next_ask(thread, NULL), *ask; (ask = next);) {
		next = next_ask(thread, ask);
		if (ask->tag != ASK_item_tool_call)
			continue;
		answer_failure(thread, ask,
		               "No client that could carry out this tool is connected any more. Whether the call had "
		               "an effect is not known.");
		rpc_ask_withdraw(ask);
	}
}

/* Closes the oldest request with this id, as the engine does; STR_NONE: all. */
static bool close_asks(struct thread *thread, struct str request)
{
	bool has_any = false;
	for (struct rpc_ask *next = next_ask(thread, NULL), *ask; (ask = next);) {
		next = next_ask(thread, ask);
		if (request.ptr && (ask->tag == ASK_item_tool_call || !str_eq(ask->key, request)))
			continue;
		notify_resolved(thread, ask);
		rpc_ask_withdraw(ask);
		has_any = true;
		if (request.ptr)
			break;
	}
	return has_any;
}

void thread_asks_forget(struct thread *thread, struct str request)
{
	if (close_asks(thread, request) && thread->turn)
		thread_notify_status(thread);
}

/* Called when the request has timed out in the engine. */
void on_event_request_user_input_expired(struct thread *thread, const struct event *event)
{
	thread_asks_forget(thread, event->msg.request_user_input_expired->call_id);
}

void thread_asks_withdraw(struct thread *thread)
{
	close_asks(thread, STR_NONE);
}

/* ---- requests ---- */

static bool is_legacy(const struct thread *thread)
{
	return thread->server->config->app_server.legacy_approvals;
}

static void put(struct thread *thread, enum app_server_request_tag tag, struct str call_id, const void *params)
{
	const struct rpc_ask_options options = {
		.tag = tag,
		.params = params,
		.owner = thread,
		.key = call_id,
		.on_answer = on_answer,
	};
	struct rpc_ask *ask = rpc_ask_open(&thread->server->asks, &options);
	if (tag != ASK_item_tool_call)
		thread_notify_status(thread);
	vec_for_each(it, &thread->subscribers)
		rpc_ask_send(ask, it->connection);
}

/* Lists the decisions. Allowing such commands permanently is offered only with a prefix to allow. */
static size_t list_decisions(const struct ev_exec_approval *event, struct arena *arena,
                             struct app_command_execution_approval_decision **ret)
{
	static const enum app_command_execution_approval_decision_tag tags[] = {
		app_command_execution_approval_decision_accept,
		app_command_execution_approval_decision_accept_for_session,
		app_command_execution_approval_decision_accept_with_execpolicy_amendment,
		app_command_execution_approval_decision_decline,
		app_command_execution_approval_decision_cancel,
	};
	struct app_exec_policy_change *amendment = arena_new(arena, struct app_exec_policy_change);
	size_t count = 0;
	amendment->execpolicy__amendment = event->proposed_execpolicy_amendment;
	amendment->execpolicy__amendment_count = event->proposed_execpolicy_amendment_count;
	*ret = arena_array(arena, struct app_command_execution_approval_decision, countof(tags));
	for (size_t i = 0; i < countof(tags); i++) {
		bool is_amendment = tags[i] == app_command_execution_approval_decision_accept_with_execpolicy_amendment;
		if (is_amendment && !amendment->execpolicy__amendment_count)
			continue;
		(*ret)[count].tag = tags[i];
		(*ret)[count++].body = is_amendment ? amendment : NULL;
	}
	return count;
}

static void put_command(struct thread *thread, const struct ev_exec_approval *event)
{
	auto_arena struct arena arena = {0};
	struct app_command_execution_request_approval_params params = {
		.thread_id = str_of(thread->id),
		.turn_id = event->turn_id,
		.item_id = event->call_id,
		.started_at_ms = clock_unix_ms(),
		.environment_id = event->environment_id.ptr ? event->environment_id : STR(ENVIRONMENT_LOCAL),
		.reason = event->reason,
		.command = item_view_command_text(event->command, event->command_count, &arena),
		.cwd = event->cwd,
		.command_actions = item_view_actions(event->parsed_cmd, event->parsed_cmd_count, event->cwd, &arena),
		.command_actions_count = event->parsed_cmd_count,
		.proposed_execpolicy_amendment = event->proposed_execpolicy_amendment,
		.proposed_execpolicy_amendment_count = event->proposed_execpolicy_amendment_count,
	};
	params.available_decisions_count = list_decisions(event, &arena, &params.available_decisions);
	put(thread, ASK_item_command_execution_request_approval, event->call_id, &params);
}

static void put_legacy_command(struct thread *thread, const struct ev_exec_approval *event)
{
	struct app_exec_command_approval_params params = {
		.conversation_id = str_of(thread->id),
		.call_id = event->call_id,
		.command = event->command,
		.command_count = event->command_count,
		.cwd = event->cwd,
		.reason = event->reason,
		.parsed_cmd = event->parsed_cmd,
		.parsed_cmd_count = event->parsed_cmd_count,
	};
	put(thread, ASK_exec_command_approval, event->call_id, &params);
}

void on_event_exec_approval_request(struct thread *thread, const struct event *event)
{
	const struct ev_exec_approval *body = event->msg.exec_approval_request;
	if (is_legacy(thread))
		put_legacy_command(thread, body);
	else
		put_command(thread, body);
}

static void put_patch(struct thread *thread, const struct ev_patch_approval *event)
{
	struct app_file_change_request_approval_params params = {
		.thread_id = str_of(thread->id),
		.turn_id = event->turn_id,
		.item_id = event->call_id,
		.started_at_ms = clock_unix_ms(),
		.reason = event->reason,
		.grant_root = event->grant_root,
	};
	put(thread, ASK_item_file_change_request_approval, event->call_id, &params);
}

static void put_legacy_patch(struct thread *thread, const struct ev_patch_approval *event)
{
	struct app_apply_patch_approval_params params = {
		.conversation_id = str_of(thread->id),
		.call_id = event->call_id,
		.file_changes_keys = event->changes_keys,
		.file_changes = event->changes,
		.file_changes_count = event->changes_count,
		.reason = event->reason,
		.grant_root = event->grant_root,
	};
	put(thread, ASK_apply_patch_approval, event->call_id, &params);
}

void thread_ask_patch(struct thread *thread, const struct ev_patch_approval *event)
{
	if (is_legacy(thread))
		put_legacy_patch(thread, event);
	else
		put_patch(thread, event);
}

static struct app_tool_request_user_input_question *copy_questions(const struct ev_request_user_input *event,
                                                                   struct arena *arena)
{
	struct app_tool_request_user_input_question *to =
		arena_array(arena, struct app_tool_request_user_input_question, event->questions_count);
	for (size_t i = 0; i < event->questions_count; i++) {
		const struct user_input_question *from = &event->questions[i];
		to[i] = (struct app_tool_request_user_input_question){
			.id = from->id,
			.header = from->header,
			.question = from->question,
			.is_other = from->isOther,
			.is_secret = from->isSecret,
			.options_count = from->options_count,
			.options = arena_array(arena, struct app_tool_request_user_input_option, from->options_count),
		};
		for (size_t n = 0; n < from->options_count; n++)
			to[i].options[n] = (struct app_tool_request_user_input_option){from->options[n].label,
			                                                               from->options[n].description};
	}
	return to;
}

/* Without a usable answer, the model gets an empty one. */
void on_event_request_user_input(struct thread *thread, const struct event *event)
{
	const struct ev_request_user_input *body = event->msg.request_user_input;
	auto_arena struct arena arena = {0};
	struct app_tool_request_user_input_params params = {
		.thread_id = str_of(thread->id),
		.turn_id = body->turn_id,
		.item_id = body->call_id,
		.questions = copy_questions(body, &arena),
		.questions_count = body->questions_count,
		.is_blocking = true,
		.has_auto_resolution_ms = body->has_auto_resolution_ms,
		.auto_resolution_ms = body->auto_resolution_ms,
	};
	put(thread, ASK_item_tool_request_user_input, body->call_id, &params);
}

void thread_ask_tool(struct thread *thread, const struct ev_dynamic_tool_call *event)
{
	struct app_dynamic_tool_call_params params = {
		.thread_id = str_of(thread->id),
		.turn_id = event->turnId,
		.call_id = event->callId,
		.namespace = event->namespace,
		.tool = event->tool,
		.arguments = event->arguments,
	};
	put(thread, ASK_item_tool_call, event->callId, &params);
	if (!thread->subscribers.count)
		thread_asks_abandon(thread);
}

void thread_ask_elicitation(struct thread *thread, const struct ev_elicitation_request *event)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf json;
	struct elicit_request request;
	buf_init(&json, LIMIT_LINE);
	thread_elicit_describe(thread, event, &arena, &json, &request);
	put(thread, request.tag, request.id, request.params);
}
