/* Older versions read only the legacy events of an item; 0.169 skips them in its numbered files, so that both can be
 * in one file. */
#include "rollout/rollout_event.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "protocol/message/item_legacy.h"
#include "protocol/record/types.h"
#include "rollout/rollout_writer.h"

/* ---- events with a note ---- */

static bool write_note(const struct rollout_note *note, struct json_writer *w)
{
	jw_object(w);
	if (note->turn_id.ptr)
		jw_member_str(w, "turn_id", note->turn_id);
	if (note->error.ptr)
		jw_member_raw(w, "error", note->error);
	if (note->started_at_ms)
		jw_member_i64(w, "started_at", note->started_at_ms / 1000);
	if (note->completed_at_ms) {
		jw_member_i64(w, "completed_at", note->completed_at_ms / 1000);
		jw_member_i64(w, "duration_ms", note->completed_at_ms - note->started_at_ms);
	}
	return note->turn_id.ptr || note->error.ptr || note->started_at_ms || note->completed_at_ms;
}

/* Writes the members of the note and then those of the event: a comma replaces the opening brace of the event's
 * object. */
int rollout_event_append(struct rollout_writer *writer, const struct rollout_note *note, const struct event_msg *event,
                         struct error *err)
{
	struct json_writer w = rollout_writer_begin(writer, LINE_event_msg);
	struct buf *line = w.out;
	size_t start = line->len;
	bool has_note = write_note(note, &w);
	if (!has_note)
		buf_truncate(line, start);
	size_t brace = line->len;
	struct json_aside aside;
	w = json_writer_aside(line, &aside);
	union_encode(&union_event_msg, event, &w);
	if (has_note && !line->over)
		line->data[brace] = ',';
	if (aside.text.ptr)
		rollout_writer_insert(writer, &aside);
	return rollout_writer_end(writer, err);
}

/* ---- legacy events ---- */

struct legacy_lines {
	struct rollout_writer *writer;
	int status; /* result of the first line that failed */
	struct error *err;
};

static void append_line(struct legacy_lines *lines, const struct event_msg *event)
{
	lines->status = rollout_event_append(lines->writer, &(struct rollout_note){0}, event, lines->err);
}

/* Appends an event without the data of images, which a numbered file has in the item's own line. */
static void append_without_image_data(struct legacy_lines *lines, const struct ev_user_message *event)
{
	auto_arena struct arena arena = {0};
	struct ev_user_message brief = *event;
	brief.images = arena_array(&arena, struct str, event->images_count);
	brief.images_count = 0;
	for (size_t i = 0; i < event->images_count; i++) {
		if (!str_has_prefix(event->images[i], "data:"))
			brief.images[brief.images_count++] = event->images[i];
	}
	append_line(lines, &(struct event_msg){.tag = EV_user_message, .user_message = &brief});
}

/* Appends a legacy event. Rollouts have no legacy line for web searches. */
static void on_legacy_event(const struct event_msg *event, void *self)
{
	struct legacy_lines *lines = self;
	if (lines->status != 0 || event->tag == EV_web_search_end)
		return;
	if (event->tag == EV_user_message && rollout_writer_is_paginated(lines->writer))
		append_without_image_data(lines, event->user_message);
	else
		append_line(lines, event);
}

int rollout_event_append_legacy(struct rollout_writer *writer, const struct event_msg *completed, struct error *err)
{
	struct legacy_lines lines = {.writer = writer, .err = err};
	item_legacy_translate(completed, on_legacy_event, &lines);
	return lines.status;
}
