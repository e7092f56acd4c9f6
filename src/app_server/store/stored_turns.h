/* stored_turns.h — one stored thread with its turns, for the methods that read it.
 *
 * Works in a store_job whose out is a struct stored_turns. Owns: nothing; all lives in the job's arena.
 * Source: app-server-wire 12. */
#ifndef APP_SERVER_STORED_TURNS_H
#define APP_SERVER_STORED_TURNS_H

#include "app_server/store/store_job.h"
#include "app_server/threads/thread_note.h"
#include "app_server/history/thread_history.h"

struct stored_turns {
	bool is_found; /* there is a file */
	struct app_thread thread;
	struct thread_note note;
	struct thread_history history; /* if it was wanted */
	void *more;                    /* what the method makes of it, on the worker */
};

/* Refuses ids that are none; else the job runs. */
enum rpc_verdict stored_turns_start(struct rpc_request *request, struct str thread_id, store_job_run_fn run,
                                    store_job_reply_fn reply);
/* On the worker. That there is no file is no error yet: the thread may be loaded and have none. */
int stored_turns_read(struct store_job *job, struct str thread_id, bool with_turns, struct error *err);
/* On the loop: fills in the thread's current state, loaded or not; a running turn is marked as running. False: the
 * request was refused because the thread does not exist. */
bool stored_turns_join(struct store_job *job, struct str thread_id, struct app_thread *ret);
/* On the loop: a copy of the note of the loaded thread, else of the one on disk; in the job's arena. */
struct thread_note *stored_turns_note(struct store_job *job, struct str thread_id);

#endif
