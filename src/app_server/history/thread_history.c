/* Reads the lines once, except those of turns that were rolled back. A line's tree lives only while the line is
 * processed; items are copied, so memory is proportional to the items and not to the file. */
#include "app_server/history/thread_history.h"

#include <string.h>

#include "app_server/history/item_view.h"
#include "app_server/history/thread_history_item.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "protocol/message/review_text.h"
#include "rollout/rollout_reader.h"

struct history_builder {
	const struct rollout_reader *reader;
	struct arena *arena; /* holds the results */
	struct arena line;   /* holds the current line */
	VEC(struct app_turn) turns;
	VEC(size_t) starts;                /* first records of the turns, including the open one */
	size_t record;                     /* index of the current record */
	VEC(struct app_thread_item) items; /* items of the open turn */
	struct history_notes_builder notes;
	struct app_turn turn;
	bool is_open;          /* a turn is open */
	bool has_start_record; /* the open turn was started by a record, so a record also ends it */
	size_t numbers;        /* number of ids assigned to items without one */
	int64_t at_ms, began_at_ms;
	struct str cwd, preview;
	bool keeps_order; /* the files of a patch are not sorted */
};

typedef void (*history_event_fn)(struct history_builder *builder, const struct json *payload);

/* ---- turns ---- */

static void turn_close(struct history_builder *builder)
{
	struct app_turn *turn = &builder->turn;
	if (!builder->is_open)
		return;
	history_notes_place(&builder->notes, builder->reader, builder->starts.items[builder->starts.count - 1],
	                    builder->items.items, builder->items.count);
	turn->items_count = builder->items.count;
	turn->items = arena_array(builder->arena, struct app_thread_item, builder->items.count);
	for (size_t i = 0; i < builder->items.count; i++)
		turn->items[i] = builder->items.items[i];
	vec_push(&builder->turns, *turn);
	builder->items.count = 0;
	builder->is_open = false;
}

/* Finds the start of a turn: records of context directly before a user message belong to its turn. */
static size_t find_start(const struct history_builder *builder)
{
	size_t start = builder->record;
	size_t floor = builder->starts.count ? builder->starts.items[builder->starts.count - 1] + 1 : 0;
	while (start > floor && builder->reader->records.items[start - 1].role != ROLLOUT_PART)
		start--;
	return start;
}

static void turn_open(struct history_builder *builder, struct str id, int64_t began_at_ms)
{
	turn_close(builder);
	id = id.ptr ? arena_str(builder->arena, id)
	            : str_of(arena_printf(builder->arena, "rollout-%zu", builder->turns.count + 1));
	vec_push(&builder->starts, find_start(builder));
	builder->is_open = true;
	builder->has_start_record = false;
	builder->began_at_ms = began_at_ms;
	builder->turn = (struct app_turn){
		.id = id,
		.root_turn_id = id,
		.items_view = app_turn_items_view_full,
		.status = app_turn_status_completed,
		.has_started_at = began_at_ms != 0,
		.started_at = began_at_ms / 1000,
	};
}

/* Opens a turn for items of a file that has no turn records. */
static void turn_ensure(struct history_builder *builder)
{
	if (!builder->is_open)
		turn_open(builder, STR_NONE, builder->at_ms);
}

static void on_begin(struct history_builder *builder, const struct json *payload)
{
	struct str id = json_get_str(payload, "turn_id");
	turn_open(builder, id, builder->at_ms);
	builder->has_start_record = true;
	builder->turn.status = app_turn_status_interrupted; /* until a record ends it */
}

static void note_error(struct history_builder *builder, const struct json *from)
{
	struct app_turn_error error = {.message = json_get_str(from, "message")};
	const struct json *info = json_get(from, "codex_error_info");
	if (!builder->is_open || !error.message.ptr)
		return;
	if (info && !json_is(info, JSON_null))
		error.codex_error_info = item_view_error_info(info->span, &builder->line);
	builder->turn.error = arena_new(builder->arena, struct app_turn_error);
	record_copy(&record_app_turn_error, &error, builder->arena, builder->turn.error);
}

static void turn_end(struct history_builder *builder, const struct json *payload, enum app_turn_status status)
{
	struct app_turn *turn = &builder->turn;
	if (!builder->is_open)
		return;
	note_error(builder, json_get(payload, "error"));
	turn->status = turn->error && status == app_turn_status_completed ? app_turn_status_failed : status;
	turn->has_completed_at = builder->at_ms != 0;
	turn->completed_at = builder->at_ms / 1000;
	turn->has_duration_ms = json_to_i64(json_get(payload, "duration_ms"), &turn->duration_ms);
	if (!turn->has_duration_ms && builder->began_at_ms && builder->at_ms >= builder->began_at_ms) {
		turn->has_duration_ms = true;
		turn->duration_ms = builder->at_ms - builder->began_at_ms;
	}
	turn_close(builder);
}

