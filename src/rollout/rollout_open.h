/* rollout_open.h — items that have begun and not ended: what their lines will need. Private to rollout/.
 *
 * A call's id is unique among the calls of a response only: a command that the turn has left in the background is found
 * by its process, and leaves its id to later calls. Other calls that outlive a response are those of scripts, whose ids
 * are unique. Owns: its items, at most LIMIT_ROLLOUT_OPEN_ITEMS. Loop thread only. */
#ifndef ROLLOUT_ROLLOUT_OPEN_H
#define ROLLOUT_ROLLOUT_OPEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/list.h"

/* No start or end is further ahead of the clock. */
enum { ORDER_MS = 1000 };

struct open_item {
	struct list link;
	char *id;
	char *turn_id; /* the turn's name in the file */
	char *process; /* of a command: the id of its process, or NULL; owned */
	bool is_left;  /* it is a command in the background */
	int64_t started_at_ms;
	bool is_declined;
	bool is_asked;   /* a command that has not begun: its request for approval is pending, or was declined */
	bool is_bare;    /* nothing is written if it does not end in its turn */
	bool is_message; /* true for an agent message; text is its text so far */
	struct buf text;
	struct buf item; /* JSON to write if the turn ends before the item; empty: nothing */
};

struct open_items {
	struct list list; /* struct open_item */
	size_t count;
	int64_t latest_ms; /* the start of the latest one */
};

void open_items_init(struct open_items *items);
void open_items_finish(struct open_items *items);
/* Adds an item that begins now, in a turn with this name. NULL: it is open already, or too many are. */
struct open_item *open_items_add(struct open_items *items, struct str id, struct str turn_id);
/* Returns the item with this id, rather one that is not in the background, or NULL. */
struct open_item *open_items_find(const struct open_items *items, struct str id);
/* Returns the item of a command that has ended, or NULL. process: STR_NONE for one without. */
struct open_item *open_items_find_command(const struct open_items *items, struct str id, struct str process);
/* To be called at the end of a response and its calls: the commands that run are in the background. */
void open_items_leave(struct open_items *items);
/* Removes and frees the item. NULL is fine. */
void open_items_remove(struct open_items *items, struct open_item *item);

#endif
