/* Is preloaded by a test: a job of a worker ends before the thread that has queued it continues, so that what the job
 * does comes before all that this thread does later. Only the thread of the loop queues jobs. */
#include <dlfcn.h>
#include <semaphore.h>

static void (*job)(void *request);
static sem_t done;

static void run(void *request)
{
	job(request);
	sem_post(&done);
}

__attribute__((visibility("default"))) int uv_queue_work(void *loop, void *request, void (*work)(void *),
                                                         void (*after)(void *, int));

int uv_queue_work(void *loop, void *request, void (*work)(void *), void (*after)(void *, int))
{
	int (*queue)(void *, void *, void (*)(void *), void (*)(void *, int)) = dlsym(RTLD_NEXT, "uv_queue_work");
	job = work;
	sem_init(&done, 0, 0);
	int status = queue(loop, request, run, after);
	while (status == 0 && sem_wait(&done) != 0)
		;
	return status;
}
