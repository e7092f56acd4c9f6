/* What works is found by trying, not by reading versions and settings: distributions forbid user name
 * spaces in more ways than can be listed. The trials run beside everything else, once, and whoever
 * asks meanwhile waits for the same result. */
#include "process/sandbox.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "process/process.h"
#include "process/sandbox_priv.h"

/* Best first. */
static const struct sandbox_backend *const backends[] = {&sandbox_bwrap};

struct sandbox_probe {
	struct list link; /* in trials.waiting */
	struct loop_deferred done;
};

/* A thread is an engine of its own (libcodex): each asks for itself. */
static _Thread_local struct {
	bool is_done;
	const struct sandbox_backend *found;
	size_t variant;   /* of found */
	char reason[256]; /* why none was found */
} result;

static _Thread_local struct {
	struct loop *loop; /* set while trials run */
	struct list waiting;
	size_t backend, variant;
	struct process *process;
	struct loop_timer *timer;
	struct buf complaint;
} trials;

static const char advice[] = "install bubblewrap (the program bwrap), or choose --sandbox danger-full-access to run "
                             "commands without one";

static void trials_end(void)
{
	process_destroy(steal(trials.process));
	loop_timer_destroy(steal(trials.timer));
	buf_finish(&trials.complaint);
	trials.loop = NULL;
}

static void trials_finish(const struct sandbox_backend *found)
{
	result.is_done = true;
	result.found = found;
	result.variant = trials.variant;
	trials_end();
	while (!list_empty(&trials.waiting)) {
		struct sandbox_probe *probe = list_first(&trials.waiting, struct sandbox_probe, link);
		list_remove(&probe->link);
		loop_defer(&probe->done);
	}
}

/* Keeps the first line of what the trial had to say. */
static void note_reason(const char *backend)
{
	struct str text = buf_str(&trials.complaint), line = STR("");
	str_next_line(&text, &line);
	auto_buf struct buf clean;
	buf_init(&clean, sizeof(result.reason));
	text_append_utf8_lossy(&clean, line.len > 160 ? str_n(line.ptr, 160) : line);
	snprintf(result.reason, sizeof(result.reason), "%s does not work here%s%s", backend, clean.len ? ": " : "",
	         buf_str(&clean).ptr);
}

static void trial_start(void);

static void trial_failed(void)
{
	note_reason(backends[trials.backend]->name);
	process_destroy(steal(trials.process));
	if (++trials.variant >= backends[trials.backend]->variants) {
		trials.variant = 0;
		trials.backend++;
	}
	trial_start();
}

static void on_trial_output(enum exec_stream stream, struct str bytes, void *self)
{
	(void)self;
	if (stream == exec_stream_stderr)
		buf_append_str(&trials.complaint, bytes);
}

static void on_trial_end(const struct process_result *end, void *self)
{
	(void)self;
	if (end->exit_code == 0)
		trials_finish(backends[trials.backend]);
	else
		trial_failed();
}

static void on_trial_timeout(void *self)
{
	(void)self;
	buf_clear(&trials.complaint);
	buf_append_c(&trials.complaint, "it did not answer in time");
	trial_failed();
}

static bool trial_run(const char *const *argv)
{
	static const struct process_handler handler = {on_trial_output, on_trial_end};
	static const char *const env[] = {NULL};
	buf_clear(&trials.complaint);
	loop_timer_start(trials.timer, LIMIT_SANDBOX_TRIAL_MS);
	trials.process = process_start(trials.loop, &(struct process_spec){.argv = argv, .env = env, .cwd = "/"},
	                               &handler, NULL, NULL);
	return trials.process != NULL;
}

/* Starts the next trial that can be started, or ends the search. */
static void trial_start(void)
{
	for (; trials.backend < countof(backends); trials.backend++, trials.variant = 0) {
		const struct sandbox_backend *backend = backends[trials.backend];
		auto_arena struct arena arena = {0};
		const char *const *argv = backend->trial(trials.variant, &arena);
		if (!argv)
			snprintf(result.reason, sizeof(result.reason), "%s is not installed", backend->name);
		else if (trial_run(argv))
			return;
	}
	trials_finish(NULL);
}

static void trials_init(struct loop *loop)
{
	trials.loop = loop;
	trials.backend = trials.variant = 0;
	list_init(&trials.waiting);
	buf_init(&trials.complaint, 4 * KIB);
	trials.timer = loop_timer_create(loop, on_trial_timeout, NULL);
}

struct sandbox_probe *sandbox_probe_create(struct loop *loop, sandbox_probed_fn on_probed, void *self)
{
	struct sandbox_probe *probe = xnew(struct sandbox_probe);
	list_init(&probe->link);
	loop_deferred_init(&probe->done, loop, on_probed, self);
	if (result.is_done) {
		loop_defer(&probe->done);
		return probe;
	}
	bool is_first = !trials.loop;
	if (is_first)
		trials_init(loop);
	list_append(&trials.waiting, &probe->link);
	if (is_first)
		trial_start();
	return probe;
}

void sandbox_probe_destroy(struct sandbox_probe *probe)
{
	if (!probe)
		return;
	list_remove(&probe->link);
	loop_deferred_finish(&probe->done);
	free(probe);
	if (trials.loop && list_empty(&trials.waiting))
		trials_end();
}

bool sandbox_is_probed(void)
{
	return result.is_done;
}

const char *sandbox_backend_name(struct error *err)
{
	if (!result.is_done)
		error_set(err, ERR_busy, "it is not known yet whether commands can run in a sandbox here");
	else if (!result.found)
		error_set(err, ERR_unsupported, "commands cannot run in a sandbox here (%s): %s", result.reason,
		          advice);
	return result.found ? result.found->name : NULL;
}

bool sandbox_is_needed(enum sandbox_mode mode)
{
	return mode != sandbox_mode_danger_full_access && mode != sandbox_mode_external_sandbox;
}

int sandbox_wrap(const struct sandbox_policy *policy, const char *const *argv, struct arena *arena,
                 const char *const **ret_argv, struct error *err)
{
	if (!sandbox_is_needed(policy->mode)) {
		*ret_argv = argv;
		return 0;
	}
	if (!sandbox_backend_name(err))
		return result.is_done ? -ERR_unsupported : -ERR_busy;
	auto_sandbox_plan struct sandbox_plan plan;
	int status = sandbox_plan_init(&plan, policy, arena, err);
	if (status == 0)
		*ret_argv = result.found->wrap(result.variant, &plan, argv, arena);
	return status;
}
