/* The automatic reviewer of approvals: its reviews as notifications, approval by hand of what it denied, and the review
 * of a call that a client has injected. */
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/notify_handlers.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_items.h"
#include "app_server/threads/thread_unload.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/codex/codex.h"

/* The enums of both protocols have the same order. */
_Static_assert((int)guardian_status_count == (int)app_guardian_approval_review_status_count, "states of reviews");
_Static_assert((int)guardian_risk_level_count == (int)app_guardian_risk_level_count, "levels of risk");
_Static_assert((int)guardian_user_authorization_count == (int)app_guardian_user_authorization_count, "authorizations");
_Static_assert((int)guardian_source_count == (int)app_guardian_command_source_count, "sources of commands");

/* ---- notifications ---- */

void on_event_guardian_warning(struct thread *thread, const struct event *event)
{
	struct app_guardian_warning_notification warning = {
		.message = event->msg.guardian_warning->message,
		.thread_id = str_of(thread->id),
	};
	thread_notify(thread, NOTIFY_guardian_warning, &warning);
}

static struct str files_of(const struct guardian_action_patch *patch, struct arena *arena)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	struct json_writer w = json_writer(&text);
	jw_array(&w);
	for (size_t i = 0; i < patch->files_count; i++)
		jw_str(&w, patch->files[i]);
	jw_array_end(&w);
	return text.over ? STR("[]") : arena_str(arena, buf_str(&text));
}

static struct app_guardian_approval_review_action *action_of(const struct guardian_action *action, struct arena *arena)
{
	struct app_guardian_approval_review_action *ret = arena_new(arena, struct app_guardian_approval_review_action);
	if (action->tag == guardian_action_command) {
		ret->tag = app_guardian_approval_review_action_command;
		ret->command = arena_new(arena, struct app_guardian_approval_review_action_command);
		ret->command->command = action->command->command;
		ret->command->cwd = action->command->cwd;
		ret->command->source = (enum app_guardian_command_source)action->command->source;
	} else if (action->tag == guardian_action_apply_patch) {
		ret->tag = app_guardian_approval_review_action_apply_patch;
		ret->apply_patch = arena_new(arena, struct app_guardian_approval_review_action_apply_patch);
		ret->apply_patch->cwd = action->apply_patch->cwd;
		ret->apply_patch->files = files_of(action->apply_patch, arena);
	} else {
		ret->tag = app_guardian_approval_review_action_mcp_tool_call;
		ret->mcp_tool_call = arena_new(arena, struct app_guardian_approval_review_action_mcp_tool_call);
		ret->mcp_tool_call->server = action->mcp_tool_call->server;
		ret->mcp_tool_call->tool_name = action->mcp_tool_call->tool_name;
		ret->mcp_tool_call->tool_title = action->mcp_tool_call->tool_title;
	}
	return ret;
}

void on_event_guardian_assessment(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_guardian_assessment *body = event->msg.guardian_assessment;
	struct app_guardian_approval_review review = {
		.status = (enum app_guardian_approval_review_status)body->status,
		.rationale = body->rationale,
		.has_risk_level = body->has_risk_level,
		.risk_level = (enum app_guardian_risk_level)body->risk_level,
		.has_user_authorization = body->has_user_authorization,
		.user_authorization = (enum app_guardian_user_authorization)body->user_authorization,
	};
	struct app_item_guardian_approval_review_started_notification started = {
		.thread_id = str_of(thread->id),
		.action = action_of(body->action, &arena),
		.review = &review,
		.review_id = body->id,
		.started_at_ms = body->started_at_ms,
		.turn_id = body->turn_id,
		.target_item_id = body->target_item_id,
	};
	if (body->status == guardian_status_in_progress) {
		thread_notify(thread, NOTIFY_item_auto_approval_review_started, &started);
		return;
	}
	struct app_item_guardian_approval_review_completed_notification completed = {
		.thread_id = started.thread_id,
		.action = started.action,
		.completed_at_ms = body->completed_at_ms,
		.decision_source = app_auto_review_decision_source_agent,
		.review = &review,
		.review_id = body->id,
		.started_at_ms = body->started_at_ms,
		.turn_id = body->turn_id,
		.target_item_id = body->target_item_id,
	};
	struct thread_item *item = thread_item_find(thread, body->target_item_id);
	if (item) /* an event that completes the item follows */
		item->is_declined |=
			body->status == guardian_status_denied || body->status == guardian_status_timed_out;
	thread_notify(thread, NOTIFY_item_auto_approval_review_completed, &completed);
}

/* ---- approval by hand ---- */

enum rpc_verdict
on_rpc_thread_approve_guardian_denied_action(struct rpc_request *request,
                                             const struct app_thread_approve_guardian_denied_action_params *params)
{
	struct error err;
	struct ev_guardian_assessment denied = {0};
	struct app_thread_approve_guardian_denied_action_response response = {0};
	struct op_approve_guardian_denied_action approve = {&denied};
	struct op op = {.tag = OP_approve_guardian_denied_action, .approve_guardian_denied_action = &approve};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	const struct json *event = json_parse(&request->arena, params->event, NULL);
	if (record_decode(&record_ev_guardian_assessment, event, &request->arena, &denied, &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "invalid Guardian denial event: %s", err.text);
	if (codex_submit_op(thread->codex, STR("approve"), &op, &err) != 0)
		return rpc_fail_submit(request, &err);
	return rpc_reply(request, &response);
}

/* ---- the review of an injected call ---- */

static void on_done(const struct ev_guardian_assessment *found, struct str call_id, const struct error *err, void *self)
{
	struct rpc_request *request = self;
	struct app_thread_guardian_assessment view;
	struct app_thread_guardian_review_response response = {.call_id = call_id};
	if (err) {
		rpc_fail(request, APP_INTERNAL_ERROR, "%s", err->text);
		return;
	}
	if (found) {
		view = (struct app_thread_guardian_assessment){
			.outcome = found->status == guardian_status_approved ? app_guardian_assessment_outcome_allow
		                                                             : app_guardian_assessment_outcome_deny,
			.rationale = found->rationale,
			.risk_level = (enum app_guardian_risk_level)found->risk_level,
			.user_authorization = (enum app_guardian_user_authorization)found->user_authorization,
		};
		response.assessment = &view;
	}
	rpc_reply(request, &response);
}

static void on_cancel(struct rpc_request *request)
{
	codex_inquiry_cancel(request->self);
}

enum rpc_verdict on_rpc_thread_guardian_review(struct rpc_request *request,
                                               const struct app_thread_guardian_review_params *params)
{
	struct error err;
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	struct guardian_inquiry *inquiry = codex_inquire(thread->codex, on_done, request, &err);
	if (inquiry)
		subscribers_add(thread, request->connection);
	return inquiry ? rpc_wait(request, on_cancel, inquiry) : rpc_fail_submit(request, &err);
}