static void on_end(struct history_builder *builder, const struct json *payload)
{
	turn_end(builder, payload, app_turn_status_completed);
}

static void on_abort(struct history_builder *builder, const struct json *payload)
{
	turn_end(builder, payload, app_turn_status_interrupted);
}

static void on_error(struct history_builder *builder, const struct json *payload)
{
	note_error(builder, payload);
}

/* ---- items ---- */

/* Adds a command that ended after its turn. */
static bool item_push_late(struct history_builder *builder, struct str turn_id, const struct app_thread_item *item)
{
	if (!turn_id.ptr || (builder->is_open && str_eq(builder->turn.id, turn_id)))
		return false;
	for (size_t i = builder->turns.count; i > 0; i--) {
		struct app_turn *turn = &builder->turns.items[i - 1];
		if (!str_eq(turn->id, turn_id))
			continue;
		struct app_thread_item *longer =
			arena_array(builder->arena, struct app_thread_item, turn->items_count + 1);
		for (size_t n = 0; n < turn->items_count; n++)
			longer[n] = turn->items[n];
		longer[turn->items_count++] = *item;
		turn->items = longer;
		return true;
	}
	return false;
}

static void item_push(struct history_builder *builder, struct str turn_id, struct app_thread_item *item,
                      int64_t started_at_ms, int64_t completed_at_ms)
{
	struct app_thread_item copy;
	item_view_set_times(item, started_at_ms, completed_at_ms);
	union_copy(&union_app_thread_item, item, builder->arena, &copy);
	if (item_push_late(builder, turn_id, &copy))
		return;
	turn_ensure(builder);
	vec_push(&builder->items, copy);
}

static void item_push_now(struct history_builder *builder, enum app_thread_item_tag tag, void *body)
{
	struct app_thread_item item = {.tag = tag, .body = body};
	item_push(builder, STR_NONE, &item, builder->at_ms, builder->at_ms);
}

static struct str next_id(struct history_builder *builder)
{
	return str_of(arena_printf(&builder->line, "item-%zu", ++builder->numbers));
}

static void note_preview(struct history_builder *builder, const struct app_item_user_message *message)
{
	for (size_t i = 0; i < message->content_count && !builder->preview.ptr; i++) {
		if (message->content[i].tag == app_user_input_text)
			builder->preview = arena_str(builder->arena, message->content[i].text->text);
	}
}

static void on_user(struct history_builder *builder, const struct json *payload)
{
	struct app_item_user_message *message = history_item_user(payload, &builder->line);
	if (!builder->is_open || !builder->has_start_record)
		turn_open(builder, STR_NONE, builder->at_ms);
	message->id = next_id(builder);
	note_preview(builder, message);
	item_push_now(builder, app_thread_item_user_message, message);
}

static void on_agent(struct history_builder *builder, const struct json *payload)
{
	struct app_item_agent_message *message = arena_new(&builder->line, struct app_item_agent_message);
	message->id = next_id(builder);
	message->text = json_get_str(payload, "message");
	if (message->text.ptr)
		item_push_now(builder, app_thread_item_agent_message, message);
}

/* Returns the reasoning item to extend. Each of its parts has a line; consecutive ones form one item. */
static struct app_item_reasoning *reasoning_of(struct history_builder *builder)
{
	size_t count = builder->items.count;
	if (!builder->is_open || !count || builder->items.items[count - 1].tag != app_thread_item_reasoning) {
		struct app_item_reasoning *item = arena_new(&builder->line, struct app_item_reasoning);
		item->id = next_id(builder);
		item_push_now(builder, app_thread_item_reasoning, item);
		count = builder->items.count;
	}
	return builder->items.items[count - 1].reasoning;
}

static void append(struct history_builder *builder, struct str **list, size_t *count, struct str text)
{
	if ((*count & (*count - 1)) == 0) { /* the array is full, because its capacity is a power of two */
		struct str *longer = arena_array(builder->arena, struct str, *count ? *count * 2 : 1);
		for (size_t i = 0; i < *count; i++)
			longer[i] = (*list)[i];
		*list = longer;
	}
	(*list)[(*count)++] = arena_str(builder->arena, text);
}

static void on_reasoning(struct history_builder *builder, const struct json *payload)
{
	struct str text = json_get_str(payload, "text");
	struct app_item_reasoning *item = text.ptr ? reasoning_of(builder) : NULL;
	if (item)
		append(builder, &item->summary, &item->summary_count, text);
}

static void on_raw_reasoning(struct history_builder *builder, const struct json *payload)
{
	struct str text = json_get_str(payload, "text");
	struct app_item_reasoning *item = text.ptr ? reasoning_of(builder) : NULL;
	if (item)
		append(builder, &item->content, &item->content_count, text);
}

