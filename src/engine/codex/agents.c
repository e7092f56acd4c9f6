/* Implements struct agent_ops with a Codex per subagent. An event of a subagent updates its agent, goes to the receiver
 * that the front end set, and enters the agent's log. */
#include "engine/codex/agents.h"

#include <stdio.h>

#include "agent/agent_tree.h"
#include "agent/agent_wait.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/agents_priv.h"
#include "engine/codex/codex_data.h"
#include "engine/session/environment_docs.h"
#include "engine/session/session.h"
#include "engine/task/task.h"
#include "protocol/message/message.h"
#include "telemetry/telemetry.h"

static struct codex *root_of(const struct codex *codex)
{
	return codex->env.agent->tree->root->session;
}

/* True if the requests of a subagent are events of its root; otherwise its own receiver answers them. */
static bool asks_root(const struct codex *child)
{
	return !child->on_event || root_of(child)->asks_for_children;
}

static bool is_question(enum event_tag tag)
{
	return tag == EV_exec_approval_request || tag == EV_apply_patch_approval_request ||
	       tag == EV_request_user_input || tag == EV_request_user_input_expired || tag == EV_elicitation_request;
}

/* ---- events about agents ---- */

static void record(struct codex *codex, enum event_tag tag, const void *body)
{
	if (codex && codex->session)
		session_record_event(codex->session, STR(""), tag, body);
}

static void push(struct codex *codex, enum event_tag tag, const void *body)
{
	const struct session *session = codex ? codex->session : NULL;
	if (session)
		eq_push(&codex->eq, session_task_submission(session), tag, body, NULL);
}

/* Emits an event on the queues of the parent and of the root, whose clients see the whole tree, and records it in the
 * root's rollout, from which a resume restores the tree. Message texts are only in the rollout. Without the feature,
 * only rollouts that another process may continue have these lines: other readers do not know them. */
static void emit(struct agent *about, enum event_tag tag, const void *body, void *self)
{
	struct codex *root = self;
	struct codex *parent = about->parent ? about->parent->session : root;
	bool is_shown = root->env.config->features.subagent_tools;
	if (!is_shown && !root->env.sink)
		return;
	struct codex *reader = about->session;
	if (about->taking && reader)
		vec_push(&reader->taken, (struct agent_taken){about->taking->sender, about->taking->is_interrupt});
	else
		record(root, tag, body);
	if (!is_shown)
		return;
	struct ev_agent_inbox counts;
	if (tag == EV_agent_inbox) {
		counts = *(const struct ev_agent_inbox *)body;
		counts.message = NULL;
		counts.has_taken_from = false;
		body = &counts;
	}
	push(root, tag, body);
	if (parent != root)
		push(parent, tag, body);
}

/* Returns the counts before the removal of one message: they include messages that arrived since, and those that
 * later events remove. */
static struct ev_agent_inbox depths_before(const struct codex *codex, size_t index)
{
	const struct agent *agent = codex->env.agent;
	const struct agent_taken *taken = &codex->taken.items[index];
	struct ev_agent_inbox event = {
		.agent_id = (int64_t)agent->id,
		.session_id = str_of(agent->session_id),
		.pending_messages = (int64_t)agent->inbox.regular_count,
		.pending_interrupts = (int64_t)agent->inbox.interrupt_count,
		.has_taken_from = true,
		.taken_from = (int64_t)taken->sender,
	};
	for (size_t i = index + 1; i < codex->taken.count; i++)
		*(codex->taken.items[i].is_interrupt ? &event.pending_interrupts : &event.pending_messages) += 1;
	return event;
}

/* Two files are involved: the history is flushed before the line that records the messages as read. */
void agents_record_taken(void *self)
{
	struct codex *codex = self;
	struct session *session = codex->session;
	if (!codex->taken.count)
		return;
	struct codex *root = root_of(codex);
	if (codex != root)
		best_effort(session_flush_rollout(session, NULL));
	for (size_t i = 0; i < codex->taken.count; i++) {
		struct ev_agent_inbox event = depths_before(codex, i);
		record(root, EV_agent_inbox, &event);
	}
	codex->taken.count = 0;
	if (codex != root && root->session)
		best_effort(session_flush_rollout(root->session, NULL));
}

