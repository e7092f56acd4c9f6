/* thread/list and thread/read. Results from the disk are updated from the loaded threads, on the loop, just before
 * the response. */
#include "app_server/rpc/server.h"
#include "app_server/store/store_index.h"
#include "app_server/store/store_job.h"
#include "app_server/store/stored_list.h"
#include "app_server/store/stored_thread.h"
#include "app_server/store/stored_turns.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/limits.h"

/* ---- thread/list ---- */

static int run_list(struct store_job *job, struct error *err)
{
	struct stored_list_query query = {
		.home = job->home,
		.provider = job->provider,
		.listings = job->listings,
		.index = job->index,
		.params = job->params,
		.stop = &job->stop,
	};
	return stored_list_read(&query, &job->arena, job->out, err);
}

/* Writes a map with thread ids as keys. The state of a loaded thread takes precedence. */
static struct str write_states(struct store_job *job, const struct stored_list *list)
{
	struct buf text;
	struct json_writer w = json_writer(&text);
	buf_init(&text, LIMIT_THREAD_NOTE * (list->count + 1));
	jw_object(&w);
	for (size_t i = 0; i < list->count; i++) {
		struct str id = list->threads[i].id;
		const struct thread *loaded = threads_find(job->request->server, id);
		struct app_thread_read_state state =
			thread_note_state(loaded ? &loaded->note : &list->notes[i], id, &job->arena);
		jw_key_str(&w, id);
		record_encode(&record_app_thread_read_state, &state, &w);
	}
	jw_object_end(&w);
	struct str ret = arena_str(&job->arena, buf_str(&text));
	buf_finish(&text);
	return ret;
}

static void reply_list(struct store_job *job)
{
	struct stored_list *list = job->out;
	for (size_t i = 0; i < list->count; i++)
		stored_thread_join(job->request->server, &job->arena, &list->threads[i]);
	struct app_thread_list_response response = {
		.data = list->threads,
		.data_count = list->count,
		.read_states = write_states(job, list),
		.next_cursor = list->next_cursor,
		.backwards_cursor = list->backwards_cursor,
	};
	struct store_index *store = job->request->server->store;
	rpc_reply(job->request, &response);
	store_index_fill(store, list->missed, list->missed_count, false);
}

enum rpc_verdict on_rpc_thread_list(struct rpc_request *request, const struct app_thread_list_params *params)
{
	(void)params; /* unused: the job has a copy */
	return store_job_start(request, sizeof(struct stored_list), run_list, reply_list);
}

/* ---- thread/read ---- */

static int run_read(struct store_job *job, struct error *err)
{
	const struct app_thread_read_params *params = job->params;
	if (stored_turns_read(job, params->thread_id, params->include_turns, err) != 0)
		return -1;
	return params->include_turns ? stored_turns_encode(job, err) : 0;
}

static void reply_read(struct store_job *job)
{
	const struct app_thread_read_params *params = job->params;
	struct stored_turns *stored = job->out;
	struct app_thread view;
	const struct rpc_error *error = stored_turns_join(job, params->thread_id, "thread not loaded:", &view);
	if (error) {
		rpc_refuse(job->request, error);
		return;
	}
	const struct thread *loaded = threads_find(job->request->server, params->thread_id);
	struct app_thread_read_state state =
		thread_note_state(loaded ? &loaded->note : &stored->note, params->thread_id, &job->arena);
	struct app_thread_read_response response = {.thread = &view, .read_state = stored->is_found ? &state : NULL};
	if (params->include_turns)
		rpc_reply_with_items(job->request, &response, "result.thread.turns", &stored->turns.text);
	else
		rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_thread_read(struct rpc_request *request, const struct app_thread_read_params *params)
{
	const struct thread *thread = threads_find(request->server, params->thread_id);
	if (thread && thread->is_ephemeral && params->include_turns)
		return rpc_fail(request, APP_INVALID_REQUEST, "ephemeral threads do not support includeTurns");
	return stored_turns_start(request, params->thread_id, run_read, reply_read);
}
