/* The items of a response stand together, then the outputs of its calls, then messages. Messages can also stand between
 * calls and outputs, because a history may have been interrupted there; wires want every output directly after its
 * call. An item is parsed when it is read; the first one of the next round is parsed again there, so that the memory of
 * a round can be reused. */
#include "model/model_history.h"

#include "base/error.h"
#include "base/mem.h"
#include "model/model_wire.h"

static const struct {
	const char *type;
	enum history_kind kind;
} kinds[] = {
	{"message", HISTORY_message},
	{"reasoning", HISTORY_reasoning},
	{"function_call", HISTORY_call},
	{"custom_tool_call", HISTORY_call},
	{"function_call_output", HISTORY_output},
	{"custom_tool_call_output", HISTORY_output},
};

enum history_kind history_kind_of(const struct json *item)
{
	struct str type = json_get_str(item, "type");
	for (size_t i = 0; i < countof(kinds); i++) {
		if (!str_is(type, kinds[i].type))
			continue;
		bool is_answer = kinds[i].kind == HISTORY_message && str_is(json_get_str(item, "role"), "assistant");
		return is_answer ? HISTORY_answer : kinds[i].kind;
	}
	return HISTORY_other;
}

bool history_is_developer(const struct json *item)
{
	struct str role = json_get_str(item, "role");
	return str_is(role, "developer") || str_is(role, "system");
}

void model_history_init(struct model_history *history, const struct model_prompt *prompt,
                        const struct memo_place *place)
{
	*history = (struct model_history){.prompt = prompt, .slice = place->slice, .rounds = place->rounds};
	if (place->slice < prompt->input_count)
		history->rest = str_skip(prompt->input[place->slice], place->offset);
}

struct memo_place model_history_place(const struct model_history *history)
{
	struct memo_place place = {.rounds = history->rounds, .slice = history->slice};
	if (history->slice < history->prompt->input_count)
		place.offset = history->prompt->input[history->slice].len - history->rest.len;
	return place;
}

void model_history_finish(struct model_history *history)
{
	vec_finish(&history->said);
	vec_finish(&history->calls);
	vec_finish(&history->heard);
	arena_finish(&history->arena);
}

/* Parses the next item; NULL at the end, or with err set if *ret_status is negative. *ret_before is the list from this
 * item on. */
static const struct json *read_item(struct model_history *history, struct str *ret_before, int *ret_status,
                                    struct error *err)
{
	while (str_is_blank(history->rest)) {
		if (history->slice + 1 >= history->prompt->input_count)
			return NULL;
		history->rest = history->prompt->input[++history->slice];
	}
	*ret_before = history->rest;
	const struct json *item = json_parse_next(&history->arena, &history->rest, err);
	if (!item)
		*ret_status = error_wrap(err, "the history cannot be read");
	return item;
}

static void add_output(struct model_history *history, const struct json *item)
{
	struct str call_id = json_get_str(item, "call_id");
	vec_for_each(call, &history->calls) {
		if (!call->output && str_eq(json_get_str(call->item, "call_id"), call_id)) {
			call->output = item;
			return;
		}
	}
}

static bool has_outputs(const struct model_history *history)
{
	vec_for_each(call, &history->calls) {
		if (call->output)
			return true;
	}
	return false;
}

/* True if an item of the model belongs to a response after this round. */
static bool ends_round(const struct model_history *history, enum history_kind kind)
{
	return kind <= HISTORY_call && kind != HISTORY_other && (history->heard.count || has_outputs(history));
}

static void add_item(struct model_history *history, const struct json *item, enum history_kind kind)
{
	switch (kind) {
	case HISTORY_call:
		vec_push(&history->calls, (struct history_call){.item = item});
		vec_push(&history->said, item);
		break;
	case HISTORY_reasoning:
	case HISTORY_answer:
		vec_push(&history->said, item);
		break;
	case HISTORY_output:
		add_output(history, item);
		break;
	case HISTORY_message:
		vec_push(&history->heard, item);
		break;
	case HISTORY_other:
		break;
	}
}

int model_history_next(struct model_history *history, bool *ret_has, struct error *err)
{
	const struct json *item;
	struct str before;
	int status = 0;
	history->said.count = history->calls.count = history->heard.count = 0;
	history->is_first = history->rounds++ == 0;
	history->is_closed = false;
	arena_reset(&history->arena);
	while ((item = read_item(history, &before, &status, err))) {
		enum history_kind kind = history_kind_of(item);
		if (ends_round(history, kind)) {
			history->rest = before;
			history->is_closed = true;
			break;
		}
		add_item(history, item, kind);
	}
	*ret_has = history->said.count || history->heard.count;
	return status;
}

/* ---- what a wire keeps for itself ---- */

const struct json *history_own(const struct json *item, const char *wire, struct str provider)
{
	const struct json *own = json_get(item, HISTORY_WIRE);
	bool is_own = str_is(json_get_str(own, "name"), wire) && str_eq(json_get_str(own, "provider"), provider);
	return is_own ? own : NULL;
}