/* ---- closing ---- */

void agents_retract(struct codex *child)
{
	const struct codex *root = root_of(child);
	if (child->is_announced)
		root->on_child(child, NULL, root->self);
	child->is_announced = false;
}

static void on_dropped(const struct ev_request_user_input_expired *event, void *self)
{
	struct codex *root = self;
	eq_push(&root->eq, event->turn_id, EV_request_user_input_expired, event, NULL);
}

/* The other events that are in the queue of the child are lost. */
static void withdraw_requests(struct codex *child)
{
	struct event *event;
	while (asks_root(child) && (event = eq_pop(&child->eq))) {
		if (is_question(event->msg.tag))
			eq_push(&root_of(child)->eq, event->id, event->msg.tag, event->msg.body, NULL);
		event_destroy(event);
	}
	if (child->session && asks_root(child))
		pending_drop(&child->session->requests, NULL, on_dropped, root_of(child));
}

static void close_child(struct agent *agent, void *self)
{
	struct codex *child = agent->session;
	(void)self;
	withdraw_requests(child);
	agents_retract(child);
	agent->session = NULL;
	child->ops->close(child);
}

/* Runs on the loop, not inside the failed Op of the Codex that it closes. */
static void unload_failed(struct codex *child)
{
	struct agent *agent = child->env.agent;
	auto_free char *text = steal(child->reopen_failure);
	close_child(agent, NULL);
	agent_end(agent, agent_outcome_failed, str_of(text));
}

/* ---- the inbox ---- */

static void deliver(struct agent *agent, void *self)
{
	struct codex *codex = agent->session, *root = self;
	if (codex && !root->is_quiet)
		loop_defer(&codex->hear);
}

/* A root starts a task for messages alone only if its model has the tools that document it. */
static bool begins_tasks(const struct codex *root)
{
	return root->env.config->features.subagent_tools && root->env.config->subagent_root_inbox_autosubmit;
}

/* True if another agent may become active: a ping or the end of a child must not exceed the limit. */
static bool has_place(const struct agent *agent)
{
	return !agent->parent || agent_is_active(agent) || agent_tree_has_place(agent->tree);
}

/* True if the agent stays idle: its messages begin no turn, and are read with the next one. */
static bool may_rest(const struct codex *codex)
{
	const struct agent_inbox *inbox = &codex->env.agent->inbox;
	return !codex->session->task && agent_inbox_is_quiet(inbox);
}

/* Called when a message arrives. A running task reads the inbox at the end of its turn; only an interrupt aborts it. */
static void on_hear(void *self)
{
	struct codex *codex = self;
	if (codex->reopen_failure) {
		unload_failed(codex);
		return;
	}
	struct session *session = codex->session;
	const struct agent_inbox *inbox = &codex->env.agent->inbox;
	if (!session || codex->is_shut_down || agent_inbox_is_empty(inbox))
		return;
	if (codex->env.agent->status == subagent_status_canceled) /* a canceled agent stays idle until it is woken */
		return;
	if ((!codex->env.agent->parent && !begins_tasks(codex)) || may_rest(codex))
		return;
	/* the limit of active agents is reached: wait until another one ends */
	if (!session->task && !has_place(codex->env.agent))
		return;
	bool is_urgent = inbox->interrupt_count > 0;
	if (is_urgent && session->task) {
		codex->env.agent->aborts_due++;
		task_abort(session->task, turn_abort_reason_interrupted);
	}
	if (session->task || environment_docs_begin(session)) /* after which it is heard */
		return;
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	task_start_inbox(&codex->tasks, str_of(id), is_urgent);
}

void agents_on_task_end(struct codex *codex)
{
	if (codex->env.agent && !root_of(codex)->is_quiet && !agent_inbox_is_empty(&codex->env.agent->inbox))
		loop_defer(&codex->hear);
}

void agents_on_input(struct session *session)
{
	if (session->env->agent)
		agent_waits_interrupt(session->env->agent);
}

