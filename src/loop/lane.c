/* A job has two references, of its loop and of the thread, because either may be done with it first. */
#include "loop/lane.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/list.h"
#include "base/mem.h"

struct lane_job {
	struct list link; /* while it waits */
	uv_async_t end;
	worker_run_fn run;
	worker_done_fn done;
	void *self;
	void (*drop)(void *self); /* of a job that was left */
	bool is_waiting, has_run;
	unsigned refs;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct list waiting = {&waiting, &waiting};
static struct lane_job *running; /* reachable at the end of a program that does not wait for it */
static bool has_thread;

/* With the lock held. */
static void job_unref(struct lane_job *job)
{
	if (--job->refs == 0)
		free(job);
}

/* With the lock held. NULL ends the thread. */
static struct lane_job *take_next(void)
{
	running = list_empty(&waiting) ? NULL : list_first(&waiting, struct lane_job, link);
	has_thread = running;
	if (running) {
		list_remove(&running->link);
		running->is_waiting = false;
	}
	return running;
}

static void *on_thread(void *self)
{
	struct lane_job *job;
	pthread_mutex_lock(&lock);
	while ((job = take_next())) {
		pthread_mutex_unlock(&lock);
		job->run(job->self);
		pthread_mutex_lock(&lock);
		job->has_run = true;
		if (job->drop)
			job->drop(job->self);
		else
			uv_async_send(&job->end);
		job_unref(job);
	}
	pthread_mutex_unlock(&lock);
	return self;
}

static void on_closed(uv_handle_t *handle)
{
	pthread_mutex_lock(&lock);
	job_unref(container_of(handle, struct lane_job, end));
	pthread_mutex_unlock(&lock);
}

static void on_end(uv_async_t *end)
{
	struct lane_job *job = container_of(end, struct lane_job, end);
	uv_close((uv_handle_t *)end, on_closed);
	job->done(job->self);
}

/* Without a thread, the caller waits. */
static void start_thread(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, on_thread, NULL) == 0)
		pthread_detach(thread);
	else
		on_thread(NULL);
}

struct lane_job *lane_run(struct loop *loop, worker_run_fn run, worker_done_fn done, void *self)
{
	struct lane_job *job = xnew(struct lane_job);
	*job = (struct lane_job){.run = run, .done = done, .self = self, .is_waiting = true, .refs = 2};
	uv_async_init(loop_uv(loop), &job->end, on_end);
	pthread_mutex_lock(&lock);
	list_append(&waiting, &job->link);
	bool must_start = !has_thread;
	has_thread = true;
	pthread_mutex_unlock(&lock);
	if (must_start)
		start_thread();
	return job;
}

void lane_leave(struct lane_job *job, void (*drop)(void *self))
{
	pthread_mutex_lock(&lock);
	bool is_waiting = job->is_waiting, needs_it = !is_waiting && !job->has_run;
	if (is_waiting) {
		list_remove(&job->link);
		job_unref(job);
	}
	if (needs_it)
		job->drop = drop;
	pthread_mutex_unlock(&lock);
	uv_close((uv_handle_t *)&job->end, on_closed);
	if (!needs_it)
		drop(job->self);
}
