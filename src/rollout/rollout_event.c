/* An item is one event here and was another before items existed. The files of 2025 and of our own tell it
 * in the old words (user_message, agent_message, …), which every version reads; the numbered files of
 * 0.169 tell it as item_completed, and a program that resumes one shows only turns that do. */
#include "rollout/rollout_event.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "protocol/types.h"
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

static void write_images(const struct user_message_item *item, enum user_input_tag tag, const char *key,
                         struct json_writer *w)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < item->content_count; i++) {
		const struct user_input *input = &item->content[i];
		if (input->tag == tag)
			jw_str(w, tag == user_input_image ? input->image->image_url : input->local_image->path);
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
	write_images(item->user_message, user_input_image, "images", &w);
	write_images(item->user_message, user_input_local_image, "local_images", &w);
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

/* An item without an entry has no old word and is told as item_completed. */
static const rollout_item_fn old_words[turn_item_tag_count] = {
        [turn_item_user_message] = append_user,
        [turn_item_agent_message] = append_agent,
        [turn_item_reasoning] = append_reasoning,
        [turn_item_context_compaction] = append_compaction,
};

/* ---- events as they are ---- */

/* What is written in front of an event's own members. */
enum note {
	NOTE_none,
	NOTE_turn_id,
	NOTE_completed_at,
};

static void write_note(enum note note, struct str turn_id, struct json_writer *w)
{
	jw_object(w);
	if (note == NOTE_turn_id)
		jw_member_str(w, "turn_id", turn_id);
	else
		jw_member_i64(w, "completed_at_ms", clock_unix_ms());
}

/* The event's object goes right behind the note's members, its opening brace becomes the comma. */
static int append_event(struct rollout_writer *writer, const struct event_msg *event, enum note note,
                        struct str turn_id, struct error *err)
{
	struct json_writer w = rollout_writer_begin(writer, LINE_event_msg);
	struct buf *line = w.out;
	if (note != NOTE_none)
		write_note(note, turn_id, &w);
	size_t brace = line->len;
	w = json_writer(line);
	union_encode(&union_event_msg, event, &w);
	if (note != NOTE_none && !line->over)
		line->data[brace] = ',';
	return rollout_writer_end(writer, err);
}

static int append_item(struct rollout_writer *writer, const struct event_msg *event, struct error *err)
{
	const struct turn_item *item = event->item_completed->item;
	rollout_item_fn old_word = old_words[item->tag];
	if (old_word && !rollout_writer_is_paginated(writer))
		return old_word(writer, item, err);
	return append_event(writer, event, NOTE_completed_at, STR_NONE, err);
}

int rollout_event_append(struct rollout_writer *writer, struct str turn_id, const struct event_msg *event,
                         struct error *err)
{
	switch (event->tag) {
	case EV_item_completed:
		return append_item(writer, event, err);
	case EV_task_started:
	case EV_task_complete:
	case EV_turn_aborted:
		return append_event(writer, event, NOTE_turn_id, turn_id, err);
	case EV_token_count:
		return append_event(writer, event, NOTE_none, STR_NONE, err);
	default:
		return 0;
	}
}
