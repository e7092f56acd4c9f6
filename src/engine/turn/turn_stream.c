/* Converts the model's stream to items: started, extended by deltas, completed. The completed item is authoritative and
 * recorded; deltas are only emitted. */
#define LOG_MODULE "turn"
#include "engine/turn/turn.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "base/uuid.h"
#include "config/config.h"
#include "engine/history/history_item.h"
#include "config/model_provider.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/session/conversation.h"
#include "engine/session/conversation_usage.h"
#include "model/model_stream.h"
#include "tool/tool.h"

static struct str thread_id(const struct turn *turn)
{
	return str_of(turn->env->session->id);
}

static void emit(struct turn *turn, enum event_tag tag, const void *body)
{
	session_emit(turn->env->session, turn->env->id, tag, body);
}

static void emit_item(struct turn *turn, enum event_tag tag, struct turn_item *item)
{
	session_emit_item(turn->env->session, turn->env->id, tag, item);
}

/* ---- emitted text ---- */

void turn_shown_finish(struct turn_shown *shown)
{
	buf_finish(&shown->text);
	*shown = (struct turn_shown){0};
}

static void expect_repeat(struct turn_shown *shown)
{
	shown->repeated = 0;
	shown->is_repeating = shown->text.len > 0;
}

static size_t common_prefix(struct str a, struct str b)
{
	size_t len = 0;
	while (len < a.len && len < b.len && a.ptr[len] == b.ptr[len])
		len++;
	return text_floor_boundary(a, len);
}

struct str turn_shown_add(struct turn_shown *shown, struct str text)
{
	if (shown->is_repeating) {
		struct str rest = str_skip(buf_str(&shown->text), shown->repeated);
		size_t same = common_prefix(text, rest);
		shown->repeated += same;
		text = str_skip(text, same);
		shown->is_repeating = text.len == 0 && same < rest.len;
		shown->is_mixed |= text.len > 0 && same < rest.len;
	}
	if (!shown->text.max)
		buf_init(&shown->text, LIMIT_STREAMED_TEXT);
	if (!shown->text.over) /* so that the copied text has no gap */
		buf_append_str(&shown->text, text);
	return text;
}

/* ---- the open item ---- */

static void clear_item(struct turn_open_item *item)
{
	turn_reader_destroy(item->reader);
	turn_shown_finish(&item->shown);
	free(item->id);
	free(item->wire_id);
	free(item->phase);
	*item = (struct turn_open_item){0};
}

void turn_close_item(struct turn *turn)
{
	clear_item(&turn->open);
}

static void keep_open(struct turn *turn)
{
	struct turn_open_item *open = &turn->open;
	if (open->is_emitted && (open->kind == TURN_ITEM_message || open->kind == TURN_ITEM_reasoning)) {
		turn_reader_destroy(steal(open->reader));
		expect_repeat(&open->shown);
		clear_item(&turn->kept[open->kind]);
		turn->kept[open->kind] = *open;
		*open = (struct turn_open_item){0};
	}
	turn_close_item(turn);
}

void turn_keep_item(struct turn *turn)
{
	keep_open(turn);
	turn_patch_drop(turn);
	expect_repeat(&turn->env->plan_shown);
}

void turn_drop_kept(struct turn *turn)
{
	for (size_t i = 0; i < countof(turn->kept); i++)
		clear_item(&turn->kept[i]);
}

/* Reopens the item that an earlier attempt left unfinished. */
static bool take_kept(struct turn *turn, enum turn_item_kind kind)
{
	if (kind >= countof(turn->kept) || !turn->kept[kind].id)
		return false;
	turn->open = turn->kept[kind];
	turn->kept[kind] = (struct turn_open_item){0};
	free(steal(turn->open.wire_id));
	return true;
}

void turn_open_item(struct turn *turn, enum turn_item_kind kind, struct str id)
{
	char made[UUID_TEXT_SIZE];
	turn_close_item(turn);
	if (!take_kept(turn, kind)) {
		uuid_v7(made);
		turn->open = (struct turn_open_item){.kind = kind, .id = str_dup(id.len ? id : str_of(made))};
	}
	turn->open.wire_id = id.len ? str_dup(id) : NULL;
}

void turn_emit_open_item(struct turn *turn)
{
	if (turn->open.is_emitted)
		return;
	turn->open.is_emitted = true;
	struct agent_text part = {.text = STR("")};
	struct agent_content content = {.tag = agent_content_text, .text = &part};
	struct agent_message_item message = {
		.id = str_of(turn->open.id), .content = &content, .phase = str_of(turn->open.phase)};
	message.content_count = turn->env->settings->mode == mode_kind_plan; /* codex 0.169 does the same */
	struct reasoning_item reasoning = {.id = str_of(turn->open.id)};
	bool is_message = turn->open.kind == TURN_ITEM_message;
	struct turn_item item = {.tag = is_message ? turn_item_agent_message : turn_item_reasoning,
	                         .body = is_message ? (void *)&message : (void *)&reasoning};
	emit_item(turn, EV_item_started, &item);
}

