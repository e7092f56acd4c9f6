/* The new history is built separately and replaces the old one in one step, in memory and, as one line, in the
 * rollout, so that a crash leaves either the old or the new one. The messages that stay are chosen by the rule that
 * a resume uses for sessions recorded before 2026 (rollout_item.h). */
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
#include "engine/turn/turn.h"
#include "model/prompt.h"
#include "rollout/rollout_item.h"

struct compact {
	struct turn_env *env;
	/* as env; under the settings that the history was made for, if those of env cannot use it */
	struct turn_env asking;
	char id[UUID_TEXT_SIZE];
	struct buf question; /* the item that asks for the summary */
	struct buf summary;
	size_t first_item; /* index of the first item that is summarised; the items before it did not fit */
};

bool compact_is_due(const struct turn_env *env)
{
	const struct conversation *conversation = env->conversation;
	return conversation_must_switch(conversation, env->settings) ||
	       (conversation->context.items.count &&
	        conversation_count_tokens(conversation) >= env->settings->compact_limit);
}

void compact_destroy(struct compact *compact)
{
	if (!compact)
		return;
	buf_finish(&compact->question);
	buf_finish(&compact->summary);
	free(compact);
}

static void emit_item(const struct compact *compact, enum event_tag tag)
{
	struct compaction_item compaction = {.id = str_of(compact->id)};
	struct turn_item item = {.tag = turn_item_context_compaction, .body = &compaction};
	session_emit_item(compact->env->session, compact->env->id, tag, &item);
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

static int write_question(struct compact *compact, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONTEXT_TEXT);
	if (read_question(compact->env->session->env->config, &text, err) != 0)
		return -(int)err->code;
	text_message_write(&compact->question, "user", buf_str(&text));
	return 0;
}

struct compact *compact_create(struct turn_env *env, struct error *err)
{
	struct compact *compact = xnew(struct compact);
	compact->env = env;
	compact->asking = *env;
	if (conversation_must_switch(env->conversation, env->settings) && env->conversation->announced)
		compact->asking.settings = env->conversation->announced;
	uuid_v7(compact->id);
	buf_init(&compact->question, (size_t)LIMIT_CONTEXT_TEXT * 6 + KIB);
	buf_init(&compact->summary, LIMIT_SSE_EVENT);
	if (write_question(compact, err) != 0) {
		compact_destroy(compact);
		return NULL;
	}
	emit_item(compact, EV_item_started);
	return compact;
}

/* ---- the answer ---- */

static void take_summary(struct compact *compact, const struct json *item)
{
	if (!str_is(json_get_str(item, "type"), "message"))
		return;
	auto_buf struct buf spare;
	buf_init(&spare, LIMIT_SSE_EVENT);
	buf_clear(&compact->summary);
	buf_append_str(&compact->summary, str_trim(response_item_text(&spare, item)));
}

static void on_event(const struct response_event *event, void *self)
{
	struct turn *turn = self;
	struct turn_env *env = turn->env;
	if (event->type == RESPONSE_item_done)
		take_summary(turn->question.self, event->item);
	else if (event->type == RESPONSE_rate_limits)
		conversation_set_limits(env->conversation, env->id, env->settings, event->limits);
	else if (event->type == RESPONSE_completed) {
		turn->is_complete = true;
		conversation_add_usage(env->conversation, env->id, env->settings, event->usage);
	}
}

struct turn *compact_ask(struct compact *compact)
{
	struct turn_question question = {
		.on_event = on_event,
		.self = compact,
		.item = buf_str(&compact->question),
		.first_item = compact->first_item,
	};
	return turn_ask(&compact->asking, &question);
}

/* Doubles the number of dropped items each time: dropping one item per request would cost more requests than it
 * saves. */
bool compact_trim(struct compact *compact)
{
	const struct conversation *conversation = compact->env->conversation;
	size_t wanted = compact->first_item ? compact->first_item * 2 : 1;
	size_t cut = conversation_find_cut(conversation, wanted);
	if (cut >= conversation->context.items.count)
		return false;
	compact->first_item = cut;
	return true;
}

/* ---- the new history ---- */

/* Keeps the user's newest messages up to the budget, in their original order. */
static void keep_messages(const struct context *old, struct context *fresh)
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

static void write_summary(struct context *fresh, const struct buf *summary)
{
	auto_buf struct buf text, item;
	buf_init(&text, LIMIT_SSE_EVENT + 64 * KIB);
	buf_init(&item, (size_t)LIMIT_SSE_EVENT * 2);
	buf_printf(&text, "<conversation_summary>\n%.*s\n\n", STR_ARG(str_trim(prompt_compact_summary)));
	buf_append_str(&text, summary->len ? buf_str(summary) : STR("(no summary available)"));
	buf_append_c(&text, "\n</conversation_summary>");
	text_message_write(&item, "user", buf_str(&text));
	context_append(fresh, buf_str(&item));
}

static void emit_trimmed(const struct compact *compact)
{
	char text[160];
	if (!compact->first_item)
		return;
	snprintf(text, sizeof(text),
	         "The oldest %zu items of the history are not in the summary: with them the request for it did not fit "
	         "the model's context window.",
	         compact->first_item);
	struct ev_background_event event = {.message = str_of(text)};
	session_emit(compact->env->session, compact->env->id, EV_background_event, &event);
}

void compact_finish(struct compact *compact)
{
	struct turn_env *env = compact->env;
	struct conversation *conversation = env->conversation;
	struct context fresh;
	context_init(&fresh);
	preamble_write(&fresh, conversation, env->settings);
	keep_messages(&conversation->context, &fresh);
	write_summary(&fresh, &compact->summary);
	conversation_replace(conversation, &fresh, env->id, env->settings, buf_str(&compact->summary));
	env->last_message.exists = false;
	emit_trimmed(compact);
	conversation_estimate_usage(conversation, env->id, env->settings);
	emit_item(compact, EV_item_completed);
	session_warn(env->session, env->id,
	             "The conversation so far was replaced by a summary, which can lose details. For other work, a new "
	             "session is more accurate.");
}
