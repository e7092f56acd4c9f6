/* Messages, reasoning and reviews. item_view.h converts the engine's items to those of the wire. */
#include "app_server/threads/notify_handlers.h"
#include "app_server/history/item_view.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_items.h"
#include "app_server/threads/thread_turn.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/message/review_text.h"

void on_event_item_started(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_item_started *body = event->msg.item_started;
	struct app_thread_item item = item_view(body->item, &arena);
	thread_item_start(thread, body->turn_id, &item);
}

void on_event_item_completed(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_item_completed *body = event->msg.item_completed;
	struct app_thread_item item = item_view(body->item, &arena);
	if (item.tag == app_thread_item_user_message && !thread->preview && item.user_message->content_count &&
	    item.user_message->content[0].tag == app_user_input_text)
		thread->preview = str_dup(item.user_message->content[0].text->text);
	thread_item_complete(thread, body->turn_id, &item);
	if (item.tag == app_thread_item_agent_message && thread->turn) /* after its times were set */
		thread_turn_keep_message(thread->turn, item.agent_message, &event->arena);
}

/* ---- reviews ---- */

/* Sends item/started and item/completed for one event. */
static void notify_review_item(struct thread *thread, struct str turn_id, enum app_thread_item_tag tag,
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
	notify_review_item(thread, event->id, app_thread_item_entered_review_mode, &moment);
}

void on_event_exited_review_mode(struct thread *thread, const struct event *event)
{
	auto_buf struct buf text;
	const struct ev_exited_review_mode *body = event->msg.exited_review_mode;
	buf_init(&text, LIMIT_REVIEW_TEXT);
	review_write_output(body->review_output, &text);
	struct app_item_review_mode moment = {.id = body->item_id, .review = buf_str(&text)};
	notify_review_item(thread, event->id, app_thread_item_exited_review_mode, &moment);
}

/* ---- deltas ---- */

/* Keeps a delta for an item that is not completed by the engine: as much of it as fits, and then no more. */
static void keep_delta(struct thread_item *item, struct str delta)
{
	if (!item || item->text.over)
		return;
	bool is_cut = delta.len > LIMIT_STREAMED_TEXT - item->text.len;
	if (is_cut)
		delta.len = text_floor_boundary(delta, LIMIT_STREAMED_TEXT - item->text.len);
	buf_append_str(&item->text, delta);
	item->text.over = is_cut;
}

void on_event_agent_message_content_delta(struct thread *thread, const struct event *event)
{
	const struct ev_content_delta *body = event->msg.agent_message_content_delta;
	struct thread_item *item = thread_item_find(thread, body->item_id);
	struct app_agent_message_delta_notification delta = {str_of(thread->id), body->turn_id, body->item_id,
	                                                     body->delta};
	keep_delta(item, body->delta);
	thread_notify(thread, NOTIFY_item_agent_message_delta, &delta);
}

void on_event_plan_delta(struct thread *thread, const struct event *event)
{
	const struct ev_content_delta *body = event->msg.plan_delta;
	struct thread_item *item = thread_item_find(thread, body->item_id);
	struct app_plan_delta_notification delta = {str_of(thread->id), body->turn_id, body->item_id, body->delta};
	keep_delta(item, body->delta);
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

/* ---- hooks ---- */

/* The enums of both protocols have the same order. */
_Static_assert((int)hook_event_count == (int)app_hook_event_name_count, "events of hooks");
_Static_assert((int)hook_source_count == (int)app_hook_source_count, "sources of hooks");
_Static_assert((int)hook_status_count == (int)app_hook_run_status_count, "states of hooks");
_Static_assert((int)hook_entry_kind_count == (int)app_hook_output_entry_kind_count, "results of hooks");

static struct app_hook_run_summary *summary_of(const struct hook_run *run, struct arena *arena)
{
	struct app_hook_run_summary *summary = arena_new(arena, struct app_hook_run_summary);
	*summary = (struct app_hook_run_summary){
		.display_order = run->display_order,
		.entries = arena_array(arena, struct app_hook_output_entry, run->entries_count + 1),
		.entries_count = run->entries_count,
		.event_name = (enum app_hook_event_name)run->event_name,
		.execution_mode = (enum app_hook_execution_mode)run->execution_mode,
		.handler_type = app_hook_handler_type_command,
		.id = run->id,
		.scope = (enum app_hook_scope)run->scope,
		.source_path = run->source_path,
		.started_at = run->started_at,
		.status = (enum app_hook_run_status)run->status,
		.has_completed_at = run->has_completed_at,
		.completed_at = run->completed_at,
		.has_duration_ms = run->has_duration_ms,
		.duration_ms = run->duration_ms,
		.source = (enum app_hook_source)run->source,
		.status_message = run->status_message,
	};
	for (size_t i = 0; i < run->entries_count; i++)
		summary->entries[i] = (struct app_hook_output_entry){
			(enum app_hook_output_entry_kind)run->entries[i].kind, run->entries[i].text};
	return summary;
}

void on_event_hook_started(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_hook_started *body = event->msg.hook_started;
	struct app_hook_started_notification started = {str_of(thread->id), summary_of(body->run, &arena),
	                                                body->turn_id};
	thread_notify(thread, NOTIFY_hook_started, &started);
}

void on_event_hook_completed(struct thread *thread, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_hook_completed *body = event->msg.hook_completed;
	struct app_hook_completed_notification completed = {str_of(thread->id), summary_of(body->run, &arena),
	                                                    body->turn_id};
	thread_notify(thread, NOTIFY_hook_completed, &completed);
}
