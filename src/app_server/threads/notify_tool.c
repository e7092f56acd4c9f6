/* Commands, patches and client tools. The engine has separate begin and end events for them; clients get items. */
#include <stdio.h>

#include "app_server/threads/notify_handlers.h"
#include "app_server/history/item_view.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_items.h"
#include "app_server/threads/thread_ask.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "command/shell.h"

/* ---- commands ---- */

static enum app_command_execution_source source_of(enum exec_source source)
{
	static const enum app_command_execution_source sources[] = {
		[exec_source_agent] = app_command_execution_source_agent,
		[exec_source_user_shell] = app_command_execution_source_user_shell,
		[exec_source_unified_exec_startup] = app_command_execution_source_unified_exec_startup,
		[exec_source_unified_exec_interaction] = app_command_execution_source_unified_exec_interaction,
	};
	return sources[source];
}

void on_event_exec_command_begin(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_exec_begin *body = event->msg.exec_command_begin;
	struct app_item_command_execution command = {
		.id = body->call_id,
		.command = item_view_command_text(body->command, body->command_count, &arena),
		.cwd = body->cwd,
		.process_id = body->process_id,
		.source = source_of(body->source),
		.status = app_command_execution_status_in_progress,
		.command_actions = item_view_actions(body->parsed_cmd, body->parsed_cmd_count, body->cwd, &arena),
		.command_actions_count = body->parsed_cmd_count,
	};
	struct app_thread_item item = {.tag = app_thread_item_command_execution, .command_execution = &command};
	thread_item_start(thread, body->turn_id, &item);
}

/* Sends output. A chunk may end inside a character, whose bytes are kept for the next chunk. */
static void notify_output(struct thread *thread, struct thread_item *item, struct str bytes)
{
	auto_buf struct buf text;
	buf_append_str(&item->text, bytes);
	struct str all = buf_str(&item->text);
	size_t whole = text_utf8_whole(all);
	buf_init(&text, LIMIT_EXEC_CHUNK * 4);
	text_append_utf8_lossy(&text, str_n(all.ptr, whole));
	buf_consume(&item->text, whole);
	struct app_command_execution_output_delta_notification delta = {str_of(thread->id), item->turn_id, item->id,
	                                                                buf_str(&text)};
	if (text.len)
		thread_notify(thread, NOTIFY_item_command_execution_output_delta, &delta);
}

void on_event_exec_command_output_delta(struct thread *thread, const struct event *event)
{
	auto_buf struct buf bytes;
	const struct ev_exec_output *body = event->msg.exec_command_output_delta;
	struct thread_item *item = thread_item_find(thread, body->call_id);
	buf_init(&bytes, LIMIT_EXEC_CHUNK * 2);
	if (item && text_base64_decode(&bytes, body->chunk))
		notify_output(thread, item, buf_str(&bytes));
}

static enum app_command_execution_status command_status(const struct thread_item *item, int64_t exit_code)
{
	if (item && item->is_declined)
		return app_command_execution_status_declined;
	return exit_code == 0 ? app_command_execution_status_completed : app_command_execution_status_failed;
}

void on_event_exec_command_end(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_exec_end *body = event->msg.exec_command_end;
	enum app_command_execution_status status =
		command_status(thread_item_find(thread, body->call_id), body->exit_code);
	/* of one that has run, a second run outside the sandbox was declined */
	bool has_run = status != app_command_execution_status_declined || body->exit_code >= 0;
	struct app_item_command_execution command = {
		.id = body->call_id,
		.command = item_view_command_text(body->command, body->command_count, &arena),
		.cwd = body->cwd,
		.process_id = has_run ? body->process_id : STR_NONE,
		.source = has_run ? source_of(body->source) : app_command_execution_source_agent,
		.status = status,
		.command_actions = item_view_actions(body->parsed_cmd, body->parsed_cmd_count, body->cwd, &arena),
		.command_actions_count = body->parsed_cmd_count,
		.aggregated_output = has_run && body->aggregated_output.len ? body->aggregated_output : STR_NONE,
		.has_exit_code = has_run,
		.exit_code = body->exit_code,
		.has_duration_ms = has_run,
		.duration_ms = body->duration->secs * 1000 + body->duration->nanos / 1000000,
	};
	struct app_thread_item item = {.tag = app_thread_item_command_execution, .command_execution = &command};
	thread_item_complete(thread, body->turn_id, &item);
}