bool turn_is_open(const struct turn *turn, enum turn_item_kind kind, struct str id)
{
	const struct turn_open_item *open = &turn->open;
	if (open->kind == kind && (id.len == 0 || !open->wire_id || str_is(id, open->wire_id)))
		return true;
	log_debug("ignored a delta of \"%.*s\", an item that was not added", id.len < 64 ? (int)id.len : 64, id.ptr);
	return false;
}

bool turn_cut_shown(struct turn *turn, struct str *text)
{
	size_t len = text->len;
	*text = turn_shown_add(&turn->open.shown, *text);
	return text->len || len == 0;
}

/* Opens a completed item. If it had no deltas, turn_emit_whole_item starts it with its whole content. */
static void ensure_open_whole(struct turn *turn, enum turn_item_kind kind, struct str id)
{
	if (turn->open.kind == kind)
		turn_emit_open_item(turn);
	else
		turn_open_item(turn, kind, id);
}

void turn_emit_whole_item(struct turn *turn, struct turn_item *item)
{
	if (!turn->open.is_emitted)
		emit_item(turn, EV_item_started, item);
	turn->open.is_emitted = true;
	emit_item(turn, EV_item_completed, item);
}

/* The query is known only when the search has ended. */
static void emit_search_started(struct turn *turn, struct str id)
{
	struct web_search_item search = {.id = id, .query = STR(""), .action = STR("{\"type\":\"other\"}")};
	struct turn_item item = {.tag = turn_item_web_search, .web_search = &search};
	emit_item(turn, EV_item_started, &item);
	turn_open_item(turn, TURN_ITEM_web_search, id);
	turn->open.is_emitted = true;
}

static void on_item_added(struct turn *turn, const struct json *item)
{
	struct str type = json_get_str(item, "type");
	if (str_is(type, "message"))
		turn_message_added(turn, item);
	else if (str_is(type, "reasoning"))
		turn_open_item(turn, TURN_ITEM_reasoning, json_get_str(item, "id"));
	else if (str_is(type, "web_search_call"))
		emit_search_started(turn, json_get_str(item, "id"));
	else if (str_is(type, "custom_tool_call"))
		turn_patch_added(turn, item);
}

/* ---- deltas ---- */

static void on_text_delta(struct turn *turn, const struct response_event *event)
{
	turn_message_delta(turn, event->id, event->text);
}

static void on_summary_part(struct turn *turn, const struct response_event *event)
{
	struct str mark = {"", 1}; /* stands for the break among the deltas */
	if (!turn_is_open(turn, TURN_ITEM_reasoning, event->id))
		return;
	turn_emit_open_item(turn);
	if (!turn_cut_shown(turn, &mark))
		return;
	struct ev_section_break section = {.item_id = str_of(turn->open.id), .summary_index = event->index};
	emit(turn, EV_agent_reasoning_section_break, &section);
}

static void on_summary_delta(struct turn *turn, const struct response_event *event)
{
	struct str text = event->text;
	if (!turn_is_open(turn, TURN_ITEM_reasoning, event->id))
		return;
	turn_emit_open_item(turn);
	if (!turn_cut_shown(turn, &text))
		return;
	struct ev_reasoning_delta delta = {thread_id(turn), turn->env->id, str_of(turn->open.id), text, event->index};
	emit(turn, EV_reasoning_content_delta, &delta);
}

/* Other wires have no summaries of reasoning, so their reasoning itself is shown. */
static bool shows_raw(const struct turn *turn)
{
	const struct session *session = turn->env->session;
	bool has_summaries = session->provider->wire == wire_api_responses;
	return session->env->config->show_raw_agent_reasoning || !has_summaries;
}

static void on_raw_delta(struct turn *turn, const struct response_event *event)
{
	struct str text = event->text;
	if (!shows_raw(turn) || !turn_is_open(turn, TURN_ITEM_reasoning, event->id))
		return;
	turn_emit_open_item(turn);
	if (!turn_cut_shown(turn, &text))
		return;
	struct ev_reasoning_raw_delta delta = {thread_id(turn), turn->env->id, str_of(turn->open.id), text,
	                                       event->index};
	emit(turn, EV_reasoning_raw_content_delta, &delta);
}

