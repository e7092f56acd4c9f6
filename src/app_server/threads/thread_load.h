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
	/* Read-only after done was called: */
	struct error err;              /* code ERR_none if the rollout was read */
	struct rollout_reader *reader; /* NULL if it was not read */
	struct thread_history history;
	struct history_json turns; /* set if wants_turns */
	struct str name;           /* given by the user, or STR_NONE */
	struct thread_note note;
	struct thread_fork *fork; /* may be NULL */
	/* private */
	struct arena arena;
	struct loop *loop;
	char *home, *id, *path;
	thread_load_done_fn done;
	void *self;
	bool wants_turns, is_done, is_dropped;
};

/* Starts to load the rollout at path or, if that is STR_NONE, the one with this id. fork (may be NULL, owned by the
 * load) says how to copy the rollout: then the copy is loaded. wants_turns: also encode the turns as JSON. */
struct thread_load *thread_load_create(struct app_server *server, struct str id, struct str path,
                                       struct thread_fork *fork, bool wants_turns, thread_load_done_fn done,
                                       void *self);
void thread_load_destroy(struct thread_load *load); /* NULL is fine */

#endif
