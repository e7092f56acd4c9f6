/* The registry of agents. Each change is emitted at once, so that a client can rebuild the tree from the events. */
#include "agent/agent_tree.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent_json.h"
#include "agent/agent_priv.h"
#include "agent/agent_wait.h"
#include "agent/agent_watchdog.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

static struct agent *add(struct agent_tree *tree, struct agent *parent)
{
	struct agent *agent = xnew(struct agent);
	agent->tree = tree;
	agent->parent = parent;
	agent->id = tree->next_id++;
	agent->depth = parent ? parent->depth + 1 : 0;
	agent->started_at_ms = clock_unix_ms();
	agent_inbox_init(&agent->inbox);
	buf_init(&agent->header_text, LIMIT_AGENT_HEADER);
	list_append(&tree->agents, &agent->link);
	return agent;
}

struct agent_tree *agent_tree_create(const struct agent_tree_options *options)
{
	struct agent_tree *tree = xnew(struct agent_tree);
	tree->options = *options;
	list_init(&tree->agents);
	list_init(&tree->waits);
	list_init(&tree->watchdogs);
	tree->root = add(tree, NULL);
	tree->root->status = subagent_status_running;
	snprintf(tree->root->session_id, sizeof(tree->root->session_id), "%s", options->root_session);
	return tree;
}

static void free_agent(struct agent *agent)
{
	if (agent->session && agent->parent)
		agent->tree->options.ops->close(agent, agent->tree->options.self);
	agent_waits_drop(agent);
	agent_watchdogs_drop(agent);
	list_remove(&agent->link);
	agent_inbox_finish(&agent->inbox);
	agent_log_finish(&agent->log);
	buf_finish(&agent->header_text);
	free(agent->label);
	free(agent->role);
	free(agent->summary);
	free(agent->header);
	free(agent->result.text);
	free(agent->model);
	free(agent);
}

void agent_tree_clear(struct agent_tree *tree)
{
	struct agent *youngest;
	while ((youngest = list_entry(tree->agents.prev, struct agent, link)) != tree->root)
		agent_tree_forget(youngest);
}

void agent_tree_destroy(struct agent_tree *tree)
{
	if (!tree)
		return;
	agent_tree_clear(tree);
	free_agent(tree->root);
	free(tree);
}

static void emit_created(struct agent *agent)
{
	struct subagent_summary summary = agent_summary(agent);
	struct ev_subagent_lifecycle event = {.event = subagent_change_created, .subagent = &summary};
	agent_emit(agent, EV_subagent_lifecycle, &event);
	agent_emit_inbox(agent);
}

void agent_tree_forget(struct agent *agent)
{
	agent->tree->count--;
	free_agent(agent);
}

static void forget(struct agent *agent)
{
	struct ev_subagent_lifecycle event = {
		.event = subagent_change_deleted,
		.has_agent_id = true,
		.agent_id = (int64_t)agent->id,
		.session_id = str_of(agent->session_id),
	};
	agent_emit(agent, EV_subagent_lifecycle, &event);
	agent_tree_forget(agent);
}

bool agent_has_active(const struct agent *agent)
{
	const struct agent *below;
	list_for_each(below, &agent->tree->agents, link) {
		if (agent_is_active(below) && agent_is_below(below, agent))
			return true;
	}
	return false;
}

/* At most LIMIT_AGENTS_KEPT finished agents keep their sessions loaded; closes the oldest. An agent with unread
 * messages that begin a turn, or with active descendants, is not finished. */
static void make_room(struct agent_tree *tree)
{
	struct agent *agent, *oldest = NULL;
	size_t loaded = 0;
	list_for_each(agent, &tree->agents, link) {
		if (!agent->parent || !agent->session || agent_has_active(agent) ||
		    !agent_inbox_is_quiet(&agent->inbox))
			continue;
		loaded++;
		oldest = oldest ? oldest : agent;
	}
	if (loaded < LIMIT_AGENTS_KEPT)
		return;
	tree->options.ops->close(oldest, tree->options.self);
	oldest->session = NULL;
}

static int check_places(const struct agent_tree *tree, struct error *err)
{
	if (!agent_tree_has_place(tree))
		return error_set(err, ERR_limit, "subagent limit reached: at most %zu active subagents per session",
		                 tree->options.max_active);
	return 0;
}

static int check_child(const struct agent *parent, struct error *err)
{
	const struct agent_tree *tree = parent->tree;
	if (check_places(tree, err) != 0)
		return -(int)err->code;
	if (tree->count >= LIMIT_AGENTS)
		return error_set(err, ERR_limit, "%d subagents are known in this session; prune those that have ended",
		                 LIMIT_AGENTS);
	if (parent->depth >= tree->options.max_depth)
		return error_set(err, ERR_limit, "subagent depth limit reached: agents at depth %u cannot start others",
		                 parent->depth);
	return 0;
}

