/* The line of a checklist's call is written when the model makes the call, those of commands when they end. So the
 * place of a checklist among the items of its turn is known when the turn ends. */
#include "app_server/history/history_notes.h"

#include "app_server/history/item_view.h"
#include "base/json.h"
#include "base/text.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_reader.h"

void history_notes_add_names(struct history_notes_builder *builder, const struct json *agents, struct arena *arena)
{
	json_for_each(agent, agents) {
		struct str name = json_get_str(agent, "agent_nickname"), id = json_get_str(agent, "thread_id");
		if (name.len)
			vec_push(&builder->names, (struct history_name){arena_str(arena, id), arena_str(arena, name)});
	}
}

static bool is_same(const struct json *a, const struct json *b)
{
	struct ev_plan_update x = {0}, y = {0};
	auto_arena struct arena arena = {0};
	bool is_read = record_decode(&record_ev_plan_update, a, &arena, &x, NULL) == 0 &&
	               record_decode(&record_ev_plan_update, b, &arena, &y, NULL) == 0 &&
	               x.plan_count == y.plan_count && str_eq(x.explanation, y.explanation);
	for (size_t i = 0; is_read && i < x.plan_count; i++)
		is_read = x.plan[i].status == y.plan[i].status && str_eq(x.plan[i].step, y.plan[i].step);
	return is_read;
}

/* Drops the event of a call of the model that was accepted, among those that follow it. */
static void drop_update(struct history_notes_builder *builder, size_t call)
{
	auto_arena struct arena arena = {0};
	const struct json *made = json_parse(&arena, builder->checklists.items[call].arguments, NULL);
	for (size_t i = call + 1; i < builder->checklists.count; i++) {
		struct history_checklist *it = &builder->checklists.items[i];
		if (!it->is_update || !it->is_accepted || !is_same(made, json_parse(&arena, it->arguments, NULL)))
			continue;
		it->is_accepted = false;
		return;
	}
}

/* Marks the checklist of a call as accepted. Outputs come in the order of the calls. */
static void accept(struct history_notes_builder *builder, const struct json *output, struct arena *arena)
{
	struct str id = json_get_str(output, "call_id"), text = json_get_str(output, "output");
	bool is_plan = str_is(text, "Plan updated"), is_answer = str_has_prefix(text, "{\"answers\":");
	for (size_t i = builder->accepted; (is_plan || is_answer) && i < builder->checklists.count; i++) {
		struct history_checklist *it = &builder->checklists.items[i];
		if (it->is_update || it->is_question != is_answer || !str_eq(it->call_id, id))
			continue;
		it->is_accepted = true;
		builder->accepted = i + 1;
		if (is_answer)
			it->answers = arena_str(arena, text);
		else
			drop_update(builder, i);
		return;
	}
}

void history_notes_add_update(struct history_notes_builder *builder, const struct json *event, struct arena *arena,
                              struct history_checklist at)
{
	at.arguments = arena_str(arena, event->span);
	at.call_id = STR("");
	at.is_accepted = at.is_update = true;
	vec_push(&builder->checklists, at);
}

/* Outputs follow the calls of their response. So a call after an output begins another response, and what was not
 * accepted before is not accepted any more: later calls may have the same ids. */
static void drop_unaccepted(struct history_notes_builder *builder, const struct rollout_reader *reader, size_t record)
{
	size_t count = builder->checklists.count, latest = count;
	while (latest && builder->checklists.items[latest - 1].is_update)
		latest--;
	size_t i = latest ? builder->checklists.items[latest - 1].record + 1 : record;
	while (i < record && reader->records.items[i].call != ROLLOUT_CALL_OUTPUT)
		i++;
	if (i < record)
		builder->accepted = count;
}

