/* Every subagent tool of the model is a collabAgentToolCall on the wire. */
#include "app_server/rpc/server.h"
#include "app_server/history/item_view.h"
#include "app_server/threads/notify.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_items.h"
#include "app_server/threads/threads.h"
#include "base/vec.h"

static void start(struct thread *thread, const struct event *event, struct app_item_collab_agent_tool_call *call)
{
	struct app_thread_item item = {.tag = app_thread_item_collab_agent_tool_call, .collab_agent_tool_call = call};
	call->status = app_collab_agent_tool_call_status_in_progress;
	thread_item_start(thread, event->id, &item);
}

/* Completes the call with its receivers and their states; a missing receiver makes it failed. */
static void complete(struct thread *thread, const struct event *event, struct app_item_collab_agent_tool_call *call,
                     struct str *ids, const struct agent_status *statuses, size_t count)
{
	VEC(struct app_collab_agent_state) states = {0};
	struct app_thread_item item = {.tag = app_thread_item_collab_agent_tool_call, .collab_agent_tool_call = call};
	call->status = app_collab_agent_tool_call_status_completed;
	for (size_t i = 0; i < count; i++) {
		vec_push(&states, item_view_collab_state(&statuses[i]));
		if (statuses[i].tag == agent_status_not_found)
			call->status = app_collab_agent_tool_call_status_failed;
	}
	call->receiver_thread_ids = call->agents_states_keys = ids;
	call->receiver_thread_ids_count = call->agents_states_count = count;
	call->agents_states = states.items;
	thread_item_complete(thread, event->id, &item);
	vec_finish(&states);
}

/* ---- spawn ---- */

void on_event_collab_agent_spawn_begin(struct thread *thread, const struct event *event)
{
	const struct ev_collab_spawn_begin *body = event->msg.collab_agent_spawn_begin;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_spawn_agent,
		.sender_thread_id = body->sender_thread_id,
		.prompt = body->prompt,
		.model = body->model,
		.has_reasoning_effort = body->has_reasoning_effort,
		.reasoning_effort = body->reasoning_effort,
	};
	start(thread, event, &call);
}

void on_event_collab_agent_spawn_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_spawn_end *body = event->msg.collab_agent_spawn_end;
	struct str child_id = body->new_thread_id;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_spawn_agent,
		.sender_thread_id = body->sender_thread_id,
		.prompt = body->prompt,
		.model = body->model,
		.has_reasoning_effort = body->has_reasoning_effort,
		.reasoning_effort = body->reasoning_effort,
	};
	if (child_id.ptr) {
		complete(thread, event, &call, &child_id, body->status, 1);
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
	struct str receiver = body->receiver_thread_id;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_send_input,
		.sender_thread_id = body->sender_thread_id,
		.receiver_thread_ids = &receiver,
		.receiver_thread_ids_count = 1,
		.prompt = body->prompt,
	};
	start(thread, event, &call);
}

void on_event_collab_agent_interaction_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_interaction_end *body = event->msg.collab_agent_interaction_end;
	struct str receiver = body->receiver_thread_id;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_send_input,
		.sender_thread_id = body->sender_thread_id,
		.prompt = body->prompt,
	};
	complete(thread, event, &call, &receiver, body->status, 1);
}

/* ---- waits ---- */

void on_event_collab_waiting_begin(struct thread *thread, const struct event *event)
{
	const struct ev_collab_waiting_begin *body = event->msg.collab_waiting_begin;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_wait,
		.sender_thread_id = body->sender_thread_id,
		.receiver_thread_ids = body->receiver_thread_ids,
		.receiver_thread_ids_count = body->receiver_thread_ids_count,
	};
	start(thread, event, &call);
}

void on_event_collab_waiting_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_waiting_end *body = event->msg.collab_waiting_end;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_wait,
		.sender_thread_id = body->sender_thread_id,
	};
	complete(thread, event, &call, body->statuses_keys, body->statuses, body->statuses_count);
}

/* ---- ends ---- */

void on_event_collab_close_begin(struct thread *thread, const struct event *event)
{
	const struct ev_collab_close_begin *body = event->msg.collab_close_begin;
	struct str receiver = body->receiver_thread_id;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_close_agent,
		.sender_thread_id = body->sender_thread_id,
		.receiver_thread_ids = &receiver,
		.receiver_thread_ids_count = 1,
	};
	start(thread, event, &call);
}

void on_event_collab_close_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_close_end *body = event->msg.collab_close_end;
	struct str receiver = body->receiver_thread_id;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_close_agent,
		.sender_thread_id = body->sender_thread_id,
	};
	complete(thread, event, &call, &receiver, body->status, 1);
}

/* ---- openings ---- */

void on_event_collab_resume_begin(struct thread *thread, const struct event *event)
{
	const struct ev_collab_resume_begin *body = event->msg.collab_resume_begin;
	struct str receiver = body->receiver_thread_id;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_resume_agent,
		.sender_thread_id = body->sender_thread_id,
		.receiver_thread_ids = &receiver,
		.receiver_thread_ids_count = 1,
	};
	start(thread, event, &call);
}

void on_event_collab_resume_end(struct thread *thread, const struct event *event)
{
	const struct ev_collab_resume_end *body = event->msg.collab_resume_end;
	struct str receiver = body->receiver_thread_id;
	struct app_item_collab_agent_tool_call call = {
		.id = body->call_id,
		.tool = app_collab_agent_tool_resume_agent,
		.sender_thread_id = body->sender_thread_id,
	};
	complete(thread, event, &call, &receiver, body->status, 1);
}
