/* For the lock a timer, as the kernel tells nobody when a lock of the other kind (flock) comes free; it runs only while
 * a resume waits. */
#include "engine/codex/resume_wait.h"

#include "base/clock.h"
#include "base/mem.h"
#include "engine/codex/codex_priv.h"
#include "engine/session/resume.h"
#include "engine/session/resume_load.h"
#include "loop/loop.h"
#include "loop/worker.h"
#include "protocol/message/submission.h"
#include "rollout/rollout_lock.h"

enum { WAIT_MS = 2000, RETRY_MS = 50 };

static void on_again(void *self)
{
	struct codex *codex = self;
	struct submission *held = codex->resume_wait.held;
	codex->resume_wait.held = NULL;
	codex_dispatch(codex, held);
	submission_destroy(held);
	codex_carry_out(codex);
}

/* ---- reading ---- */

/* It outlives a Codex that is closed meanwhile. */
struct resume_job {
	struct codex *codex; /* NULL: gone */
	struct resume_load *load;
};

static void on_work(void *self)
{
	struct resume_job *job = self;
	resume_load_run(job->load);
}

static void on_worked(void *self)
{
	struct resume_job *job = self;
	struct codex *codex = job->codex;
	struct resume_load *load = job->load;
	free(job);
	if (!codex) {
		resume_load_destroy(load);
		return;
	}
	codex->resume_wait.job = NULL;
	codex->resume_wait.load = load;
	on_again(codex);
}

bool resume_wait_load(struct codex *codex, const struct submission *submission)
{
	struct resume_wait *wait = &codex->resume_wait;
	if (wait->load)
		return false;
	struct resume_job *job = xnew(struct resume_job);
	struct str path = submission->op.configure_session->resume_path;
	*job = (struct resume_job){codex, session_resume_plan(&codex->env, path)};
	wait->job = job;
	wait->held = submission_create(submission->id, &submission->op);
	worker_run(codex->env.loop, on_work, on_worked, job);
	return true;
}

struct resume_load *resume_wait_take(struct codex *codex, struct str path)
{
	struct resume_load *load = steal(codex->resume_wait.load);
	if (!load) {
		load = session_resume_plan(&codex->env, path);
		resume_load_run(load);
	}
	return load;
}

/* ---- waiting for a lock ---- */

bool resume_wait_begin(struct codex *codex, const struct submission *submission)
{
	struct resume_wait *wait = &codex->resume_wait;
	const struct op_configure_session *op = submission->op.configure_session;
	auto_free char *path = op->resume_path.ptr ? str_dup(op->resume_path) : NULL;
	if (!path || !rollout_lock_is_ending(path))
		return false;
	if (!wait->deadline_ms)
		wait->deadline_ms = clock_now_ms() + WAIT_MS;
	if (clock_now_ms() >= wait->deadline_ms)
		return false;
	if (!wait->timer)
		wait->timer = loop_timer_create(codex->env.loop, on_again, codex);
	wait->held = submission_create(submission->id, &submission->op);
	loop_timer_start(wait->timer, RETRY_MS);
	return true;
}

bool resume_wait_is_on(const struct codex *codex)
{
	return codex->resume_wait.held != NULL;
}

void resume_wait_finish(struct resume_wait *wait)
{
	if (wait->job)
		wait->job->codex = NULL;
	resume_load_destroy(wait->load);
	submission_destroy(wait->held);
	loop_timer_destroy(wait->timer);
}
