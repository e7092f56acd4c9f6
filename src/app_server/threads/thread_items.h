/* thread_items.h — the open items of a thread: started, not completed.
 *
 * Every item/started is followed by exactly one item/completed: at the event that ends the item, or at the end of
 * the turn, with the content so far. A background command stays open across turns. Owns: copies of the started
 * items. Loop thread only. */
#ifndef APP_SERVER_THREAD_ITEMS_H
#define APP_SERVER_THREAD_ITEMS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/list.h"
#include "protocol/message/app.h"

struct thread;

/* A node of the thread's items. */
struct thread_item {
	/* read-only */
	struct app_thread_item item; /* the item as sent */
	struct str id, turn_id;
	int64_t started_at_ms;
	struct buf text;  /* the first LIMIT_STREAMED_TEXT of its deltas; for a command, the bytes of an incomplete
	                     character */
	bool is_declined; /* the user declined it */
	/* private */
	struct list link;
	struct arena arena;
};

void thread_items_finish(struct thread *thread); /* frees the items without notifications */

/* Returns NULL if no item with this id is open. */
struct thread_item *thread_item_find(struct thread *thread, struct str id);
/* Sends item/started and keeps a copy. */
struct thread_item *thread_item_start(struct thread *thread, struct str turn_id, const struct app_thread_item *item);
/* Sets the item's times and sends item/completed, after item/started if that was not sent yet. */
void thread_item_complete(struct thread *thread, struct str turn_id, struct app_thread_item *item);
/* Completes all items at the end of a turn, except background commands. */
void thread_items_close(struct thread *thread);

#endif
