/* worker.h — runs one blocking job on a thread of the pool and reports its end on the loop.
 *
 * `run` executes on another thread and may access only the data that `self` holds for it. `done` executes on the loop,
 * exactly once. The caller keeps `self` alive until then. */
#ifndef LOOP_WORKER_H
#define LOOP_WORKER_H

struct loop;

typedef void (*worker_run_fn)(void *self);
typedef void (*worker_done_fn)(void *self);

void worker_run(struct loop *loop, worker_run_fn run, worker_done_fn done, void *self);

#endif
