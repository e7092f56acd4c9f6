/* store_job.h — a request about stored threads: a worker does the work, the loop sends the response.
 *
 * Owns: copies of all inputs and the results, in its arena; the client can disconnect before the disk answers. run is
 * called on a worker and touches only the job; reply is called on the loop, and only if run succeeded and the client
 * is still connected. An error of run becomes the response. */
#ifndef APP_SERVER_STORE_JOB_H
#define APP_SERVER_STORE_JOB_H

#include <stdatomic.h>

#include "app_server/rpc/rpc_request.h"
#include "base/arena.h"
#include "base/error.h"

struct rollout_index;
struct rollout_listings;
struct store_job;

typedef int (*store_job_run_fn)(struct store_job *job, struct error *err);
typedef void (*store_job_reply_fn)(struct store_job *job);

struct store_job {
	/* read-only */
	struct rpc_request *request;       /* NULL: its client has disconnected */
	const char *home;                  /* CODEX_HOME */
	const char *provider;              /* the configured one */
	struct rollout_listings *listings; /* the server's … */
	struct rollout_index *index;       /* … which can be destroyed before the job */
	const void *params;                /* of the request's method */
	bool is_loaded;                    /* whether the thread was loaded when the job started */
	atomic_bool stop;                  /* the client has disconnected: the worker stops early */
	/* for run and reply */
	bool is_large; /* set by run: the arena is freed on a worker */
	struct arena arena;
	void *out;
	void (*finish)(struct store_job *job); /* NULL, or frees what is not in the arena; on any thread */
	store_job_reply_fn undo;               /* NULL, or called on the loop after run failed, before the response */
	/* private */
	struct loop *loop;
	store_job_run_fn run;
	store_job_reply_fn reply;
	struct error err;
};

/* Starts the job with out_size zeroed bytes at job->out for the result of run. */
enum rpc_verdict store_job_start(struct rpc_request *request, size_t out_size, store_job_run_fn run,
                                 store_job_reply_fn reply);

#endif
