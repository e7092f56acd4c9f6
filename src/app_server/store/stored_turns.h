/* stored_turns.h — reads one stored thread with its turns, for several methods.
 *
 * Runs in a store_job whose out is a struct stored_turns. Owns: nothing; everything lives in the job's arena. */
#ifndef APP_SERVER_STORED_TURNS_H
#define APP_SERVER_STORED_TURNS_H

#include "app_server/store/store_job.h"
#include "app_server/threads/thread_note.h"
#include "app_server/history/history_page.h"
#include "base/error.h"

struct stored_turns {
	bool is_found; /* the rollout exists */
	struct app_thread thread;
	struct thread_note note;
	struct thread_history history; /* set if requested */
	struct history_json turns;     /* set if encoded */
	void *more;                    /* the result of the method's own work on the worker */
};

/* Refuses an invalid thread id; otherwise starts the job. */
enum rpc_verdict stored_turns_start_change(struct rpc_request *request, struct str thread_id, store_job_run_fn run,
                                           store_job_reply_fn reply, store_job_reply_fn undo);
enum rpc_verdict stored_turns_start(struct rpc_request *request, struct str thread_id, store_job_run_fn run,
                                    store_job_reply_fn reply);
/* To be called on the worker. A missing file is not an error yet, because a loaded thread may have none. */
must_check int stored_turns_read(struct store_job *job, struct str thread_id, bool with_turns, struct error *err);
/* To be called on the worker after the turns were read. ERR_limit if they are too large for a response. */
must_check int stored_turns_encode(struct store_job *job, struct error *err);
/* On the loop: fills in the thread's current state, loaded or not; a running turn is marked as running. The error, if
 * the thread does not exist, has these words before the id. */
must_check const struct rpc_error *stored_turns_join(struct store_job *job, struct str thread_id, const char *refusal,
                                                     struct app_thread *ret);
/* On the loop: the same for a reply with one page of the thread's history, which it makes. */
must_check const struct rpc_error *stored_turns_page(struct store_job *job, const struct history_page_query *query,
                                                     struct history_page *ret);
/* To be called on the loop: returns a copy of the note of the loaded thread, else of the one on disk, in the job's
 * arena. */
struct thread_note *stored_turns_note(struct store_job *job, struct str thread_id);

#endif
