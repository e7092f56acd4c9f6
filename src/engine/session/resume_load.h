/* resume_load.h — the blocking part of a resume: opens and reads a rollout and builds its history.
 *
 * resume_load_run is a job of a worker and accesses the load only: a file of hundreds of megabytes takes seconds. It
 * frees the text of the file, so that the work left for the loop does not depend on the file's size.
 *
 * Owns: the results that were not taken (set to NULL, or emptied). Any thread, one at a time. Private to engine/. */
#ifndef ENGINE_RESUME_LOAD_H
#define ENGINE_RESUME_LOAD_H

#include "base/buf.h"
#include "base/error.h"
#include "engine/history/context.h"
#include "engine/session/conversation.h"
#include "protocol/record/enum.h"

struct rollout_reader;
struct rollout_writer;

struct resume_load {
	/* Set by the caller: */
	char *path;
	bool opens;        /* lock the file and open it for writing before it is read */
	bool shows_events; /* read the recorded events as well */
	enum fsync_policy fsync;
	/* The results; if err has a code there are no others: */
	struct error err;
	bool is_fork;                   /* a copy of another session that has had no turn of its own */
	struct rollout_writer *rollout; /* if `opens` was set */
	struct rollout_reader *reader;  /* reduced to the lines from which subagents are restored */
	struct context context;
	struct open_calls open_calls; /* open calls of context */
	struct buf events;            /* a JSON array; `over` is set if it exceeds LIMIT_INITIAL_MESSAGES */
};

struct resume_load *resume_load_create(struct str path);
void resume_load_run(void *self);
void resume_load_destroy(struct resume_load *load); /* must not be called while the job runs; NULL is a no-op */

#endif
