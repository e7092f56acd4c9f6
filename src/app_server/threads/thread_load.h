/* thread_load.h — a thread of the store: its rollout found and read, on a worker.
 *
 * Owns: the reader and the turns in it, as long as it lives. done runs once, on the loop, unless the load is destroyed
 * before. Loop thread only. */
#ifndef APP_SERVER_THREAD_LOAD_H
#define APP_SERVER_THREAD_LOAD_H

#include "app_server/history/thread_history.h"
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
	struct error err;              /* err.code: why there is none */
	struct rollout_reader *reader; /* NULL then */
	struct thread_history history;
	struct str name; /* the one that the user gave it, or absent */
	struct thread_note note;
	/* private */
	struct arena arena;
	struct loop *loop;
	char *home, *id, *path;
	struct thread_fork *fork;
	thread_load_done_fn done;
	void *self;
	bool is_done, is_dropped;
};

/* path: its rollout, or absent where it is to be found by id. fork: what becomes of a copy, which is then what is
 * loaded; taken over; or NULL. */
struct thread_load *thread_load_create(struct app_server *server, struct str id, struct str path,
                                       struct thread_fork *fork, thread_load_done_fn done, void *self);
/* What the last turn ran under, unless the opening's wishes say otherwise. In the arena. */
void thread_load_continue(const struct thread_load *load, struct thread_opening *opening, struct arena *arena);
/* The thread knows how it began. */
void thread_load_tell_origin(const struct thread_load *load, struct thread *thread);
/* The thread knows the repository it began in, which its rollout learns later than the thread. */
void thread_load_tell_git(const struct thread_load *load, struct thread *thread);
/* The thread knows how many tokens it has used, and one client (or NULL: none) is told. */
void thread_load_tell_usage(const struct thread_load *load, struct thread *thread, struct connection *connection);
void thread_load_destroy(struct thread_load *load); /* NULL is fine */

#endif
