/* Items are whole records, so one pair of functions serves all kinds: id and times are fields of the record. A
 * completed item is sent and not stored, so long outputs are not copied. */
#include "app_server/threads/thread_items.h"

#include "app_server/threads/thread.h"
#include "app_server/history/item_view.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"

static void item_destroy(struct thread_item *item)
{
	list_remove(&item->link);
	buf_finish(&item->text);
	struct arena arena = item->arena;
	arena_finish(&arena);
}

void thread_items_finish(struct thread *thread)
{
	struct thread_item *it;
	list_for_each(it, &thread->items, link)
		item_destroy(it);
}

struct thread_item *thread_item_find(struct thread *thread, struct str id)
{
	struct thread_item *it;
	list_for_each(it, &thread->items, link) {
		if (str_eq(it->id, id))
			return it;
	}
	return NULL;
}

static void notify_started(struct thread *thread, struct thread_item *item)
{
	struct app_item_started_notification event = {
		.item = &item->item,
		.thread_id = str_of(thread->id),
		.turn_id = item->turn_id,
		.started_at_ms = item->started_at_ms,
	};
	thread_notify(thread, NOTIFY_item_started, &event);
}

struct thread_item *thread_item_start(struct thread *thread, struct str turn_id, const struct app_thread_item *from)
{
	struct arena arena = {0};
	struct thread_item *item = arena_new(&arena, struct thread_item);
	item->arena = arena;
	union_copy(&union_app_thread_item, from, &item->arena, &item->item);
	item->id = item_view_id(&item->item);
	item->turn_id = arena_str(&item->arena, turn_id);
	item->started_at_ms = clock_unix_ms();
	buf_init(&item->text, LIMIT_STREAMED_TEXT);
	list_append(&thread->items, &item->link);
	item_view_set_times(&item->item, item->started_at_ms, 0);
	notify_started(thread, item);
	return item;
}

void thread_item_complete(struct thread *thread, struct str turn_id, struct app_thread_item *whole)
{
	struct thread_item *item = thread_item_find(thread, item_view_id(whole));
	if (!item)
		item = thread_item_start(thread, turn_id, whole);
	int64_t now_ms = clock_unix_ms();
	item_view_set_times(whole, item->started_at_ms, now_ms);
	struct app_item_completed_notification event = {
		.item = whole,
		.thread_id = str_of(thread->id),
		.turn_id = item->turn_id,
		.completed_at_ms = now_ms,
	};
	thread_notify(thread, NOTIFY_item_completed, &event);
	item_destroy(item);
}

/* Sets the final state of an incomplete item. False for a command, which may keep running in the background. */
static bool settle(struct thread_item *item)
{
	switch (item->item.tag) {
	case app_thread_item_command_execution:
		return false;
	case app_thread_item_file_change:
		item->item.file_change->status = app_patch_apply_status_failed;
		return true;
	case app_thread_item_collab_agent_tool_call:
		item->item.collab_agent_tool_call->status = app_collab_agent_tool_call_status_interrupted;
		return true;
	case app_thread_item_dynamic_tool_call:
		item->item.dynamic_tool_call->status = app_dynamic_tool_call_status_failed;
		return true;
	case app_thread_item_agent_message:
		item->item.agent_message->text = buf_str(&item->text);
		return true;
	case app_thread_item_plan:
		item->item.plan->text = buf_str(&item->text);
		return true;
	default:
		return true;
	}
}

void thread_items_close(struct thread *thread)
{
	struct thread_item *it;
	list_for_each(it, &thread->items, link) {
		if (settle(it))
			thread_item_complete(thread, it->turn_id, &it->item);
	}
}
