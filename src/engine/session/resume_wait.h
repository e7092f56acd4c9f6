/* resume_wait.h — a resume whose session is still locked by a process that is ending.
 *
 * A process that is killed holds its locks until the kernel has taken it apart, and a child that it has just forked may
 * hold them for a moment longer. So the Op that resumes is tried again every RETRY_MS, for WAIT_MS at most; what the
 * client has submitted after it waits in the queue. Nothing else waits, and a session that a live process writes is
 * refused at once.
 *
 * Owns: a copy of the submission. Thread: the loop's. Private to engine/. */
#ifndef ENGINE_RESUME_WAIT_H
#define ENGINE_RESUME_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct codex;
struct submission;

struct resume_wait {
	struct submission *held;
	struct loop_timer *timer;
	uint64_t deadline_ms; /* 0: it has not begun */
};

/* True if the submission, a configure_session that found its session locked, will be tried again. */
bool resume_wait_begin(struct codex *codex, const struct submission *submission);
bool resume_wait_is_on(const struct codex *codex);
void resume_wait_finish(struct resume_wait *wait);

#endif
