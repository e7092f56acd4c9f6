/* threads.h — the registry of loaded threads: by age and by id, with the configurations that they share.
 *
 * Created and destroyed with the server; thread_unload_all destroys the threads before. Loop thread only. */
#ifndef APP_SERVER_THREADS_H
#define APP_SERVER_THREADS_H

#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread_config.h"
#include "base/error.h"
#include "base/list.h"

struct app_server;
struct loop_timer;
struct thread;

enum { THREAD_BUCKETS = 256 };

struct threads {
	/* read-only */
	struct list all; /* struct thread, in the order of creation */
	/* private */
	struct list buckets[THREAD_BUCKETS]; /* the same threads by id */
	struct thread_configs configs;
	/* runs while a thread has no subscriber; NULL before the first one (thread_unload.c) */
	struct loop_timer *idle;
	struct {
		size_t left;    /* threads whose SessionEnd hooks wait or run; 0 before the server ends */
		size_t running; /* of these, those whose hooks run */
		struct loop_timer *limit;
		void (*done)(void *self);
		void *self;
	} farewell;
};

struct threads *threads_create(void);
void threads_destroy(struct threads *threads); /* all threads must have been destroyed; NULL is fine */

/* Ends the work of the root threads that have SessionEnd hooks, and marks the others dead. To be called once. */
void threads_shut_down(struct threads *threads);
/* After threads_shut_down: runs these hooks, those of LIMIT_END_HOOKS threads at a time. done runs once, later: when
 * all have ended, at the latest after LIMIT_END_HOOKS_MS. False: there are no such hooks, and done does not run. */
must_check bool threads_bid_farewell(struct app_server *server, void (*done)(void *self), void *self);

/* Notifies the subscribers of threads that have selected an environment when its connection was resumed, or that was
 * given up; until threads_ignore_environments. */
void threads_watch_environments(struct app_server *server);
void threads_ignore_environments(struct app_server *server);

/* Returns NULL if no loaded thread has this id. */
struct thread *threads_find(struct app_server *server, struct str id);
/* Appends the thread to `all`; threads_find finds it after threads_add_id. */
void threads_add(struct thread *thread);
void threads_add_id(struct thread *thread);
/* Returns the error for an id that threads_find does not find: not a UUID, or not loaded. Allocated in the arena of
 * the request. */
must_check const struct rpc_error *threads_not_found(struct rpc_request *request, struct str id);

#endif
