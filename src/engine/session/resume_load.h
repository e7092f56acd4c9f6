/* resume_load.h — the part of a resume that blocks: a session's file is opened, read and made into a history.
 *
 * resume_load_run is a job of a worker: it touches the load alone. Files of hundreds of megabytes take seconds, and the
 * loop serves other threads meanwhile. When it returns, the bytes of the file are gone again: what the loop has to do
 * with the rest does not depend on the size of the file.
 *
 * Owns: everything it found that was not taken (set to NULL, or emptied). Any thread, one at a time. Private to
 * engine/. */
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
	/* what is wanted */
	char *path;
	bool opens;        /* the file is locked and opened for writing before it is read */
	bool shows_events; /* the recorded events are wanted as well */
	enum fsync_policy fsync;
	/* what was found; nothing if err has a code */
	struct error err;
	struct rollout_writer *rollout; /* if it opens */
	struct rollout_reader *reader;  /* without records and history, but for what subagents are restored from */
	struct context context;
	struct open_calls open_calls; /* of the context */
	struct buf events;            /* a JSON array; over: there are too many */
};

struct resume_load *resume_load_create(struct str path);
void resume_load_run(void *self);
void resume_load_destroy(struct resume_load *load); /* not while it runs; NULL is fine */

#endif