struct agent *agent_launch(struct agent *parent, const struct agent_launch *launch, struct error *err)
{
	struct agent_tree *tree = parent->tree;
	if (check_child(parent, err) != 0)
		return NULL;
	make_room(tree);
	struct agent *agent = add(tree, parent);
	uuid_v7(agent->session_id);
	tree->count++;
	agent->origin = launch->origin;
	agent->label = agent_tidy(launch->label);
	struct str role = launch->shares_history ? str_of(parent->role) : launch->role;
	agent->role = role.ptr ? str_dup(role) : NULL;
	if (tree->options.ops->name)
		tree->options.ops->name(agent, launch);
	agent_set_summary(agent, launch->prompt);
	agent->status = subagent_status_queued;
	emit_created(agent);
	if (tree->options.ops->open(agent, launch, tree->options.self, err) != 0) {
		forget(agent);
		if (!launch->tool)
			error_wrap(err, "subagent launch failed");
		return NULL;
	}
	bool is_idle = str_is_blank(launch->prompt) && !launch->item_count;
	agent_set_status(agent, is_idle ? subagent_status_ready : subagent_status_running);
	return agent;
}

struct agent *agent_tree_adopt(struct agent_tree *tree, struct agent *parent, const struct subagent_summary *summary)
{
	if (tree->count >= LIMIT_AGENTS || summary->agent_id <= 0 || summary->session_id.len != UUID_TEXT_SIZE - 1)
		return NULL;
	uint64_t id = (uint64_t)summary->agent_id, next = tree->next_id;
	if (agent_tree_find(tree, id))
		return NULL;
	struct agent *agent = add(tree, parent);
	agent->id = id;
	tree->next_id = id >= next ? id + 1 : next;
	tree->count++;
	memcpy(agent->session_id, summary->session_id.ptr, UUID_TEXT_SIZE - 1);
	agent->origin = summary->origin;
	agent->status = summary->status;
	agent->label = agent_tidy(summary->label);
	agent->role = summary->role.ptr ? str_dup(summary->role) : NULL;
	agent->summary = agent_tidy(summary->summary);
	agent->header = agent_tidy(summary->reasoning_header);
	agent->started_at_ms = summary->started_at_ms;
	return agent;
}

int agent_wake(struct agent *agent, struct error *err)
{
	struct agent_tree *tree = agent->tree;
	if (!agent->parent || (agent->session && agent_is_active(agent)))
		return 0;
	if (check_places(tree, err) != 0)
		return -(int)err->code;
	if (agent->session)
		return 0;
	make_room(tree);
	if (tree->options.ops->reopen(agent, tree->options.self, err) != 0)
		return -(int)err->code;
	agent->origin = subagent_origin_send_message;
	agent->is_shut = false;
	agent->aborts_due = 0;
	agent->status = subagent_status_ready;
	emit_created(agent);
	return 0;
}

void agent_pause(struct agent *agent)
{
	const struct agent_tree_options *options = &agent->tree->options;
	if (agent->session)
		agent->aborts_due += options->ops->interrupt(agent, options->self);
	if (agent_is_active(agent) || agent->session)
		agent_set_status(agent, subagent_status_ready);
}

void agent_cancel(struct agent *agent)
{
	const struct agent_tree_options *options = &agent->tree->options;
	if (!agent->parent || !agent_is_active(agent))
		return;
	bool is_aborted = agent->session && options->ops->interrupt(agent, options->self);
	agent_end(agent, agent_outcome_canceled, STR("interrupted"));
	agent->aborts_due += is_aborted;
}

static void unload(struct agent *agent)
{
	struct agent_tree *tree = agent->tree;
	agent_cancel(agent);
	agent->is_shut = true;
	if (agent->session)
		tree->options.ops->close(agent, tree->options.self);
	agent->session = NULL;
}

void agent_shut(struct agent *agent)
{
	struct agent *below;
	list_for_each(below, &agent->tree->agents, link) {
		if (agent_is_below(below, agent))
			unload(below);
	}
}

void agent_cancel_children(struct agent *agent)
{
	struct agent *below;
	list_for_each(below, &agent->tree->agents, link) {
		if (below != agent && agent_is_below(below, agent))
			agent_cancel(below);
	}
}

/* Removes agents backwards, because children have higher ids than their parents. */
void agent_prune(struct agent *agent)
{
	struct agent_tree *tree = agent->tree;
	for (struct list *at = tree->agents.prev, *before; at != &tree->agents; at = before) {
		struct agent *below = list_entry(at, struct agent, link);
		before = at->prev;
		if (!agent_is_below(below, agent))
			continue;
		forget(below);
		if (below == agent)
			return;
	}
}
