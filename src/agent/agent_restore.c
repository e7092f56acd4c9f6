/* An inbox event with a message adds it. An event that removes one names its sender, and its counts show the queue:
 * within a queue the messages of one sender leave in order of arrival. */
#include "agent/agent_restore.h"

#include <string.h>

#include "base/mem.h"

static void restore_created(struct agent_tree *tree, const struct subagent_summary *summary)
{
	struct agent *agent = summary->agent_id > 0 ? agent_tree_find(tree, (uint64_t)summary->agent_id) : NULL;
	struct agent *parent = agent_tree_find(tree, (uint64_t)summary->parent_agent_id);
	if (agent) { /* the agent was loaded again */
		agent->origin = summary->origin;
		agent->status = summary->status;
	} else if (parent) {
		agent_tree_adopt(tree, parent, summary);
	}
}

static void restore_deleted(struct agent *agent)
{
	struct agent *below;
	list_for_each(below, &agent->tree->agents, link) {
		if (below->parent == agent) /* the line of the child's own deletion was lost */
			below->parent = agent->tree->root;
	}
	agent_tree_forget(agent);
}

void agent_restore_lifecycle(struct agent_tree *tree, const struct ev_subagent_lifecycle *event)
{
	struct agent *agent = event->has_agent_id ? agent_tree_find(tree, (uint64_t)event->agent_id) : NULL;
	if (event->event == subagent_change_created && event->subagent) {
		restore_created(tree, event->subagent);
		return;
	}
	if (!agent || !agent->parent)
		return;
	if (event->event == subagent_change_deleted) {
		restore_deleted(agent);
	} else if (event->event == subagent_change_status && event->has_status) {
		agent->status = event->status;
	} else if (event->event == subagent_change_reasoning_header) {
		free(agent->header);
		agent->header = agent_tidy(event->reasoning_header);
	}
}

/* Restores the result of the sender's work, whether or not the message was read. */
static void restore_result(struct agent_tree *tree, const struct inbox_message *message)
{
	struct agent *sender = agent_tree_find(tree, (uint64_t)message->sender_agent_id);
	if (!sender || !sender->parent)
		return;
	free(sender->result.text);
	sender->result.outcome = message->outcome;
	sender->result.text = message->prompt.ptr ? str_dup(message->prompt) : NULL;
}

static void restore_message(struct agent *agent, const struct inbox_message *message)
{
	struct agent_message added = {
		.sender = (uint64_t)message->sender_agent_id,
		.is_interrupt = message->interrupt,
		.is_quiet = message->quiet,
		.outcome = message->outcome,
		.at_ms = message->timestamp_ms,
		.text = message->prompt,
	};
	if (message->outcome != agent_outcome_none)
		restore_result(agent->tree, message);
	if (message->outcome != agent_outcome_none && !agent->parent)
		added.text = STR_NONE; /* the root reads the completion instead */
	/* cannot fail: a message over the limit was never accepted */
	best_effort(agent_inbox_add(&agent->inbox, &added, NULL));
}

void agent_restore_inbox(struct agent_tree *tree, const struct ev_agent_inbox *event)
{
	struct agent *agent = event->agent_id >= 0 ? agent_tree_find(tree, (uint64_t)event->agent_id) : NULL;
	if (!agent)
		return;
	if (event->message) {
		restore_message(agent, event->message);
		return;
	}
	struct agent_inbox *inbox = &agent->inbox;
	bool is_interrupt = inbox->interrupt_count > (uint64_t)event->pending_interrupts;
	if (event->has_taken_from)
		agent_message_destroy(agent_inbox_take_kind(inbox, (uint64_t)event->taken_from, is_interrupt));
	while (inbox->interrupt_count > (uint64_t)event->pending_interrupts ||
	       inbox->regular_count > (uint64_t)event->pending_messages)
		agent_message_destroy(agent_inbox_take(inbox));
}
