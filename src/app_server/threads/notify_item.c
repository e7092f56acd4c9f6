/* What is said and thought: the engine's items have nearly the shape of the wire's. */
#include "app_server/threads/notify.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_turn.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/review_text.h"

/* ---- what the user says ---- */

static void copy_elements(struct app_input_text *to, const struct input_text *from, struct arena *arena)
{
	to->text__elements_count = from->text_elements_count;
	to->text__elements = arena_array(arena, struct app_text_element, from->text_elements_count);
	for (size_t i = 0; i < from->text_elements_count; i++) {
		struct app_byte_range *range = arena_new(arena, struct app_byte_range);
		*range = (struct app_byte_range){from->text_elements[i].byte_range->start,
		                                 from->text_elements[i].byte_range->end};
		to->text__elements[i] = (struct app_text_element){range, from->text_elements[i].placeholder};
	}
}

static struct app_user_input input_of(const struct user_input *from, struct arena *arena)
{
	struct app_user_input to = {0};
	switch (from->tag) {
	case user_input_image:
		to.tag = app_user_input_image;
		to.image = arena_new(arena, struct app_input_image);
		to.image->url = from->image->image_url;
		break;
	case user_input_local_image:
		to.tag = app_user_input_local_image;
		to.local_image = arena_new(arena, struct app_input_local_image);
		to.local_image->path = from->local_image->path;
		break;
	case user_input_skill:
	case user_input_mention:
		to.tag = from->tag == user_input_skill ? app_user_input_skill : app_user_input_mention;
		to.skill = arena_new(arena, struct app_input_named);
		*to.skill = (struct app_input_named){from->skill->name, from->skill->path};
		break;
	default:
		to.tag = app_user_input_text;
		to.text = arena_new(arena, struct app_input_text);
		to.text->text = from->text->text;
		copy_elements(to.text, from->text, arena);
	}
	return to;
}
_Static_assert(sizeof(struct input_skill) == sizeof(struct input_mention), "both are a name and a path");

static struct app_thread_item user_message(const struct user_message_item *from, struct arena *arena)
{
	struct app_item_user_message *to = arena_new(arena, struct app_item_user_message);
	to->id = from->id;
	to->client_id = from->client_id;
	to->content_count = from->content_count;
	to->content = arena_array(arena, struct app_user_input, from->content_count);
	for (size_t i = 0; i < from->content_count; i++)
		to->content[i] = input_of(&from->content[i], arena);
	return (struct app_thread_item){.tag = app_thread_item_user_message, .user_message = to};
}

/* ---- what the model says ---- */

static struct str join(const struct agent_message_item *from, struct arena *arena)
{
	if (from->content_count == 1)
		return from->content[0].text->text;
	struct str all = STR("");
	for (size_t i = 0; i < from->content_count; i++)
		all = str_of(arena_printf(arena, "%.*s%.*s", STR_ARG(all), STR_ARG(from->content[i].text->text)));
	return all;
}

static struct app_thread_item agent_message(const struct agent_message_item *from, struct arena *arena)
{
	struct app_item_agent_message *to = arena_new(arena, struct app_item_agent_message);
	int phase = 0;
	to->id = from->id;
	to->text = join(from, arena);
	to->has_phase = from->phase.ptr && enum_parse(&enum_app_message_phase, from->phase, &phase);
	to->phase = (enum app_message_phase)phase;
	return (struct app_thread_item){.tag = app_thread_item_agent_message, .agent_message = to};
}

static struct app_thread_item reasoning(const struct reasoning_item *from, struct arena *arena)
{
	struct app_item_reasoning *to = arena_new(arena, struct app_item_reasoning);
	*to = (struct app_item_reasoning){
		.id = from->id,
		.summary = from->summary_text,
		.summary_count = from->summary_text_count,
		.content = from->raw_content,
		.content_count = from->raw_content_count,
	};
	return (struct app_thread_item){.tag = app_thread_item_reasoning, .reasoning = to};
}

static struct app_thread_item plan(const struct plan_item *from, struct arena *arena)
{
	struct app_item_plan *to = arena_new(arena, struct app_item_plan);
	*to = (struct app_item_plan){.id = from->id, .text = from->text};
	return (struct app_thread_item){.tag = app_thread_item_plan, .plan = to};
}

static struct app_thread_item web_search(const struct web_search_item *from, struct arena *arena)
{
	struct app_item_web_search *to = arena_new(arena, struct app_item_web_search);
	*to = (struct app_item_web_search){.id = from->id, .query = from->query, .action = from->action};
	if (!to->query.ptr)
		to->query = STR("");
	return (struct app_thread_item){.tag = app_thread_item_web_search, .web_search = to};
}

static struct app_thread_item compaction(const struct compaction_item *from, struct arena *arena)
{
	struct app_item_context_compaction *to = arena_new(arena, struct app_item_context_compaction);
	to->id = from->id;
	return (struct app_thread_item){.tag = app_thread_item_context_compaction, .context_compaction = to};
}

