/* resume_wait.h — postpones a configure_session that resumes a session, or needs credentials from a keyring, which
 * may hang. Private to engine/codex/. Subagents that are opened within a call use what their root has fetched.
 *
 * The rollout is read on a worker, and its lock may still belong to a process that is exiting: the kernel keeps the
 * locks of a killed process until it is gone, and a child that was just forked may hold them a moment longer. The Op is
 * therefore retried every RETRY_MS, for at most WAIT_MS. A session that a live process writes is refused at once.
 * Later submissions of the Codex stay in its queue; the loop serves all others.
 *
 * Owns: a copy of the submission, and the loaded rollout until it is taken. Loop thread only. */
#ifndef ENGINE_RESUME_WAIT_H
#define ENGINE_RESUME_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct resume_job;
struct resume_load;
struct session_env;
struct submission;

struct resume_wait {
	/* private */
	const struct session_env *env; /* lent by the owner */
	/* Called when the submission can be carried out; it is borrowed during the call. */
	void (*on_ready)(void *self, const struct submission *submission);
	void *self;
	struct submission *held; /* the postponed submission, or NULL */
	struct loop_timer *timer;
	uint64_t deadline_ms;     /* deadline for the lock; 0: no retry yet */
	struct resume_job *job;   /* the job on the worker */
	struct resume_load *load; /* the loaded rollout until it is taken */
	bool has_fetched;         /* the credentials */
	struct error err;         /* of the rules for logins */
};

void resume_wait_init(struct resume_wait *wait, const struct session_env *env,
                      void (*on_ready)(void *self, const struct submission *submission), void *self);
/* Starts to fetch credentials from a keyring, and to load the rollout that the submission, a configure_session,
 * resumes. False if there is nothing to wait for. */
bool resume_wait_load(struct resume_wait *wait, const struct submission *submission);
/* Starts to fetch credentials alone. */
bool resume_wait_fetch(struct resume_wait *wait, const struct submission *submission);
/* Returns the loaded rollout, to be freed by the caller; loads it synchronously if resume_wait_load was not called. */
struct resume_load *resume_wait_take(struct resume_wait *wait, struct str path);
/* To be called when a configure_session has failed with err. True if another process held the lock and the Op will
 * be retried. */
must_check bool resume_wait_for_lock(struct resume_wait *wait, const struct submission *submission,
                                     const struct error *err);
/* Fails if the stored login was forbidden. */
must_check int resume_wait_check(const struct resume_wait *wait, struct error *err);
/* A later configure_session fetches the credentials again. */
void resume_wait_release(struct resume_wait *wait);
bool resume_wait_is_pending(const struct resume_wait *wait);
void resume_wait_finish(struct resume_wait *wait);

#endif
