/* An item of several parts becomes several events: one for each text of a message and one for each part of a
 * reasoning item. The user's message is an exception: its texts are joined, and the spans in each text move by the
 * length of the preceding texts. */
#include "protocol/message/item_legacy.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "protocol/record/types.h"

struct output {
	item_legacy_fn emit;
	void *self;
};

static void emit(const struct output *output, enum event_tag tag, void *body)
{
	output->emit(&(struct event_msg){.tag = tag, .body = body}, output->self);
}

/* ---- user_message ---- */

static void add_elements(const struct input_text *text, size_t offset, struct arena *arena,
                         struct ev_user_message *event)
{
	for (size_t i = 0; i < text->text_elements_count; i++) {
		struct text_element *element = &event->text_elements[event->text_elements_count++];
		*element = text->text_elements[i];
		element->byte_range = arena_new(arena, struct byte_range);
		element->byte_range->start = text->text_elements[i].byte_range->start + (int64_t)offset;
		element->byte_range->end = text->text_elements[i].byte_range->end + (int64_t)offset;
	}
}

static void add_input(const struct user_input *input, struct arena *arena, struct buf *message,
                      struct ev_user_message *event)
{
	if (input->tag == user_input_text) {
		add_elements(input->text, message->len, arena, event);
		buf_append_str(message, input->text->text);
	} else if (input->tag == user_input_image) {
		event->images[event->images_count++] = input->image->image_url;
	} else if (input->tag == user_input_local_image) {
		event->local_images[event->local_images_count++] = input->local_image->path;
	}
}

static size_t element_count(const struct user_message_item *item)
{
	size_t count = 0;
	for (size_t i = 0; i < item->content_count; i++) {
		if (item->content[i].tag == user_input_text)
			count += item->content[i].text->text_elements_count;
	}
	return count;
}

static void emit_user_message(const struct output *output, const struct user_message_item *item)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf message;
	struct ev_user_message event = {
		.images = arena_array(&arena, struct str, item->content_count),
		.local_images = arena_array(&arena, struct str, item->content_count),
		.text_elements = arena_array(&arena, struct text_element, element_count(item)),
	};
	buf_init(&message, LIMIT_PROMPT);
	for (size_t i = 0; i < item->content_count; i++)
		add_input(&item->content[i], &arena, &message, &event);
	event.message = buf_str(&message);
	emit(output, EV_user_message, &event);
}

/* ---- the other items ---- */

static void emit_agent_message(const struct output *output, const struct agent_message_item *item)
{
	for (size_t i = 0; i < item->content_count; i++)
		emit(output, EV_agent_message, &(struct ev_agent_message){item->content[i].text->text});
}

static void emit_reasoning(const struct output *output, const struct reasoning_item *item)
{
	for (size_t i = 0; i < item->summary_text_count; i++)
		emit(output, EV_agent_reasoning, &(struct ev_reasoning_text){item->summary_text[i]});
	for (size_t i = 0; i < item->raw_content_count; i++)
		emit(output, EV_agent_reasoning_raw_content, &(struct ev_reasoning_text){item->raw_content[i]});
}

static void emit_started(const struct output *output, const struct turn_item *item)
{
	if (item->tag == turn_item_web_search)
		emit(output, EV_web_search_begin, &(struct ev_web_search_begin){item->web_search->id});
}

static void emit_completed(const struct output *output, const struct turn_item *item)
{
	switch (item->tag) {
	case turn_item_user_message:
		emit_user_message(output, item->user_message);
		return;
	case turn_item_agent_message:
		emit_agent_message(output, item->agent_message);
		return;
	case turn_item_reasoning:
		emit_reasoning(output, item->reasoning);
		return;
	case turn_item_web_search:
		emit(output, EV_web_search_end,
		     &(struct ev_web_search_end){item->web_search->id, item->web_search->query,
		                                 item->web_search->action});
		return;
	case turn_item_context_compaction:
		emit(output, EV_context_compacted, &(struct ev_context_compacted){0});
		return;
	default:
		return;
	}
}

void item_legacy_translate(const struct event_msg *event, item_legacy_fn emit_fn, void *self)
{
	const struct output output = {emit_fn, self};
	switch (event->tag) {
	case EV_item_started:
		emit_started(&output, event->item_started->item);
		return;
	case EV_item_completed:
		emit_completed(&output, event->item_completed->item);
		return;
	case EV_agent_message_content_delta:
		emit(&output, EV_agent_message_delta, &(struct ev_delta){event->agent_message_content_delta->delta});
		return;
	case EV_reasoning_content_delta:
		emit(&output, EV_agent_reasoning_delta, &(struct ev_delta){event->reasoning_content_delta->delta});
		return;
	case EV_reasoning_raw_content_delta:
		emit(&output, EV_agent_reasoning_raw_content_delta,
		     &(struct ev_delta){event->reasoning_raw_content_delta->delta});
		return;
	default:
		return;
	}
}
