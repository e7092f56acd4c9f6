/* loop.h — the one event loop: a uv_loop_t plus deferred calls, timers and blocking jobs.
 *
 * Thread: the loop's own. No callback runs inside the call that registered it; loop_defer runs a function soon, outside
 * the current callback. */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/error.h"
#include "base/list.h"

struct loop;

must_check struct loop *loop_create(struct error *err);
/* Runs the loop until no handle is active, such as closing ones and those of http_client_leave, then frees it. The
 * owners of all other handles must have destroyed them before. */
void loop_destroy(struct loop *loop);
/* Shortens the linger time of destroyed streams whose peers do not read to LIMIT_HURRY_MS. Call it after all objects
 * on the loop have been destroyed. */
void loop_hurry(struct loop *loop);
/* Runs until loop_stop, or until no handle is active. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
uv_loop_t *loop_uv(struct loop *loop);

/* A call to make once, before the loop waits again. It is embedded in its owner, which calls loop_deferred_finish
 * when it ends. */
struct loop_deferred {
	/* private */
	struct list link;
	void (*run)(void *self);
	void *self;
	struct loop *loop;
};

typedef void (*loop_run_fn)(void *self);

void loop_deferred_init(struct loop_deferred *deferred, struct loop *loop, loop_run_fn run, void *self);
void loop_defer(struct loop_deferred *deferred);           /* no-op if already pending */
void loop_deferred_finish(struct loop_deferred *deferred); /* cancels a pending call */
static inline bool loop_deferred_is_waiting(const struct loop_deferred *deferred)
{
	return !list_empty(&deferred->link);
}

/* A one-shot timer. Heap-allocated because libuv closes handles asynchronously. */
struct loop_timer;
struct loop_timer *loop_timer_create(struct loop *loop, loop_run_fn run, void *self);
/* Starts the timer, or restarts it: run(self) is called once, after delay_ms. */
void loop_timer_start(struct loop_timer *timer, uint64_t delay_ms);
void loop_timer_stop(struct loop_timer *timer);
bool loop_timer_is_active(const struct loop_timer *timer);
void loop_timer_destroy(struct loop_timer *timer); /* run is not called after this; NULL is fine */

/* Runs one blocking job on a thread of the pool and reports its end on the loop. `run` executes on another thread and
 * may access only the data that `self` holds for it. `done` executes on the loop, exactly once. The caller keeps `self`
 * alive until then. */
typedef void (*worker_run_fn)(void *self);
typedef void (*worker_done_fn)(void *self);
void worker_run(struct loop *loop, worker_run_fn run, worker_done_fn done, void *self);

#endif
