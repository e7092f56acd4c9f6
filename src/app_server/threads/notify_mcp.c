/* MCP servers: their start, and calls of their tools. The engine has separate begin and end events for calls; clients
 * get items. */
#include "app_server/history/item_view.h"
#include "app_server/threads/notify_handlers.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_ask.h"
#include "app_server/threads/thread_items.h"
#include "base/json.h"

/* ---- the start ---- */

/* True if the text of a failure asks the user to log in. */
static bool needs_login(struct str failure)
{
	return str_find(failure, STR("is not logged in. Run `codex mcp login")) >= 0;
}

void on_event_mcp_startup_update(struct thread *thread, const struct event *event)
{
	static const enum app_mcp_server_startup_state states[] = {
		[mcp_startup_status_starting] = app_mcp_server_startup_state_starting,
		[mcp_startup_status_ready] = app_mcp_server_startup_state_ready,
		[mcp_startup_status_failed] = app_mcp_server_startup_state_failed,
		[mcp_startup_status_cancelled] = app_mcp_server_startup_state_cancelled,
	};
	const struct ev_mcp_startup_update *body = event->msg.mcp_startup_update;
	bool has_failed = body->status->tag == mcp_startup_status_failed;
	struct app_mcp_server_status_updated_notification update = {
		.thread_id = str_of(thread->id),
		.name = body->server,
		.status = states[body->status->tag],
		.error = has_failed ? body->status->failed->error : STR_NONE,
	};
	update.has_failure_reason = has_failed && needs_login(update.error);
	update.failure_reason = app_mcp_server_startup_failure_reason_reauthentication_required;
	thread_notify(thread, NOTIFY_mcp_server_startup_status_updated, &update);
}

/* ---- calls ---- */

static struct app_thread_item_mcp_tool_call *call_of(struct str id, const struct mcp_invocation *invocation,
                                                     struct arena *arena)
{
	struct app_thread_item_mcp_tool_call *call = arena_new(arena, struct app_thread_item_mcp_tool_call);
	*call = (struct app_thread_item_mcp_tool_call){
		.id = id,
		.server = invocation->server,
		.tool = invocation->tool,
		.arguments = invocation->arguments.ptr ? invocation->arguments : STR("null"),
		.status = app_mcp_tool_call_status_in_progress,
	};
	return call;
}

void on_event_mcp_tool_call_begin(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_mcp_call_begin *body = event->msg.mcp_tool_call_begin;
	struct app_thread_item item = {.tag = app_thread_item_mcp_tool_call,
	                               .mcp_tool_call = call_of(body->call_id, body->invocation, &arena)};
	thread_item_start(thread, event->id, &item);
}

void on_event_mcp_tool_call_progress(struct thread *thread, const struct event *event)
{
	const struct ev_mcp_call_progress *body = event->msg.mcp_tool_call_progress;
	struct app_mcp_tool_call_progress_notification progress = {
		.thread_id = str_of(thread->id),
		.turn_id = event->id,
		.item_id = body->call_id,
		.message = body->message,
	};
	thread_notify(thread, NOTIFY_item_mcp_tool_call_progress, &progress);
}

void on_event_mcp_tool_call_end(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_mcp_call_end *body = event->msg.mcp_tool_call_end;
	struct app_thread_item_mcp_tool_call *call = call_of(body->call_id, body->invocation, &arena);
	struct app_thread_item item = {.tag = app_thread_item_mcp_tool_call, .mcp_tool_call = call};
	call->has_duration_ms = true;
	call->duration_ms = body->duration->secs * 1000 + body->duration->nanos / 1000000;
	if (body->result->tag == mcp_result_ok)
		item_view_mcp_answer(call, json_parse(&arena, body->result->ok->answer, NULL), &arena);
	else
		item_view_mcp_error(call, body->result->err->reason, &arena);
	thread_asks_forget_elicitations(thread, body->call_id);
	thread_item_complete(thread, event->id, &item);
}

void on_event_elicitation_request(struct thread *thread, const struct event *event)
{
	thread_ask_elicitation(thread, event->msg.elicitation_request);
}
