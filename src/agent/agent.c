/* Changes of one agent. A status event is emitted only if the status changed. The end of an agent's work updates the
 * status, then the parent's inbox, then wakes the waits, so that a woken wait finds the new state. */
#include "agent/agent.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent_priv.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

void agent_emit(struct agent *about, enum event_tag tag, const void *body)
{
	const struct agent_tree_options *options = &about->tree->options;
	options->ops->emit(about, tag, body, options->self);
}

static struct ev_agent_inbox depths(const struct agent *agent)
{
	return (struct ev_agent_inbox){
		.agent_id = (int64_t)agent->id,
		.session_id = str_of(agent->session_id),
		.pending_messages = (int64_t)agent->inbox.regular_count,
		.pending_interrupts = (int64_t)agent->inbox.interrupt_count,
	};
}

static void emit_added(struct agent *agent, const struct agent_message *message)
{
	struct ev_agent_inbox event = depths(agent);
	struct inbox_message added = {
		.sender_agent_id = (int64_t)message->sender,
		.recipient_agent_id = (int64_t)agent->id,
		.interrupt = message->is_interrupt,
		.quiet = message->is_quiet,
		.prompt = message->text,
		.timestamp_ms = message->at_ms,
		.outcome = message->outcome,
	};
	event.message = &added;
	agent_emit(agent, EV_agent_inbox, &event);
}

void agent_emit_inbox(struct agent *agent)
{
	struct ev_agent_inbox event = depths(agent);
	agent_emit(agent, EV_agent_inbox, &event);
}

static struct agent_message *emit_taken(struct agent *agent, struct agent_message *message)
{
	if (!message)
		return NULL;
	struct ev_agent_inbox event = depths(agent);
	event.has_taken_from = true;
	event.taken_from = (int64_t)message->sender;
	agent->taking = message;
	agent_emit(agent, EV_agent_inbox, &event);
	agent->taking = NULL;
	return message;
}

const struct agent *agent_root(const struct agent *agent)
{
	return agent->tree->root;
}

/* ---- the agents of the tree ---- */

struct agent *agent_tree_find(const struct agent_tree *tree, uint64_t id)
{
	struct agent *agent;
	list_for_each(agent, &tree->agents, link) {
		if (agent->id == id)
			return agent;
	}
	return NULL;
}

struct agent *agent_tree_find_session(const struct agent_tree *tree, struct str session_id)
{
	struct agent *agent;
	list_for_each(agent, &tree->agents, link) {
		if (str_is(session_id, agent->session_id))
			return agent;
	}
	return NULL;
}

static size_t count_active(const struct agent_tree *tree)
{
	size_t count = 0;
	const struct agent *agent;
	list_for_each(agent, &tree->agents, link)
		count += agent->parent && (tree->options.keeps_places || agent_is_active(agent));
	return count;
}

bool agent_tree_has_place(const struct agent_tree *tree)
{
	return count_active(tree) < tree->options.max_active;
}

bool agent_is_below(const struct agent *agent, const struct agent *above)
{
	while (agent && agent != above)
		agent = agent->parent;
	return agent;
}

uint64_t agent_tree_delay(const struct agent_tree *tree, uint64_t delay_ms)
{
	return delay_ms / tree->options.clock_scale;
}

/* ---- one agent ---- */

bool agent_is_active(const struct agent *agent)
{
	return agent->status <= subagent_status_ready;
}

void agent_write_name(const struct agent *agent, struct buf *out)
{
	if (agent->label)
		buf_append_c(out, agent->label);
	else
		buf_printf(out, "agent-%llu", (unsigned long long)agent->id);
}

void agent_write_path(const struct agent *agent, struct buf *out)
{
	if (!agent->parent) {
		buf_append_c(out, "/root");
		return;
	}
	agent_write_path(agent->parent, out);
	buf_append_char(out, '/');
	agent_write_name(agent, out);
}

void agent_set_status(struct agent *agent, enum subagent_status status)
{
	if (agent->status == status)
		return;
	agent->status = status;
	struct ev_subagent_lifecycle event = {
		.event = subagent_change_status,
		.has_agent_id = true,
		.agent_id = (int64_t)agent->id,
		.session_id = str_of(agent->session_id),
		.has_status = true,
		.status = status,
	};
	agent_emit(agent, EV_subagent_lifecycle, &event);
}

char *agent_tidy(struct str text)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_AGENT_MESSAGE);
	struct str rest = text_trim(text);
	for (size_t i = 0; i < rest.len; i++) {
		bool is_space = strchr(" \t\r\n\v\f", rest.ptr[i]);
		if (!is_space)
			buf_append_char(&out, rest.ptr[i]);
		else if (out.len && out.data[out.len - 1] != ' ')
			buf_append_char(&out, ' ');
	}
	return out.len ? buf_take(&out) : NULL;
}

void agent_set_label(struct agent *agent, struct str label)
{
	char *tidy = agent_tidy(label);
	if (!tidy)
		return;
	free(agent->label);
	agent->label = tidy;
}

/* Sets the summary to the first AGENT_SUMMARY_LENGTH characters of the prompt. */
void agent_set_summary(struct agent *agent, struct str prompt)
{
	size_t at = 0, characters = 0;
	auto_free char *tidy = agent_tidy(prompt);
	if (!tidy)
		return;
	struct str text = str_of(tidy);
	while (at < text.len && characters < AGENT_SUMMARY_LENGTH) {
		size_t len = text_utf8_len(str_skip(text, at));
		at += len ? len : 1;
		characters++;
	}
	free(agent->summary);
	agent->summary = xasprintf("%.*s%s", (int)at, text.ptr, at < text.len ? "…" : "");
}

