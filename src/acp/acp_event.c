/* Tasks, messages, plans and usage. A prompt is answered by the event that ends its task, after all updates. */
#include "acp/acp_event.h"

#include <stdlib.h>
#include <string.h>

#include "acp/acp_job.h"
#include "acp/acp_slash.h"
#include "acp/acp_session.h"
#include "acp/acp_tool.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "protocol/message/review_text.h"

typedef void (*event_fn)(struct acp_session *session, const struct event *event);

static const event_fn handlers[EV_count] = {
#define SENDS(tag) [EV_##tag] = on_acp_event_##tag,
#define SILENT(tag, why) [EV_##tag] = NULL,
#include "acp/acp_event.def"
#undef SENDS
#undef SILENT
};

enum {
	ROWS = 0
#define SENDS(tag) +1
#define SILENT(tag, why) +1
#include "acp/acp_event.def"
#undef SENDS
#undef SILENT
};
_Static_assert((int)ROWS == (int)EV_count, "acp_event.def has a row for every event");

void acp_event(struct acp_session *session, const struct event *event)
{
	event_fn handler = handlers[event->msg.tag];
	if (!handler || acp_reading_keep(session, event))
		return;
	session->server->wire.task = event->id;
	handler(session, event);
	session->server->wire.task = STR_NONE;
}

/* ---- tasks ---- */

static void forget_failure(struct acp_session *session)
{
	free(session->failure);
	free(session->failure_info);
	session->failure = session->failure_info = NULL;
}

/* Marks the prompt with this submission id as read by the task. */
static void mark_in(struct acp_session *session, struct str id)
{
	struct acp_prompt *it;
	list_for_each(it, &session->prompts, link)
		it->is_in |= str_is(id, it->id);
}

void on_acp_event_task_started(struct acp_session *session, const struct event *event)
{
	session->is_running = true;
	forget_failure(session);
	mark_in(session, event->id);
}

static enum acp_error_code code_of(const char *info)
{
	return info && strstr(info, "unauthorized") ? ACP_AUTH_REQUIRED : ACP_INTERNAL_ERROR;
}

/* Ends a prompt whose task has failed. Two failures have a stop reason of their own; their message is sent as text. */
static void end_failed(struct acp_session *session, struct acp_prompt *prompt)
{
	struct str message = str_of(session->failure);
	bool is_filtered = str_find(message, STR("content_filter")) >= 0;
	bool is_full = str_find(message, STR("max_output_tokens")) >= 0 ||
	               (session->failure_info && strstr(session->failure_info, "context_window_exceeded"));
	if (!is_filtered && !is_full) {
		acp_prompt_fail(session, prompt, code_of(session->failure_info), message);
		return;
	}
	acp_session_say(session, message, STR_NONE);
	acp_prompt_end(session, prompt, is_full ? acp_stop_reason_max_tokens : acp_stop_reason_refusal);
}

static void forget_streamed(struct acp_session *session)
{
	vec_for_each(id, &session->streamed)
		free(*id);
	session->streamed.count = 0;
}

/* The engine does not report the end of a call that an interrupt stops. */
static void end_tools(struct acp_session *session)
{
	struct acp_tool *it;
	list_for_each(it, &session->tools, link) {
		struct acp_tool_call call = {.tool_call_id = str_of(it->id), .status = acp_tool_status_failed};
		if (!it->outlives_task)
			acp_tool_end(session, &call);
	}
}

static void end_task(struct acp_session *session, struct str task, bool is_aborted)
{
	struct acp_prompt *it;
	bool goes_on = !is_aborted && !session->failure && acp_session_has_goal(session);
	end_tools(session);
	acp_asks_withdraw(&session->server->wire, session, STR_NONE, task);
	forget_streamed(session);
	session->is_running = session->is_interrupted = false;
	if (session->title)
		acp_session_send_title(session, true);
	list_for_each(it, &session->prompts, link) {
		if (it->is_cancelled || (is_aborted && it->is_in))
			acp_prompt_end(session, it, acp_stop_reason_cancelled);
		else if (it->is_in && session->failure)
			end_failed(session, it);
		else if (it->is_in && !(it->is_goal && goes_on))
			acp_prompt_end(session, it, acp_stop_reason_end_turn);
	}
	forget_failure(session);
}

void on_acp_event_task_complete(struct acp_session *session, const struct event *event)
{
	end_task(session, event->id, false);
}

