/* The file is read, not mapped, because another process may truncate it, and because items are trimmed in place. Only
 * one line's tree exists at a time. The wanted parts of a line are moved to the front of the bytes and the rest is
 * returned to the system, so that a resume needs little more memory than the file, and later less. A rollback is
 * applied at once, which also undoes a compaction inside the removed turns. */
#include "rollout/rollout_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_reader_priv.h"
#include "rollout/rollout_item.h"
#include "rollout/rollout_line.h"
#include "rollout/rollout_path.h"

/* ---- the lines ---- */

/* Moves a payload to the kept text, which always precedes the bytes that were not read yet. */
static struct str keep(struct rollout_reader *reader, struct str payload)
{
	struct rollout_segment *segment = reader->segment;
	if (payload.len == 0 || payload.ptr < segment->text || payload.ptr >= segment->text + segment->len)
		return payload;
	if (segment->is_disordered)
		return payload; /* disordered lines are not read from front to back, so they stay in place */
	char *to = segment->text + segment->kept;
	memmove(to, payload.ptr, payload.len);
	segment->kept += payload.len;
	return str_n(to, payload.len);
}

bool rollout_is_about_agents(enum rollout_line_type type, struct str payload)
{
	return type == LINE_event_msg && (str_has_prefix(payload, "{\"type\":\"subagent_lifecycle\"") ||
	                                  str_has_prefix(payload, "{\"type\":\"agent_inbox\""));
}

/* True if the line is needed. Other numbered response_items contain nothing that the events lack. */
static bool is_wanted(const struct rollout_reader *reader, enum rollout_line_type type, struct str payload)
{
	switch (reader->wants) {
	case ROLLOUT_HISTORY:
		return type != LINE_event_msg || reader->ends_turn || rollout_is_about_agents(type, payload);
	case ROLLOUT_EVENTS:
		return type == LINE_event_msg || type == LINE_turn_context || !reader->line_is_numbered ||
		       rollout_item_is_checklist(payload) ||
		       rollout_reader_is_denial(reader, reader->records.count, payload);
	default:
		return true;
	}
}

static void add_record(struct rollout_reader *reader, enum rollout_line_type type, enum rollout_role role,
                       struct str payload)
{
	payload = is_wanted(reader, type, payload) ? keep(reader, payload) : STR("");
	vec_push(&reader->records, (struct rollout_record){
					   .type = type,
					   .role = role,
					   .is_numbered = reader->line_is_numbered,
					   .ordinal = reader->line_ordinal,
					   .segment = (uint32_t)(reader->segment - reader->segments.items),
					   .end = reader->line_end,
					   .payload = payload,
					   .at_ms = reader->line_at_ms,
				   });
}

static void on_response_item(struct rollout_reader *reader, const struct json *payload)
{
	enum rollout_item_kind kind = rollout_item_kind(json_get_str(payload, "type"));
	reader->damage.unknown_items += kind == ITEM_KIND_unknown;
	if (!rollout_item_is_sent(kind))
		return;
	enum rollout_role role = ROLLOUT_PART;
	if (rollout_item_is_user_message(payload))
		role = ROLLOUT_USER;
	else if (rollout_item_is_context(payload))
		role = ROLLOUT_PREAMBLE;
	enum rollout_call call = rollout_item_call(payload);
	struct str call_id = call ? arena_str(&reader->arena, json_get_str(payload, "call_id")) : STR_NONE;
	add_record(reader, LINE_response_item, role, rollout_item_strip(payload));
	struct rollout_record *record = &reader->records.items[reader->records.count - 1];
	record->call = call;
	record->call_id = call_id;
}

static void on_compacted(struct rollout_reader *reader, const struct json *payload)
{
	add_record(reader, LINE_compacted, ROLLOUT_PART, payload->span);
	reader->records.items[reader->records.count - 1].is_replacement =
		json_is(json_get(payload, "replacement_history"), JSON_array);
}

static void on_turn_context(struct rollout_reader *reader, const struct json *payload)
{
	const struct json *place = json_get(payload, "command_environment");
	if (!place || !str_eq(place->span, reader->environment))
		reader->environment = place ? arena_str(&reader->arena, place->span) : STR_NONE;
	add_record(reader, LINE_turn_context, ROLLOUT_PREAMBLE, payload->span);
}

