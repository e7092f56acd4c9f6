/* thread_load.h — reads a stored thread's rollout, or a copy of it, on a worker.
 *
 * Owns: the reader and the turns in it until it is destroyed. done runs once, on the loop, unless the load is destroyed
 * before. Loop thread only. */
#ifndef APP_SERVER_THREAD_LOAD_H
#define APP_SERVER_THREAD_LOAD_H

#include "app_server/history/history_page.h"
#include "app_server/threads/thread_note.h"
#include "base/error.h"

struct app_server;
struct rollout_reader;
struct thread_fork;
struct thread_load;

typedef void (*thread_load_done_fn)(struct thread_load *load, void *self);

struct thread_load {
	/* read-only, when done */
	struct error err;              /* code ERR_none: the rollout was read */
	struct rollout_reader *reader; /* NULL if it was not */
	struct thread_history history;
	struct history_json turns; /* if it was wanted */
	struct str name;           /* given by the user, or absent */
	struct thread_note note;
	struct thread_fork *fork; /* or NULL */
	/* private */
	struct arena arena;
	struct loop *loop;
	char *home, *id, *path;
	thread_load_done_fn done;
	void *self;
	bool wants_turns, is_done, is_dropped;
};

/* path: of the rollout; if absent, it is found by id. fork: NULL, or how to copy the rollout: the copy is then loaded
 * instead; owned by the load. wants_turns: the turns are also encoded as JSON. */
struct thread_load *thread_load_create(struct app_server *server, struct str id, struct str path,
                                       struct thread_fork *fork, bool wants_turns, thread_load_done_fn done,
                                       void *self);
void thread_load_destroy(struct thread_load *load); /* NULL is fine */

#endif
