/* thread_load.h — finds and reads the rollout of a stored thread on a worker.
 *
 * Owns: the reader and the turns in it, as long as it lives. done runs once, on the loop, unless the load is
 * destroyed before. Loop thread only. */
#ifndef APP_SERVER_THREAD_LOAD_H
#define APP_SERVER_THREAD_LOAD_H

#include "app_server/history/history_json.h"
#include "app_server/threads/thread_note.h"
#include "base/error.h"

struct app_server;
struct connection;
struct rollout_reader;
struct thread;
struct thread_fork;
struct thread_load;
struct thread_opening;

typedef void (*thread_load_done_fn)(struct thread_load *load, void *self);

struct thread_load {
	/* read-only, when done */
	struct error err;              /* err.code != 0: the load failed */
	struct rollout_reader *reader; /* NULL on error */
	struct thread_history history;
	struct history_json turns; /* if requested */
	struct str name;           /* set by the user, or absent */
	struct thread_note note;
	/* private */
	struct arena arena;
	struct loop *loop;
	char *home, *id, *path;
	struct thread_fork *fork;
	thread_load_done_fn done;
	void *self;
	bool wants_turns, is_done, is_dropped;
};

/* path: its rollout; absent: search by id. fork: NULL, or makes a copy, which is loaded in its place; ownership passes
 * to the load. wants_turns: the turns are also encoded as JSON. */
struct thread_load *thread_load_create(struct app_server *server, struct str id, struct str path,
                                       struct thread_fork *fork, bool wants_turns, thread_load_done_fn done,
                                       void *self);
/* Continues with the settings of the last turn, unless the request overrides them. In the arena. */
void thread_load_continue(const struct thread_load *load, struct thread_opening *opening, struct arena *arena);
/* Sets the source of the thread. */
void thread_load_tell_origin(const struct thread_load *load, struct thread *thread);
/* Sets the repository of the thread, which its rollout records after the session's first line. */
void thread_load_tell_git(const struct thread_load *load, struct thread *thread);
/* Sets the token usage of the thread and sends it to one client (NULL: none). */
void thread_load_tell_usage(const struct thread_load *load, struct thread *thread, struct connection *connection);
void thread_load_destroy(struct thread_load *load); /* NULL is fine */

#endif
