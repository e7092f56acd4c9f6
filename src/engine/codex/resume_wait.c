/* The lock is an flock, and the kernel does not notify when one is released: a timer retries, only while a resume
 * waits. */
#include "engine/codex/resume_wait.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/config.h"
#include "engine/session/resume.h"
#include "engine/session/resume_load.h"
#include "engine/session/session_env.h"
#include "loop/lane.h"
#include "protocol/message/message.h"
#include "rollout/rollout_lock.h"

enum { WAIT_MS = 2000, RETRY_MS = 50 };

void resume_wait_init(struct resume_wait *wait, const struct session_env *env,
                      void (*on_ready)(void *self, const struct submission *submission), void *self)
{
	*wait = (struct resume_wait){.env = env, .on_ready = on_ready, .self = self};
}

static void on_ready(void *self)
{
	struct resume_wait *wait = self;
	struct submission *held = steal(wait->held);
	wait->on_ready(wait->self, held);
	submission_destroy(held);
}

/* ---- reading ---- */

/* May outlive a Codex that is closed before the worker has finished. */
struct resume_job {
	struct resume_wait *wait; /* NULL: the Codex was closed */
	struct resume_load *load; /* NULL: nothing is resumed */
	struct config *config;    /* holds a reference; NULL: no credentials are fetched */
	struct lane_job *lane;    /* while they are */
	struct error err;
};

/* The rules apply to the credentials here, because a login that they forbid is removed from the keyring. */
static void on_fetch_work(void *self)
{
	struct resume_job *job = self;
	auth_store_fetch(auth_place_of(job->config));
	best_effort(auth_enforce(job->config, LIMIT_AUTH_LOCK_MS, &job->err));
}

static void on_load_work(void *self)
{
	struct resume_job *job = self;
	resume_load_run(job->load);
}

static void job_free(void *self)
{
	struct resume_job *job = self;
	config_unref(job->config);
	free(job);
}

static void on_loaded(void *self)
{
	struct resume_job *job = self;
	struct resume_wait *wait = job->wait;
	struct resume_load *load = job->load;
	struct error err = job->err;
	job_free(job);
	if (!wait) {
		resume_load_destroy(load);
		return;
	}
	wait->job = NULL;
	wait->load = load;
	wait->has_fetched = true;
	if (err.code)
		wait->err = err;
	on_ready(wait);
}

static void on_fetched(void *self)
{
	struct resume_job *job = self;
	job->lane = NULL;
	if (job->load)
		worker_run(job->wait->env->loop, on_load_work, on_loaded, job);
	else
		on_loaded(job);
}

static bool start(struct resume_wait *wait, const struct submission *submission, struct str path)
{
	struct config *config = wait->env->config;
	bool must_fetch = !wait->has_fetched && auth_store_is_slow(auth_place_of(config));
	if (wait->load || (!path.ptr && !must_fetch))
		return false;
	struct resume_job *job = xnew(struct resume_job);
	job->wait = wait;
	job->load = path.ptr ? session_resume_plan(wait->env, path) : NULL;
	job->config = must_fetch ? config_ref(config) : NULL;
	wait->job = job;
	wait->held = submission_create(submission->id, &submission->op);
	if (must_fetch)
		job->lane = lane_run(wait->env->loop, on_fetch_work, on_fetched, job);
	else
		worker_run(wait->env->loop, on_load_work, on_loaded, job);
	return true;
}

bool resume_wait_load(struct resume_wait *wait, const struct submission *submission)
{
	return start(wait, submission, submission->op.configure_session->resume_path);
}

bool resume_wait_fetch(struct resume_wait *wait, const struct submission *submission)
{
	return start(wait, submission, STR_NONE);
}

struct resume_load *resume_wait_take(struct resume_wait *wait, struct str path)
{
	struct resume_load *load = steal(wait->load);
	if (!load) {
		load = session_resume_plan(wait->env, path);
		resume_load_run(load);
	}
	return load;
}

/* ---- waiting for a lock ---- */

static bool may_retry(struct resume_wait *wait, const struct submission *submission, const struct error *err)
{
	const struct op_configure_session *op = submission->op.configure_session;
	auto_free char *path = op->resume_path.ptr ? str_dup(op->resume_path) : NULL;
	if (err->code != ERR_busy || !path || !rollout_lock_is_ending(path))
		return false;
	if (!wait->deadline_ms)
		wait->deadline_ms = clock_now_ms() + WAIT_MS;
	return clock_now_ms() < wait->deadline_ms;
}

bool resume_wait_for_lock(struct resume_wait *wait, const struct submission *submission, const struct error *err)
{
	if (!may_retry(wait, submission, err)) {
		wait->deadline_ms = 0; /* the next resume gets its own deadline */
		return false;
	}
	if (!wait->timer)
		wait->timer = loop_timer_create(wait->env->loop, on_ready, wait);
	wait->held = submission_create(submission->id, &submission->op);
	loop_timer_start(wait->timer, RETRY_MS);
	return true;
}

int resume_wait_check(const struct resume_wait *wait, struct error *err)
{
	return wait->err.code ? error_set(err, wait->err.code, "%s", wait->err.text) : 0;
}

void resume_wait_release(struct resume_wait *wait)
{
	wait->has_fetched = false;
	wait->err = (struct error){0};
}

bool resume_wait_is_pending(const struct resume_wait *wait)
{
	return wait->held;
}

void resume_wait_finish(struct resume_wait *wait)
{
	struct resume_job *job = wait->job;
	if (job && job->lane) {
		resume_load_destroy(job->load);
		lane_leave(job->lane, job_free);
	} else if (job) {
		job->wait = NULL;
	}
	resume_load_destroy(wait->load);
	submission_destroy(wait->held);
	loop_timer_destroy(wait->timer);
}
