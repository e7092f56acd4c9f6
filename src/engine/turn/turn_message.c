/* Messages of the model. In plan mode a message is parsed while it streams: the block of a proposed plan becomes a
 * separate item, whose id is derived from the task's, because a task proposes one plan; the other text is the
 * message. An item is started with its first visible character, so a message of blanks, or of only a plan, is never
 * started. In other modes deltas are emitted unchanged. */
#include "base/mem.h"
#include "base/limits.h"
#include "base/text.h"
#include "engine/history/history_item.h"
#include "engine/session/session.h"
#include "engine/session/conversation.h"
#include "engine/turn/turn.h"
#include "model/proposed_plan.h"

/* A message in plan mode while it streams. */
struct turn_reader {
	struct turn *turn;
	struct proposed_plan plan;
	struct buf blanks; /* leading blanks, until a visible character follows */
};

static bool proposes_plans(const struct turn *turn)
{
	return turn->env->settings->mode == mode_kind_plan;
}

static void emit_delta(struct turn *turn, enum event_tag tag, struct str item_id, struct str text)
{
	struct ev_content_delta delta = {str_of(turn->env->session->id), turn->env->id, item_id, text};
	session_emit(turn->env->session, turn->env->id, tag, &delta);
}

/* ---- the plan ---- */

static void plan_start(struct turn_env *env)
{
	if (env->plan != TURN_PLAN_none)
		return;
	env->plan = TURN_PLAN_open;
	if (!env->plan_id.ptr)
		env->plan_id = str_of(arena_printf(env->arena, "%.*s-plan", STR_ARG(env->id)));
	struct plan_item plan = {.id = env->plan_id, .text = STR("")};
	session_emit_item(env->session, env->id, EV_item_started,
	                  &(struct turn_item){.tag = turn_item_plan, .plan = &plan});
}

void turn_close_plan(struct turn_env *env, struct str text)
{
	if (env->plan == TURN_PLAN_done)
		return;
	plan_start(env);
	env->plan = TURN_PLAN_done;
	struct plan_item plan = {.id = env->plan_id, .text = text};
	session_emit_item(env->session, env->id, EV_item_completed,
	                  &(struct turn_item){.tag = turn_item_plan, .plan = &plan});
}

/* ---- deltas ---- */

static void show(struct turn *turn, struct str text)
{
	struct turn_reader *reader = turn->open.reader;
	if (!turn->open.is_emitted) {
		buf_append_str(&reader->blanks, text);
		if (text_trim(text).len == 0 && reader->blanks.len < LIMIT_BLANKS)
			return;
		text = buf_str(&reader->blanks);
		turn_emit_open_item(turn);
	}
	if (turn_cut_shown(turn, &text))
		emit_delta(turn, EV_agent_message_content_delta, str_of(turn->open.id), text);
	buf_reuse(&reader->blanks);
}

static void emit_plan_delta(struct turn *turn, struct str text)
{
	text = turn_shown_add(&turn->env->plan_shown, text);
	if (text.len)
		emit_delta(turn, EV_plan_delta, turn->env->plan_id, text);
}

static void on_segment(enum tagged_segment segment, struct str text, void *self)
{
	struct turn *turn = self;
	struct turn_env *env = turn->env;
	if (segment == TAGGED_TEXT)
		show(turn, text);
	else if (segment == TAGGED_START)
		plan_start(env);
	else if (segment == TAGGED_INNER && env->plan == TURN_PLAN_open)
		emit_plan_delta(turn, text);
}

static struct turn_reader *reader_create(struct turn *turn)
{
	struct turn_reader *reader = xnew(struct turn_reader);
	proposed_plan_init(&reader->plan, on_segment, turn);
	buf_init(&reader->blanks, 2 * LIMIT_SSE_EVENT);
	return reader;
}

void turn_reader_destroy(struct turn_reader *reader)
{
	if (!reader)
		return;
	proposed_plan_finish(&reader->plan);
	buf_finish(&reader->blanks);
	free(reader);
}

void turn_message_delta(struct turn *turn, struct str id, struct str text)
{
	if (!turn_is_open(turn, TURN_ITEM_message, id))
		return;
	if (!proposes_plans(turn)) {
		turn_emit_open_item(turn);
		if (turn_cut_shown(turn, &text))
			emit_delta(turn, EV_agent_message_content_delta, str_of(turn->open.id), text);
		return;
	}
	if (!turn->open.reader)
		turn->open.reader = reader_create(turn);
	proposed_plan_feed(&turn->open.reader->plan, text);
}

static void take_phase(struct turn *turn, const struct json *json)
{
	struct str phase = json_get_str(json, "phase");
	free(turn->open.phase);
	turn->open.phase = phase.ptr ? str_dup(phase) : NULL;
}

/* Handles a message item. Some servers send the beginning of the text with it; codex 0.169 emits that text in plan
 * mode only. */
