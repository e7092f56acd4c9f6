/* A code review: a reviewer with its own prompt and conversation, whose last message is its report. It requests no
 * approvals and takes no further input.
 *
 * The report is JSON for history/review.c, so its deltas are not emitted: when it is complete it is emitted as
 * findings and as text. Earlier messages of the reviewer are emitted like any other. Afterwards the user's history
 * has two messages about the review, as if the user had run it and the model had answered: one turn of the user. */
#include "engine/task/task.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/config_required.h"
#include "engine/session/preamble.h"
#include "engine/history/history_item.h"
#include "engine/history/review.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/session/session_window.h"
#include "engine/session/conversation.h"
#include "engine/session/conversation_usage.h"
#include "engine/turn/turn.h"
#include "model/prompt.h"
#include "protocol/message/review_text.h"

struct task_review {
	struct task task;
	struct buf words; /* text of the reviewer's latest message, which may be its report */
	char *words_id;   /* id of that message; NULL: no message */
	struct conversation_voice voice;
	struct conversation conversation; /* the reviewer's conversation */
};

static struct task_review *review_of(struct task *task)
{
	return container_of(task, struct task_review, task);
}

/* ---- messages ---- */

static void emit_message(struct task *task, struct str id, struct str words)
{
	struct agent_text part = {.text = words};
	struct agent_content content = {.tag = agent_content_text, .text = &part};
	struct agent_message_item message = {.id = id, .content = &content, .content_count = 1};
	struct turn_item item = {.tag = turn_item_agent_message, .agent_message = &message};
	task_emit_item(task, EV_item_started, &item);
	task_emit_item(task, EV_item_completed, &item);
}

static void forget_words(struct task_review *review)
{
	buf_clear(&review->words);
	free(review->words_id);
	review->words_id = NULL;
}

/* Emits the latest message as a remark: it is not the report, because another item followed it. */
static void emit_remark(struct task_review *review)
{
	if (review->words_id && review->words.len)
		emit_message(&review->task, str_of(review->words_id), buf_str(&review->words));
	forget_words(review);
}

static void keep_words(struct turn *turn, const struct json *json)
{
	char made[UUID_TEXT_SIZE];
	struct task_review *review = review_of(task_of_turn(turn));
	struct str id = json_get_str(json, "id");
	auto_buf struct buf spare;
	struct buf item;
	buf_init(&spare, LIMIT_SSE_EVENT);
	buf_init(&item, LIMIT_SSE_EVENT);
	emit_remark(review);
	if (!id.len) {
		uuid_v7(made);
		id = str_of(made);
	}
	review->words_id = str_dup(id);
	buf_append_str(&review->words, response_item_text(&spare, json));
	response_item_write(&item, json, NULL);
	conversation_add_buf(turn->env->conversation, &item);
}

static bool is_message(const struct response_event *event)
{
	return event->type == RESPONSE_text_delta ||
	       ((event->type == RESPONSE_item_added || event->type == RESPONSE_item_done) &&
	        str_is(json_get_str(event->item, "type"), "message"));
}

static void on_event(const struct response_event *event, void *self)
{
	struct turn *turn = self;
	bool is_done = event->type == RESPONSE_item_done;
	if (!is_message(event)) {
		if (is_done && json_get_str(event->item, "call_id").len)
			emit_remark(review_of(task_of_turn(turn)));
		turn_on_event(event, turn);
	} else if (is_done) {
		keep_words(turn, event->item);
	}
}

/* ---- the end ---- */

static void record_message(struct conversation *conversation, const char *role, struct str text)
{
	auto_buf struct buf item;
	buf_init(&item, LIMIT_USER_ITEM);
	text_message_write(&item, role, text);
	conversation_add(conversation, buf_str(&item));
}

/* Records the review in the user's conversation. */
static void record_report(struct session *session, struct str outcome, const struct buf *results)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_USER_ITEM);
	review_prompt_write_report(outcome, results, &text);
	session->conversation.context.user_turns++;
	record_message(&session->conversation, "user", buf_str(&text));
}

static void emit_exit(struct task *task, struct review_output *output)
{
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	struct ev_exited_review_mode event = {.review_output = output, .item_id = str_of(id)};
	task_emit(task, EV_exited_review_mode, &event);
}

static void emit_report(struct task *task, const struct buf *text)
{
	char uuid[UUID_TEXT_SIZE], id[sizeof("msg_") + UUID_TEXT_SIZE];
	struct session *session = task->session;
	uuid_v7(uuid);
	snprintf(id, sizeof(id), "msg_%s", uuid);
	task->turn_env.last_message =
		(struct turn_last_message){.exists = true, .index = session->conversation.context.items.count};
	record_message(&session->conversation, "assistant", buf_str(text));
	emit_message(task, str_of(id), buf_str(text));
}

