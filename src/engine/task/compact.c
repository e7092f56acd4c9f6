/* The new history is made beside the old one and takes its place in one step, in memory and, as one line, in
 * the rollout: there is no moment at which half of it could be lost. What stays is chosen by the same rule
 * that a resume uses for sessions of before 2026 (rollout_item.h). */
#include "engine/task/compact.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/uuid.h"
#include "config/config.h"
#include "engine/session/preamble.h"
#include "engine/history/history_item.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/session/conversation.h"
#include "engine/session/conversation_usage.h"
#include "engine/task/task.h"
#include "engine/turn/turn.h"
#include "model/prompt.h"
#include "rollout/rollout_item.h"

struct compact {
	char id[UUID_TEXT_SIZE];
	struct buf question; /* the item that asks for the memo */
	struct buf memo;
	size_t first_item; /* of the history that is summarised; those before it did not fit */
};

bool compact_is_due(const struct task *task)
{
	const struct conversation *conversation = task->turn_env.conversation;
	return conversation->context.items.count &&
	       conversation_count_tokens(conversation) >= task->settings->compact_limit;
}

void compact_destroy(struct compact *compact)
{
	if (!compact)
		return;
	buf_finish(&compact->question);
	buf_finish(&compact->memo);
	free(compact);
}

static void tell_item(struct task *task, enum event_tag tag)
{
	struct compaction_item compaction = {.id = str_of(task->compact->id)};
	struct turn_item item = {.tag = turn_item_context_compaction, .body = &compaction};
	task_emit_item(task, tag, &item);
}

/* ---- the question ---- */

static int read_question(const struct config *config, struct buf *out, struct error *err)
{
	if (config->compact_prompt) {
		buf_append_c(out, config->compact_prompt);
		return 0;
	}
	if (!config->experimental_compact_prompt_file) {
		buf_append_str(out, prompt_compact);
		return 0;
	}
	return session_read_prompt_file(config, "experimental_compact_prompt_file",
	                                config->experimental_compact_prompt_file, out, err);
}

static int write_question(struct task *task, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONTEXT_TEXT);
	if (read_question(task->session->env->config, &text, err) != 0)
		return -(int)err->code;
	text_message_write(&task->compact->question, "user", buf_str(&text));
	return 0;
}

/* ---- the answer ---- */

static void take_memo(struct turn *turn, const struct json *item)
{
	struct compact *compact = task_of_turn(turn)->compact;
	if (!str_is(json_get_str(item, "type"), "message"))
		return;
	auto_buf struct buf spare;
	buf_init(&spare, LIMIT_SSE_EVENT);
	buf_clear(&compact->memo);
	buf_append_str(&compact->memo, str_trim(response_item_text(&spare, item)));
}

static void on_event(const struct response_event *event, void *self)
{
	struct turn *turn = self;
	if (event->type == RESPONSE_item_done)
		take_memo(turn, event->item);
	else if (event->type == RESPONSE_rate_limits)
		conversation_set_limits(turn->env->conversation, turn->env->id, turn->env->settings, event->limits);
	else if (event->type == RESPONSE_completed) {
		turn->is_complete = true;
		conversation_add_usage(turn->env->conversation, turn->env->id, turn->env->settings, event->usage);
	}
}

void compact_ask(struct task *task)
{
	struct turn_question question = {
		.on_event = on_event,
		.item = buf_str(&task->compact->question),
		.first_item = task->compact->first_item,
	};
	task->turn = turn_ask(&task->turn_env, &question);
}

void compact_start(struct task *task)
{
	struct error err;
	struct compact *compact = xnew(struct compact);
	task->compact = compact;
	uuid_v7(compact->id);
	buf_init(&compact->question, (size_t)LIMIT_CONTEXT_TEXT * 6 + KIB);
	buf_init(&compact->memo, LIMIT_SSE_EVENT);
	if (write_question(task, &err) != 0) {
		task_fail(task, err.text, "\"other\"");
		return;
	}
	tell_item(task, EV_item_started);
	compact_ask(task);
}

