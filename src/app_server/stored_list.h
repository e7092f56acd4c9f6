/* stored_list.h — parts of the list of stored threads, in the order and with the filters of thread/list.
 *
 * Blocking: on a worker. Owns: nothing; results live in the arena. Errors: a cursor that is none, folders that cannot
 * be read. Source: app-server-wire 12. */
#ifndef APP_SERVER_STORED_LIST_H
#define APP_SERVER_STORED_LIST_H

#include <stdatomic.h>

#include "app_server/thread_note.h"
#include "protocol/app.h"

struct error;

struct stored_list_query {
	const char *home, *provider;
	const struct app_thread_list_params *params;
	const atomic_bool *stop; /* true: nobody waits for the rest */
	/* A further condition, or NULL: whether the thread in this file counts. */
	bool (*accepts)(const char *path, size_t index, void *self);
	void *self;
};

struct stored_list {
	struct app_thread *threads;
	struct thread_note *notes; /* of each */
	size_t count;
	struct str next_cursor, backwards_cursor;
};

int stored_list_read(const struct stored_list_query *query, struct arena *arena, struct stored_list *ret,
                     struct error *err);

#endif