void on_event_terminal_interaction(struct thread *thread, const struct event *event)
{
	const struct ev_terminal_interaction *body = event->msg.terminal_interaction;
	struct app_terminal_interaction_notification interaction = {str_of(thread->id), event->id, body->call_id,
	                                                            body->process_id, body->standard_input};
	thread_notify(thread, NOTIFY_item_command_execution_terminal_interaction, &interaction);
}

/* ---- patches ---- */

static void start_patch(struct thread *thread, struct str turn_id, struct app_item_file_change *change)
{
	struct app_thread_item item = {.tag = app_thread_item_file_change, .file_change = change};
	if (!thread_item_find(thread, change->id))
		thread_item_start(thread, turn_id, &item);
}

void on_event_apply_patch_approval_request(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_patch_approval *body = event->msg.apply_patch_approval_request;
	start_patch(
		thread, body->turn_id,
		item_view_file_change(body->call_id, body->changes_keys, body->changes, body->changes_count, &arena));
	thread_ask_patch(thread, body);
}

void on_event_patch_apply_updated(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_patch_updated *body = event->msg.patch_apply_updated;
	struct app_item_file_change *change =
		item_view_file_change(body->call_id, body->changes_keys, body->changes, body->changes_count, &arena);
	struct app_file_change_patch_updated_notification update = {
		.thread_id = str_of(thread->id),
		.turn_id = body->turn_id,
		.item_id = body->call_id,
		.changes = change->changes,
		.changes_count = change->changes_count,
	};
	thread_notify(thread, NOTIFY_item_file_change_patch_updated, &update);
}

void on_event_patch_apply_begin(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_patch_begin *body = event->msg.patch_apply_begin;
	start_patch(
		thread, body->turn_id,
		item_view_file_change(body->call_id, body->changes_keys, body->changes, body->changes_count, &arena));
}

void on_event_patch_apply_end(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_patch_end *body = event->msg.patch_apply_end;
	struct app_item_file_change *change =
		item_view_file_change(body->call_id, body->changes_keys, body->changes, body->changes_count, &arena);
	const struct thread_item *begun = thread_item_find(thread, body->call_id);
	change->status = body->success                 ? app_patch_apply_status_completed
	                 : begun && begun->is_declined ? app_patch_apply_status_declined
	                                               : app_patch_apply_status_failed;
	struct app_thread_item item = {.tag = app_thread_item_file_change, .file_change = change};
	thread_item_complete(thread, body->turn_id, &item);
}

/* ---- images ---- */

void on_event_view_image_tool_call(struct thread *thread, const struct event *event)
{
	const struct ev_view_image *body = event->msg.view_image_tool_call;
	struct app_item_image_view view = {.id = body->call_id, .path = body->path};
	struct app_thread_item item = {.tag = app_thread_item_image_view, .image_view = &view};
	thread_item_complete(thread, event->id, &item);
}

/* ---- client tools ---- */

/* A call is an item and a request to the client. The item completes when the engine has taken the answer, and shows
 * what the model received. */
void on_event_dynamic_tool_call_request(struct thread *thread, const struct event *event)
{
	const struct ev_dynamic_tool_call *body = event->msg.dynamic_tool_call_request;
	struct app_item_dynamic_tool_call call = {
		.id = body->callId,
		.namespace = body->namespace,
		.tool = body->tool,
		.arguments = body->arguments,
		.status = app_dynamic_tool_call_status_in_progress,
	};
	struct app_thread_item item = {.tag = app_thread_item_dynamic_tool_call, .dynamic_tool_call = &call};
	thread_item_start(thread, body->turnId, &item);
	thread_ask_tool(thread, body);
}

void on_event_dynamic_tool_call_response(struct thread *thread, const struct event *event)
{
	const struct ev_dynamic_tool_done *body = event->msg.dynamic_tool_call_response;
	auto_arena struct arena arena = {0};
	struct app_item_dynamic_tool_call call = {
		.id = body->call_id,
		.namespace = body->namespace,
		.tool = body->tool,
		.arguments = body->arguments,
		.status = body->success ? app_dynamic_tool_call_status_completed : app_dynamic_tool_call_status_failed,
		.has_success = true,
		.success = body->success,
		.has_duration_ms = true,
		.duration_ms = body->duration->secs * 1000 + body->duration->nanos / 1000000,
	};
	call.content_items = item_view_dynamic_parts(json_parse(&arena, body->content_items, NULL), &arena,
	                                             &call.content_items_count);
	struct app_thread_item item = {.tag = app_thread_item_dynamic_tool_call, .dynamic_tool_call = &call};
	thread_asks_forget_call(thread, body->call_id);
	thread_item_complete(thread, body->turn_id, &item);
}
