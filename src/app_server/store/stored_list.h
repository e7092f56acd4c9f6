/* stored_list.h — pages of stored threads, in the order and with the filters of thread/list.
 *
 * Blocking: on a worker. Owns: nothing; results live in the arena. Errors: an invalid cursor, unreadable folders. */
#ifndef APP_SERVER_STORED_LIST_H
#define APP_SERVER_STORED_LIST_H

#include <stdatomic.h>

#include "app_server/threads/thread_note.h"
#include "base/error.h"
#include "protocol/message/app.h"

struct rollout_index;
struct rollout_index_search;
struct rollout_listings;

struct stored_list_query {
	const char *home, *provider;
	struct rollout_listings *listings;
	struct rollout_index *index;
	const struct app_thread_list_params *params;
	const atomic_bool *stop;                  /* set to stop early */
	const struct rollout_index_search *words; /* NULL, or excludes files without the words */
	/* An additional filter, or NULL: returns whether to list the thread in this file. */
	bool (*accepts)(const char *path, size_t index, void *self);
	void *self;
};

struct stored_list {
	struct app_thread *threads;
	struct thread_note *notes; /* one for each thread */
	size_t count;
	struct str next_cursor, backwards_cursor;
	/* Files that had to be read because the index did not know them, up to a limit. */
	const char **missed;
	size_t missed_count;
};

enum { STORED_LIST_MISSES = 256 };

must_check int stored_list_read(const struct stored_list_query *query, struct arena *arena, struct stored_list *ret,
                                struct error *err);

void stored_list_miss(struct stored_list *list, const char *path, struct arena *arena);

#endif
