/* loop.h — the one event loop: a uv_loop_t plus deferred calls and timers.
 *
 * Thread: everything here is for the loop's own thread. No callback ever runs inside the call that
 * registered it; use loop_defer when something must happen "soon, but not here". */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "base/list.h"

struct error;
struct loop;

struct loop *loop_create(struct error *err);
/* Ends the loop: runs it until handles that are closing have closed. Everything that lives on it
 * must have been ended before. */
void loop_destroy(struct loop *loop);
/* To be called when all is ended that lives on it: what still lingers (streams that peers do not read) may do so for
 * LIMIT_HURRY_MS, however long it was given. */
void loop_hurry(struct loop *loop);
/* Runs until loop_stop, or until nothing is left that could happen. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);
uv_loop_t *loop_uv(struct loop *loop);

/* A call to be made once, before the loop waits again. Embedded in its owner; owner cancels in its end. */
struct loop_deferred {
	/* private */
	struct list link;
	void (*run)(void *self);
	void *self;
	struct loop *loop;
};

typedef void (*loop_run_fn)(void *self);

void loop_deferred_init(struct loop_deferred *deferred, struct loop *loop, loop_run_fn run, void *self);
void loop_defer(struct loop_deferred *deferred);  /* no effect if already waiting */
void loop_deferred_finish(struct loop_deferred *deferred); /* cancels */
static inline bool loop_deferred_is_waiting(const struct loop_deferred *deferred)
{
	return !list_empty(&deferred->link);
}

/* A one-shot timer. Heap-allocated because libuv closes handles asynchronously. */
struct loop_timer;
struct loop_timer *loop_timer_create(struct loop *loop, loop_run_fn run, void *self);
/* (Re)starts: run(self) once, after delay_ms. */
void loop_timer_start(struct loop_timer *timer, uint64_t delay_ms);
void loop_timer_stop(struct loop_timer *timer);
bool loop_timer_is_active(const struct loop_timer *timer);
void loop_timer_destroy(struct loop_timer *timer); /* NULL is fine; run will not be called any more */

#endif