/* ---- the end of work ---- */

static bool interrupt(struct agent *agent, void *self)
{
	struct codex *codex = agent->session;
	(void)self;
	codex->ops->carry_out(codex); /* carry out pending submissions first, so that pending input ends as well */
	if (!codex->session || !codex->session->task)
		return false;
	task_abort(codex->session->task, turn_abort_reason_interrupted);
	return true;
}

void agents_set_quiet(struct codex *codex, bool is_quiet)
{
	if (codex->env.agent)
		root_of(codex)->is_quiet = is_quiet;
}

void agents_on_interrupt(struct codex *codex)
{
	if (codex->env.agent && codex->env.config->agents.interrupt_cascade)
		agent_cancel_children(codex->env.agent);
}

/* ---- the tree ---- */

static const struct agent_ops ops = {
	.name = agents_name,
	.open = agents_open,
	.reopen = agents_reopen,
	.deliver = deliver,
	.interrupt = interrupt,
	.close = close_child,
	.emit = emit,
};

static size_t max_active(const struct config *config)
{
	int64_t count = config->is_set.max_active_subagents || !config->agents.is_set.max_threads
	                        ? config->max_active_subagents
	                        : config->agents.max_threads;
	return count > MAX_ACTIVE_SUBAGENTS ? MAX_ACTIVE_SUBAGENTS : (size_t)count;
}

static void make_tree(struct session *session)
{
	struct codex *root = codex_of(session);
	const struct config *config = root->env.config;
	double scale = config->debug.clock_scale;
	struct agent_tree_options options = {
		.loop = root->env.loop,
		.ops = &ops,
		.self = root,
		.root_session = session->id,
		.max_active = max_active(config),
		.max_depth = (unsigned)config->agents.max_depth,
		.clock_scale = scale,
		.keeps_places = config->subagent_slots_until_prune,
	};
	root->agents = agent_tree_create(&options);
	root->env.agent = root->agents->root;
	root->env.agent->session = root;
	loop_deferred_init(&root->hear, root->env.loop, on_hear, root);
}

struct agent *agents_self(struct session *session)
{
	struct codex *codex = codex_of(session);
	const struct config *config = codex->env.config;
	if (!codex->env.agent && config->agents.enabled &&
	    (config->features.subagent_tools || config->features.multi_agent || config->features.collab ||
	     config->features.multi_agent_v2))
		make_tree(session);
	return codex->env.agent;
}

const struct session *agents_parent(void *self)
{
	const struct codex *child = self;
	const struct agent *agent = child->env.agent;
	const struct codex *parent = agent && agent->parent ? agent->parent->session : NULL;
	return parent ? parent->session : NULL;
}

void agents_join(struct codex *child, struct agent *agent)
{
	const struct codex *root = agent->tree->root->session;
	auto_buf struct buf path;
	buf_init(&path, LIMIT_LINE);
	agent_write_path(agent, &path);
	telemetry_name_agent(child->telemetry, buf_str(&path));
	child->env.agent = agent;
	child->holds = root->asks_for_children ? root->holds : 0;
	agent->session = child;
	loop_deferred_init(&child->hear, child->env.loop, on_hear, child);
}

void agents_announce(struct codex *child)
{
	const struct codex *root = root_of(child);
	struct codex_child about = {
		.thread_id = child->env.agent->session_id,
		.parent_thread_id = child->env.agent->parent->session_id,
		.nickname = child->env.agent->label,
		.role = child->env.agent->role,
		.depth = child->env.agent->depth,
	};
	if (!root->on_child)
		return;
	child->is_announced = true;
	root->on_child(child, &about, root->self);
}

void agents_close(struct codex *root)
{
	agents_settle_cancel(root);
	if (root->agents)
		agent_tree_clear(root->agents);
}

/* Otherwise the front end holds each subagent for its own subscribers. */
void agents_hold(struct codex *root, bool is_held)
{
	struct agent *agent;
	if (!root->agents || !root->asks_for_children)
		return;
	list_for_each(agent, &root->agents->agents, link) {
		if (agent->parent && agent->session)
			root->ops->hold(agent->session, is_held);
	}
}

