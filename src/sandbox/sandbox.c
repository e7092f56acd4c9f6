/* The backends are tested by trials instead of versions and settings, because distributions forbid user namespaces
 * in more ways than can be listed. Trials run asynchronously, once per backend and on first use; all callers that
 * wait meanwhile get the same result. */
#include "sandbox/sandbox.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "process/process.h"
#include "process/placeholder.h"
#include "sandbox/sandbox_priv.h"

/* In the order of preference. */
static const struct sandbox_driver *const drivers[] = {&sandbox_bwrap, &sandbox_landlock};
enum { DRIVERS = countof(drivers), REASON_MAX = 256 };

static const size_t chosen[] = {
	[sandbox_backend_bubblewrap] = 0,
	[sandbox_backend_landlock] = 1,
};

struct sandbox_probe {
	struct list link; /* a node of trials.waiting */
	enum sandbox_backend backend;
	struct loop_deferred done;
};

/* The result of a driver's trials; per thread, because each engine of libcodex has its own thread. */
static _Thread_local struct finding {
	bool is_tried;
	bool works;
	size_t variant;
	char reason[REASON_MAX]; /* why the driver does not work */
} findings[DRIVERS];

static _Thread_local struct {
	struct loop *loop; /* set while trials run */
	struct list waiting;
	size_t driver, variant;
	struct process *process;
	struct loop_timer *timer;
	struct buf complaint;
} trials;

/* The drivers to try for a choice are those from first_of up to, but without, end_of. */
static size_t first_of(enum sandbox_backend backend)
{
	return backend == sandbox_backend_auto ? 0 : chosen[backend];
}

static size_t end_of(enum sandbox_backend backend)
{
	return backend == sandbox_backend_auto ? DRIVERS : chosen[backend] + 1;
}

/* Returns the first driver that works or was not tried, or end_of(backend). */
static size_t candidate(enum sandbox_backend backend)
{
	size_t at = first_of(backend);
	while (at < end_of(backend) && findings[at].is_tried && !findings[at].works)
		at++;
	return at;
}

static const struct sandbox_driver *find_driver(enum sandbox_backend backend)
{
	size_t at = candidate(backend);
	return at < end_of(backend) && findings[at].works ? drivers[at] : NULL;
}

bool sandbox_is_probed(enum sandbox_backend backend)
{
	size_t at = candidate(backend);
	return at == end_of(backend) || findings[at].works;
}

/* ---- trials ---- */

static void trials_end(void)
{
	process_destroy(steal(trials.process));
	loop_timer_destroy(steal(trials.timer));
	buf_finish(&trials.complaint);
	trials.loop = NULL;
}

static void trials_go_on(void);

static void driver_tried(bool works)
{
	struct finding *finding = &findings[trials.driver];
	process_destroy(steal(trials.process));
	finding->is_tried = true;
	finding->works = works;
	finding->variant = trials.variant;
	trials_go_on();
}

/* Records the first line of a trial's error output as the reason. */
static void note_reason(struct str text)
{
	struct str line = STR("");
	str_next_line(&text, &line);
	auto_buf struct buf clean;
	buf_init(&clean, REASON_MAX);
	text_append_utf8_lossy(&clean, line.len > REASON_MAX / 2 ? str_n(line.ptr, REASON_MAX / 2) : line);
	snprintf(findings[trials.driver].reason, REASON_MAX, "%s",
	         clean.len ? buf_str(&clean).ptr : "it does not work on this system");
}

static void variant_start(void);

static void variant_failed(struct str reason)
{
	note_reason(reason);
	process_destroy(steal(trials.process));
	if (++trials.variant < drivers[trials.driver]->variants)
		variant_start();
	else
		driver_tried(false);
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
		driver_tried(true);
	else
		variant_failed(end->error ? str_of(end->error->text) : buf_str(&trials.complaint));
}

static void on_trial_timeout(void *self)
{
	(void)self;
	variant_failed(STR("the test of it timed out"));
}

