/* stored_list.h — parts of the list of stored threads, in the order and with the filters of thread/list.
 *
 * Blocking: on a worker. Owns: nothing; results live in the arena. Errors: a cursor that is none, folders that cannot
 * be read. Source: app-server-wire 12. */
#ifndef APP_SERVER_STORED_LIST_H
#define APP_SERVER_STORED_LIST_H

#include <stdatomic.h>

#include "app_server/threads/thread_note.h"
#include "protocol/message/app.h"

struct error;
struct rollout_index;
struct rollout_index_search;
struct rollout_listings;

struct stored_list_query {
	const char *home, *provider;
	struct rollout_listings *listings;
	struct rollout_index *index;
	const struct app_thread_list_params *params;
	const atomic_bool *stop;                  /* true: nobody waits for the rest */
	const struct rollout_index_search *words; /* or NULL: what it excludes does not count */
	/* A further condition, or NULL: whether the thread in this file counts. */
	bool (*accepts)(const char *path, size_t index, void *self);
	void *self;
};

struct stored_list {
	struct app_thread *threads;
	struct thread_note *notes; /* of each */
	size_t count;
	struct str next_cursor, backwards_cursor;
	/* Files that had to be read, some of them: the index did not know them. */
	const char **missed;
	size_t missed_count;
};

enum { STORED_LIST_MISSES = 256 };

int stored_list_read(const struct stored_list_query *query, struct arena *arena, struct stored_list *ret,
                     struct error *err);

void stored_list_miss(struct stored_list *list, const char *path, struct arena *arena);

#endif
