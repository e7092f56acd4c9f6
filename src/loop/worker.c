/* A thin layer over uv_queue_work. The pool's threads start with the first job, so a process without blocking work has
 * one thread. Short, like each file of loop/ that wraps one kind of handle. */
#include "loop/worker.h"

#include "base/mem.h"
#include "loop/loop.h"

struct worker {
	uv_work_t uv;
	worker_run_fn run;
	worker_done_fn done;
	void *self;
};

static void on_work(uv_work_t *uv)
{
	struct worker *worker = container_of(uv, struct worker, uv);
	worker->run(worker->self);
}

static void on_worked(uv_work_t *uv, int status)
{
	struct worker *worker = container_of(uv, struct worker, uv);
	(void)status;
	worker->done(worker->self);
	free(worker);
}

void worker_run(struct loop *loop, worker_run_fn run, worker_done_fn done, void *self)
{
	struct worker *worker = xnew(struct worker);
	worker->run = run;
	worker->done = done;
	worker->self = self;
	uv_queue_work(loop_uv(loop), &worker->uv, on_work, on_worked);
}
