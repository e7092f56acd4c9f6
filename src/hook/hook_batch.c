/* A run reads its input from a pipe and is judged when its process has ended. The last run of a batch defers the end,
 * so that a batch whose processes cannot start behaves as any other. */
#include "hook/hook_batch.h"

#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/process.h"

/* The time for which output of a background process is awaited after the hook has exited. */
enum { HOOK_DRAIN_MS = 200, MS_PER_S = 1000 };

struct hook_pool {
	struct loop *loop;
	struct hook_set *set;
	struct hook_reporter reporter;
	struct list background; /* struct run: asynchronous hooks */
	size_t background_count;
};

struct run {
	struct list link; /* a node of the batch's runs or of the pool's background */
	struct hook_pool *pool;
	struct hook_batch *batch; /* NULL: asynchronous */
	struct hook_set *set;     /* holds the hook */
	const struct hook *hook;
	char *id;
	struct str turn_id;
	struct process *process; /* non-NULL while it runs */
	struct loop_timer *timer;
	struct buf out, complaint;
	int64_t started_at;
	uint64_t started_ns;
	bool is_ended;
	struct arena arena;
	struct hook_effect effect;
};

struct hook_batch {
	struct hook_pool *pool;
	struct list runs; /* in the order of the hooks */
	size_t running;
	struct loop_deferred done;
	hook_done_fn on_done;
	void *self;
};

/* ---- runs ---- */

static void run_destroy(struct run *run)
{
	list_remove(&run->link);
	if (!run->batch)
		run->pool->background_count--;
	process_destroy(run->process);
	loop_timer_destroy(run->timer);
	buf_finish(&run->out);
	buf_finish(&run->complaint);
	str_free(&run->turn_id);
	arena_finish(&run->arena);
	hook_set_unref(run->set);
	free(run->id);
	free(run);
}

static void report(const struct run *run)
{
	struct hook_run_report it = {
		.hook = run->hook,
		.turn_id = run->turn_id,
		.id = run->id,
		.started_at = run->started_at,
		.effect = run->is_ended ? &run->effect : NULL,
	};
	if (run->is_ended) {
		it.completed_at = clock_unix_ms() / MS_PER_S;
		it.duration_ms = (int64_t)((clock_now_ns() - run->started_ns) / 1000000u);
	}
	run->pool->reporter.report(&it, run->pool->reporter.self);
}

/* Nothing has waited for an asynchronous hook, so its answer comes too late. */
static void drop_answer(struct hook_effect *effect)
{
	bool has_answer = effect->status == hook_status_blocked || effect->status == hook_status_stopped ||
	                  effect->updated_input.len || effect->permission != HOOK_PERMISSION_none;
	if (has_answer)
		*effect = (struct hook_effect){.status = hook_status_failed,
		                               .message = effect->message,
		                               .error = STR("it is asynchronous, and cannot decide")};
	effect->context = STR_NONE;
}

static void run_end(struct run *run, const struct hook_end *end)
{
	struct hook_batch *batch = run->batch;
	if (run->is_ended)
		return;
	run->is_ended = true;
	hook_output_read(run->hook->event, end, &run->arena, &run->effect);
	if (run->hook->is_async)
		drop_answer(&run->effect);
	loop_timer_stop(run->timer);
	process_destroy(steal(run->process));
	buf_finish(&run->out);
	buf_finish(&run->complaint);
	report(run);
	if (!batch)
		run_destroy(run);
	else if (--batch->running == 0)
		loop_defer(&batch->done);
}

static void run_fail(struct run *run, const char *failure)
{
	run_end(run, &(struct hook_end){.failure = failure});
}

