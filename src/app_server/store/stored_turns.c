/* A worker reads the file; the loop applies the state of the loaded thread. */
#include "app_server/store/stored_turns.h"

#include "app_server/rpc/server.h"
#include "app_server/store/stored_thread.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/threads/thread_turn.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_reader.h"

/* ---- one thread ---- */

enum rpc_verdict stored_turns_start(struct rpc_request *request, struct str thread_id, store_job_run_fn run,
                                    store_job_reply_fn reply)
{
	if (!uuid_is_valid(thread_id))
		return rpc_refuse(request, threads_not_found(request, thread_id));
	return store_job_start(request, sizeof(struct stored_turns), run, reply);
}

enum rpc_verdict stored_turns_start_change(struct rpc_request *request, struct str thread_id, store_job_run_fn run,
                                           store_job_reply_fn reply, store_job_reply_fn undo)
{
	if (!uuid_is_valid(thread_id))
		return rpc_refuse(request, threads_not_found(request, thread_id));
	return store_job_start_change(request, sizeof(struct stored_turns), run, reply, undo);
}

static void finish_turns(struct store_job *job)
{
	struct stored_turns *out = job->out;
	history_json_finish(&out->turns);
}

static int read_history(struct store_job *job, const char *path, struct stored_turns *out, struct error *err)
{
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_EVENTS, err);
	if (!reader)
		return -1;
	thread_history_read(reader, &job->arena, &out->history);
	rollout_reader_destroy(reader);
	job->is_large = true;
	return 0;
}

int stored_turns_read(struct store_job *job, struct str thread_id, bool with_turns, struct error *err)
{
	struct stored_turns *out = job->out;
	struct rollout_summary summary;
	struct rollout_names names;
	struct error found = {0};
	auto_free char *path = rollout_list_find_id(job->home, thread_id, &found);
	if (!path && found.code != ERR_not_found)
		*err = found;
	if (!path)
		return found.code == ERR_not_found ? 0 : -1;
	if (rollout_summary_read(path, &job->arena, &summary, err) != 0)
		return -1;
	rollout_names_read(job->home, &names);
	stored_thread_view(&summary, arena_str(&job->arena, rollout_names_find(&names, thread_id)), &job->arena,
	                   &out->thread);
	rollout_names_finish(&names);
	thread_note_read(job->home, thread_id, &job->arena, &out->note);
	thread_note_apply(&out->note, &out->thread);
	out->is_found = true;
	return with_turns ? read_history(job, path, out, err) : 0;
}

int stored_turns_encode(struct store_job *job, struct error *err)
{
	struct stored_turns *out = job->out;
	job->finish = finish_turns;
	history_json_write(&out->history, &job->arena, &out->turns);
	return history_json_check(&out->turns, err);
}

/* Marks the running turn, which has lines in the file but no end. */
static void mark_running(const struct thread *thread, struct stored_turns *stored)
{
	const struct thread_history *history = &stored->history;
	struct app_turn *turn = thread->turn ? thread_history_find(history, str_of(thread->turn->id)) : NULL;
	if (!turn || turn->has_completed_at)
		return;
	turn->status = app_turn_status_in_progress;
	history_json_replace(&stored->turns, (size_t)(turn - history->turns), turn);
}

const struct rpc_error *stored_turns_join(struct store_job *job, struct str thread_id, const char *refusal,
                                          struct app_thread *ret)
{
	struct stored_turns *out = job->out;
	struct thread *thread = threads_find(job->request->server, thread_id);
	if (!out->is_found && !thread)
		return rpc_error(&job->request->arena, APP_INVALID_REQUEST, "%s %.*s", refusal, STR_ARG(thread_id));
	if (!out->is_found) {
		thread_view(thread, &job->arena, ret);
		return NULL;
	}
	*ret = out->thread;
	if (!thread)
		return NULL;
	stored_thread_join(job->request->server, &job->arena, ret);
	ret->has_can_accept_direct_input = ret->can_accept_direct_input = true;
	mark_running(thread, out);
	return NULL;
}

const struct rpc_error *stored_turns_page(struct store_job *job, const struct history_page_query *query,
                                          struct history_page *ret)
{
	struct error err;
	struct app_thread view;
	const struct rpc_error *error = stored_turns_join(job, query->thread_id, "thread not loaded:", &view);
	if (!error && history_page_make(query, &job->arena, ret, &err) != 0)
		error = rpc_error_from(&job->request->arena, &err);
	return error;
}

struct thread_note *stored_turns_note(struct store_job *job, struct str thread_id)
{
	const struct stored_turns *stored = job->out;
	const struct thread *thread = threads_find(job->request->server, thread_id);
	struct thread_note *ret = arena_new(&job->arena, struct thread_note);
	thread_note_copy(thread ? &thread->note : &stored->note, &job->arena, ret);
	return ret;
}