struct app_thread_item notify_item(const struct turn_item *from, struct arena *arena)
{
	switch (from->tag) {
	case turn_item_user_message:
		return user_message(from->user_message, arena);
	case turn_item_agent_message:
		return agent_message(from->agent_message, arena);
	case turn_item_plan:
		return plan(from->plan, arena);
	case turn_item_reasoning:
		return reasoning(from->reasoning, arena);
	case turn_item_web_search:
		return web_search(from->web_search, arena);
	default:
		return compaction(from->context_compaction, arena);
	}
}

void on_event_item_started(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_item_started *body = event->msg.item_started;
	struct app_thread_item item = notify_item(body->item, &arena);
	thread_item_start(thread, body->turn_id, &item);
}

void on_event_item_completed(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_item_completed *body = event->msg.item_completed;
	struct app_thread_item item = notify_item(body->item, &arena);
	if (item.tag == app_thread_item_user_message && !thread->preview && item.user_message->content_count &&
	    item.user_message->content[0].tag == app_user_input_text)
		thread->preview = str_dup(item.user_message->content[0].text->text);
	thread_item_complete(thread, body->turn_id, &item);
	if (item.tag == app_thread_item_agent_message && thread->turn) /* with its times */
		thread_turn_keep_message(thread->turn, item.agent_message);
}

/* ---- reviews ---- */

/* Whole as soon as it is told: a moment, not a span. */
static void tell_moment(struct thread *thread, struct str turn_id, enum app_thread_item_tag tag,
                        struct app_item_review_mode *moment)
{
	struct app_thread_item item = {.tag = tag, .body = moment};
	thread_item_complete(thread, turn_id, &item);
}

void on_event_entered_review_mode(struct thread *thread, const struct event *event)
{
	const struct ev_entered_review_mode *body = event->msg.entered_review_mode;
	struct app_item_review_mode moment = {.id = body->item_id, .review = body->user_facing_hint};
	if (thread->turn)
		thread->turn->is_review = true;
	tell_moment(thread, event->id, app_thread_item_entered_review_mode, &moment);
}

void on_event_exited_review_mode(struct thread *thread, const struct event *event)
{
	auto_buf struct buf text;
	const struct ev_exited_review_mode *body = event->msg.exited_review_mode;
	buf_init(&text, LIMIT_REVIEW_TEXT);
	review_write_output(body->review_output, &text);
	struct app_item_review_mode moment = {.id = body->item_id, .review = buf_str(&text)};
	tell_moment(thread, event->id, app_thread_item_exited_review_mode, &moment);
}

/* ---- deltas ---- */

void on_event_agent_message_content_delta(struct thread *thread, const struct event *event)
{
	const struct ev_content_delta *body = event->msg.agent_message_content_delta;
	struct thread_item *item = thread_item_find(thread, body->item_id);
	struct app_agent_message_delta_notification delta = {str_of(thread->id), body->turn_id, body->item_id,
	                                                     body->delta};
	if (item)
		buf_append_str(&item->text, body->delta);
	thread_notify(thread, NOTIFY_item_agent_message_delta, &delta);
}

void on_event_plan_delta(struct thread *thread, const struct event *event)
{
	const struct ev_content_delta *body = event->msg.plan_delta;
	struct thread_item *item = thread_item_find(thread, body->item_id);
	struct app_plan_delta_notification delta = {str_of(thread->id), body->turn_id, body->item_id, body->delta};
	if (item)
		buf_append_str(&item->text, body->delta);
	thread_notify(thread, NOTIFY_item_plan_delta, &delta);
}

void on_event_reasoning_content_delta(struct thread *thread, const struct event *event)
{
	const struct ev_reasoning_delta *body = event->msg.reasoning_content_delta;
	struct app_reasoning_summary_text_delta_notification delta = {str_of(thread->id), body->turn_id, body->item_id,
	                                                              body->delta, body->summary_index};
	thread_notify(thread, NOTIFY_item_reasoning_summary_text_delta, &delta);
}

void on_event_reasoning_raw_content_delta(struct thread *thread, const struct event *event)
{
	const struct ev_reasoning_raw_delta *body = event->msg.reasoning_raw_content_delta;
	struct app_reasoning_text_delta_notification delta = {str_of(thread->id), body->turn_id, body->item_id,
	                                                      body->delta, body->content_index};
	thread_notify(thread, NOTIFY_item_reasoning_text_delta, &delta);
}

void on_event_agent_reasoning_section_break(struct thread *thread, const struct event *event)
{
	const struct ev_section_break *body = event->msg.agent_reasoning_section_break;
	struct app_reasoning_summary_part_added_notification added = {str_of(thread->id), event->id, body->item_id,
	                                                              body->summary_index};
	thread_notify(thread, NOTIFY_item_reasoning_summary_part_added, &added);
}