static int variant_run(struct sandboxed_command *sandboxed, struct error *err)
{
	static const struct process_handler handler = {on_trial_output, on_trial_end};
	static const char *const env[] = {NULL};
	int status = drivers[trials.driver]->trial(trials.variant, sandboxed, err);
	if (status != 0)
		return status;
	const struct launch *launch = sandbox_launch(sandboxed, env);
	struct process_spec spec = {.argv = launch->argv, .launch = launch, .env = env, .cwd = "/"};
	trials.process = process_start(trials.loop, &spec, &handler, NULL, err);
	return trials.process ? 0 : -(int)err->code;
}

static void variant_start(void)
{
	struct error err;
	auto_sandboxed_command struct sandboxed_command *sandboxed = xnew(struct sandboxed_command);
	buf_clear(&trials.complaint);
	loop_timer_start(trials.timer, LIMIT_SANDBOX_TRIAL_MS);
	if (variant_run(sandboxed, &err) != 0)
		variant_failed(str_of(err.text));
}

static void report_to_waiting(void)
{
	struct sandbox_probe *probe;
	list_for_each(probe, &trials.waiting, link) {
		if (!sandbox_is_probed(probe->backend))
			continue;
		list_remove(&probe->link);
		loop_defer(&probe->done);
	}
}

/* Starts the next trial that a caller waits for, or ends the trials. */
static void trials_go_on(void)
{
	report_to_waiting();
	if (list_empty(&trials.waiting)) {
		trials_end();
		return;
	}
	trials.driver = candidate(list_first(&trials.waiting, struct sandbox_probe, link)->backend);
	trials.variant = 0;
	variant_start();
}

static void trials_init(struct loop *loop)
{
	trials.loop = loop;
	list_init(&trials.waiting);
	buf_init(&trials.complaint, 4 * KIB);
	trials.timer = loop_timer_create(loop, on_trial_timeout, NULL);
}