/* ---- finished items ---- */

static size_t collect_texts(const struct json *parts, struct arena *arena, struct str **ret)
{
	struct str *texts = arena_array(arena, struct str, parts ? parts->count : 0);
	size_t count = 0;
	json_for_each(part, parts) {
		struct str text = json_get_str(part, "text");
		if (text.ptr)
			texts[count++] = text;
	}
	*ret = texts;
	return count;
}

static void on_reasoning(struct turn *turn, const struct json *json)
{
	auto_arena struct arena arena = {0};
	ensure_open_whole(turn, TURN_ITEM_reasoning, json_get_str(json, "id"));
	struct reasoning_item reasoning = {.id = str_of(turn->open.id)};
	reasoning.summary_text_count = collect_texts(json_get(json, "summary"), &arena, &reasoning.summary_text);
	if (shows_raw(turn))
		reasoning.raw_content_count = collect_texts(json_get(json, "content"), &arena, &reasoning.raw_content);
	struct turn_item item = {.tag = turn_item_reasoning, .reasoning = &reasoning};
	turn_emit_whole_item(turn, &item);
}

static void on_web_search(struct turn *turn, const struct json *json)
{
	auto_arena struct arena arena = {0};
	const struct json *action = json_get(json, "action");
	struct web_search_item search = {
		.id = json_get_str(json, "id"),
		.query = web_search_words(action, &arena),
		.action = action ? action->span : STR_NONE,
	};
	struct turn_item item = {.tag = turn_item_web_search, .web_search = &search};
	if (turn->open.kind != TURN_ITEM_web_search || !str_is(search.id, turn->open.id))
		emit_item(turn, EV_item_started, &item);
	turn_close_item(turn);
	emit_item(turn, EV_item_completed, &item);
}

static void on_function_call(struct turn *turn, const struct json *json)
{
	turn_add_tool(turn, &(struct tool_call_words){
				    .call_id = json_get_str(json, "call_id"),
				    .namespace = json_get_str(json, "namespace"),
				    .name = json_get_str(json, "name"),
				    .input = json_get_str(json, "arguments"),
			    });
}

static void on_custom_call(struct turn *turn, const struct json *json)
{
	struct tool_call_words words = {.call_id = json_get_str(json, "call_id"), .is_custom = true};
	words.namespace = json_get_str(json, "namespace");
	words.name = json_get_str(json, "name");
	words.input = json_get_str(json, "input");
	turn_add_tool(turn, &words);
}

/* The arguments are an object, not a text. */
static void on_search_call(struct turn *turn, const struct json *json)
{
	const struct json *arguments = json_get(json, "arguments");
	struct tool_call_words words = {.call_id = json_get_str(json, "call_id"), .is_search = true};
	words.name = STR("tool_search");
	words.input = json_is(arguments, JSON_object) ? arguments->span : STR("{}");
	turn_add_tool(turn, &words);
}

static const struct {
	const char *type;
	void (*handle)(struct turn *turn, const struct json *item);
	bool is_call; /* the item needs a call_id, to which the answer refers */
} item_rows[] = {
	{"message", turn_message_done, false},      {"reasoning", on_reasoning, false},
	{"web_search_call", on_web_search, false},  {"function_call", on_function_call, true},
	{"custom_tool_call", on_custom_call, true}, {"tool_search_call", on_search_call, true},
};

void turn_add_call(struct turn *turn, const struct json *item)
{
	for (size_t i = 0; i < countof(item_rows); i++) {
		if (item_rows[i].is_call && str_is(json_get_str(item, "type"), item_rows[i].type))
			item_rows[i].handle(turn, item);
	}
}

/* Items of other types are recorded, but not emitted. */
static void on_item_done(struct turn *turn, const struct json *json)
{
	struct str type = json_get_str(json, "type");
	for (size_t i = 0; i < countof(item_rows); i++) {
		if (!str_is(type, item_rows[i].type))
			continue;
		struct str call_id = json_get_str(json, "call_id");
		if (item_rows[i].is_call && (!call_id.ptr || call_id.len > LIMIT_CALL_ID)) {
			log_debug("dropped a %s without a usable call_id", item_rows[i].type);
			return;
		}
		item_rows[i].handle(turn, json);
		break;
	}
	struct buf item;
	buf_init(&item, LIMIT_SSE_EVENT);
	size_t at = response_item_write(&item, json, turn->late.ptr);
	conversation_add_buf(turn->env->conversation, &item);
	turn_message_late(turn, at);
	if (turn->open.kind != TURN_ITEM_none && (str_is(type, "message") || str_is(type, "reasoning")))
		turn_close_item(turn);
}