static void finish_review(struct task_review *review)
{
	struct task *task = &review->task;
	struct session *session = task->session;
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	struct review_output output;
	buf_init(&text, LIMIT_REVIEW_TEXT);
	task->turn_env.conversation = &session->conversation;
	review_answer_read(buf_str(&review->words), &arena, &output);
	review_write_output(&output, &text);
	record_report(session, prompt_review_done, &text);
	emit_exit(task, &output);
	emit_report(task, &text);
	conversation_emit_usage(&session->conversation, task->id, session->settings);
	task_succeed(task);
}

/* ---- the kind ---- */

static void next_turn(struct task *task)
{
	task->turn = turn_ask(&task->turn_env, &(struct turn_question){.on_event = on_event});
}

static void on_turn_end(struct task *task, bool needs_turn)
{
	struct task_review *review = review_of(task);
	if (!needs_turn) {
		finish_review(review);
		return;
	}
	emit_remark(review);
	if (task_needs_compact(task))
		task_compact(task);
	else
		next_turn(task);
}

static void on_cut_short(struct task *task, bool by_user)
{
	task->turn_env.conversation = &task->session->conversation;
	record_report(task->session, by_user ? prompt_review_interrupted : prompt_review_failed, NULL);
	emit_exit(task, NULL);
}

static void finish(struct task *task)
{
	struct task_review *review = review_of(task);
	conversation_finish(&review->conversation);
	forget_words(review);
	buf_finish(&review->words);
}

static const struct task_kind kind = {
	.size = sizeof(struct task_review),
	.on_turn_end = on_turn_end,
	.on_compacted = next_turn,
	.on_cut_short = on_cut_short,
	.finish = finish,
};

/* ---- the start ---- */

/* Returns the reviewer's settings. The user does not talk to it, so it requests no approvals, and it never works in
 * plan mode. */
static struct settings *settings_of_reviewer(const struct session *session, struct error *err)
{
	const struct config *config = session->env->config;
	static const struct ask_for_approval never = {.tag = ask_for_approval_never};
	struct settings_change change = {.model = str_of(config->review_model)};
	if (config_required_check_approval(config_required(config), &never, NULL) == 0)
		change.approval_policy = &never;
	struct settings *settings = settings_with(session->settings, config, &change, err);
	if (settings) {
		settings->mode = mode_kind_default;
		settings->mode_instructions = NULL;
	}
	return settings;
}

static void emit_entry(struct task *task, const struct review_request *request)
{
	char id[UUID_TEXT_SIZE];
	auto_buf struct buf hint;
	buf_init(&hint, LIMIT_USER_ITEM);
	uuid_v7(id);
	if (request->user_facing_hint.len)
		buf_append_str(&hint, request->user_facing_hint);
	else if (request->target)
		review_write_hint(request->target, &hint);
	else
		buf_append_str(&hint, str_trim(request->prompt));
	struct ev_entered_review_mode event = {
		.target = request->target,
		.prompt = request->prompt,
		.user_facing_hint = buf_str(&hint),
		.item_id = str_of(id),
	};
	task_emit(task, EV_entered_review_mode, &event);
}

static void ask(struct task *task, struct str words)
{
	struct input_text text = {.text = words};
	struct user_input item = {.tag = user_input_text, .text = &text};
	struct task_input input = {.items = &item, .count = 1};
	preamble_update(task->turn_env.conversation, task->settings);
	record_message(task->turn_env.conversation, "user", words);
	task_emit_message(task, &input);
	next_turn(task);
}

int task_start_review(const struct task_owner *owner, struct str id, const struct review_request *request,
                      struct error *err)
{
	struct session *session = owner->session;
	struct settings *settings = settings_of_reviewer(session, err);
	if (!settings)
		return -(int)err->code;
	auto_buf struct buf words;
	buf_init(&words, LIMIT_USER_ITEM);
	struct task *task = task_create_under(&kind, owner, id, settings);
	settings_unref(settings);
	struct task_review *review = review_of(task);
	review->voice = (struct conversation_voice){.instructions = prompt_review, .subagent = "review"};
	conversation_init(&review->conversation, session, &review->voice);
	buf_init(&review->words, LIMIT_SSE_EVENT);
	session_check_window(session, task->id, task->settings);
	emit_entry(task, request);
	if (request->target)
		review_prompt_write(request->target, &words);
	else
		buf_append_str(&words, str_trim(request->prompt));
	task->turn_env.conversation = &review->conversation;
	ask(task, buf_str(&words));
	return 0;
}