/* Returns the first non-empty "**…**". */
static struct str find_bold(struct str text)
{
	for (;;) {
		ptrdiff_t from = str_find(text, STR("**"));
		if (from < 0)
			return STR_NONE;
		struct str rest = str_skip(text, (size_t)from + 2);
		ptrdiff_t to = str_find(rest, STR("**"));
		if (to < 0)
			return STR_NONE;
		struct str words = str_trim(str_n(rest.ptr, (size_t)to));
		if (words.len)
			return words;
		text = str_skip(rest, (size_t)to + 2);
	}
}

void agent_add_thinking(struct agent *agent, struct str text)
{
	if (agent->has_header || agent->header_text.over)
		return;
	buf_append_str(&agent->header_text, text);
	struct str header = find_bold(buf_str(&agent->header_text));
	if (!header.len)
		return;
	agent->has_header = true;
	free(agent->header);
	agent->header = str_dup(header);
	buf_finish(&agent->header_text);
	struct ev_subagent_lifecycle event = {
		.event = subagent_change_reasoning_header,
		.has_agent_id = true,
		.agent_id = (int64_t)agent->id,
		.session_id = str_of(agent->session_id),
		.reasoning_header = str_of(agent->header),
	};
	agent_emit(agent, EV_subagent_lifecycle, &event);
}

void agent_begin(struct agent *agent)
{
	buf_finish(&agent->header_text);
	buf_init(&agent->header_text, LIMIT_AGENT_HEADER);
	agent->has_header = false;
	free(agent->result.text);
	agent->result = (struct agent_result){0};
	agent_set_status(agent, subagent_status_running);
}

void agent_note_start(struct agent *agent)
{
	if (!agent->aborts_due || agent_is_active(agent))
		agent_begin(agent);
}

/* Writes the message that a subagent gets when one of its own children ends: its session accepts only text. */
static void write_end(const struct agent *agent, struct buf *out)
{
	static const char *const words[] = {
		[agent_outcome_none] = "subagent completed",
		[agent_outcome_completed] = "subagent completed",
		[agent_outcome_canceled] = "subagent canceled",
		[agent_outcome_failed] = "subagent failed",
	};
	const char *text = agent->result.text;
	if (agent->result.outcome == agent_outcome_completed && text)
		buf_append_c(out, text);
	else if (text)
		buf_printf(out, "%s: %s", words[agent->result.outcome], text);
	else
		buf_append_c(out, words[agent->result.outcome]);
}

void agent_waits_wake(struct agent *waiter)
{
	struct agent_waiter *wait;
	list_for_each(wait, &waiter->tree->waits, link) {
		if (wait->waiter == waiter)
			loop_defer(&wait->look);
	}
}

static void notify_parent(struct agent *agent)
{
	struct agent *parent = agent->parent;
	auto_buf struct buf words;
	buf_init(&words, LIMIT_TOOL_OUTPUT);
	struct agent_message message = {
		.sender = agent->id, .outcome = agent->result.outcome, .at_ms = clock_unix_ms()};
	if (parent->parent) {
		write_end(agent, &words);
		message.text = buf_str(&words);
	}
	best_effort(agent_inbox_add(&parent->inbox, &message, NULL)); /* cannot fail: results are always accepted */
	if (!parent->parent) /* the root's inbox omits the text, which the rollout needs */
		message.text = str_of(agent->result.text);
	emit_added(parent, &message);
	agent_waits_wake(parent);
	parent->tree->options.ops->deliver(parent, parent->tree->options.self);
}

void agent_end(struct agent *agent, enum agent_outcome outcome, struct str text)
{
	static const enum subagent_status statuses[] = {
		[agent_outcome_completed] = subagent_status_idle,
		[agent_outcome_canceled] = subagent_status_canceled,
		[agent_outcome_failed] = subagent_status_failed,
	};
	if (outcome == agent_outcome_canceled && agent->aborts_due) {
		agent->aborts_due--;
		return;
	}
	if (!agent->parent || !agent_is_active(agent))
		return;
	free(agent->result.text);
	agent->result = (struct agent_result){outcome, text.ptr ? str_dup(text) : NULL};
	agent_set_status(agent, statuses[outcome]);
	notify_parent(agent);
}

static int post(struct agent *agent, const struct agent_message *message, struct error *err)
{
	if (agent_inbox_add(&agent->inbox, message, err) != 0)
		return error_wrap(err, "agent_id %llu cannot be sent a message", (unsigned long long)agent->id);
	emit_added(agent, message);
	agent_waits_wake(agent);
	agent->tree->options.ops->deliver(agent, agent->tree->options.self);
	return 0;
}

int agent_post(struct agent *agent, uint64_t from, bool is_interrupt, struct str prompt, struct error *err)
{
	struct agent_message message = {
		.sender = from, .is_interrupt = is_interrupt, .at_ms = clock_unix_ms(), .text = prompt};
	return post(agent, &message, err);
}

int agent_post_quiet(struct agent *agent, uint64_t from, struct str prompt, struct error *err)
{
	struct agent_message message = {.sender = from, .is_quiet = true, .at_ms = clock_unix_ms(), .text = prompt};
	return post(agent, &message, err);
}

struct agent_message *agent_take(struct agent *agent)
{
	return emit_taken(agent, agent_inbox_take(&agent->inbox));
}

struct agent_message *agent_take_from(struct agent *agent, uint64_t sender)
{
	return emit_taken(agent, agent_inbox_take_from(&agent->inbox, sender));
}