/* Twice as many each time: a request for every single item would cost more than what it saves. */
bool compact_trim(struct task *task)
{
	struct compact *compact = task->compact;
	size_t wanted = compact->first_item ? compact->first_item * 2 : 1;
	size_t cut = conversation_find_cut(task->turn_env.conversation, wanted);
	if (cut >= task->turn_env.conversation->context.items.count)
		return false;
	compact->first_item = cut;
	return true;
}

/* ---- the new history ---- */

/* What the user said, newest first until the budget is used up, in its old order. */
static void keep_words(const struct context *old, struct context *fresh)
{
	auto_arena struct arena line = {0}, kept_arena = {0};
	VEC(struct str) kept = {0};
	size_t tokens_left = ROLLOUT_KEPT_TOKENS;
	for (size_t i = old->items.count; i > 0 && tokens_left; i--) {
		auto_buf struct buf spare;
		buf_init(&spare, LIMIT_ROLLOUT_LINE);
		arena_reset(&line);
		const struct json *item = json_parse(&line, context_item_text(old, i - 1), NULL);
		struct str part = rollout_kept_item(item, &tokens_left, &spare);
		if (part.ptr)
			vec_push(&kept, part.ptr == spare.data ? arena_str(&kept_arena, part) : part);
	}
	fresh->user_turns = kept.count;
	for (size_t i = kept.count; i > 0; i--)
		context_append(fresh, kept.items[i - 1]);
	vec_finish(&kept);
}

static void write_memo(struct context *fresh, const struct buf *memo)
{
	auto_buf struct buf text, item;
	buf_init(&text, LIMIT_SSE_EVENT + 64 * KIB);
	buf_init(&item, (size_t)LIMIT_SSE_EVENT * 2);
	buf_printf(&text, "<conversation_summary>\n%.*s\n\n", STR_ARG(str_trim(prompt_compact_summary)));
	buf_append_str(&text, memo->len ? buf_str(memo) : STR("(no summary available)"));
	buf_append_c(&text, "\n</conversation_summary>");
	text_message_write(&item, "user", buf_str(&text));
	context_append(fresh, buf_str(&item));
}

static void tell_trimmed(struct task *task)
{
	char text[160];
	if (!task->compact->first_item)
		return;
	snprintf(text, sizeof(text),
	         "The oldest %zu items of the history are not in the summary: with them the request for it did not fit "
	         "the model's context window.",
	         task->compact->first_item);
	struct ev_background_event event = {.message = str_of(text)};
	task_emit(task, EV_background_event, &event);
}

void compact_finish(struct task *task)
{
	struct conversation *conversation = task->turn_env.conversation;
	struct compact *compact = task->compact;
	struct context fresh;
	context_init(&fresh);
	preamble_write(&fresh, conversation, task->settings);
	keep_words(&conversation->context, &fresh);
	write_memo(&fresh, &compact->memo);
	conversation_replace(conversation, &fresh, task->id, task->settings, buf_str(&compact->memo));
	task->turn_env.has_last_message = false;
	tell_trimmed(task);
	conversation_estimate_usage(conversation, task->id, task->settings);
	tell_item(task, EV_item_completed);
	session_warn(task->session, task->id,
	             "The conversation so far was replaced by a summary, which can lose details. For other work, a new "
	             "session is more accurate.");
	task->compact = NULL;
	compact_destroy(compact);
}

/* ---- the Task of Op compact ---- */

/* It takes no input. One that ends early leaves the history as it was. */
static const struct task_kind kind = {
	.size = sizeof(struct task),
	.on_compacted = task_complete,
};

void task_start_compact(const struct task_owner *owner, struct str id)
{
	struct session *session = owner->session;
	struct task *task = task_create(&kind, owner, id);
	if (session->conversation.context.items.count) {
		compact_start(task);
		return;
	}
	session_warn(session, id, "There is nothing to summarise yet.");
	task_complete(task);
}