static void on_compacted(struct history_builder *builder, const struct json *payload)
{
	(void)payload;
	struct app_item_context_compaction *item = arena_new(&builder->line, struct app_item_context_compaction);
	item->id = next_id(builder);
	item_push_now(builder, app_thread_item_context_compaction, item);
}

/* Adds a review. Older review events have no item id. */
static void push_review(struct history_builder *builder, const struct json *payload, enum app_thread_item_tag tag,
                        struct str review)
{
	struct app_item_review_mode *item = arena_new(&builder->line, struct app_item_review_mode);
	struct str id = json_get_str(payload, "item_id");
	*item = (struct app_item_review_mode){.id = id.ptr ? id : next_id(builder), .review = review};
	item_push_now(builder, tag, item);
}

static void on_review_begin(struct history_builder *builder, const struct json *payload)
{
	struct str hint = json_get_str(payload, "user_facing_hint");
	push_review(builder, payload, app_thread_item_entered_review_mode, hint.ptr ? hint : STR("a review"));
}

static void on_review_end(struct history_builder *builder, const struct json *payload)
{
	auto_buf struct buf text;
	struct review_output output = {0};
	const struct json *json = json_get(payload, "review_output");
	bool is_there = json_is(json, JSON_object) &&
	                record_decode(&record_review_output, json, &builder->line, &output, NULL) == 0;
	buf_init(&text, LIMIT_REVIEW_TEXT);
	review_write_output(is_there ? &output : NULL, &text);
	push_review(builder, payload, app_thread_item_exited_review_mode, buf_str(&text));
}

static struct app_thread_item *find_command(struct history_builder *builder, struct str id)
{
	enum { SIDE_BY_SIDE = 256 }; /* most parallel calls in one response */
	size_t count = builder->items.count;
	for (size_t i = count; i > 0 && count - i < SIDE_BY_SIDE; i--) {
		struct app_thread_item *item = &builder->items.items[i - 1];
		if (item->tag == app_thread_item_command_execution && str_eq(item->command_execution->id, id))
			return item;
	}
	return NULL;
}

static bool is_numbered(const struct history_builder *builder)
{
	return builder->reader->records.items[builder->record].is_numbered;
}

/* Removes the item made from the call, because the command's own line has more details. */
static void forget_command(struct history_builder *builder, struct str id)
{
	struct app_thread_item *item = find_command(builder, id);
	if (!item)
		return;
	size_t at = (size_t)(item - builder->items.items);
	memmove(item, item + 1, (--builder->items.count - at) * sizeof(*item));
}

static void on_item(struct history_builder *builder, const struct json *payload)
{
	struct app_thread_item item;
	if (!history_item_decode(json_get(payload, "item"), &builder->line, &item))
		return;
	if (item.tag == app_thread_item_user_message)
		note_preview(builder, item.user_message);
	if (item.tag == app_thread_item_file_change && !builder->keeps_order)
		item_view_sort_changes(item.file_change);
	if (item.tag == app_thread_item_collab_agent_tool_call)
		history_notes_add_names(&builder->notes, json_path(payload, "item.receiver_agents"), builder->arena);
	if (item.tag == app_thread_item_command_execution && !is_numbered(builder))
		forget_command(builder, item.command_execution->id);
	item_push(builder, json_get_str(payload, "turn_id"), &item,
	          json_get_i64(payload, "started_at_ms", builder->at_ms),
	          json_get_i64(payload, "completed_at_ms", builder->at_ms));
}

/* ---- calls without an item of their own ---- */

static struct history_checklist place_now(const struct history_builder *builder)
{
	return (struct history_checklist){
		.turn = builder->turns.count, .item = builder->items.count, .record = builder->record};
}

static void on_plan_update(struct history_builder *builder, const struct json *payload)
{
	if (builder->is_open)
		history_notes_add_update(&builder->notes, payload, builder->arena, place_now(builder));
}

static void on_response_item(struct history_builder *builder, const struct json *item)
{
	struct str type = json_get_str(item, "type");
	if (builder->is_open)
		history_notes_add_call(&builder->notes, builder->reader, item, builder->arena, place_now(builder));
	if (is_numbered(builder) || !builder->is_open)
		return;
	if (str_is(type, "function_call")) {
		struct app_item_command_execution *command = history_item_call(item, builder->cwd, &builder->line);
		if (command)
			item_push_now(builder, app_thread_item_command_execution, command);
	} else if (str_is(type, "function_call_output")) {
		struct app_thread_item *found = find_command(builder, json_get_str(item, "call_id"));
		struct app_item_command_execution *command = found ? found->command_execution : NULL;
		if (!command || command->has_exit_code)
			return;
		history_item_finish_call(command, item, builder->arena);
		command->has_completed_at_ms = builder->at_ms != 0;
		command->completed_at_ms = builder->at_ms;
	}
}

