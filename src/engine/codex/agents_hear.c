/* Moves the inbox to the history. Messages of the root to its subagents become user messages; all others become the
 * output of a subagent_await call that the model did not make. Messages are grouped by sender, in the order of each
 * sender's first message. */
#include <stdio.h>

#include "agent/agent_json.h"
#include "agent/agent_tree.h"
#include "agent/agent_wait.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/agents.h"
#include "engine/codex/agents_priv.h"
#include "engine/codex/codex_data.h"
#include "engine/session/session.h"
#include "engine/session/conversation.h"
#include "engine/task/task.h"
#include "engine/history/history_item.h"
#include "tool/agent/collab_event.h"

/* Records a call that the model did not make, and its output. */
static void record_news(struct session *session, struct agent *reader, const struct agent_news *news)
{
	char call_id[64];
	auto_buf struct buf output, item;
	buf_init(&output, LIMIT_TOOL_OUTPUT);
	buf_init(&item, LIMIT_TOOL_ITEM);
	snprintf(call_id, sizeof(call_id), "await-%llu-%zu", (unsigned long long)news->messages[0]->sender,
	         session->conversation.context.items.count);
	struct json_writer w = json_writer(&item);
	jw_object(&w);
	jw_member_cstr(&w, "type", "function_call");
	jw_member_cstr(&w, "name", "subagent_await");
	jw_member_cstr(&w, "arguments", "{\"timeout_s\":0}");
	jw_member_cstr(&w, "call_id", call_id);
	jw_object_end(&w);
	conversation_add(&session->conversation, buf_str(&item));
	buf_clear(&item);
	w = json_writer(&output);
	agent_write_news(reader, news, &w);
	w = json_writer(&item);
	jw_object(&w);
	jw_member_cstr(&w, "type", "function_call_output");
	jw_member_cstr(&w, "call_id", call_id);
	jw_member_str(&w, "output", buf_str(&output));
	jw_object_end(&w);
	conversation_add(&session->conversation, buf_str(&item));
}

/* Records a message of the root as user input, and emits it as such if a Task runs. */
static void record_input(struct session *session, struct str text)
{
	auto_buf struct buf item;
	buf_init(&item, LIMIT_USER_ITEM);
	text_message_write(&item, "user", text);
	session->conversation.context.user_turns++;
	conversation_add(&session->conversation, buf_str(&item));
	if (!session->task)
		return;
	struct input_text words = {.text = text};
	struct user_input input = {.tag = user_input_text, .text = &words};
	task_emit_message(session->task, &(struct task_input){.items = &input, .count = 1});
}

/* Records an object in the tags by which a model knows news of other agents. A text in it must not look like the end of
 * the tag or like news of another agent: `<` is \u003c there, which codex 0.169 does not do. */
static void record_tagged(struct session *session, struct str json)
{
	auto_buf struct buf text, item;
	buf_init(&text, (size_t)LIMIT_TOOL_OUTPUT * 6 + KIB);
	buf_init(&item, LIMIT_TOOL_ITEM);
	buf_append_c(&text, "<subagent_notification>\n");
	for (struct str rest = json; rest.len;) {
		ptrdiff_t at = str_find_char(rest, '<');
		buf_append(&text, rest.ptr, at < 0 ? rest.len : (size_t)at);
		buf_append_c(&text, at < 0 ? "" : "\\u003c");
		rest = str_skip(rest, at < 0 ? rest.len : (size_t)at + 1);
	}
	buf_append_c(&text, "\n</subagent_notification>");
	text_message_write(&item, "user", buf_str(&text));
	conversation_add(&session->conversation, buf_str(&item));
}

/* Records the status of a subagent for a model that has no subagent_await, in the form of codex 0.169. */
static void record_notification(struct session *session, const struct agent *about)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	struct agent_status status = collab_status(about, &arena);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	jw_member_cstr(&w, "agent_path", about->session_id);
	jw_key(&w, "status");
	union_encode(&union_agent_status, &status, &w);
	jw_object_end(&w);
	record_tagged(session, buf_str(&text));
}

/* Records a message or the end of an agent for a model that names agents by their paths. As context, so that it is not
 * taken for the user's words, and in JSON on one line. */
