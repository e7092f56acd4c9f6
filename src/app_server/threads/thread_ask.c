/* Each question keeps what its answer needs and nothing of the event: the call's id for the engine, and whether the
 * item it belongs to has to be told as declined. */
#include "app_server/threads/thread_ask.h"

#include "app_server/rpc/server.h"
#include "app_server/history/item_view.h"
#include "app_server/threads/notify.h"
#include "app_server/rpc/rpc_ask.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_turn.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"

struct thread_ask {
	struct list link;
	struct thread *thread;
	int64_t id;
	enum app_server_request_tag tag;
	enum app_thread_active_flag flag;
	struct str call_id;
	struct str turn_id; /* of what is not an approval */
	struct arena arena; /* this, too, lives in it */
};

size_t thread_asks_flags(const struct thread *thread, enum app_thread_active_flag *ret)
{
	bool has[app_thread_active_flag_count] = {false};
	size_t count = 0;
	struct thread_ask *it;
	list_for_each(it, &thread->asks, link) {
		if (it->tag != ASK_item_tool_call)
			has[it->flag] = true;
	}
	for (int i = 0; i < app_thread_active_flag_count; i++) {
		if (has[i])
			ret[count++] = (enum app_thread_active_flag)i;
	}
	return count;
}

static struct thread_ask *ask_create(struct thread *thread, enum app_server_request_tag tag, struct str call_id)
{
	struct arena arena = {0};
	struct thread_ask *ask = arena_new(&arena, struct thread_ask);
	ask->arena = arena;
	ask->thread = thread;
	ask->tag = tag;
	ask->flag = app_thread_active_flag_waiting_on_approval;
	ask->call_id = arena_str(&ask->arena, call_id);
	list_append(&thread->asks, &ask->link);
	return ask;
}

static void ask_destroy(struct thread_ask *ask)
{
	list_remove(&ask->link);
	struct arena arena = ask->arena;
	arena_finish(&arena);
}

static void tell_resolved(struct thread *thread, const struct thread_ask *ask)
{
	char id[24];
	snprintf(id, sizeof(id), "%lld", (long long)ask->id);
	struct app_server_request_resolved_notification event = {str_of(thread->id), str_of(id)};
	if (app_server_requests[ask->tag].flags & RESOLVED)
		thread_notify(thread, NOTIFY_server_request_resolved, &event);
}

/* ---- answers ---- */

/* The event that ends the item follows; the item will say that the user ended it. */
static void decline_item(struct thread *thread, const struct thread_ask *ask)
{
	struct thread_item *item = thread_item_find(thread, ask->call_id);
	if (item)
		item->is_declined = true;
}

/* An amendment about a host says itself whether it is a yes. */
static bool denies_host(const struct app_command_execution_approval_decision *decision)
{
	auto_arena struct arena arena = {0};
	if (decision->tag != app_command_execution_approval_decision_apply_network_policy_amendment)
		return false;
	struct str text = decision->apply_network_policy_amendment->network__policy__amendment;
	return !str_is(json_get_str(json_parse(&arena, text, NULL), "action"), "allow");
}