static void on_late(void *self)
{
	char text[96];
	struct run *run = self;
	snprintf(text, sizeof(text), "it did not end within %lld s", (long long)run->hook->timeout_s);
	run_fail(run, text);
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	char text[96];
	struct run *run = self;
	if (stream == exec_stream_stderr) {
		size_t room = run->complaint.max - run->complaint.len;
		buf_append_str(&run->complaint, str_n(bytes.ptr, bytes.len < room ? bytes.len : room));
		return;
	}
	buf_append_str(&run->out, bytes);
	if (!run->out.over)
		return;
	snprintf(text, sizeof(text), "it printed more than %d MiB", LIMIT_HOOK_OUTPUT / MIB);
	run_fail(run, text);
}

static void on_end(const struct process_result *result, void *self)
{
	char text[ERROR_TEXT_MAX + 64];
	struct run *run = self;
	if (result->error) {
		snprintf(text, sizeof(text), "it cannot run: %s", result->error->text);
		run_fail(run, text);
		return;
	}
	const struct hook_end end = {
		.exit_code = result->exit_code,
		.signal = result->signal,
		.out = buf_str(&run->out),
		.complaint = buf_str(&run->complaint),
	};
	run_end(run, &end);
}

/* Input that does not fit into the pipe's queue could hide what is judged from the hook, so it blocks. */
static void refuse_input(struct run *run)
{
	char text[96];
	bool can_block = hook_events[run->hook->event].flags & HOOK_BLOCKS;
	snprintf(text, sizeof(text), "its input would exceed %d MiB", LIMIT_EXEC_STDIN / MIB);
	run_end(run, &(struct hook_end){.exit_code = can_block ? 2 : 0,
	                                .failure = can_block ? NULL : text,
	                                .complaint = str_of(text)});
}

static void run_start(struct run *run, const struct hook_call *call)
{
	static const struct process_handler handler = {.on_output = on_output, .on_end = on_end};
	const char *const argv[] = {"/bin/sh", "-c", run->hook->command, NULL};
	const struct process_spec spec = {
		.argv = argv, .env = call->env, .cwd = call->cwd, .stdin_open = true, .drain_ms = HOOK_DRAIN_MS};
	struct error err = {0};
	report(run);
	if (call->input.len >= LIMIT_EXEC_STDIN) {
		refuse_input(run);
		return;
	}
	run->process = process_start(run->pool->loop, &spec, &handler, run, &err);
	if (!run->process) {
		run_fail(run, err.text);
		return;
	}
	loop_timer_start(run->timer, (uint64_t)run->hook->timeout_s * MS_PER_S);
	best_effort(process_write_stdin(run->process, call->input, NULL)); /* a hook need not read its input */
	process_close_stdin(run->process);
}

/* Returns "pre-tool-use:0:FILE:TAG". */
static char *make_id(const struct hook *hook, const char *tag)
{
	char word[64];
	snprintf(word, sizeof(word), "%s", enum_wire(&enum_hook_event, (int)hook->event));
	for (char *at = word; *at; at++)
		if (*at == '_')
			*at = '-';
	return xasprintf("%s:%lld:%s%s%s", word, (long long)hook->order, hook->path, tag ? ":" : "", tag ? tag : "");
}

static struct run *run_create(struct hook_pool *pool, const struct hook *hook, const struct hook_call *call)
{
	struct run *run = xnew(struct run);
	run->pool = pool;
	run->set = hook_set_ref(pool->set);
	run->hook = hook;
	run->id = make_id(hook, call->tag);
	run->turn_id = str_copy(call->turn_id);
	run->started_at = clock_unix_ms() / MS_PER_S;
	run->started_ns = clock_now_ns();
	run->timer = loop_timer_create(pool->loop, on_late, run);
	list_init(&run->link);
	buf_init(&run->out, LIMIT_HOOK_OUTPUT);
	buf_init(&run->complaint, LIMIT_HOOK_COMPLAINT);
	return run;
}

/* ---- batches ---- */

static void batch_destroy(struct hook_batch *batch)
{
	struct run *run;
	list_for_each(run, &batch->runs, link)
		run_destroy(run);
	loop_deferred_finish(&batch->done);
	free(batch);
}