/* ---- items that no attempt finished ---- */

static size_t count_parts(struct str text)
{
	size_t count = 1;
	for (size_t i = 0; i < text.len; i++)
		count += text.ptr[i] == '\0';
	return count;
}

/* on_summary_part marks the breaks between the parts. */
static void complete_reasoning(struct turn *turn)
{
	auto_arena struct arena arena = {0};
	struct str rest = buf_str(&turn->open.shown.text), part;
	struct reasoning_item reasoning = {.id = str_of(turn->open.id)};
	reasoning.summary_text = arena_array(&arena, struct str, count_parts(rest));
	while (str_next_part(&rest, '\0', &part)) {
		if (part.len)
			reasoning.summary_text[reasoning.summary_text_count++] = part;
	}
	struct turn_item item = {.tag = turn_item_reasoning, .reasoning = &reasoning};
	turn_emit_whole_item(turn, &item);
}

void turn_complete_unfinished(struct turn *turn)
{
	keep_open(turn);
	if (take_kept(turn, TURN_ITEM_reasoning))
		complete_reasoning(turn);
	turn_close_item(turn);
	if (take_kept(turn, TURN_ITEM_message))
		turn_message_cut_short(turn);
	turn_close_item(turn);
}

/* ---- the response ---- */

static void on_completed(struct turn *turn, const struct response_event *event)
{
	free(turn->response_id);
	turn->response_id = str_dup(event->id);
	turn->is_complete = true;
	turn->is_paused = event->is_paused && ++turn->env->pauses <= TURN_PAUSES;
	context_mark_response(&turn->env->conversation->context, event->id);
	turn_complete_unfinished(turn); /* the provider does not have that message: a chained request sends it */
	conversation_add_usage(turn->env->conversation, turn->env->id, turn->env->settings, event->usage);
}

static void on_limits(struct turn *turn, const struct response_event *event)
{
	turn->has_limits = true;
	conversation_set_limits(turn->env->conversation, turn->env->id, turn->env->settings, event->limits);
}

/* Keeps the first value of a task, which is sent back with each of its later requests. */
static void on_turn_state(struct turn *turn, const struct response_event *event)
{
	struct turn_env *env = turn->env;
	if (!env->turn_state.ptr)
		env->turn_state = arena_str(env->arena, event->text);
}

/* True for the same model; "gpt-5.5-2026-02-01" is a dated gpt-5.5. */
static bool is_same_model(struct str served, struct str asked)
{
	if (served.len > asked.len + 1 && served.ptr[asked.len] == '-' && served.ptr[asked.len + 1] >= '0' &&
	    served.ptr[asked.len + 1] <= '9')
		served.len = asked.len;
	return str_equal_fold(served, asked);
}

/* Emits a reroute once per task, because each of its responses would repeat it. */
static void on_served_by(struct turn *turn, const struct response_event *event)
{
	struct turn_env *env = turn->env;
	struct ev_model_reroute reroute = {str_of(env->settings->model), event->text};
	if (env->is_rerouted || is_same_model(event->text, reroute.from_model))
		return;
	env->is_rerouted = true;
	session_emit(env->session, env->id, EV_model_reroute, &reroute);
	session_warn(env->session, env->id, "The provider answers with the model %.*s in place of %s.",
	             event->text.len < 200 ? (int)event->text.len : 200, event->text.ptr, env->settings->model);
}

static void on_added(struct turn *turn, const struct response_event *event)
{
	on_item_added(turn, event->item);
}

static void on_input_delta(struct turn *turn, const struct response_event *event)
{
	turn_patch_delta(turn, event->text);
}

static void on_done(struct turn *turn, const struct response_event *event)
{
	turn_patch_done(turn, event->item);
	on_item_done(turn, event->item);
}

typedef void (*response_fn)(struct turn *turn, const struct response_event *event);

static const response_fn handlers[RESPONSE_count] = {
	[RESPONSE_item_added] = on_added,
	[RESPONSE_item_done] = on_done,
	[RESPONSE_text_delta] = on_text_delta,
	[RESPONSE_summary_part] = on_summary_part,
	[RESPONSE_summary_delta] = on_summary_delta,
	[RESPONSE_reasoning_delta] = on_raw_delta,
	[RESPONSE_input_delta] = on_input_delta,
	[RESPONSE_completed] = on_completed,
	[RESPONSE_rate_limits] = on_limits,
	[RESPONSE_turn_state] = on_turn_state,
	[RESPONSE_served_by] = on_served_by,
};

void turn_on_event(const struct response_event *event, void *self)
{
	if (handlers[event->type])
		handlers[event->type](self, event);
}
