/* The legacy events of an item (protocol/message/item_legacy.h) follow it directly. */
#include "server/wire_profile.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/approval.h"
#include "protocol/message/item_legacy.h"
#include "protocol/message/message.h"
#include "protocol/record/enum.h"

enum wire_date { DATE_LEGACY, DATE_2025_10, DATE_2026_01, DATE_DOC };

static const enum wire_date dates[] = {
	[wire_profile_legacy2025] = DATE_LEGACY,
	[wire_profile_v1_2025_10] = DATE_2025_10,
	[wire_profile_v1_2026_01] = DATE_2026_01,
	[wire_profile_doc] = DATE_DOC,
};

static const enum wire_date event_dates[EV_count] = {
#define SINCE_EVENT(tag, date) [EV_##tag] = date,
#define SINCE_FIELD(...)
#define EXTERNAL_BEFORE(...)
#define BARE_BEFORE(...)
#include "server/wire_profile.def"
#undef SINCE_EVENT
#undef SINCE_FIELD
#undef EXTERNAL_BEFORE
#undef BARE_BEFORE
};

static const struct field_date {
	const struct record *record;
	const char *field;
	enum wire_date date;
} field_dates[] = {
#define SINCE_EVENT(...)
#define SINCE_FIELD(record, field, date) {&record_##record, field, date},
#define EXTERNAL_BEFORE(...)
#define BARE_BEFORE(...)
#include "server/wire_profile.def"
#undef SINCE_EVENT
#undef SINCE_FIELD
#undef EXTERNAL_BEFORE
#undef BARE_BEFORE
};

static const struct union_date {
	const struct union_type *type;
	enum wire_date date;
} union_dates[] = {
#define SINCE_EVENT(...)
#define SINCE_FIELD(...)
#define EXTERNAL_BEFORE(name, date) {&union_##name, date},
#define BARE_BEFORE(...)
#include "server/wire_profile.def"
#undef SINCE_EVENT
#undef SINCE_FIELD
#undef EXTERNAL_BEFORE
#undef BARE_BEFORE
};

static const struct bare_date {
	const struct record *body;
	enum wire_date date;
} bare_dates[] = {
#define SINCE_EVENT(...)
#define SINCE_FIELD(...)
#define EXTERNAL_BEFORE(...)
#define BARE_BEFORE(body, date) {&record_##body, date},
#include "server/wire_profile.def"
#undef SINCE_EVENT
#undef SINCE_FIELD
#undef EXTERNAL_BEFORE
#undef BARE_BEFORE
};

struct wire {
	struct wire_style *style;
	enum wire_date date;
	struct str id;
	struct buf *out;
};

static bool omits(const struct record *record, const struct field *field, const void *self)
{
	const struct wire *wire = self;
	for (size_t i = 0; i < countof(field_dates); i++) {
		const struct field_date *it = &field_dates[i];
		if (it->record == record && wire->date < it->date &&
		    str_is(str_of(it->field), field_name(record, field)))
			return true;
	}
	return false;
}

static bool is_external(const struct union_type *type, const void *self)
{
	const struct wire *wire = self;
	for (size_t i = 0; i < countof(union_dates); i++) {
		if (union_dates[i].type == type)
			return wire->date < union_dates[i].date;
	}
	return false;
}

static bool is_bare(const struct variant *variant, const void *self)
{
	const struct wire *wire = self;
	for (size_t i = 0; i < countof(bare_dates); i++) {
		if (bare_dates[i].body == variant->body)
			return wire->date < bare_dates[i].date;
	}
	return false;
}

static void write_msg(struct wire *wire, enum event_tag tag, const void *body)
{
	struct json_writer w = json_writer(wire->out);
	struct union_head msg = {.tag = (int)tag, .body = (void *)(uintptr_t)body};
	const struct record_dialect dialect = {omits, is_external, is_bare, wire};
	if (wire->date < event_dates[tag])
		return;
	jw_object(&w);
	jw_member_str(&w, "id", wire->id);
	jw_key(&w, "msg");
	union_encode_as(&union_event_msg, &msg, wire->date < DATE_2026_01 ? &dialect : NULL, &w);
	jw_object_end(&w);
	buf_append_char(wire->out, '\n');
}

/* ---- legacy events of items ---- */

static void on_legacy_event(const struct event_msg *event, void *self)
{
	struct wire *wire = self;
	bool is_raw_reasoning =
		event->tag == EV_agent_reasoning_raw_content || event->tag == EV_agent_reasoning_raw_content_delta;
	if (!is_raw_reasoning || wire->style->shows_raw_reasoning)
		write_msg(wire, event->tag, event->body);
}