void on_acp_event_turn_aborted(struct acp_session *session, const struct event *event)
{
	end_task(session, event->id, true);
}

/* An error before the task has started rejects the submission. */
void on_acp_event_error(struct acp_session *session, const struct event *event)
{
	const struct ev_error *body = event->msg.error;
	struct acp_prompt *prompt = acp_prompt_find(session, event->id);
	if (prompt && !prompt->is_in) {
		auto_free char *info = str_dup(body->codex_error_info);
		acp_prompt_fail(session, prompt, code_of(info), body->message);
	} else if (session->is_running) {
		forget_failure(session);
		session->failure = str_dup(body->message);
		session->failure_info = str_dup(body->codex_error_info);
	} else {
		acp_session_say(session, body->message, STR_NONE);
	}
}

/* ---- notes for the user ---- */

static void say_note(struct acp_session *session, const char *label, struct str text)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_WARNING * 2);
	buf_printf(&out, "*%s:* ", label);
	buf_append_str(&out, text);
	buf_append_c(&out, "\n\n");
	acp_session_say(session, buf_str(&out), STR_NONE);
}

void on_acp_event_warning(struct acp_session *session, const struct event *event)
{
	if (session->id[0])
		say_note(session, "Warning", event->msg.warning->message);
}

void on_acp_event_deprecation_notice(struct acp_session *session, const struct event *event)
{
	if (session->id[0])
		say_note(session, "Deprecated", event->msg.deprecation_notice->summary);
}

void on_acp_event_model_reroute(struct acp_session *session, const struct event *event)
{
	const struct ev_model_reroute *body = event->msg.model_reroute;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_WARNING);
	buf_printf(&text, "the provider answered with %.*s instead of %.*s", STR_ARG(body->to_model),
	           STR_ARG(body->from_model));
	say_note(session, "Model", buf_str(&text));
}

void on_acp_event_mcp_startup_complete(struct acp_session *session, const struct event *event)
{
	const struct ev_mcp_startup_complete *body = event->msg.mcp_startup_complete;
	for (size_t i = 0; i < body->failed_count; i++) {
		auto_buf struct buf text;
		buf_init(&text, LIMIT_WARNING);
		buf_printf(&text, "MCP server %.*s did not start: %.*s", STR_ARG(body->failed[i].server),
		           STR_ARG(body->failed[i].error));
		say_note(session, "Warning", buf_str(&text));
	}
}

/* ---- messages ---- */

static bool was_streamed(const struct acp_session *session, struct str id)
{
	vec_for_each(it, &session->streamed) {
		if (str_is(id, *it))
			return true;
	}
	return false;
}

static void send_piece(struct acp_session *session, enum acp_update_tag tag, struct str id, struct str text)
{
	struct acp_text part = {text};
	struct acp_block block = {.tag = acp_block_text, .text = &part};
	struct acp_chunk chunk = {&block, id};
	if (!was_streamed(session, id))
		vec_push(&session->streamed, str_dup(id));
	acp_session_update(session, tag, &chunk);
}

void on_acp_event_agent_message_content_delta(struct acp_session *session, const struct event *event)
{
	const struct ev_content_delta *body = event->msg.agent_message_content_delta;
	send_piece(session, acp_update_agent_message_chunk, body->item_id, body->delta);
}

void on_acp_event_plan_delta(struct acp_session *session, const struct event *event)
{
	const struct ev_content_delta *body = event->msg.plan_delta;
	send_piece(session, acp_update_agent_message_chunk, body->item_id, body->delta);
}

void on_acp_event_reasoning_content_delta(struct acp_session *session, const struct event *event)
{
	const struct ev_reasoning_delta *body = event->msg.reasoning_content_delta;
	send_piece(session, acp_update_agent_thought_chunk, body->item_id, body->delta);
}

void on_acp_event_reasoning_raw_content_delta(struct acp_session *session, const struct event *event)
{
	const struct ev_reasoning_raw_delta *body = event->msg.reasoning_raw_content_delta;
	if (session->config->show_raw_agent_reasoning)
		send_piece(session, acp_update_agent_thought_chunk, body->item_id, body->delta);
}

void on_acp_event_agent_reasoning_section_break(struct acp_session *session, const struct event *event)
{
	const struct ev_section_break *body = event->msg.agent_reasoning_section_break;
	if (was_streamed(session, body->item_id))
		send_piece(session, acp_update_agent_thought_chunk, body->item_id, STR("\n\n"));
}

