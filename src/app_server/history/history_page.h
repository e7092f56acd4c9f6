/* history_page.h — writes the history of a thread for responses: pages of turns or items with cursors, or all turns
 * as JSON text.
 *
 * Owns: the JSON text; cursors live in the arena. Any thread, one at a time. Errors: a cursor of another list, or an
 * invalid one; a text over its limit. */
#ifndef APP_SERVER_HISTORY_PAGE_H
#define APP_SERVER_HISTORY_PAGE_H

#include "app_server/history/thread_history.h"
#include "base/buf.h"
#include "base/error.h"
#include "protocol/message/app.h"

struct arena;

/* The lists that a cursor can belong to. */
#define HISTORY_TURNS "turns"
#define HISTORY_ITEMS "itemsByCreatedAtOrdinal"

struct history_page_query {
	struct str thread_id;
	struct str cursor; /* a cursor as sent by the client, or STR_NONE */
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

must_check int history_page_make(const struct history_page_query *query, struct arena *arena, struct history_page *ret,
                                 struct error *err);
/* Returns the index in the whole list of the page's n-th entry. */
size_t history_page_at(const struct history_page *page, size_t n);
/* Returns a cursor for the entry itself (includes) or for the one after it. */
struct str history_page_cursor(struct str thread_id, const char *kind, size_t index, bool includes,
                               struct arena *arena);
/* Returns cursors of the last turn and of its last item, from which a client reads backwards. STR_NONE if there are
 * no turns. */
struct str history_turns_end(struct str thread_id, size_t turns, struct arena *arena);
struct str history_items_end(struct str thread_id, const struct app_turn *turns, size_t count, struct arena *arena);

struct history_turns_query {
	struct str thread_id, cursor; /* as of history_page_query */
	const struct thread_history *history;
	bool has_limit, is_ascending;
	int64_t limit;
	enum app_turn_items_view view; /* the items that each turn has */
};

/* Makes a page of turns, the latest first unless is_ascending. Refers to data of the history. */
must_check int history_turns_page(const struct history_turns_query *query, struct arena *arena,
                                  struct app_turns_page *ret, struct error *err);

/* ---- the turns as JSON text, made on a worker for a response that is too large to be encoded on the loop ---- */

struct history_json {
	struct buf text; /* the turns, separated by commas */
	/* private */
	size_t *ends; /* where each turn ends in text; allocated in the arena */
	size_t count;
};

/* Encodes all turns. *ret must be zeroed or finished. */
void history_json_write(const struct thread_history *history, struct arena *arena, struct history_json *ret);
/* Returns ERR_limit if the text is larger than LIMIT_RPC_LIST: it cannot be sent. */
must_check int history_json_check(const struct history_json *json, struct error *err);
/* Encodes the turn at this index of the history again; fast if it is the last one. */
void history_json_replace(struct history_json *json, size_t index, const struct app_turn *turn);
void history_json_finish(struct history_json *json); /* an all-zero struct is fine */

#endif
