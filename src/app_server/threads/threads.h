/* threads.h — the registry of loaded threads: by age and by id, with the configurations that they share.
 *
 * Created and destroyed with the server; thread_unload_all destroys the threads before. Loop thread only. */
#ifndef APP_SERVER_THREADS_H
#define APP_SERVER_THREADS_H

#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread_config.h"
#include "base/list.h"

struct app_server;
struct loop_timer;
struct thread;

enum { THREAD_BUCKETS = 256 };

struct threads {
	/* read-only */
	struct list all; /* struct thread, oldest first */
	/* private */
	struct list buckets[THREAD_BUCKETS]; /* the same by id */
	struct thread_configs configs;
	struct loop_timer *idle; /* runs while a thread has no subscriber; NULL before the first (thread_unload.c) */
};

struct threads *threads_create(void);
void threads_destroy(struct threads *threads); /* NULL is fine; no thread may be left */

/* NULL if no loaded thread has this id. */
struct thread *threads_find(struct app_server *server, struct str id);
/* Appends the thread to `all`; threads_find finds it after threads_add_id. */
void threads_add(struct thread *thread);
void threads_add_id(struct thread *thread);
/* The error for an id that threads_find does not find: not a UUID, or not loaded. In the arena of the request. */
must_check const struct rpc_error *threads_not_found(struct rpc_request *request, struct str id);

#endif
