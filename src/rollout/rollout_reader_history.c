/* Reading starts at the newest compaction with a replacement history; earlier items are irrelevant. A compaction before
 * 2026 recorded only a summary; the user's messages are then selected from the history up to it, newest first, as the
 * compaction itself did. */
#include "rollout/rollout_reader_priv.h"

#include "base/limits.h"
#include "rollout/rollout_item.h"

/* The items of the commands of a response come before the outputs of their calls. */
bool rollout_reader_is_denial(const struct rollout_reader *reader, size_t record, struct str item)
{
	enum { SIDE_BY_SIDE = 16 };
	if (!str_has_prefix(item, "{\"type\":\"function_call_output\","))
		return false;
	for (size_t i = record; i-- > 0 && i + 2 * SIDE_BY_SIDE > record;) {
		const struct rollout_record *before = &reader->records.items[i];
		if (before->type == LINE_event_msg && str_has_suffix(before->payload, "\"status\":\"declined\"}}"))
			return true;
	}
	return false;
}

/* ---- rollback ---- */

/* Returns the index of the `turns`-th turn from the end; of the first turn if there are fewer; count without any
 * turn. */
static size_t find_cut(const struct rollout_reader *reader, uint64_t turns, bool *ret_is_first)
{
	size_t cut = reader->records.count;
	uint64_t seen = 0;
	*ret_is_first = true;
	for (size_t i = reader->records.count; i > 0; i--) {
		if (reader->records.items[i - 1].role != ROLLOUT_USER)
			continue;
		if (seen == turns) {
			*ret_is_first = false;
			break;
		}
		seen++;
		cut = i - 1;
	}
	return cut;
}

void rollout_reader_roll_back(struct rollout_reader *reader, uint64_t turns)
{
	bool is_first;
	size_t cut = find_cut(reader, turns, &is_first);
	if (turns == 0 || cut == reader->records.count)
		return;
	/* The items before the first turn are the preamble, which is kept. */
	while (!is_first && cut > 0 && reader->records.items[cut - 1].role == ROLLOUT_PREAMBLE)
		cut--;
	reader->records.count = cut;
	reader->is_turn_open = false;
}

/* ---- items ---- */

/* Returns 1 + the place of an open call with this id, or 0. text: the call itself, STR_NONE for any. */
static size_t find_open(const struct rollout_reader *reader, struct str call_id, struct str text)
{
	const struct rollout_open_call *open = reader->open_calls.items;
	size_t at = reader->open_calls.count;
	while (at > 0 && !(str_eq(open[at - 1].id, call_id) && (!text.ptr || str_eq(open[at - 1].text, text))))
		at--;
	return at;
}

/* True if the item may be sent. A damaged file may have lost a call or its output, or contain one twice, and
 * providers reject such requests. The engine adds missing outputs; other mismatches are dropped. Two calls of a
 * response may have one id. text: the call, if its line may be a repeated one; STR_NONE where numbers find these. */
static bool admits(struct rollout_reader *reader, enum rollout_call call, struct str call_id, struct str text)
{
	if (call == ROLLOUT_NO_CALL)
		return true;
	bool is_call = call == ROLLOUT_CALL;
	size_t at = is_call && !text.ptr ? 0 : find_open(reader, call_id, is_call ? text : STR_NONE);
	bool fits = is_call == (at == 0);
	reader->damage.stray_items += !fits;
	if (fits && is_call)
		vec_push(&reader->open_calls, (struct rollout_open_call){call_id, text});
	else if (fits)
		reader->open_calls.items[at - 1] = reader->open_calls.items[--reader->open_calls.count];
	return fits;
}

static bool contains(const struct str *ids, size_t count, struct str id)
{
	while (count > 0 && !str_eq(ids[count - 1], id))
		count--;
	return count > 0;
}

/* A script adds texts to the history as further outputs of its call, with its name. They follow the output. */
static bool is_note(const struct json *item)
{
	return json_get_str(item, "name").ptr && str_is(json_get_str(item, "type"), "custom_tool_call_output");
}

static bool admits_note(const struct rollout_reader *reader, struct str call_id)
{
	return contains(reader->scripts.items, reader->scripts.count, call_id) && !find_open(reader, call_id, STR_NONE);
}

static bool admits_item(struct rollout_reader *reader, const struct json *item, enum rollout_call call,
                        struct str call_id, struct str text)
{
	if (call == ROLLOUT_CALL && str_is(json_get_str(item, "name"), "exec"))
		vec_push(&reader->scripts, call_id);
	return is_note(item) ? admits_note(reader, call_id) : admits(reader, call, call_id, text);
}

static void add_sent(struct rollout_reader *reader, const struct json *item)
{
	enum rollout_call call = rollout_item_call(item);
	struct str call_id = call ? arena_str(&reader->arena, json_get_str(item, "call_id")) : STR_NONE;
	if (rollout_item_is_sent(rollout_item_kind(json_get_str(item, "type"))) &&
	    admits_item(reader, item, call, call_id, STR_NONE))
		vec_push(&reader->history, rollout_item_strip(item));
}

/* Only custom calls, which include scripts, are parsed for their names. */
static bool admits_record(struct rollout_reader *reader, const struct rollout_record *record)
{
	struct str text = record->is_numbered ? STR_NONE : record->payload;
	if (record->call == ROLLOUT_NO_CALL || str_find(record->payload, STR("\"custom_tool_call")) < 0)
		return admits(reader, record->call, record->call_id, text);
	arena_reset(&reader->line);
	return admits_item(reader, json_parse(&reader->line, record->payload, NULL), record->call, record->call_id,
	                   text);
}