struct sandbox_probe *sandbox_probe_create(struct loop *loop, enum sandbox_backend backend, sandbox_probed_fn on_probed,
                                           void *self)
{
	struct sandbox_probe *probe = xnew(struct sandbox_probe);
	list_init(&probe->link);
	probe->backend = backend;
	loop_deferred_init(&probe->done, loop, on_probed, self);
	if (sandbox_is_probed(backend)) {
		loop_defer(&probe->done);
		return probe;
	}
	bool is_first = !trials.loop;
	if (is_first)
		trials_init(loop);
	list_append(&trials.waiting, &probe->link);
	if (is_first)
		trials_go_on();
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

/* ---- advice ---- */

const char *sandbox_remedy(void)
{
	if (!host_has_proc())
		return "mount /proc (mount -t proc proc /proc)";
	if (host_is_chroot())
		return "you are in a chroot, where the kernel forbids user name spaces: use a container or pivot_root";
	if (!sandbox_bwrap_is_installed())
		return "install bubblewrap (the program bwrap)";
	return "see docs/sandbox.md for what each backend needs";
}

/* ---- results ---- */

static void list_reasons(enum sandbox_backend backend, struct buf *out)
{
	for (size_t at = first_of(backend); at < end_of(backend); at++)
		buf_printf(out, "%s%s: %s", out->len ? "; " : "", drivers[at]->name, findings[at].reason);
}

const char *sandbox_backend_name(enum sandbox_backend backend, struct error *err)
{
	const struct sandbox_driver *driver = find_driver(backend);
	auto_buf struct buf reasons = {0};
	if (driver)
		return driver->name;
	buf_init(&reasons, DRIVERS * 2 * REASON_MAX);
	list_reasons(backend, &reasons);
	if (!sandbox_is_probed(backend))
		error_set(err, ERR_busy, "the check whether commands can run in a sandbox has not finished");
	else
		error_set(err, ERR_unsupported,
		          "commands cannot run in a sandbox on this system (%s): %s, or choose --sandbox "
		          "danger-full-access to run commands without one",
		          buf_str(&reasons).ptr, sandbox_remedy());
	return NULL;
}

const char *sandbox_backend_detail(enum sandbox_backend backend)
{
	size_t at = candidate(backend);
	if (at == end_of(backend))
		return findings[at - 1].reason;
	return findings[at].works ? drivers[at]->details[findings[at].variant] : "";
}

/* ---- the sandbox ---- */

void sandboxed_command_destroy(struct sandboxed_command *sandboxed)
{
	if (!sandboxed)
		return;
	if (sandboxed->launch.fd)
		close(sandboxed->launch.fd);
	arena_finish(&sandboxed->arena);
	free(sandboxed);
}

static bool steers_loader(struct str name)
{
	return str_has_prefix(name, "LD_") || str_is(name, "GLIBC_TUNABLES") || str_is(name, "GCONV_PATH");
}

static size_t count_words(const char *const *words)
{
	size_t count = 0;
	while (words && words[count])
		count++;
	return count;
}

static void insert_words(struct sandboxed_command *sandboxed, const char *const *words)
{
	size_t at = sandboxed->driver->env_at, count = count_words(words), old = count_words(sandboxed->launch.argv);
	const char **argv = arena_array(&sandboxed->arena, const char *, old + count + 1);
	memcpy(argv, sandboxed->launch.argv, at * sizeof(*argv));
	memcpy(argv + at, words, count * sizeof(*argv));
	memcpy(argv + at + count, sandboxed->launch.argv + at, (old - at) * sizeof(*argv));
	sandboxed->launch.argv = argv;
}

const struct launch *sandbox_launch(struct sandboxed_command *sandboxed, const char *const *env)
{
	if (!sandboxed)
		return NULL;
	const char **kept = arena_array(&sandboxed->arena, const char *, count_words(env) + 1);
	size_t count = 0;
	for (size_t i = 0; env && env[i]; i++) {
		struct str value = str_of(env[i]), name;
		str_next_part(&value, '=', &name);
		if (sandboxed->driver && value.ptr && steers_loader(name))
			insert_words(sandboxed, sandboxed->driver->env_words(arena_cstr(&sandboxed->arena, name),
			                                                     value.ptr, &sandboxed->arena));
		else
			kept[count++] = env[i];
	}
	sandboxed->launch.env = kept;
	return &sandboxed->launch;
}

/* Creates placeholders for the protected paths that do not exist. */
static int hold_places(struct sandbox_plan *plan, struct error *err)
{
	int status = 0;
	vec_for_each(it, &plan->paths) {
		bool is_there = false;
		if (status != 0 || !it->is_missing)
			continue;
		status = placeholder_hold(it->path, &is_there, err);
		it->is_missing = !is_there;
	}
	return status;
}

static int build_sandboxed(struct sandboxed_command *sandboxed, const struct sandbox_policy *policy, struct error *err)
{
	size_t at = candidate(policy->backend);
	auto_sandbox_plan struct sandbox_plan plan;
	int status = sandbox_plan_init(&plan, policy, &sandboxed->arena, err);
	if (status == 0)
		status = hold_places(&plan, err);
	sandboxed->driver = drivers[at];
	sandboxed->launch.mark = arena_printf(&sandboxed->arena, "%s=%s", SANDBOX_MARK_NAME, drivers[at]->name);
	return status == 0 ? drivers[at]->wrap(findings[at].variant, &plan, sandboxed, err) : status;
}

int sandbox_wrap(const struct sandbox_policy *policy, const char *const *argv, struct sandboxed_command **ret_sandboxed,
                 struct error *err)
{
	*ret_sandboxed = NULL;
	if (!sandbox_is_needed(policy->mode))
		return 0;
	if (!sandbox_backend_name(policy->backend, err))
		return sandbox_is_probed(policy->backend) ? -ERR_unsupported : -ERR_busy;
	auto_sandboxed_command struct sandboxed_command *sandboxed = xnew(struct sandboxed_command);
	sandboxed->launch.argv = argv;
	int status = build_sandboxed(sandboxed, policy, err);
	if (status == 0)
		*ret_sandboxed = steal(sandboxed);
	return status;
}
