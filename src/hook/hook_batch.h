/* hook_batch.h — one occurrence of an event: all its hooks run at the same time, and their effects are combined in the
 * order of the hooks.
 *
 * Hooks run in the user's shell through process/, which ends them with their descendants. Callbacks run on the loop,
 * never inside a start. A pool belongs to one session; a batch that is cancelled ends its hooks without callbacks.
 * Asynchronous hooks belong to the pool: nothing waits for them, and they end with it. */
#ifndef HOOK_HOOK_BATCH_H
#define HOOK_HOOK_BATCH_H

#include "base/buf.h"
#include "base/vec.h"
#include "hook/hook_output.h"
#include "hook/hook_set.h"

struct hook_batch;
struct hook_pool;
struct loop;

struct hook_call {
	enum hook_event event;
	struct hook_subject subject;
	struct str input;       /* one JSON object, copied */
	const char *tag;        /* appended to the ids of the runs, or NULL */
	const char *cwd;        /* absolute */
	const char *const *env; /* ends with NULL; borrowed during the start */
	struct str turn_id;     /* STR_NONE: the event concerns the session */
};

/* A run as it is reported when it starts and when it ends. */
struct hook_run_report {
	const struct hook *hook;
	struct str turn_id;
	const char *id;
	int64_t started_at, completed_at; /* Unix time in seconds; 0: it has not ended */
	int64_t duration_ms;
	const struct hook_effect *effect; /* NULL: it has not ended */
};

/* The combined effect of a batch. Texts are allocated in the arena. */
struct hook_result {
	bool is_blocked, is_stopped;
	struct str reason;  /* of the first hook that blocks or stops; may be STR_NONE with is_stopped */
	const char *run_id; /* of that hook */
	VEC(struct str) contexts;
	struct str updated_input;
	enum hook_permission permission; /* a denial takes precedence */
	struct str permission_message;
	struct arena arena;
};

struct hook_reporter {
	void (*report)(const struct hook_run_report *report, void *self);
	void *self;
};

typedef void (*hook_done_fn)(const struct hook_result *result, void *self);

/* Takes a reference to the set. Never NULL. */
struct hook_pool *hook_pool_create(struct loop *loop, struct hook_set *set, const struct hook_reporter *reporter);
void hook_pool_destroy(struct hook_pool *pool); /* NULL is fine; its batches must have ended */
const struct hook_set *hook_pool_set(const struct hook_pool *pool);
/* Replaces the set; hooks that run keep theirs. Takes a reference. */
void hook_pool_replace(struct hook_pool *pool, struct hook_set *set);

/* Starts the hooks of an event. NULL if no hook matches: on_done is not called. The batch frees itself before it calls
 * on_done. */
struct hook_batch *hook_batch_start(struct hook_pool *pool, const struct hook_call *call, hook_done_fn on_done,
                                    void *self);
void hook_batch_cancel(struct hook_batch *batch); /* NULL is fine */

#endif
