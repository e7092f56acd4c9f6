/* A worker moves and removes the files while a loaded thread still has them open: an open descriptor follows the
 * move, so no line is lost. The thread is unloaded and clients are notified only after success. A thread that
 * another process has locked for writing is left alone. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/store/stored_thread.h"
#include "app_server/store/stored_turns.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/threads/thread_unload.h"
#include "app_server/threads/thread_queue.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "engine/codex/codex.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_pack.h"
#include "rollout/rollout_remove.h"

/* ---- who may ---- */

/* Calls `work` under the thread's writer lock, which the engine already holds for a loaded thread. */
static int run_locked(struct store_job *job, int (*work)(struct store_job *job, struct error *err), struct error *err)
{
	if (job->is_loaded)
		return work(job, err);
	struct rollout_lock *lock = rollout_lock_create(job->home, job->thread_id, err);
	int status = lock ? work(job, err) : -1;
	rollout_lock_destroy(lock);
	return status;
}

/* ---- notifications and unloading ---- */

static void unload(struct store_job *job)
{
	struct thread *thread = threads_find(job->back.server, job->thread_id);
	if (thread)
		thread_unload(thread);
}

/* Replies if the client is still connected. */
static void reply(struct store_job *job, const void *response)
{
	if (job->request)
		rpc_reply(job->request, response);
}

/* ---- thread/archive ---- */

static int archive(struct store_job *job, struct error *err)
{
	return rollout_move(job->home, job->thread_id, true, err);
}

static int run_archive(struct store_job *job, struct error *err)
{
	return run_locked(job, archive, err);
}

static void reply_archive(struct store_job *job)
{
	struct app_thread_archive_response response = {0};
	struct app_thread_archived_notification event = {job->thread_id};
	unload(job);
	reply(job, &response);
	app_server_notify(job->back.server, NOTIFY_thread_archived, &event);
}

enum rpc_verdict on_rpc_thread_archive(struct rpc_request *request, const struct app_thread_archive_params *params)
{
	return stored_turns_start_change(request, params->thread_id, run_archive, reply_archive, NULL);
}

/* ---- thread/unarchive ---- */

static int unarchive(struct store_job *job, struct error *err)
{
	int status = rollout_move(job->home, job->thread_id, false, err);
	return status == 0 ? stored_turns_read(job, job->thread_id, false, err) : status;
}

static int run_unarchive(struct store_job *job, struct error *err)
{
	return run_locked(job, unarchive, err);
}

static void reply_unarchive(struct store_job *job)
{
	struct stored_turns *stored = job->out;
	struct app_thread_unarchive_response response = {.thread = &stored->thread};
	struct app_thread_unarchived_notification event = {job->thread_id};
	reply(job, &response);
	app_server_notify(job->back.server, NOTIFY_thread_unarchived, &event);
}

enum rpc_verdict on_rpc_thread_unarchive(struct rpc_request *request, const struct app_thread_unarchive_params *params)
{
	return stored_turns_start_change(request, params->thread_id, run_unarchive, reply_unarchive, NULL);
}

/* ---- thread/delete ---- */

static int remove_all(struct store_job *job, struct error *err)
{
	int status = rollout_remove(job->home, job->thread_id, err);
	if (status != 0)
		return status;
	thread_note_remove(job->home, job->thread_id);
	thread_queue_remove(job->home, job->thread_id);
	return status;
}

static int run_delete(struct store_job *job, struct error *err)
{
	return run_locked(job, remove_all, err);
}

static void reply_delete(struct store_job *job)
{
	struct app_thread_delete_response response = {0};
	struct app_thread_deleted_notification event = {job->thread_id};
	struct thread *thread = threads_find(job->back.server, job->thread_id);
	if (thread)
		thread->has_unsaved_note = false; /* it was removed with the thread */
	unload(job);
	reply(job, &response);
	app_server_notify(job->back.server, NOTIFY_thread_deleted, &event);
}

/* Announces the deletion of the rollout to a loaded thread's engine, which would otherwise restore the file; false
 * withdraws that. */
static void let_go(const struct store_job *job, bool is_let_go)
{
	struct thread *thread = threads_find(job->back.server, job->thread_id);
	if (thread && thread->codex)
		codex_let_record_go(thread->codex, is_let_go);
}

static void undo_delete(struct store_job *job)
{
	let_go(job, false);
}

enum rpc_verdict on_rpc_thread_delete(struct rpc_request *request, const struct app_thread_delete_params *params)
{
	enum rpc_verdict verdict =
		stored_turns_start_change(request, params->thread_id, run_delete, reply_delete, undo_delete);
	if (verdict == RPC_WAIT)
		let_go(request->self, true);
	return verdict;
}

/* ---- thread/name/set ---- */

static struct str name_of(const struct store_job *job)
{
	return str_trim(((const struct app_thread_set_name_params *)job->params)->name);
}

static int run_name(struct store_job *job, struct error *err)
{
	struct error found = {0};
	auto_free char *path = job->is_loaded ? NULL : rollout_list_find_id(job->home, job->thread_id, &found);
	if (!path && !job->is_loaded)
		return error_set(err, ERR_not_found, "no rollout found for thread id %.*s", STR_ARG(job->thread_id));
	return rollout_name_set(job->home, job->thread_id, name_of(job), err);
}

static void reply_name(struct store_job *job)
{
	struct thread *thread = threads_find(job->back.server, job->thread_id);
	struct app_thread_set_name_response response = {0};
	struct app_thread_name_updated_notification event = {job->thread_id, name_of(job)};
	if (thread) {
		free(thread->name);
		thread->name = str_dup(name_of(job));
	}
	reply(job, &response);
	app_server_notify(job->back.server, NOTIFY_thread_name_updated, &event);
}

enum rpc_verdict on_rpc_thread_name_set(struct rpc_request *request, const struct app_thread_set_name_params *params)
{
	if (!str_trim(params->name).len)
		return rpc_fail(request, APP_INVALID_REQUEST, "thread name must not be empty");
	struct error err;
	const struct thread *thread = threads_find(request->server, params->thread_id);
	if (thread && thread->codex && codex_record(thread->codex, &err) != 0)
		return rpc_fail_with(request, &err);
	return stored_turns_start_change(request, params->thread_id, run_name, reply_name, NULL);
}

/* ---- rollout/compress ---- */

/* Answers at the end of the pass, where codex 0.169 answers at its start: a client that lists the files next sees the
 * result, and a build without libzstd returns an error. A client that disconnects cancels the pass. */
static int run_compress(struct store_job *job, struct error *err)
{
	return rollout_pack_all(job->home, &job->stop, err);
}

static void reply_compress(struct store_job *job)
{
	struct app_rollout_compress_response response = {0};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_rollout_compress(struct rpc_request *request, const struct app_nothing *params)
{
	(void)params;
	return store_job_start(request, 0, run_compress, reply_compress);
}