static void on_usage(struct rollout_reader *reader, const struct json *payload)
{
	add_record(reader, LINE_token_usage_record, ROLLOUT_PART, payload->span);
}

/* Converts the message of an agent to the item that the model receives. */
static void on_agent_communication(struct rollout_reader *reader, const struct json *payload)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_ROLLOUT_LINE);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	jw_member_cstr(&w, "type", "agent_message");
	jw_member_str(&w, "author", json_get_str(payload, "author"));
	jw_member_str(&w, "recipient", json_get_str(payload, "recipient"));
	jw_key(&w, "content");
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", "input_text");
	jw_member_str(&w, "text", json_get_str(payload, "content"));
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
	if (!text.over)
		add_record(reader, LINE_response_item, ROLLOUT_USER, arena_str(&reader->arena, buf_str(&text)));
}

/* ---- events with effects ---- */

typedef enum rollout_role (*rollout_event_fn)(struct rollout_reader *reader, const struct json *payload);

static enum rollout_role on_turn_begin(struct rollout_reader *reader, const struct json *payload)
{
	(void)payload;
	reader->is_turn_open = true;
	return ROLLOUT_PREAMBLE;
}

static enum rollout_role on_turn_end(struct rollout_reader *reader, const struct json *payload)
{
	(void)payload;
	reader->is_turn_open = false;
	reader->ends_turn = true;
	return ROLLOUT_PART;
}

static enum rollout_role on_token_count(struct rollout_reader *reader, const struct json *payload)
{
	const struct json *info = json_get(payload, "info");
	if (!json_is(info, JSON_object))
		return ROLLOUT_PART;
	buf_clear(&reader->usage);
	buf_append_str(&reader->usage, info->span);
	reader->token_info = buf_str(&reader->usage);
	return ROLLOUT_PART;
}

static enum rollout_role on_goal(struct rollout_reader *reader, const struct json *payload)
{
	const struct json *goal = json_get(payload, "goal");
	buf_clear(&reader->goal_text);
	if (json_is(goal, JSON_object))
		buf_append_str(&reader->goal_text, goal->span);
	reader->goal = reader->goal_text.len ? buf_str(&reader->goal_text) : STR_NONE;
	return ROLLOUT_PART;
}

static enum rollout_role on_settings(struct rollout_reader *reader, const struct json *payload)
{
	(void)reader;
	(void)payload;
	return ROLLOUT_PREAMBLE;
}

static const struct {
	const char *wire;
	rollout_event_fn run;
} event_rows[] = {
	{"task_started", on_turn_begin},          {"turn_started", on_turn_begin},  {"task_complete", on_turn_end},
	{"turn_complete", on_turn_end},           {"turn_aborted", on_turn_end},    {"token_count", on_token_count},
	{"thread_settings_applied", on_settings}, {"thread_goal_updated", on_goal},
};

static bool has_effect(struct str event)
{
	for (size_t i = 0; i < countof(event_rows); i++) {
		if (str_is(event, event_rows[i].wire))
			return true;
	}
	return str_is(event, "thread_rolled_back") || str_is(event, "subagent_lifecycle") ||
	       str_is(event, "agent_inbox");
}

static void on_event_msg(struct rollout_reader *reader, const struct json *payload)
{
	struct str type = json_get_str(payload, "type");
	enum rollout_role role = ROLLOUT_PART;
	reader->ends_turn = false;
	if (str_is(type, "thread_rolled_back")) {
		uint64_t turns = 0;
		json_to_u64(json_get(payload, "num_turns"), &turns);
		rollout_reader_roll_back(reader, turns);
		return;
	}
	for (size_t i = 0; i < countof(event_rows); i++) {
		if (str_is(type, event_rows[i].wire))
			role = event_rows[i].run(reader, payload);
	}
	add_record(reader, LINE_event_msg, role, payload->span);
}

/* Kinds of lines without an entry are ignored. */
static void (*const line_handlers[LINE_count])(struct rollout_reader *, const struct json *) = {
	[LINE_response_item] = on_response_item,
	[LINE_event_msg] = on_event_msg,
	[LINE_turn_context] = on_turn_context,
	[LINE_compacted] = on_compacted,
	[LINE_inter_agent_communication] = on_agent_communication,
	[LINE_token_usage_record] = on_usage,
};

