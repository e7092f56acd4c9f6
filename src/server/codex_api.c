/* The public API exchanges JSON text with the host and runs an engine with its loop on a thread. The two threads
 * share two lists under one lock; all other data belongs to the engine's thread. The event descriptor is an eventfd
 * that is readable while an event is available.
 *
 * If the host does not take its events, the engine is held (codex_hold). Submissions return CODEX_FULL once events
 * have filled the list twice. */
#include "codex/codex.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "loop/loop.h"
#include "process/process_reaper.h"
#include "server/wire_profile.h"

struct queued_event {
	struct list link;
	size_t len;
	char *json;
};

struct codex_handle {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t has_event;
	/* Protected by the lock: */
	struct list submissions; /* of struct submission */
	size_t waiting;
	struct list events;
	size_t event_bytes;
	bool is_full; /* set at LIMIT_API_QUEUE bytes of events, cleared at half of that */
	bool has_ended;
	bool is_closing;
	int event_fd;
	/* Used on the engine's thread only: */
	struct loop *loop;
	uv_async_t wake;
	struct services *services;
	struct config *config;
	struct codex *codex;
	bool is_held;
	struct wire_style style;
	struct buf lines; /* the lines of one event */
	char *cwd;
	bool ephemeral;
};

static void raise_fd(struct codex_handle *handle)
{
	uint64_t one = 1;
	ssize_t ignored = write(handle->event_fd, &one, sizeof(one));
	(void)ignored;
}

static void lower_fd(struct codex_handle *handle)
{
	uint64_t count;
	ssize_t ignored = read(handle->event_fd, &count, sizeof(count));
	(void)ignored;
}

/* ---- the engine's thread ---- */

/* Holds or resumes the engine, depending on whether the host takes its events. */
static void follow_reader(struct codex_handle *handle)
{
	pthread_mutex_lock(&handle->lock);
	bool is_full = handle->is_full;
	pthread_mutex_unlock(&handle->lock);
	if (is_full == handle->is_held)
		return;
	handle->is_held = is_full;
	if (is_full)
		codex_hold(handle->codex);
	else
		codex_release(handle->codex);
}

/* The caller holds the lock. */
static void queue_lines(struct codex_handle *handle, struct str lines)
{
	struct str line;
	while (str_next_line(&lines, &line)) {
		struct queued_event *queued = xnew(struct queued_event);
		queued->json = str_dup(line);
		queued->len = line.len;
		list_append(&handle->events, &queued->link);
		handle->event_bytes += line.len;
	}
	handle->is_full |= handle->event_bytes > LIMIT_API_QUEUE;
}

static void on_event(const struct event *event, void *self)
{
	struct codex_handle *handle = self;
	wire_profile_write(&handle->style, event, &handle->lines);
	pthread_mutex_lock(&handle->lock);
	queue_lines(handle, buf_str(&handle->lines));
	if (event->msg.tag == EV_shutdown_complete)
		handle->has_ended = true;
	if (handle->waiting)
		uv_async_send(&handle->wake);
	if (handle->has_ended || !list_empty(&handle->events)) {
		raise_fd(handle);
		pthread_cond_broadcast(&handle->has_event);
	}
	pthread_mutex_unlock(&handle->lock);
	buf_reuse(&handle->lines);
	follow_reader(handle);
}

/* The caller holds the lock. False if the host does not take the events of earlier submissions. */
static bool takes_submissions(const struct codex_handle *handle)
{
	return handle->event_bytes <= 2 * LIMIT_API_QUEUE;
}

/* Returns the oldest submission, which stays in the list until this thread removes it. NULL if no submission can be
 * moved now. */
static struct submission *first_submission(struct codex_handle *handle)
{
	pthread_mutex_lock(&handle->lock);
	struct submission *submission = NULL;
	if (takes_submissions(handle))
		submission = list_first(&handle->submissions, struct submission, link);
	pthread_mutex_unlock(&handle->lock);
	return submission;
}

static void remove_submission(struct codex_handle *handle, struct submission *submission)
{
	pthread_mutex_lock(&handle->lock);
	list_remove(&submission->link);
	handle->waiting--;
	pthread_mutex_unlock(&handle->lock);
	submission_destroy(submission);
}

/* Moves submissions until the engine's queue is full. The engine drains it in the next iteration of the loop, or, while
 * a session is being resumed, after the resume, which ends with an event (session_configured or error): on_event
 * continues. */
