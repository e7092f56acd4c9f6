/* thread_items.h — the items of a thread that have begun and are not whole.
 *
 * What was told as begun is told as whole exactly once, whatever becomes of the turn: by the event that ends it, or at
 * the end of the turn, as far as it got. A command that goes on behind the turns stays open.
 * Owns: copies of what was told. Loop thread only. Source: app-server-wire 5, 11; issue 4. */
#ifndef APP_SERVER_THREAD_ITEMS_H
#define APP_SERVER_THREAD_ITEMS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/list.h"
#include "protocol/message/app.h"

struct thread;

struct thread_items {
	/* private */
	struct list open;
};

struct thread_item {
	/* read-only */
	struct app_thread_item item; /* as it was told */
	struct str id, turn_id;
	int64_t started_at_ms;
	struct buf text;  /* deltas so far: what a message or plan says; of a command, a character that is not whole */
	bool is_declined; /* the user said no */
	/* private */
	struct list link;
	struct arena arena;
};

void thread_items_init(struct thread_items *items);
void thread_items_finish(struct thread_items *items);

/* NULL if none of that id is open. */
struct thread_item *thread_item_find(struct thread *thread, struct str id);
/* Tells that it has begun, and keeps a copy. */
struct thread_item *thread_item_start(struct thread *thread, struct str turn_id, const struct app_thread_item *item);
/* Tells that it is whole; if nobody told that it had begun, that comes first. Fills in the item's times. */
void thread_item_complete(struct thread *thread, struct str turn_id, struct app_thread_item *item);
/* The turn is over: what cannot go on is whole as it is. */
void thread_items_close(struct thread *thread);

#endif