/* False if the line's number does not follow that of the previous line. */
static bool is_next(struct rollout_reader *reader, const struct rollout_line *line)
{
	bool is_good = !line->has_ordinal || line->ordinal >= reader->next_ordinal;
	reader->line_is_numbered = line->has_ordinal;
	reader->line_ordinal = line->ordinal;
	if (line->has_ordinal && is_good)
		reader->next_ordinal = line->ordinal + 1;
	return is_good;
}

/* Takes an event that the history does not need without parsing it: these are most of the bytes of a file. */
static bool skip_event(struct rollout_reader *reader, struct str text)
{
	struct rollout_line line;
	struct str event;
	if (reader->wants != ROLLOUT_HISTORY || text.len > LIMIT_ROLLOUT_LINE ||
	    !rollout_line_peek_event(text, &line, &event) || has_effect(event))
		return false;
	reader->is_disordered = !is_next(reader, &line);
	if (reader->is_disordered)
		return true;
	reader->ends_turn = false;
	reader->line_at_ms = line.at_ms;
	add_record(reader, LINE_event_msg, ROLLOUT_PART, STR(""));
	return true;
}

static void read_line(struct rollout_reader *reader, struct str text, bool is_ended)
{
	struct rollout_line line;
	arena_reset(&reader->line);
	if (str_trim(text).len == 0 || (is_ended && skip_event(reader, text)))
		return;
	if (text.len > LIMIT_ROLLOUT_LINE) {
		reader->damage.long_lines++;
	} else if (rollout_line_parse(&reader->line, text, &line, NULL) < 0) {
		reader->damage.is_torn |= !is_ended;
		reader->damage.bad_lines += is_ended;
	} else if (line.type == LINE_unknown) {
		reader->damage.unknown_lines++;
	} else if (!is_next(reader, &line)) {
		reader->is_disordered = true;
	} else if (line_handlers[line.type]) {
		reader->line_at_ms = line.at_ms;
		line_handlers[line.type](reader, line.payload);
	}
}

static void read_sorted(struct rollout_reader *reader, const struct rollout_segment *segment)
{
	struct rollout_order order;
	rollout_order_init(&order, str_n(segment->text, segment->len));
	reader->damage.repeated_lines += order.repeated;
	reader->damage.is_disordered = true;
	reader->line_end = 0;
	vec_for_each(it, &order.lines) {
		reader->next_ordinal = 0;
		read_line(reader, it->text, true);
	}
	rollout_order_finish(&order);
}

/* Reads the lines; false if the segment must be read again because they are out of order. */
static bool read_lines(struct rollout_reader *reader, struct rollout_segment *segment)
{
	struct str rest = str_n(segment->text, segment->len), text;
	reader->next_ordinal = 0;
	reader->segment = segment;
	reader->is_disordered = false;
	if (segment->is_disordered) {
		read_sorted(reader, segment);
		return true;
	}
	while (!reader->is_disordered && str_next_line(&rest, &text)) {
		bool is_ended = rest.len > 0 || segment->text[segment->len - 1] == '\n';
		reader->line_end = is_ended ? (uint32_t)(segment->len - rest.len) : 0;
		read_line(reader, text, is_ended);
	}
	segment->is_disordered = reader->is_disordered;
	return !segment->is_disordered;
}

/* Reads the bytes again, because parsing has modified them. */
static int read_again(struct rollout_segment *segment, struct error *err)
{
	struct rollout_segment fresh;
	int status = segment->kept ? rollout_reader_read_file(segment->path, segment->most, &fresh, err) : 0;
	if (status < 0 || !segment->kept)
		return status;
	free(segment->text);
	segment->text = fresh.text;
	segment->len = fresh.len;
	segment->kept = 0;
	return 0;
}

static int read_all(struct rollout_reader *reader, struct error *err)
{
	bool is_whole = false;
	while (!is_whole) {
		is_whole = true;
		reader->records.count = 0;
		reader->damage = (struct rollout_damage){0};
		reader->token_info = reader->goal = STR_NONE;
		reader->is_turn_open = false;
		for (size_t i = reader->segments.count; i > 0 && is_whole; i--)
			is_whole = read_lines(reader, &reader->segments.items[i - 1]);
		vec_for_each(it, &reader->segments) {
			int status = is_whole ? 0 : read_again(it, err);
			if (status < 0)
				return status;
		}
	}
	vec_for_each(it, &reader->segments)
		rollout_segment_release(it, it->kept, it->len);
	return 0;
}

