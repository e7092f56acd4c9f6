/* The line of a checklist's call is written when the model makes the call, those of commands when they end. So the
 * place of a checklist among the items of its turn is known when the turn ends. */
#include "app_server/history/history_notes.h"

#include "app_server/history/item_view.h"
#include "base/json.h"
#include "rollout/rollout_reader.h"

void history_notes_add_names(struct history_notes_builder *builder, const struct json *agents, struct arena *arena)
{
	json_for_each(agent, agents) {
		struct str name = json_get_str(agent, "agent_nickname"), id = json_get_str(agent, "thread_id");
		if (name.len)
			vec_push(&builder->names, (struct history_name){arena_str(arena, id), arena_str(arena, name)});
	}
}

void history_notes_add_call(struct history_notes_builder *builder, const struct json *item, struct arena *arena,
                            struct history_checklist at)
{
	bool is_call = str_is(json_get_str(item, "type"), "function_call");
	if (!is_call || !str_is(json_get_str(item, "name"), "update_plan"))
		return;
	at.arguments = arena_str(arena, json_get_str(item, "arguments"));
	vec_push(&builder->checklists, at);
}

/* Returns the number of items up to the one with this id, or `floor` if it is not among those after it. */
static size_t end_of(const struct app_thread_item *items, size_t count, struct str id, size_t floor)
{
	while (count > floor && !str_eq(item_view_id(&items[count - 1]), id))
		count--;
	return count;
}

/* Returns the number of items that come before the checklist: those before its line, and those of the calls before it
 * in its response. */
static size_t find_place(const struct history_checklist *checklist, const struct rollout_record *records, size_t first,
                         const struct app_thread_item *items, size_t count)
{
	size_t place = checklist->item;
	for (size_t i = checklist->record; i > first && records[i - 1].call != ROLLOUT_CALL_OUTPUT; i--) {
		if (records[i - 1].call == ROLLOUT_CALL)
			place = end_of(items, count, records[i - 1].call_id, place);
	}
	return place;
}

void history_notes_place(struct history_notes_builder *builder, const struct rollout_reader *reader,
                         size_t first_record, const struct app_thread_item *items, size_t count)
{
	for (; builder->placed < builder->checklists.count; builder->placed++) {
		struct history_checklist *it = &builder->checklists.items[builder->placed];
		it->item = find_place(it, reader->records.items, first_record, items, count);
	}
}

struct history_notes history_notes_take(struct history_notes_builder *builder, struct arena *arena)
{
	struct history_notes notes = {0};
	struct history_checklist *checklists = arena_array(arena, struct history_checklist, builder->checklists.count);
	struct history_name *names = arena_array(arena, struct history_name, builder->names.count);
	vec_for_each(it, &builder->checklists)
		checklists[notes.checklist_count++] = *it;
	vec_for_each(it, &builder->names)
		names[notes.name_count++] = *it;
	notes.checklists = checklists;
	notes.names = names;
	vec_finish(&builder->checklists);
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
