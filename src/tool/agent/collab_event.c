/* The events contain thread ids, not agent numbers, so that clients need not know the numbers of a tree. */
#include "tool/agent/collab_event.h"

#include "agent/agent_tree.h"
#include "base/vec.h"
#include "tool/tool.h"

static void emit_event(struct tool_call *call, enum event_tag tag, const void *body)
{
	call->host->emit(call->host, call->turn_id, tag, body);
}

static struct agent_status completed(const struct agent *agent, struct arena *arena)
{
	struct agent_completed *body = arena_new(arena, struct agent_completed);
	body->message = arena_str(arena, str_of(agent->result.text));
	return (struct agent_status){.tag = agent_status_completed, .completed = body};
}

static struct agent_status errored(const struct agent *agent, struct arena *arena)
{
	struct agent_errored *body = arena_new(arena, struct agent_errored);
	body->message = arena_str(arena, str_of(agent->result.text ? agent->result.text : ""));
	return (struct agent_status){.tag = agent_status_errored, .errored = body};
}

struct agent_status collab_status(const struct agent *agent, struct arena *arena)
{
	if (!agent)
		return (struct agent_status){.tag = agent_status_not_found};
	if (agent->is_shut)
		return (struct agent_status){.tag = agent_status_shutdown};
	switch (agent->status) {
	case subagent_status_queued:
	case subagent_status_ready:
		return (struct agent_status){.tag = agent_status_pending_init};
	case subagent_status_running:
		return (struct agent_status){.tag = agent_status_running};
	case subagent_status_canceled:
		return (struct agent_status){.tag = agent_status_interrupted};
	case subagent_status_failed:
		return errored(agent, arena);
	default:
		return completed(agent, arena);
	}
}

static bool find_effort(struct tool_call *call, const struct agent_launch *launch, enum reasoning_effort *ret)
{
	int effort = (int)call->host->effort;
	if (launch->effort.len)
		enum_parse(&enum_reasoning_effort, launch->effort, &effort);
	*ret = (enum reasoning_effort)effort;
	return *ret != reasoning_effort_unset;
}

void collab_emit_spawn_begin(struct tool_call *call, const struct agent_launch *launch)
{
	struct ev_collab_spawn_begin event = {
		.call_id = call->call_id,
		.sender_thread_id = str_of(call->host->thread_id),
		.prompt = launch->prompt.ptr ? launch->prompt : STR(""),
		.model = launch->model.ptr ? launch->model : STR(""),
	};
	event.has_reasoning_effort = find_effort(call, launch, &event.reasoning_effort);
	emit_event(call, EV_collab_agent_spawn_begin, &event);
}

void collab_emit_spawn_end(struct tool_call *call, const struct agent *child, const struct agent_launch *launch)
{
	auto_arena struct arena arena = {0};
	struct agent_status status = collab_status(child, &arena);
	struct ev_collab_spawn_end event = {
		.call_id = call->call_id,
		.sender_thread_id = str_of(call->host->thread_id),
		.new_thread_id = child ? str_of(child->session_id) : STR_NONE,
		.new_agent_nickname = child ? str_of(child->label) : STR_NONE,
		.prompt = launch->prompt.ptr ? launch->prompt : STR(""),
		.model = child && child->model ? str_of(child->model) : STR(""),
		.status = &status,
	};
	event.has_reasoning_effort = find_effort(call, launch, &event.reasoning_effort);
	if (child) {
		event.has_reasoning_effort = child->effort != reasoning_effort_unset;
		event.reasoning_effort = child->effort;
	}
	if (child && status.tag == agent_status_running) /* the agent was requested and is starting */
		status.tag = agent_status_pending_init;
	emit_event(call, EV_collab_agent_spawn_end, &event);
}

void collab_emit_message_begin(struct tool_call *call, const struct agent *to, struct str prompt)
{
	struct ev_collab_interaction_begin event = {
		.call_id = call->call_id,
		.sender_thread_id = str_of(call->host->thread_id),
		.receiver_thread_id = str_of(to->session_id),
		.prompt = prompt.ptr ? prompt : STR(""),
	};
	emit_event(call, EV_collab_agent_interaction_begin, &event);
}

void collab_emit_message_end(struct tool_call *call, const struct agent *to, struct str prompt)
{
	auto_arena struct arena arena = {0};
	struct agent_status status = collab_status(to, &arena);
	struct ev_collab_interaction_end event = {
		.call_id = call->call_id,
		.sender_thread_id = str_of(call->host->thread_id),
		.receiver_thread_id = str_of(to->session_id),
		.receiver_agent_nickname = str_of(to->label),
		.prompt = prompt.ptr ? prompt : STR(""),
		.status = &status,
	};
	emit_event(call, EV_collab_agent_interaction_end, &event);
}

/* The agents that a wait is for, and their states. Unknown agents have an id and no nickname. */
struct awaited {
	VEC(struct str) ids;
	VEC(struct agent_status) statuses;
	VEC(struct collab_agent_ref) agents;
	VEC(struct collab_agent_status_entry) entries;
	struct arena arena;
};