static bool move_submissions(struct codex_handle *handle)
{
	struct submission *submission;
	while ((submission = first_submission(handle))) {
		if (codex_submit_op(handle->codex, submission->id, &submission->op, NULL) != 0)
			return codex_get_state(handle->codex) == CODEX_QUEUED;
		wire_profile_observe(&handle->style, submission);
		remove_submission(handle, submission);
	}
	return true;
}

static void on_wake(uv_async_t *wake)
{
	struct codex_handle *handle = wake->data;
	follow_reader(handle);
	bool is_draining = move_submissions(handle);
	pthread_mutex_lock(&handle->lock);
	bool is_closing = handle->is_closing;
	if (handle->waiting && takes_submissions(handle) && is_draining)
		uv_async_send(wake);
	pthread_mutex_unlock(&handle->lock);
	if (is_closing)
		loop_stop(handle->loop);
}

static void *run_engine(void *self)
{
	struct codex_handle *handle = self;
	struct codex_options options = {
		.services = handle->services,
		.config = handle->config,
		.source = session_source_mcp,
		.cwd = handle->cwd,
		.ephemeral = handle->ephemeral,
		.is_interactive = true,
		.serves_tools = true,
		.begins_once_allowed = wire_profile_begins_once_allowed(handle->config->wire_profile),
		.on_event = on_event,
		.self = handle,
	};
	handle->style = (struct wire_style){
		.profile = handle->config->wire_profile,
		.shows_raw_reasoning = handle->config->show_raw_agent_reasoning,
	};
	handle->codex = codex_open(&options);
	loop_run(handle->loop);
	codex_close(handle->codex);
	services_destroy(handle->services);
	process_reaper_stop();
	uv_close((uv_handle_t *)&handle->wake, NULL);
	loop_destroy(handle->loop);
	return NULL;
}

/* ---- the caller's side ---- */

static int load_config(struct codex_handle *handle, const struct json *options, struct error *err)
{
	const struct json *list = json_get(options, "config");
	VEC(struct str) overrides = {0};
	struct str profile = json_get_str(options, "profile"), text;
	json_for_each(item, list) {
		if (json_to_str(item, &text))
			vec_push(&overrides, text);
	}
	auto_free char *profile_text = profile.ptr ? str_dup(profile) : NULL;
	struct config_source source = {
		.cwd = handle->cwd,
		.profile = profile_text,
		.overrides = overrides.items,
		.override_count = overrides.count,
	};
	handle->config = config_load(&source, err);
	vec_finish(&overrides);
	return handle->config ? 0 : -(int)err->code;
}

static int start(struct codex_handle *handle, const struct json *options, struct error *err)
{
	struct str originator = json_get_str(options, "originator"), cwd = json_get_str(options, "cwd");
	handle->ephemeral = json_get_bool(options, "ephemeral", false);
	auto_free char *want = cwd.ptr ? str_dup(cwd) : xstrdup(".");
	handle->cwd = realpath(want, NULL);
	if (!handle->cwd)
		return error_sys(err, errno, "cannot work in %s", want);
	if (load_config(handle, options, err) != 0)
		return -(int)err->code;
	handle->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	handle->loop = handle->event_fd < 0 ? NULL : loop_create(err);
	if (!handle->loop)
		return handle->event_fd < 0 ? error_sys(err, errno, "cannot create an event descriptor")
		                            : -(int)err->code;
	auto_free char *name = originator.ptr ? str_dup(originator) : xstrdup("libcodex");
	handle->services = services_create(handle->loop, name);
	uv_async_init(loop_uv(handle->loop), &handle->wake, on_wake);
	handle->wake.data = handle;
	int status = pthread_create(&handle->thread, NULL, run_engine, handle);
	if (status == 0)
		return 0;
	services_destroy(handle->services);
	uv_close((uv_handle_t *)&handle->wake, NULL);
	loop_destroy(handle->loop);
	return error_sys(err, status, "cannot start the engine's thread");
}

static struct codex_handle *handle_alloc(void)
{
	struct codex_handle *handle = xnew(struct codex_handle);
	pthread_condattr_t attr;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&handle->has_event, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&handle->lock, NULL);
	list_init(&handle->submissions);
	list_init(&handle->events);
	buf_init(&handle->lines, LIMIT_STREAM_QUEUE_HARD);
	handle->event_fd = -1;
	return handle;
}