void on_acp_event_item_started(struct acp_session *session, const struct event *event)
{
	const struct turn_item *item = event->msg.item_started->item;
	if (item->tag == turn_item_web_search)
		acp_tool_web_search(session, item->web_search, false);
}

/* Sends the text of an item that came in one piece. */
static void send_whole(struct acp_session *session, const struct turn_item *item)
{
	if (item->tag == turn_item_plan && !was_streamed(session, item->plan->id))
		send_piece(session, acp_update_agent_message_chunk, item->plan->id, item->plan->text);
	if (item->tag == turn_item_agent_message && !was_streamed(session, item->agent_message->id)) {
		for (size_t i = 0; i < item->agent_message->content_count; i++)
			send_piece(session, acp_update_agent_message_chunk, item->agent_message->id,
			           item->agent_message->content[i].text->text);
	}
	if (item->tag == turn_item_reasoning && !was_streamed(session, item->reasoning->id)) {
		for (size_t i = 0; i < item->reasoning->summary_text_count; i++)
			send_piece(session, acp_update_agent_thought_chunk, item->reasoning->id,
			           item->reasoning->summary_text[i]);
	}
}

void on_acp_event_item_completed(struct acp_session *session, const struct event *event)
{
	const struct turn_item *item = event->msg.item_completed->item;
	if (item->tag == turn_item_user_message)
		mark_in(session, item->user_message->client_id);
	else if (item->tag == turn_item_web_search)
		acp_tool_web_search(session, item->web_search, true);
	else if (item->tag == turn_item_context_compaction)
		acp_session_say(session, STR("The conversation was summarised to free context.\n"), STR_NONE);
	else
		send_whole(session, item);
}

void on_acp_event_exited_review_mode(struct acp_session *session, const struct event *event)
{
	const struct ev_exited_review_mode *body = event->msg.exited_review_mode;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_REVIEW_TEXT);
	if (!body->review_output)
		return;
	review_write_output(body->review_output, &text);
	acp_session_say(session, buf_str(&text), body->item_id);
}

/* ---- plan, usage, title, skills ---- */

void on_acp_event_plan_update(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_plan_update *body = event->msg.plan_update;
	struct acp_plan plan = {arena_array(&arena, struct acp_plan_entry, body->plan_count), body->plan_count};
	for (size_t i = 0; i < body->plan_count; i++)
		plan.entries[i] =
			(struct acp_plan_entry){body->plan[i].step, acp_priority_medium, body->plan[i].status};
	acp_session_update(session, acp_update_plan, &plan);
}

/* The engine also emits the usage when a response starts; clients are notified only of changes. */
void on_acp_event_token_count(struct acp_session *session, const struct event *event)
{
	const struct token_usage_info *info = event->msg.token_count->info;
	if (!info || info->total_token_usage->total_tokens == session->usage.total_tokens)
		return;
	session->usage = *info->total_token_usage;
	session->context = (struct acp_context_usage){info->last_token_usage->total_tokens, info->model_context_window};
	if (session->context.size > 0)
		acp_session_update(session, acp_update_usage_update, &session->context);
}

void on_acp_event_thread_name_updated(struct acp_session *session, const struct event *event)
{
	struct acp_prompt *prompt = acp_prompt_find(session, event->id);
	acp_session_set_title(session, event->msg.thread_name_updated->thread_name);
	acp_session_send_title(session, true);
	if (prompt)
		acp_prompt_end(session, prompt, acp_stop_reason_end_turn);
}

void on_acp_event_mcp_list_tools_response(struct acp_session *session, const struct event *event)
{
	acp_slash_take_mcp(session, event->id, event->msg.mcp_list_tools_response);
}

void on_acp_event_list_skills_response(struct acp_session *session, const struct event *event)
{
	acp_slash_take_skills(session, event->msg.list_skills_response);
}

void on_acp_event_skills_update_available(struct acp_session *session, const struct event *event)
{
	(void)event;
	acp_slash_ask_skills(session);
}

/* A goal that stops between two turns, for example by its limit of turns, ends its prompt, too. */
void on_acp_event_thread_goal_updated(struct acp_session *session, const struct event *event)
{
	struct acp_prompt *it;
	(void)event;
	if (session->is_running || acp_session_has_goal(session))
		return;
	list_for_each(it, &session->prompts, link) {
		if (it->is_goal)
			acp_prompt_end(session, it,
			               it->is_cancelled ? acp_stop_reason_cancelled : acp_stop_reason_end_turn);
	}
}