struct rollout_reader *rollout_reader_create(const char *path, struct error *err)
{
	return rollout_reader_create_for(path, ROLLOUT_ALL, err);
}

struct rollout_reader *rollout_reader_create_for(const char *path, enum rollout_wants wants, struct error *err)
{
	return rollout_reader_create_part(path, wants, (struct rollout_part){.most = LIMIT_ROLLOUT_FILE}, err);
}

struct rollout_reader *rollout_reader_create_part(const char *path, enum rollout_wants wants, struct rollout_part part,
                                                  struct error *err)
{
	struct rollout_reader *reader = xnew(struct rollout_reader);
	reader->wants = wants;
	reader->part = part;
	buf_init(&reader->usage, LIMIT_ROLLOUT_LINE);
	buf_init(&reader->goal_text, LIMIT_ROLLOUT_LINE);
	reader->path = realpath(path, NULL);
	if (!reader->path) {
		error_sys(err, errno, "cannot open %s", path);
	} else if (rollout_reader_read_files(reader, err) == 0 && read_all(reader, err) == 0) {
		rollout_reader_build_history(reader);
		return reader;
	}
	rollout_reader_destroy(reader);
	return NULL;
}

void rollout_reader_destroy(struct rollout_reader *reader)
{
	if (!reader)
		return;
	rollout_reader_forget(reader);
	buf_finish(&reader->usage);
	buf_finish(&reader->goal_text);
	arena_finish(&reader->arena);
	arena_finish(&reader->line);
	free(reader->path);
	free(reader);
}

/* ---- the base of a fork ---- */

bool rollout_reader_find_base(const struct rollout_reader *reader, size_t record, struct rollout_meta *ret)
{
	const struct rollout_record *last = &reader->records.items[record];
	const struct rollout_segment *segment = &reader->segments.items[last->segment];
	struct rollout_file_name name;
	if (!last->is_numbered || !last->end || segment->is_disordered ||
	    reader->segments.count - last->segment > LIMIT_ROLLOUT_BASES)
		return false;
	if (!rollout_path_parse(path_name(segment->path), &name))
		return false;
	ret->base_rollout_id = name.rollout_id;
	ret->base_bytes = last->end;
	ret->base_ordinal = last->ordinal + 1;
	return true;
}

/* ---- events and damage ---- */

void rollout_reader_write_events(const struct rollout_reader *reader, struct json_writer *w)
{
	jw_array(w);
	vec_for_each(it, &reader->records) {
		if (it->type == LINE_event_msg)
			jw_raw(w, it->payload);
	}
	jw_array_end(w);
}

static void describe(struct buf *out, size_t count, const char *one, const char *many)
{
	if (count)
		buf_printf(out, "%s%zu %s", out->len ? ", " : "", count, count == 1 ? one : many);
}

bool rollout_reader_describe_damage(const struct rollout_reader *reader, struct buf *out)
{
	const struct rollout_damage *damage = &reader->damage;
	auto_buf struct buf what;
	buf_init(&what, KIB);
	describe(&what, damage->bad_lines, "damaged line", "damaged lines");
	describe(&what, damage->is_torn, "incomplete last line", "");
	describe(&what, damage->long_lines, "oversized line", "oversized lines");
	describe(&what, damage->repeated_lines, "repeated line", "repeated lines");
	describe(&what, damage->unknown_lines, "line of an unknown kind", "lines of unknown kinds");
	describe(&what, damage->unknown_items, "item of an unknown kind", "items of unknown kinds");
	describe(&what, damage->stray_items, "call or output without its counterpart",
	         "calls or outputs without their counterparts");
	if (what.len == 0 && !damage->is_disordered)
		return false;
	if (damage->is_disordered)
		buf_printf(out, "Lines of the session file were out of order and have been sorted. ");
	if (what.len == 0) {
		buf_printf(out, "Nothing is missing: %s", reader->path);
		return true;
	}
	buf_printf(out, "Parts of the session file were skipped (%.*s); the rest is restored: %s",
	           STR_ARG(buf_str(&what)), reader->path);
	return true;
}