static void handle_free(struct codex_handle *handle)
{
	struct submission *submission;
	struct queued_event *event;
	while ((submission = list_first(&handle->submissions, struct submission, link))) {
		list_remove(&submission->link);
		submission_destroy(submission);
	}
	while ((event = list_first(&handle->events, struct queued_event, link))) {
		list_remove(&event->link);
		free(event->json);
		free(event);
	}
	buf_finish(&handle->lines);
	config_unref(handle->config);
	if (handle->event_fd >= 0)
		close(handle->event_fd);
	pthread_cond_destroy(&handle->has_event);
	pthread_mutex_destroy(&handle->lock);
	free(handle->cwd);
	free(handle);
}

codex_t *codex_create(const char *options, char **error)
{
	auto_arena struct arena arena = {0};
	struct error err;
	const struct json *json = options ? json_parse_copy(&arena, str_of(options), &err) : NULL;
	if (json && json->type != JSON_object) {
		error_set(&err, ERR_invalid, "options are a JSON object such as {\"cwd\":\"/path\"}");
		json = NULL;
	}
	struct codex_handle *handle = handle_alloc();
	if ((!options || json) && start(handle, json, &err) == 0)
		return handle;
	handle_free(handle);
	if (error)
		*error = xstrdup(err.text);
	return NULL;
}

int codex_submit(codex_t *handle, const char *text, size_t len)
{
	struct submission *submission = submission_decode(str_n(text, len), NULL);
	if (!submission)
		return CODEX_INVALID;
	int status = CODEX_OK;
	pthread_mutex_lock(&handle->lock);
	if (handle->has_ended)
		status = CODEX_ENDED;
	else if (handle->waiting >= LIMIT_SUBMISSIONS)
		status = CODEX_FULL;
	if (status == CODEX_OK) {
		list_append(&handle->submissions, &submission->link);
		handle->waiting++;
		uv_async_send(&handle->wake);
	}
	pthread_mutex_unlock(&handle->lock);
	if (status != CODEX_OK)
		submission_destroy(submission);
	return status;
}

static void deadline_in(int timeout_ms, struct timespec *ret)
{
	clock_gettime(CLOCK_MONOTONIC, ret);
	ret->tv_sec += timeout_ms / 1000;
	ret->tv_nsec += (long)(timeout_ms % 1000) * 1000000;
	if (ret->tv_nsec >= 1000000000) {
		ret->tv_sec++;
		ret->tv_nsec -= 1000000000;
	}
}

/* Called after an event was removed from the list. The caller holds the lock. */
static void make_room(struct codex_handle *handle, const struct queued_event *event)
{
	handle->event_bytes -= event->len;
	if (!handle->is_full || handle->event_bytes > LIMIT_API_QUEUE / 2)
		return;
	handle->is_full = false;
	uv_async_send(&handle->wake);
}

/* Waits for an event, the end or the timeout. The caller holds the lock. */
static void wait_for_event(struct codex_handle *handle, int timeout_ms)
{
	struct timespec deadline;
	int status = 0;
	if (timeout_ms > 0)
		deadline_in(timeout_ms, &deadline);
	while (list_empty(&handle->events) && !handle->has_ended && timeout_ms != 0 && status != ETIMEDOUT)
		status = timeout_ms < 0 ? pthread_cond_wait(&handle->has_event, &handle->lock)
		                        : pthread_cond_timedwait(&handle->has_event, &handle->lock, &deadline);
}

int codex_next_event(codex_t *handle, int timeout_ms, char **event)
{
	pthread_mutex_lock(&handle->lock);
	wait_for_event(handle, timeout_ms);
	struct queued_event *first = list_first(&handle->events, struct queued_event, link);
	int status = first ? CODEX_OK : handle->has_ended ? CODEX_ENDED : CODEX_TIMEOUT;
	if (first) {
		list_remove(&first->link);
		make_room(handle, first);
		*event = first->json;
		free(first);
	}
	if (list_empty(&handle->events) && !handle->has_ended)
		lower_fd(handle);
	pthread_mutex_unlock(&handle->lock);
	return status;
}

int codex_event_fd(codex_t *handle)
{
	return handle->event_fd;
}

void codex_free(char *text)
{
	free(text);
}

void codex_destroy(codex_t *handle)
{
	if (!handle)
		return;
	pthread_mutex_lock(&handle->lock);
	handle->is_closing = true;
	uv_async_send(&handle->wake);
	pthread_mutex_unlock(&handle->lock);
	pthread_join(handle->thread, NULL);
	handle_free(handle);
}

const char *codex_version(void)
{
	return CODEX_VERSION;
}