static struct review_decision of_command(const struct app_command_execution_approval_decision *decision,
                                         struct exec_amendment *amendment)
{
	static const enum review_decision_tag tags[] = {
		[app_command_execution_approval_decision_accept] = review_decision_approved,
		[app_command_execution_approval_decision_accept_for_session] = review_decision_approved_for_session,
		[app_command_execution_approval_decision_accept_with_execpolicy_amendment] =
			review_decision_approved_execpolicy_amendment,
		[app_command_execution_approval_decision_apply_network_policy_amendment] = review_decision_approved,
		[app_command_execution_approval_decision_decline] = review_decision_denied,
		[app_command_execution_approval_decision_cancel] = review_decision_abort,
	};
	struct review_decision ret = {.tag = tags[decision->tag]};
	if (denies_host(decision))
		ret.tag = review_decision_denied;
	if (ret.tag == review_decision_approved_execpolicy_amendment) {
		const struct app_exec_policy_amendment *from = decision->accept_with_execpolicy_amendment;
		*amendment = (struct exec_amendment){from->execpolicy__amendment, from->execpolicy__amendment_count};
		ret.approved_execpolicy_amendment = amendment;
	}
	return ret;
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

/* In the engine's words; without a usable answer: no. */
static struct review_decision read_answer(const struct thread_ask *ask, const void *result,
                                          struct exec_amendment *amendment)
{
	const struct app_command_execution_request_approval_response *command = result;
	const struct app_file_change_request_approval_response *patch = result;
	const struct app_exec_command_approval_response *legacy = result; /* both legacy answers look the same */
	if (!result)
		return (struct review_decision){.tag = review_decision_denied};
	switch (ask->tag) {
	case ASK_item_command_execution_request_approval:
		return of_command(command->decision, amendment);
	case ASK_item_file_change_request_approval:
		return of_patch(patch->decision);
	default:
		return *legacy->decision;
	}
}

/* It is closed and waits no more; the question itself lives on for its answer. */
static void close_ask(struct thread *thread, struct thread_ask *ask)
{
	tell_resolved(thread, ask);
	list_remove(&ask->link);
	list_init(&ask->link);
	if (thread->turn)
		thread_notify_status(thread);
}

static bool answer_words(struct thread *thread, const struct thread_ask *ask,
                         const struct app_tool_request_user_input_response *answer)
{
	struct user_input_answers answers = {.answers = answer ? answer->answers : STR("{}")};
	return codex_answer(thread->codex, EV_request_user_input, ask->turn_id, &answers);
}

static bool answer_decision(struct thread *thread, const struct thread_ask *ask, const void *result)
{
	bool is_patch = ask->tag == ASK_item_file_change_request_approval || ask->tag == ASK_apply_patch_approval;
	enum event_tag asks = is_patch ? EV_apply_patch_approval_request : EV_exec_approval_request;
	struct exec_amendment amendment;
	struct review_decision decision = read_answer(ask, result, &amendment);
	if (!codex_answer(thread->codex, asks, ask->call_id, &decision))
		return false;
	if (decision.tag == review_decision_denied || decision.tag == review_decision_abort)
		decline_item(thread, ask);
	return true;
}

/* ---- answers of tools ---- */

static bool answer_failure(struct thread *thread, struct str call_id, const char *why)
{
	struct dynamic_tool_answer answer = {.output = str_of(why), .success = false};
	return codex_answer(thread->codex, EV_dynamic_tool_call_request, call_id, &answer);
}

static void write_items(const struct app_dynamic_tool_call_response *response, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_array(&w);
	for (size_t i = 0; i < response->content_items_count; i++)
		union_encode(&union_app_dynamic_tool_call_output_content_item, &response->content_items[i], &w);
	jw_array_end(&w);
}

static bool answer_result(struct thread *thread, const struct thread_ask *ask, enum rpc_ask_outcome outcome,
                          const struct app_dynamic_tool_call_response *response)
{
	auto_buf struct buf items;
	buf_init(&items, LIMIT_LINE);
	if (outcome != RPC_ASK_ANSWERED)
		return answer_failure(thread, ask->call_id,
		                      outcome == RPC_ASK_FAILED ? "dynamic tool request failed"
		                                                : "dynamic tool response was invalid");
	write_items(response, &items);
	struct dynamic_tool_answer answer = {.content_items = buf_str(&items), .success = response->success};
	return codex_answer(thread->codex, EV_dynamic_tool_call_request, ask->call_id, &answer);
}

static void drop(struct thread *thread, struct thread_ask *ask)
{
	rpc_ask_withdraw(&thread->server->asks, ask->id);
	ask_destroy(ask);
}

void thread_asks_forget_call(struct thread *thread, struct str call_id)
{
	struct thread_ask *it;
	list_for_each(it, &thread->asks, link) {
		if (it->tag == ASK_item_tool_call && str_eq(it->call_id, call_id))
			drop(thread, it);
	}
}

void thread_asks_abandon(struct thread *thread)
{
	struct thread_ask *it;
	list_for_each(it, &thread->asks, link) {
		if (it->tag != ASK_item_tool_call)
			continue;
		answer_failure(thread, it->call_id,
		               "No client that could carry out this tool is connected any more. Whether the call had "
		               "an effect is not known.");
		drop(thread, it);
	}
}

/* ---- all of them ---- */

static struct thread_ask *find(struct thread *thread, int64_t id)
{
	struct thread_ask *it;
	list_for_each(it, &thread->asks, link) {
		if (it->id == id)
			return it;
	}
	return NULL;
}

static bool give_answer(struct thread *thread, const struct thread_ask *ask, enum rpc_ask_outcome outcome,
                        const void *result)
{
	if (ask->tag == ASK_item_tool_call)
		return answer_result(thread, ask, outcome, result);
	if (ask->tag == ASK_item_tool_request_user_input)
		return answer_words(thread, ask, result);
	return answer_decision(thread, ask, result);
}

/* The engine no longer waits, and the event that says so withdraws the question: until then it is open. */
static bool on_answer(enum rpc_ask_outcome outcome, int64_t id, const void *result, void *self)
{
	struct thread *thread = self;
	struct thread_ask *ask = find(thread, id);
	if (!ask || !give_answer(thread, ask, outcome, result))
		return !ask;
	if (ask->tag != ASK_item_tool_call)
		close_ask(thread, ask);
	ask_destroy(ask);
	return true;
}

void thread_ask_expire(struct thread *thread, struct str call_id)
{
	struct thread_ask *it;
	list_for_each(it, &thread->asks, link) {
		if (it->tag != ASK_item_tool_request_user_input || !str_eq(it->call_id, call_id))
			continue;
		rpc_ask_withdraw(&thread->server->asks, it->id);
		close_ask(thread, it);
		ask_destroy(it);
	}
}

void thread_asks_withdraw(struct thread *thread)
{
	struct thread_ask *it;
	list_for_each(it, &thread->asks, link) {
		rpc_ask_withdraw(&thread->server->asks, it->id);
		tell_resolved(thread, it);
		ask_destroy(it);
	}
}

/* ---- questions ---- */

static bool is_legacy(const struct thread *thread)
{
	return thread->server->config->app_server.legacy_approvals;
}

static void put(struct thread_ask *ask, const void *params)
{
	struct thread *thread = ask->thread;
	ask->id = rpc_ask(&thread->server->asks, ask->tag, params, on_answer, thread);
	vec_for_each(it, &thread->watchers)
		rpc_ask_send(&thread->server->asks, ask->id, it->connection);
}

/* That such commands are allowed for good can be answered where there is a prefix to allow. */
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
	struct app_exec_policy_amendment *amendment = arena_new(arena, struct app_exec_policy_amendment);
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

static void put_command(struct thread_ask *ask, const struct ev_exec_approval *event)
{
	auto_arena struct arena arena = {0};
	struct app_command_execution_request_approval_params params = {
		.thread_id = str_of(ask->thread->id),
		.turn_id = event->turn_id,
		.item_id = event->call_id,
		.started_at_ms = clock_unix_ms(),
		.environment_id = STR("local"),
		.reason = event->reason,
		.command = item_view_command_text(event->command, event->command_count, &arena),
		.cwd = event->cwd,
		.command_actions = item_view_actions(event->parsed_cmd, event->parsed_cmd_count, event->cwd, &arena),
		.command_actions_count = event->parsed_cmd_count,
		.proposed_execpolicy_amendment = event->proposed_execpolicy_amendment,
		.proposed_execpolicy_amendment_count = event->proposed_execpolicy_amendment_count,
	};
	params.available_decisions_count = list_decisions(event, &arena, &params.available_decisions);
	put(ask, &params);
}

static void put_legacy_command(struct thread_ask *ask, const struct ev_exec_approval *event)
{
	struct app_exec_command_approval_params params = {
		.conversation_id = str_of(ask->thread->id),
		.call_id = event->call_id,
		.command = event->command,
		.command_count = event->command_count,
		.cwd = event->cwd,
		.reason = event->reason,
		.parsed_cmd = event->parsed_cmd,
		.parsed_cmd_count = event->parsed_cmd_count,
	};
	put(ask, &params);
}

void thread_ask_command(struct thread *thread, const struct ev_exec_approval *event)
{
	bool old = is_legacy(thread);
	struct thread_ask *ask = ask_create(
		thread, old ? ASK_exec_command_approval : ASK_item_command_execution_request_approval, event->call_id);
	thread_notify_status(thread);
	(old ? put_legacy_command : put_command)(ask, event);
}

static void put_patch(struct thread_ask *ask, const struct ev_patch_approval *event)
{
	struct app_file_change_request_approval_params params = {
		.thread_id = str_of(ask->thread->id),
		.turn_id = event->turn_id,
		.item_id = event->call_id,
		.started_at_ms = clock_unix_ms(),
		.reason = event->reason,
		.grant_root = event->grant_root,
	};
	put(ask, &params);
}

static void put_legacy_patch(struct thread_ask *ask, const struct ev_patch_approval *event)
{
	struct app_apply_patch_approval_params params = {
		.conversation_id = str_of(ask->thread->id),
		.call_id = event->call_id,
		.file_changes_keys = event->changes_keys,
		.file_changes = event->changes,
		.file_changes_count = event->changes_count,
		.reason = event->reason,
		.grant_root = event->grant_root,
	};
	put(ask, &params);
}

void thread_ask_patch(struct thread *thread, const struct ev_patch_approval *event)
{
	bool old = is_legacy(thread);
	struct thread_ask *ask = ask_create(
		thread, old ? ASK_apply_patch_approval : ASK_item_file_change_request_approval, event->call_id);
	thread_notify_status(thread);
	(old ? put_legacy_patch : put_patch)(ask, event);
}

/* ---- what the model wants to know ---- */

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

void thread_ask_question(struct thread *thread, const struct ev_request_user_input *event)
{
	auto_arena struct arena arena = {0};
	struct thread_ask *ask = ask_create(thread, ASK_item_tool_request_user_input, event->call_id);
	struct app_tool_request_user_input_params params = {
		.thread_id = str_of(thread->id),
		.turn_id = event->turn_id,
		.item_id = event->call_id,
		.questions = copy_questions(event, &arena),
		.questions_count = event->questions_count,
		.is_blocking = true,
		.has_auto_resolution_ms = event->has_auto_resolution_ms,
		.auto_resolution_ms = event->auto_resolution_ms,
	};
	ask->flag = app_thread_active_flag_waiting_on_user_input;
	ask->turn_id = arena_str(&ask->arena, event->turn_id);
	thread_notify_status(thread);
	put(ask, &params);
}

/* ---- tools of the client ---- */

void thread_ask_tool(struct thread *thread, const struct ev_dynamic_tool_call *event)
{
	struct thread_ask *ask = ask_create(thread, ASK_item_tool_call, event->callId);
	struct app_dynamic_tool_call_params params = {
		.thread_id = str_of(thread->id),
		.turn_id = event->turnId,
		.call_id = event->callId,
		.namespace = event->namespace,
		.tool = event->tool,
		.arguments = event->arguments,
	};
	put(ask, &params);
	if (!thread->watchers.count)
		thread_asks_abandon(thread);
}
