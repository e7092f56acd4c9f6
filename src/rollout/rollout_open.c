/* The items are few, so they are looked for one by one. */
#include "rollout/rollout_open.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "rollout/rollout_limits.h"

void open_items_init(struct open_items *items)
{
	*items = (struct open_items){0};
	list_init(&items->list);
}

void open_items_remove(struct open_items *items, struct open_item *item)
{
	if (!item)
		return;
	list_remove(&item->link);
	items->count--;
	buf_finish(&item->text);
	buf_finish(&item->item);
	free(item->id);
	free(item->turn_id);
	free(item->process);
	free(item);
}

void open_items_finish(struct open_items *items)
{
	struct open_item *it;
	list_for_each(it, &items->list, link)
		open_items_remove(items, it);
}

/* Returns the time for the start of an item. Items of one millisecond get different times, so that readers know their
 * order; the times are ahead of the clock by few milliseconds at most. */
static int64_t begin_ms(struct open_items *items)
{
	int64_t now_ms = clock_unix_ms(), next_ms = items->latest_ms + 1;
	bool is_close = next_ms > now_ms && next_ms - now_ms <= ORDER_MS; /* else the clock was set back */
	return items->latest_ms = is_close ? next_ms : now_ms;
}

/* Returns the first item with this id that is or is not in the background. */
static struct open_item *find(const struct open_items *items, struct str id, bool is_left)
{
	struct open_item *it;
	list_for_each(it, &items->list, link) {
		if (it->is_left == is_left && str_is(id, it->id))
			return it;
	}
	return NULL;
}

struct open_item *open_items_add(struct open_items *items, struct str id, struct str turn_id)
{
	if (items->count == LIMIT_ROLLOUT_OPEN_ITEMS || find(items, id, false))
		return NULL;
	struct open_item *item = xnew(struct open_item);
	*item = (struct open_item){
		.id = str_dup(id),
		.turn_id = str_dup(turn_id),
		.started_at_ms = begin_ms(items),
	};
	buf_init(&item->text, LIMIT_ROLLOUT_PARTIAL);
	buf_init(&item->item, LIMIT_ROLLOUT_LINE);
	list_append(&items->list, &item->link);
	items->count++;
	return item;
}

struct open_item *open_items_find(const struct open_items *items, struct str id)
{
	struct open_item *item = find(items, id, false);
	return item ? item : find(items, id, true);
}

/* The item of one that was asked about and has no process is that of the call that is asked now. */
struct open_item *open_items_find_command(const struct open_items *items, struct str id, struct str process)
{
	struct open_item *it;
	list_for_each(it, &items->list, link) {
		if (str_is(id, it->id) && it->process && str_is(process, it->process))
			return it;
	}
	struct open_item *item = find(items, id, false);
	return item && !item->process ? item : NULL;
}

void open_items_leave(struct open_items *items)
{
	struct open_item *it;
	list_for_each(it, &items->list, link)
		it->is_left = it->process != NULL;
}
