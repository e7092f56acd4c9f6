/* session/list and session/delete. A list is that of app_server/store: the latest first, of all providers. */
#include "acp/acp_store.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "acp/acp_job.h"
#include "acp/acp_method.h"
#include "acp/acp_session.h"
#include "app_server/store/stored_list.h"
#include "app_server/threads/thread_note.h"
#include "app_server/threads/thread_queue.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_listing.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_remove.h"

void acp_store_finish(struct acp_server *server)
{
	rollout_listings_unref(server->listings);
	rollout_index_unref(server->index);
}

/* ---- session/list ---- */

struct list_job {
	struct acp_job job;
	char *home, *provider;
	struct rollout_listings *listings;
	struct rollout_index *index;
	struct app_thread_list_params params;
	struct str *providers;
	atomic_bool stop;
	struct arena arena;
	struct stored_list list;
	struct error err; /* ERR_none: the list was read */
};

static void on_list_work(struct acp_job *self)
{
	struct list_job *job = container_of(self, struct list_job, job);
	const struct stored_list_query query = {
		.home = job->home,
		.provider = job->provider,
		.listings = job->listings,
		.index = job->index,
		.params = &job->params,
		.stop = &job->stop,
	};
	job->err.code = ERR_none;
	best_effort(stored_list_read(&query, &job->arena, &job->list, &job->err));
}

/* The title is the name, or the first words of the first prompt. */
static struct str title_of(const struct app_thread *thread)
{
	return acp_title_of(thread->name.len ? thread->name : thread->preview);
}

static void reply_list(struct list_job *job)
{
	struct acp_session_list_result result = {.next_cursor = job->list.next_cursor};
	result.sessions = arena_array(&job->arena, struct acp_session_info, job->list.count);
	for (size_t i = 0; i < job->list.count; i++) {
		const struct app_thread *thread = &job->list.threads[i];
		char *time = arena_alloc(&job->arena, CLOCK_RFC3339_SIZE);
		clock_rfc3339(thread->updated_at * 1000, time);
		result.sessions[result.sessions_count++] =
			(struct acp_session_info){thread->id, thread->cwd, title_of(thread), str_of(time)};
	}
	acp_reply(job->job.request, &result);
}

static void on_list_done(struct acp_job *self)
{
	struct list_job *job = container_of(self, struct list_job, job);
	if (job->job.server && job->err.code == ERR_none)
		reply_list(job);
	else if (job->job.server)
		acp_fail(job->job.request, job->err.code == ERR_invalid ? ACP_INVALID_PARAMS : ACP_INTERNAL_ERROR, "%s",
		         job->err.text);
	rollout_listings_unref(job->listings);
	rollout_index_unref(job->index);
	arena_finish(&job->arena);
	free(job->providers);
	free(job->home);
	free(job->provider);
	free(job);
}

static void set_filter(struct list_job *job, const struct acp_session_list_params *params)
{
	auto_buf struct buf cwd;
	buf_init(&cwd, LIMIT_LINE * 2);
	if (params->cwd.ptr)
		json_quote(&cwd, params->cwd);
	job->providers = xcalloc(1, sizeof(*job->providers)); /* an empty list: those of all providers */
	job->params = (struct app_thread_list_params){
		.cursor = arena_str(&job->arena, params->cursor),
		.cwd = params->cwd.ptr ? arena_str(&job->arena, buf_str(&cwd)) : STR_NONE,
		.model_providers = job->providers,
		.has_sort_key = true,
		.sort_key = app_thread_sort_key_updated_at,
	};
}

void on_acp_session_list(struct acp_server *server, struct acp_request *request,
                         const struct acp_session_list_params *params)
{
	if (params->cwd.ptr && (!params->cwd.len || params->cwd.ptr[0] != '/' || str_has_nul(params->cwd))) {
		acp_fail(request, ACP_INVALID_PARAMS, "Invalid params: `cwd` must be an absolute path");
		return;
	}
	struct list_job *job = xnew(struct list_job);
	const char *home = config_home(server->config);
	if (!server->listings) {
		server->listings = rollout_listings_create(home);
		server->index = rollout_index_create(home);
	}
	job->home = xstrdup(home);
	job->provider = xstrdup(server->config->model_provider);
	job->listings = rollout_listings_ref(server->listings);
	job->index = rollout_index_ref(server->index);
	set_filter(job, params);
	acp_job_start(&job->job, server, request, on_list_work, on_list_done);
}

/* ---- session/delete ---- */

struct delete_job {
	struct acp_job job;
	char *home, *id;
	struct error err; /* ERR_none: removed, or not found */
};

static void on_delete_work(struct acp_job *self)
{
	struct delete_job *job = container_of(self, struct delete_job, job);
	job->err.code = ERR_none;
	struct rollout_lock *lock = rollout_lock_create(job->home, str_of(job->id), &job->err);
	int status = lock ? rollout_remove(job->home, str_of(job->id), &job->err) : -(int)job->err.code;
	if (status == -ERR_not_found)
		job->err.code = ERR_none;
	if (job->err.code == ERR_none) {
		thread_note_remove(job->home, str_of(job->id));
		thread_queue_remove(job->home, str_of(job->id));
	}
	rollout_lock_destroy(lock);
}

static void on_delete_done(struct acp_job *self)
{
	struct delete_job *job = container_of(self, struct delete_job, job);
	if (job->job.server && job->err.code == ERR_none)
		acp_reply(job->job.request, NULL);
	else if (job->job.server)
		acp_fail(job->job.request, ACP_INTERNAL_ERROR, "%s", job->err.text);
	free(job->home);
	free(job->id);
	free(job);
}

/* An open session is closed first, so that its engine lets the lock go and does not restore the file. */
void on_acp_session_delete(struct acp_server *server, struct acp_request *request, const struct acp_session_ref *params)
{
	struct acp_session *session = acp_session_find(server, params->session_id);
	if (!uuid_is_valid(params->session_id)) {
		acp_reply(request, NULL); /* there is no such session */
		return;
	}
	if (session)
		acp_session_destroy(session);
	struct delete_job *job = xnew(struct delete_job);
	job->home = xstrdup(config_home(server->config));
	job->id = str_dup(params->session_id);
	acp_job_start(&job->job, server, request, on_delete_work, on_delete_done);
}