static void add_reason(struct history_notes_builder *builder, const struct json *output, struct arena *arena,
                       size_t turn)
{
	struct str text = json_get_str(output, "output"), line = STR("");
	if (str_find(text, STR("rejected by user")) < 0 && !str_has_prefix(text, "aborted"))
		str_next_line(&text, &line);
	line.len = line.len > LIMIT_ROLLOUT_REASON ? text_floor_boundary(line, LIMIT_ROLLOUT_REASON) : line.len;
	vec_push(&builder->reasons, (struct history_reason){turn, arena_str(arena, json_get_str(output, "call_id")),
	                                                    arena_str(arena, line)});
}

void history_notes_add_call(struct history_notes_builder *builder, const struct rollout_reader *reader,
                            const struct json *item, struct arena *arena, struct history_checklist at)
{
	struct str type = json_get_str(item, "type"), name = json_get_str(item, "name");
	at.is_question = str_is(name, "request_user_input");
	if (str_is(type, "function_call_output"))
		accept(builder, item, arena);
	if (rollout_reader_is_denial(reader, at.record, item->span))
		add_reason(builder, item, arena, at.turn);
	if (!str_is(type, "function_call") || (!at.is_question && !str_is(name, "update_plan")))
		return;
	drop_unaccepted(builder, reader, at.record);
	at.arguments = arena_str(arena, json_get_str(item, "arguments"));
	at.call_id = arena_str(arena, json_get_str(item, "call_id"));
	vec_push(&builder->checklists, at);
}

/* Returns the number of items up to the one with this id, or `from` if it is not among those that follow. */
static size_t end_of(const struct app_thread_item *items, size_t count, struct str id, size_t from)
{
	enum { SIDE_BY_SIDE = 256 }; /* most parallel calls in one response */
	for (size_t i = from; i < count && i - from < SIDE_BY_SIDE; i++) {
		if (str_eq(item_view_id(&items[i]), id))
			return i + 1;
	}
	return from;
}

/* A checklist follows the items before its line, and those of the calls before it in its response. Each record is
 * looked at once. */
void history_notes_place(struct history_notes_builder *builder, const struct rollout_reader *reader,
                         size_t first_record, const struct app_thread_item *items, size_t count)
{
	const struct rollout_record *records = reader->records.items;
	size_t begin = first_record, place = 0;
	for (; builder->placed < builder->checklists.count; builder->placed++) {
		struct history_checklist *it = &builder->checklists.items[builder->placed];
		size_t i = it->record;
		if (it->is_update) { /* it was recorded where it was shown */
			it->item = place = it->item > place ? it->item : place;
			continue;
		}
		while (i > begin && records[i - 1].call != ROLLOUT_CALL_OUTPUT)
			i--;
		place = it->item > place || i > begin ? it->item : place;
		for (; i < it->record; i++) {
			if (records[i].call == ROLLOUT_CALL && !records[i].payload.len)
				place = end_of(items, count, records[i].call_id, place);
		}
		it->item = place;
		begin = it->record;
	}
}

struct history_notes history_notes_take(struct history_notes_builder *builder, struct arena *arena)
{
	struct history_notes notes = {0};
	struct history_checklist *checklists = arena_array(arena, struct history_checklist, builder->checklists.count);
	struct history_reason *reasons = arena_array(arena, struct history_reason, builder->reasons.count);
	struct history_name *names = arena_array(arena, struct history_name, builder->names.count);
	vec_for_each(it, &builder->checklists) {
		if (it->is_accepted)
			checklists[notes.checklist_count++] = *it;
	}
	vec_for_each(it, &builder->names)
		names[notes.name_count++] = *it;
	vec_for_each(it, &builder->reasons)
		reasons[notes.reason_count++] = *it;
	notes.checklists = checklists;
	notes.reasons = reasons;
	notes.names = names;
	vec_finish(&builder->checklists);
	vec_finish(&builder->reasons);
	vec_finish(&builder->names);
	return notes;
}

struct str history_notes_name(const struct history_notes *notes, struct str thread_id)
{
	size_t i = notes->name_count;
	while (i > 0 && !str_eq(notes->names[i - 1].thread_id, thread_id))
		i--;
	return i ? notes->names[i - 1].name : STR_NONE;
}