static void record_team(struct session *session, const struct agent *about, const struct agent_message *message)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text, path;
	bool is_end = message->outcome != agent_outcome_none;
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	buf_init(&path, LIMIT_LINE);
	agent_write_path(about, &path);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	jw_member_str(&w, "agent_path", buf_str(&path));
	jw_member_cstr(&w, "message_type", is_end ? "FINAL_ANSWER" : message->is_quiet ? "MESSAGE" : "NEW_TASK");
	if (is_end) {
		struct agent_status status = collab_status(about, &arena);
		jw_key(&w, "status");
		union_encode(&union_agent_status, &status, &w);
	} else {
		jw_member_str(&w, "payload", message->text);
	}
	jw_object_end(&w);
	record_tagged(session, buf_str(&text));
}

static bool reads_as_user(const struct session *session, const struct agent_message *message)
{
	const struct config *config = session->env->config;
	const struct agent *self = session->env->agent;
	bool is_from_root = message->sender == 0 && self->parent && message->outcome == agent_outcome_none;
	return is_from_root && (config->root_agent_uses_user_messages || !config->features.subagent_tools);
}

/* Reads all messages of one sender. */
static void read_sender(struct session *session, struct agent *about, struct agent_message *first)
{
	struct agent *self = session->env->agent;
	struct agent_news news = {.about = about, .is_injected = true};
	struct agent_news rest = {.about = about};
	agent_take_news(self, &rest);
	news.count = rest.count + 1;
	news.messages = xcalloc(news.count, sizeof(struct agent_message *));
	news.messages[0] = first;
	for (size_t i = 0; i < rest.count; i++)
		news.messages[i + 1] = rest.messages[i];
	free(rest.messages);
	news.has_more = !agent_inbox_is_empty(&self->inbox);
	if (session->env->config->features.subagent_tools)
		record_news(session, self, &news);
	else
		record_notification(session, about);
	agent_news_finish(&news);
}

/* Reads a message whose sender was pruned: the message still counts, its result does not. */
static bool read_gone(struct session *session, struct agent_message *message)
{
	struct agent_news news = {.messages = &message, .count = 1, .is_injected = true};
	if (message->outcome != agent_outcome_none || !message->text.len)
		return false;
	if (session->env->config->features.subagent_tools)
		record_news(session, session->env->agent, &news);
	return true;
}

static bool read_inbox(void *owner, bool interrupts_only)
{
	struct codex *codex = owner;
	struct session *session = codex->session;
	struct agent *self = codex->env.agent;
	bool has_any = false;
	if (!self || (!self->parent && !session->env->config->subagent_root_inbox_autosubmit))
		return false;
	while (!agent_inbox_is_empty(&self->inbox) && (!interrupts_only || self->inbox.interrupt_count)) {
		struct agent_message *message = agent_take(self);
		struct agent *about = agent_tree_find(self->tree, message->sender);
		if (about && session->host.has_team) {
			record_team(session, about, message);
			agent_message_destroy(message);
			has_any = true;
			continue;
		}
		if (about && !reads_as_user(session, message)) {
			read_sender(session, about, message);
			has_any = true;
			continue;
		}
		if (about)
			record_input(session, message->text);
		has_any |= about || read_gone(session, message);
		agent_message_destroy(message);
	}
	agents_record_taken(codex);
	return has_any;
}

static void read_early(void *self)
{
	struct codex *codex = self;
	bool is_review = codex->session->task->turn_env.conversation->voice;
	if (codex->env.config->subagent_inbox_inject_before_tools && !is_review)
		read_inbox(codex, false);
}

const struct inbox_ops agents_inbox = {
	.read = read_inbox,
	.read_early = read_early,
	.record_taken = agents_record_taken,
};

/* ---- names ---- */

void agents_write_asker(const struct codex *codex, struct str task, struct buf *out)
{
	const struct agent *agent;
	if (!codex->agents)
		return;
	list_for_each(agent, &codex->agents->agents, link) {
		const struct codex *child = agent->parent ? agent->session : NULL;
		if (child && child->session && child->session->task &&
		    str_eq(session_task_submission(child->session), task))
			agent_write_name(agent, out);
	}
}
