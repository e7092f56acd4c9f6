/* A call begins as an item and a question at once, and the item ends when the engine has taken the answer: what clients
 * see of it is what the model got. */
#include "app_server/threads/notify_dynamic.h"

#include "app_server/threads/notify.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_ask.h"

struct app_dynamic_tool_call_output_content_item *notify_dynamic_parts(const struct json *list, struct arena *arena,
                                                                       size_t *ret_count)
{
	size_t most = json_is(list, JSON_array) ? list->count : 0, count = 0;
	struct app_dynamic_tool_call_output_content_item *parts =
		arena_array(arena, struct app_dynamic_tool_call_output_content_item, most ? most : 1);
	for (const struct json *it = most ? list->child : NULL; it; it = it->next)
		count += union_decode(&union_app_dynamic_tool_call_output_content_item, it, arena, &parts[count],
		                      NULL) == 0;
	*ret_count = count;
	return parts;
}

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
	call.content_items = notify_dynamic_parts(json_parse(&arena, body->content_items, NULL), &arena,
	                                          &call.content_items_count);
	struct app_thread_item item = {.tag = app_thread_item_dynamic_tool_call, .dynamic_tool_call = &call};
	thread_asks_forget_call(thread, body->call_id);
	thread_item_complete(thread, body->turn_id, &item);
}
