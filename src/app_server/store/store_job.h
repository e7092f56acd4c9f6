/* store_job.h — a request about stored threads: its work is done on a worker, its answer given on the loop.
 *
 * Owns: copies of all that the work needs, and what it found, in its arena; the client may be gone before the disk
 * answers. run is on a worker and touches the job alone; reply is on the loop, and comes only if run went well and the
 * client is still there. Errors of run become the answer. Source: app-server-wire 12. */
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
	struct rpc_request *request;       /* NULL: its client has gone */
	const char *home;                  /* CODEX_HOME */
	const char *provider;              /* the configured one */
	struct rollout_listings *listings; /* the server's … */
	struct rollout_index *index;       /* … which may be gone before the job is */
	const void *params;                /* of the request's method */
	bool is_loaded;                    /* the thread that the parameters name was, when the job began */
	atomic_bool stop;                  /* the client is gone: the worker may stop */
	/* for run and reply */
	struct arena arena;
	void *out;
	store_job_reply_fn undo; /* NULL, or on the loop when run failed, before that is answered */
	/* private */
	store_job_run_fn run;
	store_job_reply_fn reply;
	struct error err;
};

/* out_size zeroed bytes at job->out are for run's result. */
enum rpc_verdict store_job_start(struct rpc_request *request, size_t out_size, store_job_run_fn run,
                                 store_job_reply_fn reply);

#endif