void turn_message_added(struct turn *turn, const struct json *json)
{
	auto_buf struct buf spare;
	buf_init(&spare, LIMIT_SSE_EVENT);
	turn_open_item(turn, TURN_ITEM_message, json_get_str(json, "id"));
	take_phase(turn, json);
	struct str text = proposes_plans(turn) ? response_item_text(&spare, json) : STR_NONE;
	if (text.len)
		turn_message_delta(turn, STR_NONE, text);
}

/* ---- the whole message ---- */

/* The item of a message with its parts. */
struct whole {
	struct agent_text part;
	struct agent_content content;
	struct agent_message_item message;
	struct turn_item item;
};

static void whole_init(struct whole *whole, const struct turn *turn, struct str words)
{
	whole->part = (struct agent_text){.text = words};
	whole->content = (struct agent_content){.tag = agent_content_text, .text = &whole->part};
	whole->message = (struct agent_message_item){.id = str_of(turn->open.id),
	                                             .content = &whole->content,
	                                             .content_count = 1,
	                                             .phase = str_of(turn->open.phase)};
	whole->item = (struct turn_item){.tag = turn_item_agent_message, .agent_message = &whole->message};
}

static void emit_whole(struct turn *turn, struct str words)
{
	struct whole whole;
	struct turn_env *env = turn->env;
	whole_init(&whole, turn, words);
	turn_emit_whole_item(turn, &whole.item);
	/* the index at which on_item_done will add the message */
	env->last_message = (struct turn_last_message){.exists = true, .index = env->conversation->context.items.count};
}

/* True if the text is large, and a part of the item as the model sent it, which the history copies. */
static bool is_late(const struct turn *turn, struct str item, struct str words)
{
	return turn->open.is_emitted && words.len >= LIMIT_SHARED_TEXT && words.ptr >= item.ptr &&
	       words.ptr + words.len <= item.ptr + item.len;
}

static void record_late(struct turn *turn, struct str words)
{
	struct whole whole;
	whole_init(&whole, turn, words);
	session_record_completed(turn->env->session, turn->env->id, &whole.item);
	turn->late = words;
}

void turn_message_late(struct turn *turn, size_t at)
{
	struct whole whole;
	struct turn_env *env = turn->env;
	const struct context *context = &env->conversation->context;
	if (!turn->late.ptr)
		return;
	size_t index = context->items.count - 1;
	struct str text = context_item_text(context, index), words = turn->late;
	struct shared_text *held = context_item_whole(context, index);
	bool is_shared = held && at && at + words.len <= text.len;
	env->last_message = (struct turn_last_message){.exists = true, .index = index};
	if (is_shared) {
		words.ptr = text.ptr + at;
		env->last_message.at = at;
		env->last_message.len = words.len;
	}
	whole_init(&whole, turn, words);
	session_push_completed(env->session, env->id, &whole.item, is_shared ? held : NULL);
	turn->late = STR_NONE;
}

/* Emits the finished message, which replaces the streamed text. */
static void emit_parts(struct turn *turn, struct str words)
{
	auto_buf struct buf text, plan;
	buf_init(&text, LIMIT_SSE_EVENT);
	buf_init(&plan, LIMIT_SSE_EVENT);
	if (turn->open.reader)
		proposed_plan_end(&turn->open.reader->plan);
	if (proposed_plan_split(words, &text, &plan))
		turn_close_plan(turn->env, buf_str(&plan));
	if (!turn->open.is_emitted && text_trim(buf_str(&text)).len == 0)
		return;
	turn_emit_open_item(turn); /* no text yet, as in codex 0.169 in plan mode */
	emit_whole(turn, buf_str(&text));
}

void turn_message_done(struct turn *turn, const struct json *json)
{
	auto_buf struct buf spare;
	buf_init(&spare, LIMIT_SSE_EVENT);
	struct str words = response_item_text(&spare, json);
	if (turn->open.kind != TURN_ITEM_message)
		turn_open_item(turn, TURN_ITEM_message, json_get_str(json, "id"));
	else if (!proposes_plans(turn))
		turn_emit_open_item(turn);
	take_phase(turn, json);
	if (proposes_plans(turn))
		emit_parts(turn, words);
	else if (is_late(turn, json->span, words))
		record_late(turn, words);
	else
		emit_whole(turn, words);
}

/* True if an unfinished message is added to the history. No item may come between a call and its output, and the
 * model must not read a text that it never wrote. */
static bool enters_history(const struct turn *turn)
{
	const struct turn_shown *shown = &turn->open.shown;
	return turn->is_complete && turn->tools.count == 0 && shown->text.len > 0 && !shown->text.over &&
	       !shown->is_mixed;
}

void turn_message_cut_short(struct turn *turn)
{
	struct buf item;
	struct turn_env *env = turn->env;
	struct str text = buf_str(&turn->open.shown.text);
	struct turn_last_message last_message = env->last_message;
	emit_whole(turn, text);
	if (!enters_history(turn)) {
		env->last_message = last_message;
		return;
	}
	buf_init(&item, LIMIT_SSE_EVENT);
	text_message_write(&item, "assistant", text);
	conversation_add_buf(env->conversation, &item);
}