bool agents_are_active(const struct codex *root)
{
	const struct agent *agent;
	if (!root->agents)
		return false;
	list_for_each(agent, &root->agents->agents, link) {
		const struct codex *child = agent->parent ? agent->session : NULL;
		if (child && (child->sq.count || child->eq.count || (child->session && child->session->task)))
			return true;
	}
	return false;
}

void agents_settle(struct codex *root, uint64_t number)
{
	struct agent *agent;
	if (!root->agents)
		return;
	list_for_each(agent, &root->agents->agents, link) {
		struct codex *child = agent->parent ? agent->session : NULL;
		if (child && child->session)
			session_settle(child->session, number);
	}
}

void agents_destroy(struct codex *root)
{
	if (!root->agents)
		return;
	agent_tree_destroy(root->agents);
	root->agents = NULL;
	root->env.agent = NULL;
}

/* ---- events of subagents ---- */

static void on_complete(struct codex *child, const struct ev_task_complete *event)
{
	auto_free char *failure = steal(child->failure);
	if (failure)
		agent_end(child->env.agent, agent_outcome_failed, str_of(failure));
	else
		agent_end(child->env.agent, agent_outcome_completed, event->last_agent_message);
}

static void follow(struct codex *child, const struct event *event)
{
	const struct event_msg *msg = &event->msg;
	switch (msg->tag) {
	case EV_task_started:
		agent_note_start(child->env.agent);
		return;
	case EV_reasoning_content_delta:
		agent_add_thinking(child->env.agent, msg->reasoning_content_delta->delta);
		return;
	case EV_error:
		free(child->failure);
		child->failure = str_dup(msg->error->message);
		return;
	case EV_task_complete:
		on_complete(child, msg->task_complete);
		return;
	case EV_turn_aborted:
		agent_end(child->env.agent, agent_outcome_canceled,
		          str_of(enum_wire(&enum_turn_abort_reason, (int)msg->turn_aborted->reason)));
		return;
	default:
		return;
	}
}

/* Called when an agent becomes inactive: agents that wait for the limit can start now. */
static void wake_waiting(struct codex *root)
{
	struct agent *agent;
	list_for_each(agent, &root->agents->agents, link) {
		if (agent->parent && !agent_is_active(agent) && !agent_inbox_is_empty(&agent->inbox))
			deliver(agent, root);
	}
}

void agents_take_event(struct codex *child, struct event *event)
{
	struct codex *root = root_of(child);
	bool was_active = agent_is_active(child->env.agent);
	follow(child, event);
	if (was_active && !agent_is_active(child->env.agent))
		wake_waiting(root);
	if (child->on_event)
		child->on_event(event, child->self);
	if (asks_root(child) && is_question(event->msg.tag)) /* the request needs an answer */
		eq_push(&root->eq, event->id, event->msg.tag, event->msg.body, NULL);
	agent_log_add(&child->env.agent->log, event);
}

/* Returns the session of a subagent whose requests the root emits; NULL if its own receiver answers them. */
static struct session *asks_through_root(const struct agent *agent)
{
	struct codex *child = agent->parent ? agent->session : NULL;
	return child && asks_root(child) ? child->session : NULL;
}

const struct tool_call *agents_find_pending(struct codex *root, enum pending_kind kind, struct str id, size_t *ret)
{
	struct agent *agent;
	const struct tool_call *call = NULL, *found;
	*ret = 0;
	if (!root->agents)
		return NULL;
	list_for_each(agent, &root->agents->agents, link) {
		const struct session *session = asks_through_root(agent);
		if (session && (found = pending_find(&session->requests, kind, id)) && (*ret)++ == 0)
			call = found;
	}
	return call;
}

bool agents_answer(struct codex *root, enum pending_kind kind, struct str id, const void *answer)
{
	struct agent *agent;
	if (!root->agents)
		return false;
	list_for_each(agent, &root->agents->agents, link) {
		struct session *session = asks_through_root(agent);
		if (session && session_answer(session, kind, id, answer))
			return true;
	}
	return false;
}