/* ---- lines ---- */

static const struct {
	const char *wire;
	history_event_fn run;
	bool is_old_word; /* the event is a legacy one, which numbered files also have as an item */
} events[] = {
	{"task_started", on_begin, false},
	{"turn_started", on_begin, false},
	{"task_complete", on_end, false},
	{"turn_complete", on_end, false},
	{"turn_aborted", on_abort, false},
	{"error", on_error, false},
	{"item_completed", on_item, false},
	{"plan_update", on_plan_update, false},
	{"user_message", on_user, true},
	{"agent_message", on_agent, true},
	{"agent_reasoning", on_reasoning, true},
	{"agent_reasoning_raw_content", on_raw_reasoning, true},
	{"context_compacted", on_compacted, true},
	{"entered_review_mode", on_review_begin, true},
	{"exited_review_mode", on_review_end, true},
};

static void on_event_msg(struct history_builder *builder, const struct json *payload)
{
	struct str type = json_get_str(payload, "type");
	for (size_t i = 0; i < countof(events); i++) {
		if (str_is(type, events[i].wire) && !(events[i].is_old_word && is_numbered(builder)))
			events[i].run(builder, payload);
	}
}

static void on_turn_context(struct history_builder *builder, const struct json *payload)
{
	struct str cwd = json_get_str(payload, "cwd");
	if (cwd.ptr)
		builder->cwd = arena_str(builder->arena, cwd);
}

static const history_event_fn lines[LINE_count] = {
	[LINE_event_msg] = on_event_msg,
	[LINE_response_item] = on_response_item,
	[LINE_turn_context] = on_turn_context,
};

void thread_history_read_as(const struct rollout_reader *reader, bool keeps_order, struct arena *arena,
                            struct thread_history *ret)
{
	struct history_builder builder = {
		.reader = reader, .arena = arena, .cwd = reader->meta.cwd, .keeps_order = keeps_order};
	*ret = (struct thread_history){0};
	vec_for_each(it, &reader->records) {
		const struct json *payload = lines[it->type] ? json_parse(&builder.line, it->payload, NULL) : NULL;
		builder.at_ms = it->at_ms;
		builder.record = (size_t)(it - reader->records.items);
		ret->updated_at_ms = it->at_ms ? it->at_ms : ret->updated_at_ms;
		if (payload)
			lines[it->type](&builder, payload);
		arena_reset(&builder.line);
	}
	turn_close(&builder);
	if (!clock_parse_rfc3339(reader->meta.timestamp, &ret->created_at_ms))
		ret->created_at_ms = ret->updated_at_ms;
	ret->count = builder.turns.count;
	ret->turns = arena_array(arena, struct app_turn, builder.turns.count);
	size_t *starts = arena_array(arena, size_t, builder.turns.count);
	for (size_t i = 0; i < builder.turns.count; i++) {
		ret->turns[i] = builder.turns.items[i];
		starts[i] = builder.starts.items[i];
	}
	ret->starts = starts;
	ret->notes = history_notes_take(&builder.notes, arena);
	ret->preview = builder.preview.ptr ? builder.preview : STR("");
	vec_finish(&builder.turns);
	vec_finish(&builder.starts);
	vec_finish(&builder.items);
	arena_finish(&builder.line);
}

struct app_turn *thread_history_find(const struct thread_history *history, struct str turn_id)
{
	for (size_t i = 0; i < history->count; i++) {
		if (str_eq(history->turns[i].id, turn_id))
			return &history->turns[i];
	}
	return NULL;
}

/* ---- text ---- */

struct str thread_history_text(const struct app_thread_item *item, size_t n)
{
	if (item->tag == app_thread_item_agent_message && n == 0)
		return item->agent_message->text;
	if (item->tag != app_thread_item_user_message || n >= item->user_message->content_count)
		return STR_NONE;
	const struct app_user_input *input = &item->user_message->content[n];
	return input->tag == app_user_input_text && input->text->text.ptr ? input->text->text : STR("");
}

static void append_item(const struct app_thread_item *item, struct buf *out)
{
	struct str text;
	for (size_t n = 0; (text = thread_history_text(item, n)).ptr; n++) {
		buf_append_str(out, text);
		buf_append_char(out, '\n');
	}
}

bool thread_history_read_text(const char *path, struct buf *out)
{
	auto_arena struct arena arena = {0};
	struct thread_history history;
	struct error err = {0};
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_EVENTS, &err);
	if (!reader)
		return err.code == ERR_invalid;
	thread_history_read(reader, &arena, &history);
	rollout_reader_destroy(reader);
	for (size_t i = 0; i < history.count; i++) {
		for (size_t k = 0; k < history.turns[i].items_count; k++)
			append_item(&history.turns[i].items[k], out);
	}
	return true;
}