static void combine(const struct run *run, struct hook_result *result)
{
	const struct hook_effect *effect = &run->effect;
	bool decides = effect->status == hook_status_blocked || effect->status == hook_status_stopped;
	if (decides && !result->is_blocked && !result->is_stopped) {
		result->reason = arena_str(&result->arena, effect->reason);
		result->run_id = arena_cstr(&result->arena, str_of(run->id));
	}
	result->is_blocked |= effect->status == hook_status_blocked;
	result->is_stopped |= effect->status == hook_status_stopped;
	if (effect->context.len)
		vec_push(&result->contexts, arena_str(&result->arena, effect->context));
	if (effect->updated_input.len)
		result->updated_input = arena_str(&result->arena, effect->updated_input);
	if (effect->permission > result->permission) {
		result->permission = effect->permission;
		result->permission_message = arena_str(&result->arena, effect->permission_message);
	}
}

static void on_done(void *self)
{
	struct run *run;
	struct hook_batch *batch = self;
	struct hook_result result = {0};
	hook_done_fn done = batch->on_done;
	void *owner = batch->self;
	list_for_each(run, &batch->runs, link)
		combine(run, &result);
	batch_destroy(batch);
	done(&result, owner);
	vec_finish(&result.contexts);
	arena_finish(&result.arena);
}

/* Starts a hook that nothing waits for. */
static void start_background(struct hook_pool *pool, const struct hook *hook, const struct hook_call *call)
{
	if (pool->background_count >= LIMIT_HOOK_ASYNC)
		return;
	struct run *run = run_create(pool, hook, call);
	list_append(&pool->background, &run->link);
	pool->background_count++;
	run_start(run, call);
}

static struct hook_batch *batch_create(struct hook_pool *pool, hook_done_fn done, void *self)
{
	struct hook_batch *batch = xnew(struct hook_batch);
	batch->pool = pool;
	batch->on_done = done;
	batch->self = self;
	list_init(&batch->runs);
	loop_deferred_init(&batch->done, pool->loop, on_done, batch);
	return batch;
}

/* The pool ends after SessionEnd, so hooks of this event are awaited in any case. */
struct hook_batch *hook_batch_start(struct hook_pool *pool, const struct hook_call *call, hook_done_fn done, void *self)
{
	struct run *run;
	struct hook_batch *batch = NULL;
	const struct hook *hook = NULL;
	while ((hook = hook_set_next(pool->set, call->event, &call->subject, hook)) != NULL) {
		if (hook->is_async && call->event != hook_event_session_end) {
			start_background(pool, hook, call);
			continue;
		}
		if (!batch)
			batch = batch_create(pool, done, self);
		run = run_create(pool, hook, call);
		run->batch = batch;
		list_append(&batch->runs, &run->link);
		batch->running++;
	}
	if (!batch)
		return NULL;
	list_for_each(run, &batch->runs, link)
		run_start(run, call);
	return batch;
}

void hook_batch_cancel(struct hook_batch *batch)
{
	if (batch)
		batch_destroy(batch);
}

/* ---- the pool ---- */

struct hook_pool *hook_pool_create(struct loop *loop, struct hook_set *set, const struct hook_reporter *reporter)
{
	struct hook_pool *pool = xnew(struct hook_pool);
	pool->loop = loop;
	pool->set = hook_set_ref(set);
	pool->reporter = *reporter;
	list_init(&pool->background);
	return pool;
}

void hook_pool_destroy(struct hook_pool *pool)
{
	struct run *run;
	if (!pool)
		return;
	list_for_each(run, &pool->background, link)
		run_destroy(run);
	hook_set_unref(pool->set);
	free(pool);
}

void hook_pool_replace(struct hook_pool *pool, struct hook_set *set)
{
	hook_set_ref(set);
	hook_set_unref(pool->set);
	pool->set = set;
}

const struct hook_set *hook_pool_set(const struct hook_pool *pool)
{
	return pool->set;
}