/* ---- compaction ---- */

/* Returns the part of the item that remains, or STR_NONE if it is removed. */
static struct str keep_within(struct rollout_reader *reader, struct str item, size_t *tokens_left)
{
	auto_buf struct buf spare;
	buf_init(&spare, LIMIT_ROLLOUT_LINE * 2);
	arena_reset(&reader->line);
	struct str kept = rollout_kept_item(json_parse(&reader->line, item, NULL), tokens_left, &spare);
	return kept.ptr == item.ptr || !kept.ptr ? kept : arena_str(&reader->arena, kept);
}

static struct str summary_item(struct rollout_reader *reader, struct str message)
{
	auto_buf struct buf item;
	buf_init(&item, LIMIT_ROLLOUT_LINE * 2);
	rollout_write_user(&item, message.len ? message : STR("(no summary available)"));
	return arena_str(&reader->arena, buf_str(&item));
}

/* Replaces the history by the remaining messages, which were collected newest first. */
static void replace_history(struct rollout_reader *reader, const struct str *kept, size_t count)
{
	reader->history.count = 0;
	while (count)
		vec_push(&reader->history, kept[--count]);
}

/* `summary` is the position of the last compaction's summary, which is not a message of the user. */
static void compact(struct rollout_reader *reader, struct str message, const char **summary)
{
	VEC(struct str) kept = {0};
	size_t tokens_left = ROLLOUT_KEPT_TOKENS;
	for (size_t i = reader->history.count; i > 0 && tokens_left; i--) {
		struct str item = reader->history.items[i - 1];
		struct str part = item.ptr == *summary ? STR_NONE : keep_within(reader, item, &tokens_left);
		if (part.ptr)
			vec_push(&kept, part);
	}
	reader->marks.count = 0; /* their positions are no longer valid */
	reader->open_calls.count = reader->scripts.count = 0;
	replace_history(reader, kept.items, kept.count);
	vec_finish(&kept);
	struct str item = summary_item(reader, message);
	vec_push(&reader->history, item);
	reader->compacted_items = reader->history.count;
	*summary = item.ptr;
}

static void compact_by_record(struct rollout_reader *reader, struct str payload, const char **summary)
{
	arena_reset(&reader->line);
	const struct json *root = json_parse(&reader->line, payload, NULL);
	struct str message = arena_str(&reader->arena, json_get_str(root, "message"));
	compact(reader, message, summary);
}

/* ---- building the history ---- */

/* Applies the newest replacement history and returns the index of the record after it. */
static size_t begin(struct rollout_reader *reader)
{
	size_t start = reader->records.count;
	while (start > 0 && !reader->records.items[start - 1].is_replacement)
		start--;
	if (start == 0)
		return 0;
	arena_reset(&reader->line);
	const struct json *root = json_parse(&reader->line, reader->records.items[start - 1].payload, NULL);
	json_for_each(item, json_get(root, "replacement_history"))
		add_sent(reader, item);
	reader->compacted_items = reader->history.count;
	return start;
}

static struct rollout_turn last_turn(struct rollout_reader *reader)
{
	for (size_t i = reader->records.count; i > 0; i--) {
		const struct rollout_record *record = &reader->records.items[i - 1];
		arena_reset(&reader->line);
		if (record->type == LINE_turn_context)
			return rollout_turn_decode(json_parse(&reader->line, record->payload, NULL), &reader->arena);
	}
	return (struct rollout_turn){0};
}

/* Records a mark from a task_complete, or from the usage of a response; both contain the response's id:
 * {…,"response_id":…}. */
static void mark(struct rollout_reader *reader, const struct rollout_record *record, size_t user_turns)
{
	if (str_find(record->payload, STR("\"response_id\"")) < 0)
		return;
	arena_reset(&reader->line);
	struct str id = json_get_str(json_parse(&reader->line, record->payload, NULL), "response_id");
	struct rollout_mark it = {
		.item_count = reader->history.count,
		.user_turns = user_turns,
		.ends_task = record->type == LINE_event_msg,
	};
	if (!id.len)
		return;
	it.response_id = arena_str(&reader->arena, id);
	vec_push(&reader->marks, it);
}

void rollout_reader_build_history(struct rollout_reader *reader)
{
	const char *summary = NULL;
	bool has_context = false;
	reader->turn = last_turn(reader);
	if (reader->wants == ROLLOUT_EVENTS)
		return;
	size_t start = begin(reader), user_turns = 0;
	for (size_t i = 0; i < start; i++)
		user_turns += reader->records.items[i].role == ROLLOUT_USER;
	for (size_t i = start; i < reader->records.count; i++) {
		const struct rollout_record *record = &reader->records.items[i];
		user_turns += record->role == ROLLOUT_USER;
		if (record->type == LINE_response_item && !admits_record(reader, record))
			continue;
		if (record->type == LINE_response_item)
			vec_push(&reader->history, record->payload);
		else if (record->type == LINE_compacted)
			compact_by_record(reader, record->payload, &summary);
		else if (record->type == LINE_turn_context)
			has_context = true;
		else
			mark(reader, record, user_turns);
	}
	reader->needs_context = !has_context || summary;
	reader->user_turns = user_turns;
}
