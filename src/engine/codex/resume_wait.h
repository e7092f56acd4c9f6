/* resume_wait.h — a resume that cannot be carried out at once: its file is read on a worker, and its session may still
 * be locked by a process that is ending. What the client has submitted after it waits in the queue; nothing else waits.
 *
 * A process that is killed holds its locks until the kernel has taken it apart, and a child that it has just forked may
 * hold them for a moment longer. So the Op that resumes is tried again every RETRY_MS, for WAIT_MS at most. A session
 * that a live process writes is refused at once.
 *
 * Owns: a copy of the submission, and what was read until it is taken. Thread: the loop's. Private to engine/. */
#ifndef ENGINE_RESUME_WAIT_H
#define ENGINE_RESUME_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct codex;
struct resume_job;
struct resume_load;
struct submission;

struct resume_wait {
	struct submission *held;
	struct loop_timer *timer;
	uint64_t deadline_ms;     /* 0: it has not begun */
	struct resume_job *job;   /* on the worker */
	struct resume_load *load; /* done, and not taken yet */
};

/* Begins to read what the submission, a configure_session, resumes: then it is carried out again. False: it is read. */
bool resume_wait_load(struct codex *codex, const struct submission *submission);
/* What was read, the caller's; read on the spot if nobody asked for it before. */
struct resume_load *resume_wait_take(struct codex *codex, struct str path);
/* True if the submission, a configure_session that found its session locked, will be tried again. */
bool resume_wait_begin(struct codex *codex, const struct submission *submission);
bool resume_wait_is_on(const struct codex *codex);
void resume_wait_finish(struct resume_wait *wait);

#endif
