/* stored_turns.h — one stored thread with its turns, for the methods that read it; and parts of lists.
 *
 * Works in a store_job whose out is a struct stored_turns. Owns: nothing; all lives in the job's arena.
 * Source: app-server-wire 12. */
#ifndef APP_SERVER_STORED_TURNS_H
#define APP_SERVER_STORED_TURNS_H

#include "app_server/store/store_job.h"
#include "app_server/threads/thread_note.h"
#include "app_server/store/thread_history.h"

struct stored_turns {
	bool is_found; /* there is a file */
	struct app_thread thread;
	struct thread_note note;
	struct thread_history history; /* if it was wanted */
	void *more;                    /* what the method makes of it, on the worker */
};

/* Refuses ids that are none; else the job runs. */
enum rpc_verdict stored_turns_start(struct rpc_request *request, struct str thread_id, store_job_run_fn run,
                                    store_job_reply_fn reply);
/* On the worker. That there is no file is no error yet: the thread may be loaded and have none. */
int stored_turns_read(struct store_job *job, struct str thread_id, bool with_turns, struct error *err);
/* On the loop: as it is now, loaded or not; the turn that runs is told as such. False: refused, there is none. */
bool stored_turns_join(struct store_job *job, struct str thread_id, struct app_thread *ret);

/* ---- parts of lists ---- */

/* What a cursor is for: kind of a query. */
#define STORED_TURNS "turns"
#define STORED_ITEMS "itemsByCreatedAtOrdinal"

struct stored_page_query {
	struct str thread_id;
	struct str cursor;      /* JSON text of the wire, or STR_NONE */
	const char *kind;       /* "turns", … : a cursor of another list is none */
	size_t count;           /* of the whole list, the oldest first */
	bool has_limit, is_descending;
	int64_t limit;
};

struct stored_page {
	size_t count;
	struct str next_cursor, backwards_cursor;
	/* private */
	size_t first;
	bool is_descending;
};

int stored_page_make(const struct stored_page_query *query, struct arena *arena, struct stored_page *ret,
                     struct error *err);
/* The index in the whole list of the part's n-th entry. */
size_t stored_page_at(const struct stored_page *page, size_t n);
/* A cursor that begins with the entry (includes), or just behind it. */
struct str stored_page_cursor(struct str thread_id, const char *kind, size_t index, bool includes, struct arena *arena);
/* Cursors of the last of these turns, and of their last item: from there a client reads backwards. STR_NONE: none. */
struct str stored_turns_end(struct str thread_id, size_t turns, struct arena *arena);
struct str stored_items_end(struct str thread_id, const struct app_turn *turns, size_t count, struct arena *arena);

#endif
