/* history_page.h — pages of the turns or items of one thread, and the cursors between them.
 *
 * Owns: nothing; cursors live in the arena. Any thread. Errors: a cursor of another list, or none at all. */
#ifndef APP_SERVER_HISTORY_PAGE_H
#define APP_SERVER_HISTORY_PAGE_H

#include "protocol/message/app.h"

struct arena;
struct error;

/* The lists that a cursor can belong to. */
#define HISTORY_TURNS "turns"
#define HISTORY_ITEMS "itemsByCreatedAtOrdinal"

struct history_page_query {
	struct str thread_id;
	struct str cursor; /* JSON text of the wire, or STR_NONE */
	const char *kind;  /* HISTORY_TURNS, …; a cursor of another list is invalid */
	size_t count;      /* length of the whole list, which is oldest first */
	bool has_limit, is_descending;
	int64_t limit;
};

struct history_page {
	size_t count;
	struct str next_cursor, backwards_cursor;
	/* private */
	size_t first;
	bool is_descending;
};

int history_page_make(const struct history_page_query *query, struct arena *arena, struct history_page *ret,
                      struct error *err);
/* The index in the whole list of the page's n-th entry. */
size_t history_page_at(const struct history_page *page, size_t n);
/* A cursor for the entry itself (includes) or the one after it. */
struct str history_page_cursor(struct str thread_id, const char *kind, size_t index, bool includes,
                               struct arena *arena);
/* Cursors of the last turn and of its last item, from which a client reads backwards. STR_NONE: none. */
struct str history_turns_end(struct str thread_id, size_t turns, struct arena *arena);
struct str history_items_end(struct str thread_id, const struct app_turn *turns, size_t count, struct arena *arena);

#endif
