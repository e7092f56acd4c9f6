/* Deferred calls use one idle handle that is active only while calls are pending, so that an idle engine does not wake
 * up. A check handle runs the calls that were deferred while the loop read: what these defer, such as a write of all
 * that they have sent, runs on the idle handle before the loop polls again. Without it the loop would poll in between.
 */
#include "loop/loop.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

struct loop {
	uv_loop_t uv;
	uv_idle_t idle; /* keeps the loop from sleeping while deferred calls are pending */
	uv_check_t check;
	struct list deferred;
};

struct loop_timer {
	uv_timer_t uv;
	loop_run_fn run;
	void *self;
};

static void run_deferred(struct loop *loop)
{
	struct list batch; /* the calls of the current round; calls that they defer run in the next one */
	list_init(&batch);
	while (!list_empty(&loop->deferred)) {
		struct list *node = loop->deferred.next;
		list_remove(node);
		list_append(&batch, node);
	}
	while (!list_empty(&batch)) {
		struct loop_deferred *call = list_first(&batch, struct loop_deferred, link);
		list_remove(&call->link);
		call->run(call->self);
	}
	if (list_empty(&loop->deferred))
		uv_idle_stop(&loop->idle);
}

static void on_idle(uv_idle_t *idle)
{
	run_deferred(container_of(idle, struct loop, idle));
}

static void on_check(uv_check_t *check)
{
	run_deferred(container_of(check, struct loop, check));
}

struct loop *loop_create(struct error *err)
{
	struct loop *loop = xnew(struct loop);
	int status = uv_loop_init(&loop->uv);
	if (status != 0) {
		error_sys(err, -status, "cannot start the event loop");
		free(loop);
		return NULL;
	}
	uv_idle_init(&loop->uv, &loop->idle);
	uv_check_init(&loop->uv, &loop->check);
	uv_check_start(&loop->check, on_check);
	uv_unref((uv_handle_t *)&loop->check);
	list_init(&loop->deferred);
	return loop;
}

void loop_destroy(struct loop *loop)
{
	if (!loop)
		return;
	while (uv_run(&loop->uv, UV_RUN_DEFAULT) != 0) /* not 0: loop_stop was called */
		continue;
	uv_close((uv_handle_t *)&loop->idle, NULL);
	uv_close((uv_handle_t *)&loop->check, NULL);
	uv_run(&loop->uv, UV_RUN_DEFAULT);
	uv_loop_close(&loop->uv);
	free(loop);
}

static void on_hurry(uv_handle_t *handle, void *self)
{
	uv_timer_t *timer = (uv_timer_t *)handle;
	(void)self;
	if (handle->type != UV_TIMER || !uv_is_active(handle) || uv_timer_get_due_in(timer) <= LIMIT_HURRY_MS)
		return;
	uv_timer_set_repeat(timer, LIMIT_HURRY_MS); /* changes the timeout without needing the timer's callback again */
	uv_timer_again(timer);
	uv_timer_set_repeat(timer, 0);
}

void loop_hurry(struct loop *loop)
{
	uv_walk(&loop->uv, on_hurry, NULL);
}

void loop_run(struct loop *loop)
{
	uv_run(&loop->uv, UV_RUN_DEFAULT);
}

void loop_stop(struct loop *loop)
{
	uv_stop(&loop->uv);
}

uv_loop_t *loop_uv(struct loop *loop)
{
	return &loop->uv;
}

void loop_deferred_init(struct loop_deferred *deferred, struct loop *loop, loop_run_fn run, void *self)
{
	list_init(&deferred->link);
	deferred->loop = loop;
	deferred->run = run;
	deferred->self = self;
}

void loop_defer(struct loop_deferred *deferred)
{
	struct loop *loop = deferred->loop;
	if (!list_empty(&deferred->link))
		return;
	list_append(&loop->deferred, &deferred->link);
	uv_idle_start(&loop->idle, on_idle);
}

void loop_deferred_finish(struct loop_deferred *deferred)
{
	if (deferred->loop)
		list_remove(&deferred->link);
}

static void on_timer(uv_timer_t *uv)
{
	struct loop_timer *timer = container_of(uv, struct loop_timer, uv);
	timer->run(timer->self);
}

static void on_timer_closed(uv_handle_t *handle)
{
	free(container_of(handle, struct loop_timer, uv));
}

struct loop_timer *loop_timer_create(struct loop *loop, loop_run_fn run, void *self)
{
	struct loop_timer *timer = xnew(struct loop_timer);
	uv_timer_init(&loop->uv, &timer->uv);
	timer->run = run;
	timer->self = self;
	return timer;
}

void loop_timer_start(struct loop_timer *timer, uint64_t delay_ms)
{
	uv_update_time(timer->uv.loop);
	uv_timer_start(&timer->uv, on_timer, delay_ms, 0);
}

void loop_timer_stop(struct loop_timer *timer)
{
	uv_timer_stop(&timer->uv);
}

bool loop_timer_is_active(const struct loop_timer *timer)
{
	return uv_is_active((const uv_handle_t *)&timer->uv);
}

void loop_timer_destroy(struct loop_timer *timer)
{
	if (timer)
		uv_close((uv_handle_t *)&timer->uv, on_timer_closed);
}

/* ---- blocking jobs ---- */

/* The pool's threads start with the first job, so a process without blocking work has one thread. */
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
