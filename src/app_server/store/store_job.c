/* Parameters are copied because they belong to the request, which ends when its client disconnects. */
#include "app_server/store/store_job.h"

#include "app_server/rpc/server.h"
#include "app_server/store/store_index.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/mem.h"
#include "config/config.h"
#include "loop/loop.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_listing.h"

static void on_cancel(struct rpc_request *request)
{
	struct store_job *job = request->self;
	atomic_store(&job->stop, true);
	job->request = NULL;
}

static void on_work(void *self)
{
	struct store_job *job = self;
	if (!job->is_change && atomic_load(&job->stop))
		return;
	if (job->run(job, &job->err) == 0)
		job->err.code = ERR_none;
}

static void on_free(void *self)
{
	struct store_job *job = self;
	if (job->finish)
		job->finish(job);
	arena_finish(&job->arena);
}

static void on_freed(void *self)
{
	free(self);
}

static void on_done(void *self)
{
	struct store_job *job = self;
	list_remove(&job->back.link);
	if (job->err.code && job->undo && job->back.server)
		job->undo(job);
	if (job->request && job->err.code)
		rpc_fail_with(job->request, &job->err);
	else if (!job->err.code && job->back.server && (job->request || job->is_change))
		job->reply(job);
	rollout_listings_unref(job->listings);
	rollout_index_unref(job->index);
	if (job->is_large) {
		worker_run(job->loop, on_free, on_freed, job);
		return;
	}
	on_free(job);
	on_freed(job);
}

static struct str find_thread_id(const struct record *record, const char *params)
{
	const struct field *field = record_find_field(record, "thread_id");
	return field ? *(const struct str *)(const void *)(params + field->offset) : (struct str){0};
}

static struct store_index *store_of(struct app_server *server)
{
	if (!server->store)
		server->store = store_index_create(server->loop, config_home(server->config));
	return server->store;
}

static struct store_job *job_create(struct rpc_request *request, size_t out_size, store_job_run_fn run,
                                    store_job_reply_fn reply)
{
	const struct config *config = request->server->config;
	const struct record *record = request->method->params;
	struct store_job *job = xnew(struct store_job);
	void *params = arena_alloc(&job->arena, record->size);
	record_copy(record, request->params, &job->arena, params);
	job->request = request;
	job->loop = request->server->loop;
	job->back.server = request->server;
	list_append(&store_of(request->server)->backlinks, &job->back.link);
	job->params = params;
	job->home = arena_cstr(&job->arena, str_of(config_home(config)));
	job->provider = arena_cstr(&job->arena, str_of(config->model_provider));
	job->listings = rollout_listings_ref(store_of(request->server)->listings);
	job->index = rollout_index_ref(store_of(request->server)->index);
	job->thread_id = find_thread_id(record, params);
	job->is_loaded = job->thread_id.ptr && threads_find(request->server, job->thread_id);
	job->out = arena_alloc(&job->arena, out_size ? out_size : 1);
	job->run = run;
	job->reply = reply;
	return job;
}

static enum rpc_verdict start(struct rpc_request *request, struct store_job *job)
{
	worker_run(request->server->loop, on_work, on_done, job);
	return rpc_wait(request, on_cancel, job);
}

enum rpc_verdict store_job_start(struct rpc_request *request, size_t out_size, store_job_run_fn run,
                                 store_job_reply_fn reply)
{
	return start(request, job_create(request, out_size, run, reply));
}

enum rpc_verdict store_job_start_change(struct rpc_request *request, size_t out_size, store_job_run_fn run,
                                        store_job_reply_fn reply, store_job_reply_fn undo)
{
	struct store_job *job = job_create(request, out_size, run, reply);
	job->is_change = true;
	job->undo = undo;
	return start(request, job);
}