/* ---- the question of request_permissions ---- */

/* The engine asks by an elicitation, which all front ends show; clients of 2026-03 know an event of its own. */
static void write_permissions_request(struct wire *wire, const struct ev_elicitation_request *event)
{
	auto_arena struct arena arena = {0};
	const struct json *meta = event->_meta.ptr ? json_parse(&arena, event->_meta, NULL) : NULL;
	const struct json *permissions = json_get(meta, "permissions");
	struct ev_request_permissions request = {
		.turn_id = event->turn_id,
		.reason = json_get_str(meta, "reason"),
		.cwd = json_get_str(meta, "cwd"),
	};
	if (event->server_name.len || !str_is(json_get_str(meta, "codex_approval_kind"), "request_permissions") ||
	    !permissions || !json_to_str(json_parse(&arena, event->id, NULL), &request.call_id))
		return;
	request.permissions = permissions->span;
	write_msg(wire, EV_request_permissions, &request);
}

/* ---- events in older forms ---- */

/* Returns the word for a mode. The modes of January 2026 do not include "default": modes other than plan were
 * "custom". A client that has sent "default" knows the modes of February. */
static const char *mode_word(const struct wire *wire, enum mode_kind mode)
{
	if (mode == mode_kind_default && !wire->style->speaks_default)
		return "custom";
	return enum_wire(&enum_mode_kind, (int)mode);
}

static void write_task_started(struct wire *wire, const struct ev_task_started *event)
{
	struct json_writer w = json_writer(wire->out);
	jw_object(&w);
	jw_member_str(&w, "id", wire->id);
	jw_key(&w, "msg");
	jw_object(&w);
	jw_member_cstr(&w, "type", "task_started");
	jw_key(&w, "model_context_window");
	if (event->has_model_context_window)
		jw_i64(&w, event->model_context_window);
	else
		jw_null(&w);
	jw_member_cstr(&w, "collaboration_mode_kind", mode_word(wire, event->collaboration_mode_kind));
	jw_object_end(&w);
	jw_object_end(&w);
	buf_append_char(wire->out, '\n');
}

/* Before October 2025 the source of a command was a flag. */
static void write_flagged_begin(struct wire *wire, const struct ev_exec_begin *event)
{
	struct ev_exec_begin flagged = *event;
	flagged.has_is_user_shell_command = true;
	flagged.is_user_shell_command = event->source == exec_source_user_shell;
	write_msg(wire, EV_exec_command_begin, &flagged);
}

/* Writes the counts as members of the event itself, once per response and without rate limits, as older versions
 * did. */
static void write_flat_usage(struct wire *wire, const struct ev_token_count *event)
{
	if (!event->info || event->info->total_token_usage->total_tokens == wire->style->sent_tokens)
		return;
	const struct token_usage *usage = event->info->last_token_usage;
	wire->style->sent_tokens = event->info->total_token_usage->total_tokens;
	struct json_writer w = json_writer(wire->out);
	jw_object(&w);
	jw_member_str(&w, "id", wire->id);
	jw_key(&w, "msg");
	jw_object(&w);
	jw_member_cstr(&w, "type", "token_count");
	jw_member_i64(&w, "input_tokens", usage->input_tokens);
	jw_member_i64(&w, "cached_input_tokens", usage->cached_input_tokens);
	jw_member_i64(&w, "output_tokens", usage->output_tokens);
	jw_member_i64(&w, "reasoning_output_tokens", usage->reasoning_output_tokens);
	jw_member_i64(&w, "total_tokens", usage->total_tokens);
	jw_object_end(&w);
	jw_object_end(&w);
	buf_append_char(wire->out, '\n');
}

/* True if the event had another form before October 2025. */
static bool write_legacy(struct wire *wire, const struct event_msg *msg)
{
	struct ev_error error = {.message = STR("Turn interrupted")};
	struct ev_background_event note;
	switch (msg->tag) {
	case EV_turn_aborted:
		write_msg(wire, EV_error, &error);
		return true;
	case EV_stream_error:
		note.message = msg->stream_error->message;
		write_msg(wire, EV_background_event, &note);
		return true;
	case EV_warning:
		note.message = msg->warning->message;
		write_msg(wire, EV_background_event, &note);
		return true;
	case EV_token_count:
		write_flat_usage(wire, msg->token_count);
		return true;
	default:
		return false;
	}
}

