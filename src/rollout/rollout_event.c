/* An item was told in other words before items existed: user_message, agent_message, … Every version since 2025 reads
 * them, and 0.169 passes over them in its numbered files, so that both can stand in one file. */
#include "rollout/rollout_event.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "protocol/record/types.h"
#include "rollout/rollout_writer.h"

typedef int (*rollout_item_fn)(struct rollout_writer *writer, const struct turn_item *item, struct error *err);

/* {"type":…,"<key>":<text>} */
static int append_text(struct rollout_writer *writer, const char *type, const char *key, struct str text,
                       struct error *err)
{
	struct json_writer w = rollout_writer_begin(writer, LINE_event_msg);
	jw_object(&w);
	jw_member_cstr(&w, "type", type);
	jw_member_str(&w, key, text);
	jw_object_end(&w);
	return rollout_writer_end(writer, err);
}

/* ---- user_message ---- */

static void write_message(const struct user_message_item *item, struct json_writer *w)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROMPT);
	for (size_t i = 0; i < item->content_count; i++) {
		if (item->content[i].tag == user_input_text)
			buf_append_str(&text, item->content[i].text->text);
	}
	jw_member_str(w, "message", buf_str(&text));
}

/* has_bytes: an image that is its own address is written, too. */
static void write_images(const struct user_message_item *item, bool has_bytes, struct json_writer *w)
{
	jw_key(w, "images");
	jw_array(w);
	for (size_t i = 0; i < item->content_count; i++) {
		const struct user_input *input = &item->content[i];
		if (input->tag == user_input_image && (has_bytes || !str_has_prefix(input->image->image_url, "data:")))
			jw_str(w, input->image->image_url);
	}
	jw_array_end(w);
}

static void write_local_images(const struct user_message_item *item, struct json_writer *w)
{
	jw_key(w, "local_images");
	jw_array(w);
	for (size_t i = 0; i < item->content_count; i++) {
		if (item->content[i].tag == user_input_local_image)
			jw_str(w, item->content[i].local_image->path);
	}
	jw_array_end(w);
}

/* Moves an element's range to where its text stands in the whole message. */
static void write_element(const struct text_element *element, int64_t offset, struct json_writer *w)
{
	struct byte_range range = *element->byte_range;
	struct text_element moved = *element;
	range.start += offset;
	range.end += offset;
	moved.byte_range = &range;
	record_encode(&record_text_element, &moved, w);
}

static void write_elements(const struct user_message_item *item, struct json_writer *w)
{
	int64_t offset = 0;
	jw_key(w, "text_elements");
	jw_array(w);
	for (size_t i = 0; i < item->content_count; i++) {
		if (item->content[i].tag != user_input_text)
			continue;
		const struct input_text *text = item->content[i].text;
		for (size_t n = 0; n < text->text_elements_count; n++)
			write_element(&text->text_elements[n], offset, w);
		offset += (int64_t)text->text.len;
	}
	jw_array_end(w);
}

static int append_user(struct rollout_writer *writer, const struct turn_item *item, struct error *err)
{
	struct json_writer w = rollout_writer_begin(writer, LINE_event_msg);
	jw_object(&w);
	jw_member_cstr(&w, "type", "user_message");
	write_message(item->user_message, &w);
	write_images(item->user_message, !rollout_writer_is_paginated(writer), &w);
	write_local_images(item->user_message, &w);
	write_elements(item->user_message, &w);
	jw_object_end(&w);
	return rollout_writer_end(writer, err);
}

/* ---- the other old words ---- */

static int append_agent(struct rollout_writer *writer, const struct turn_item *item, struct error *err)
{
	int status = 0;
	for (size_t i = 0; i < item->agent_message->content_count && status == 0; i++)
		status = append_text(writer, "agent_message", "message", item->agent_message->content[i].text->text,
		                     err);
	return status;
}

static int append_reasoning(struct rollout_writer *writer, const struct turn_item *item, struct error *err)
{
	const struct reasoning_item *reasoning = item->reasoning;
	int status = 0;
	for (size_t i = 0; i < reasoning->summary_text_count && status == 0; i++)
		status = append_text(writer, "agent_reasoning", "text", reasoning->summary_text[i], err);
	for (size_t i = 0; i < reasoning->raw_content_count && status == 0; i++)
		status = append_text(writer, "agent_reasoning_raw_content", "text", reasoning->raw_content[i], err);
	return status;
}

static int append_compaction(struct rollout_writer *writer, const struct turn_item *item, struct error *err)
{
	(void)item;
	return rollout_writer_append(writer, LINE_event_msg, STR("{\"type\":\"context_compacted\"}"), err);
}

/* An item without an entry has no old word. */
static const rollout_item_fn old_words[turn_item_tag_count] = {
	[turn_item_user_message] = append_user,
	[turn_item_agent_message] = append_agent,
	[turn_item_reasoning] = append_reasoning,
	[turn_item_context_compaction] = append_compaction,
};

int rollout_event_append_old(struct rollout_writer *writer, const struct turn_item *item, struct error *err)
{
	return old_words[item->tag] ? old_words[item->tag](writer, item, err) : 0;
}

/* ---- events as they are ---- */

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

/* The event's object goes right behind the note's members, its opening brace becomes the comma. */
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
	w = json_writer(line);
	union_encode(&union_event_msg, event, &w);
	if (has_note && !line->over)
		line->data[brace] = ',';
	return rollout_writer_end(writer, err);
}
