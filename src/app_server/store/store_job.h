/* store_job.h — a request about stored threads: a worker does its work, the loop sends the response.
 *
 * Owns: copies of the parameters and the results, in its arena, because the client may disconnect before the work is
 * done. run is called on a worker and accesses the job alone. reply is called on the loop if run succeeded and the
 * client is still connected. An error of run becomes the response. */
#ifndef APP_SERVER_STORE_JOB_H
#define APP_SERVER_STORE_JOB_H

#include <stdatomic.h>

#include "app_server/rpc/rpc_request.h"
#include "app_server/store/store_index.h"
#include "base/arena.h"
#include "base/error.h"

struct rollout_index;
struct rollout_listings;
struct store_job;

typedef int (*store_job_run_fn)(struct store_job *job, struct error *err);
typedef void (*store_job_reply_fn)(struct store_job *job);

struct store_job {
	/* read-only */
	struct rpc_request *request;       /* NULL: the client has disconnected */
	struct store_backlink back;        /* its server is not NULL in reply and undo */
	const char *home;                  /* CODEX_HOME */
	const char *provider;              /* the configured provider */
	struct rollout_listings *listings; /* the server's listings */
	struct rollout_index *index;       /* the server's index, which may be replaced before the job ends */
	const void *params;                /* parameters of the request's method */
	struct str thread_id;              /* the thread id among the parameters, or STR_NONE */
	bool is_loaded;                    /* whether the thread was loaded when the job started */
	atomic_bool stop;                  /* the client has disconnected: the worker stops early */
	/* For run and reply: */
	bool is_large; /* set by run: the arena is large and is freed on a worker */
	struct arena arena;
	void *out;
	void (*finish)(struct store_job *job); /* frees data outside of the arena, on any thread; may be NULL */
	/* private */
	struct loop *loop;
	store_job_reply_fn undo;
	bool is_change;
	store_job_run_fn run;
	store_job_reply_fn reply;
	struct error err;
};

/* Starts the job with out_size zeroed bytes at job->out for the result of run. */
enum rpc_verdict store_job_start(struct rpc_request *request, size_t out_size, store_job_run_fn run,
                                 store_job_reply_fn reply);

/* As store_job_start, for a change of stored threads, which is carried out even if the client disconnects. reply is
 * then called without a request, so that loaded threads and other clients learn of the change. undo is called on the
 * loop if run failed, before the response; may be NULL. */
enum rpc_verdict store_job_start_change(struct rpc_request *request, size_t out_size, store_job_run_fn run,
                                        store_job_reply_fn reply, store_job_reply_fn undo);

#endif