static void add(struct awaited *awaited, struct str id, const struct agent *agent)
{
	struct str nickname = agent ? str_of(agent->label) : STR_NONE;
	struct agent_status *status = arena_new(&awaited->arena, struct agent_status);
	*status = collab_status(agent, &awaited->arena);
	vec_push(&awaited->ids, id);
	vec_push(&awaited->statuses, *status);
	vec_push(&awaited->agents, ((struct collab_agent_ref){id, nickname}));
	vec_push(&awaited->entries, ((struct collab_agent_status_entry){id, nickname, status}));
}

/* target: NULL stands for all of the reader's children. */
static void gather(struct awaited *awaited, const struct agent *reader, const struct agent *target)
{
	const struct agent *agent;
	list_for_each(agent, &reader->tree->agents, link) {
		if (target ? agent == target : agent->parent == reader)
			add(awaited, str_of(agent->session_id), agent);
	}
}

static void awaited_finish(struct awaited *awaited)
{
	vec_finish(&awaited->ids);
	vec_finish(&awaited->statuses);
	vec_finish(&awaited->agents);
	vec_finish(&awaited->entries);
	arena_finish(&awaited->arena);
}

static void emit_wait_begin(struct tool_call *call, struct awaited *awaited)
{
	struct ev_collab_waiting_begin event = {
		.sender_thread_id = str_of(call->host->thread_id),
		.receiver_thread_ids = awaited->ids.items,
		.receiver_thread_ids_count = awaited->ids.count,
		.receiver_agents = awaited->agents.items,
		.receiver_agents_count = awaited->agents.count,
		.call_id = call->call_id,
	};
	emit_event(call, EV_collab_waiting_begin, &event);
	awaited_finish(awaited);
}

static void emit_wait_end(struct tool_call *call, struct awaited *awaited)
{
	struct ev_collab_waiting_end event = {
		.sender_thread_id = str_of(call->host->thread_id),
		.call_id = call->call_id,
		.statuses = awaited->statuses.items,
		.statuses_keys = awaited->ids.items,
		.statuses_count = awaited->ids.count,
		.agent_statuses = awaited->entries.items,
		.agent_statuses_count = awaited->entries.count,
	};
	emit_event(call, EV_collab_waiting_end, &event);
	awaited_finish(awaited);
}

void collab_emit_wait_begin(struct tool_call *call, const struct agent *reader, const struct agent *target)
{
	struct awaited awaited = {0};
	gather(&awaited, reader, target);
	emit_wait_begin(call, &awaited);
}

void collab_emit_wait_end(struct tool_call *call, const struct agent *reader, const struct agent *target)
{
	struct awaited awaited = {0};
	gather(&awaited, reader, target);
	emit_wait_end(call, &awaited);
}

void collab_emit_wait_ids_begin(struct tool_call *call, const struct agent *reader, const struct str *ids, size_t count)
{
	struct awaited awaited = {0};
	for (size_t i = 0; i < count; i++)
		add(&awaited, ids[i], agent_tree_find_session(reader->tree, ids[i]));
	emit_wait_begin(call, &awaited);
}

void collab_emit_wait_ids_end(struct tool_call *call, const struct agent *reader, const struct str *ids, size_t count)
{
	struct awaited awaited = {0};
	for (size_t i = 0; i < count; i++) {
		const struct agent *agent = agent_tree_find_session(reader->tree, ids[i]);
		if (!agent || !agent_is_active(agent) || agent->is_shut)
			add(&awaited, ids[i], agent);
	}
	emit_wait_end(call, &awaited);
}

void collab_emit_close_begin(struct tool_call *call, const struct agent *agent)
{
	struct ev_collab_close_begin event = {
		.call_id = call->call_id,
		.sender_thread_id = str_of(call->host->thread_id),
		.receiver_thread_id = str_of(agent->session_id),
	};
	emit_event(call, EV_collab_close_begin, &event);
}

void collab_emit_close_end(struct tool_call *call, struct str session_id, struct str nickname,
                           const struct agent_status *status)
{
	struct ev_collab_close_end event = {
		.call_id = call->call_id,
		.sender_thread_id = str_of(call->host->thread_id),
		.receiver_thread_id = session_id,
		.receiver_agent_nickname = nickname,
		.status = (struct agent_status *)(uintptr_t)status,
	};
	emit_event(call, EV_collab_close_end, &event);
}

void collab_emit_resume_begin(struct tool_call *call, const struct agent *agent)
{
	struct ev_collab_resume_begin event = {
		.call_id = call->call_id,
		.sender_thread_id = str_of(call->host->thread_id),
		.receiver_thread_id = str_of(agent->session_id),
		.receiver_agent_nickname = str_of(agent->label),
	};
	emit_event(call, EV_collab_resume_begin, &event);
}

void collab_emit_resume_end(struct tool_call *call, const struct agent *agent)
{
	auto_arena struct arena arena = {0};
	struct agent_status status = collab_status(agent, &arena);
	struct ev_collab_resume_end event = {
		.call_id = call->call_id,
		.sender_thread_id = str_of(call->host->thread_id),
		.receiver_thread_id = str_of(agent->session_id),
		.receiver_agent_nickname = str_of(agent->label),
		.status = &status,
	};
	emit_event(call, EV_collab_resume_end, &event);
}