/* Returns true for patch_apply_begin, which is held back until the user has approved the patch; patch_apply_end has
 * its data. */
static bool holds_patch(struct wire *wire, const struct event_msg *msg)
{
	if (msg->tag == EV_patch_apply_begin)
		wire->style->holds_patch = !msg->patch_apply_begin->auto_approved;
	return msg->tag == EV_patch_apply_begin && wire->style->holds_patch;
}

/* Returns false for the end of a denied patch, for which older versions sent no event. */
static bool release_patch(struct wire *wire, const struct ev_patch_end *end)
{
	struct ev_patch_begin begin = {
		.call_id = end->call_id,
		.turn_id = end->turn_id,
		.changes = end->changes,
		.changes_keys = end->changes_keys,
		.changes_count = end->changes_count,
	};
	if (!wire->style->holds_patch)
		return true;
	wire->style->holds_patch = false;
	if (!end->success && str_is(end->standard_error, PATCH_DECLINED))
		return false;
	write_msg(wire, EV_patch_apply_begin, &begin);
	return true;
}

/* True for items that did not exist in October 2025. */
static bool is_unknown_item(const struct wire *wire, const struct event_msg *msg)
{
	const struct turn_item *item = NULL;
	if (msg->tag == EV_item_started)
		item = msg->item_started->item;
	else if (msg->tag == EV_item_completed)
		item = msg->item_completed->item;
	return item && wire->date < DATE_2026_01 &&
	       (item->tag == turn_item_plan || item->tag == turn_item_context_compaction ||
	        item->tag == turn_item_sleep);
}

/* True for the item_started of a message. It has no text even if the message arrived complete; in plan mode it has
 * an empty part. */
static bool is_message_start(const struct event_msg *msg)
{
	if (msg->tag != EV_item_started || msg->item_started->item->tag != turn_item_agent_message)
		return false;
	const struct agent_message_item *message = msg->item_started->item->agent_message;
	return message->content_count && message->content[0].text->text.len;
}

static void write_message_start(struct wire *wire, const struct ev_item_started *event)
{
	struct agent_message_item message = {.id = event->item->agent_message->id};
	struct turn_item item = {.tag = turn_item_agent_message, .agent_message = &message};
	struct ev_item_started start = *event;
	start.item = &item;
	write_msg(wire, EV_item_started, &start);
}

void wire_profile_observe(struct wire_style *style, const struct submission *submission)
{
	style->speaks_default |= str_is(submission->mode_word, "default");
}

bool wire_profile_begins_once_allowed(enum wire_profile profile)
{
	return dates[profile] == DATE_LEGACY || dates[profile] == DATE_DOC;
}

static void write_event(struct wire_style *style, const struct event *event, struct buf *out)
{
	struct wire wire = {style, dates[style->profile], event->id, out};
	const struct event_msg *msg = &event->msg;
	if (is_unknown_item(&wire, msg) || (wire.date == DATE_LEGACY && write_legacy(&wire, msg)))
		return;
	if (wire.date < DATE_2026_01 && holds_patch(&wire, msg))
		return;
	if (msg->tag == EV_patch_apply_end && !release_patch(&wire, msg->patch_apply_end))
		return;
	if (msg->tag == EV_task_started && wire.date >= DATE_2026_01)
		write_task_started(&wire, msg->task_started);
	else if (msg->tag == EV_exec_command_begin && wire.date == DATE_2025_10)
		write_flagged_begin(&wire, msg->exec_command_begin);
	else if (is_message_start(msg))
		write_message_start(&wire, msg->item_started);
	else
		write_msg(&wire, msg->tag, msg->body);
	item_legacy_translate(msg, on_legacy_event, &wire);
	if (msg->tag == EV_elicitation_request && wire.date == DATE_DOC)
		write_permissions_request(&wire, msg->elicitation_request);
}

void wire_profile_write(struct wire_style *style, const struct event *event, struct buf *out)
{
	char text[256];
	write_event(style, event, out);
	if (!out->over)
		return;
	snprintf(text, sizeof(text), "An event `%s` is larger than %zu MiB and was not sent.",
	         union_find_tag(&union_event_msg, (int)event->msg.tag)->wire, out->max / MIB);
	struct ev_warning body = {.message = str_of(text)};
	struct event *warning = event_create(event->id, EV_warning, &body);
	size_t max = out->max;
	buf_finish(out); /* the partial output may be hundreds of megabytes */
	buf_init(out, max);
	write_event(style, warning, out);
	event_destroy(warning);
}
