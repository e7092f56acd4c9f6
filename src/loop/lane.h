/* lane.h — blocking jobs that may hang, such as requests to a keyring: all of a process run one at a time, in the order
 * of their calls, on a thread that ends with the last of them. They take no thread of the pool, so that other blocking
 * work does not wait for them.
 *
 * Thread: lane_run and lane_leave on the loop's. No callback runs inside a call to this module, except drop. */
#ifndef LOOP_LANE_H
#define LOOP_LANE_H

#include "loop/loop.h"

struct lane_job;

/* As worker_run. The job may be left until done is called. */
struct lane_job *lane_run(struct loop *loop, worker_run_fn run, worker_done_fn done, void *self);
/* Forgets a job, so that the loop does not wait for it: done is not called. A job that has not begun never begins.
 * drop(self) is called once run no longer needs self, by this call or by the thread of the jobs. */
void lane_leave(struct lane_job *job, void (*drop)(void *self));

#endif
