/* Each call of a subagent tool becomes an item collabAgentToolCall. */
#include "app_server/history/item_view.h"
#include "app_server/threads/notify_handlers.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_items.h"
#include "base/vec.h"

static struct app_item_collab_agent_tool_call call_of(enum app_collab_agent_tool tool, struct str id, struct str sender)
{
	return (struct app_item_collab_agent_tool_call){.id = id, .tool = tool, .sender_thread_id = sender};
}

/* receivers are the threads that the call refers to. */
static void start(struct thread *thread, const struct event *event, struct app_item_collab_agent_tool_call *call,
                  const struct str *receivers, size_t count)
{
	struct app_thread_item item = {.tag = app_thread_item_collab_agent_tool_call, .collab_agent_tool_call = call};
	call->status = app_collab_agent_tool_call_status_in_progress;
	call->receiver_thread_ids = (struct str *)(uintptr_t)receivers;
	call->receiver_thread_ids_count = count;
	thread_item_start(thread, event->id, &item);
}

/* Completes the item. The call has failed if one of the receivers does not exist. */
static void complete(struct thread *thread, const struct event *event, struct app_item_collab_agent_tool_call *call,
                     const struct str *receivers, const struct agent_status *statuses, size_t count)
{
	VEC(struct app_collab_agent_state) states = {0};
	struct app_thread_item item = {.tag = app_thread_item_collab_agent_tool_call, .collab_agent_tool_call = call};
	call->status = app_collab_agent_tool_call_status_completed;
	for (size_t i = 0; i < count; i++) {
		vec_push(&states, item_view_collab_state(&statuses[i]));
		if (statuses[i].tag == agent_status_not_found)
			call->status = app_collab_agent_tool_call_status_failed;
	}
	call->receiver_thread_ids = call->agents_states_keys = (struct str *)(uintptr_t)receivers;
	call->receiver_thread_ids_count = call->agents_states_count = count;
	call->agents_states = states.items;
	thread_item_complete(thread, event->id, &item);
	vec_finish(&states);
}

/* ---- spawn ---- */

#define SPAWN_CALL(body)                                                                                            \
	{                                                                                                           \
		.id = (body)->call_id, .tool = app_collab_agent_tool_spawn_agent,                                   \
		.sender_thread_id = (body)->sender_thread_id, .prompt = (body)->prompt, .model = (body)->model,     \
		.has_reasoning_effort = (body)->has_reasoning_effort, .reasoning_effort = (body)->reasoning_effort, \
	}

void on_event_collab_agent_spawn_begin(struct thread *thread, const struct event *event)
{
	const struct ev_collab_spawn_begin *body = event->msg.collab_agent_spawn_begin;
	struct app_item_collab_agent_tool_call call = SPAWN_CALL(body);
	start(thread, event, &call, NULL, 0);
}

void on_event_collab_agent_spawn_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_spawn_end *body = event->msg.collab_agent_spawn_end;
	struct app_item_collab_agent_tool_call call = SPAWN_CALL(body);
	if (body->new_thread_id.ptr) {
		complete(thread, event, &call, &body->new_thread_id, body->status, 1);
		return;
	}
	struct app_thread_item item = {.tag = app_thread_item_collab_agent_tool_call, .collab_agent_tool_call = &call};
	call.status = app_collab_agent_tool_call_status_failed;
	thread_item_complete(thread, event->id, &item);
}

/* ---- messages ---- */

void on_event_collab_agent_interaction_begin(struct thread *thread, const struct event *event)
{
	const struct ev_collab_interaction_begin *body = event->msg.collab_agent_interaction_begin;
	struct app_item_collab_agent_tool_call call =
		call_of(app_collab_agent_tool_send_input, body->call_id, body->sender_thread_id);
	call.prompt = body->prompt;
	start(thread, event, &call, &body->receiver_thread_id, 1);
}

void on_event_collab_agent_interaction_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_interaction_end *body = event->msg.collab_agent_interaction_end;
	struct app_item_collab_agent_tool_call call =
		call_of(app_collab_agent_tool_send_input, body->call_id, body->sender_thread_id);
	call.prompt = body->prompt;
	complete(thread, event, &call, &body->receiver_thread_id, body->status, 1);
}

/* ---- wait, close, resume ---- */

void on_event_collab_waiting_begin(struct thread *thread, const struct event *event)
{
	const struct ev_collab_waiting_begin *body = event->msg.collab_waiting_begin;
	struct app_item_collab_agent_tool_call call =
		call_of(app_collab_agent_tool_wait, body->call_id, body->sender_thread_id);
	start(thread, event, &call, body->receiver_thread_ids, body->receiver_thread_ids_count);
}

void on_event_collab_waiting_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_waiting_end *body = event->msg.collab_waiting_end;
	struct app_item_collab_agent_tool_call call =
		call_of(app_collab_agent_tool_wait, body->call_id, body->sender_thread_id);
	complete(thread, event, &call, body->statuses_keys, body->statuses, body->statuses_count);
}

void on_event_collab_close_begin(struct thread *thread, const struct event *event)
{
	const struct ev_collab_close_begin *body = event->msg.collab_close_begin;
	struct app_item_collab_agent_tool_call call =
		call_of(app_collab_agent_tool_close_agent, body->call_id, body->sender_thread_id);
	start(thread, event, &call, &body->receiver_thread_id, 1);
}

void on_event_collab_close_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_close_end *body = event->msg.collab_close_end;
	struct app_item_collab_agent_tool_call call =
		call_of(app_collab_agent_tool_close_agent, body->call_id, body->sender_thread_id);
	complete(thread, event, &call, &body->receiver_thread_id, body->status, 1);
}

void on_event_collab_resume_begin(struct thread *thread, const struct event *event)
{
	const struct ev_collab_resume_begin *body = event->msg.collab_resume_begin;
	struct app_item_collab_agent_tool_call call =
		call_of(app_collab_agent_tool_resume_agent, body->call_id, body->sender_thread_id);
	start(thread, event, &call, &body->receiver_thread_id, 1);
}

void on_event_collab_resume_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_resume_end *body = event->msg.collab_resume_end;
	struct app_item_collab_agent_tool_call call =
		call_of(app_collab_agent_tool_resume_agent, body->call_id, body->sender_thread_id);
	complete(thread, event, &call, &body->receiver_thread_id, body->status, 1);
}
