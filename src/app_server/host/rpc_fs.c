/* Every request becomes a job that owns its data, because the client can disconnect before the disk answers: the job
 * is then stopped and frees itself when its worker notices. */
#include <errno.h>
#include <string.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/host/fs_watch.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/rpc_params.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "workspace/host_files.h"

struct fs_job {
	struct rpc_request *request;                       /* NULL: the client has disconnected */
	int (*run)(struct fs_job *job, struct error *err); /* called on a worker */
	void (*reply)(struct fs_job *job);                 /* called on the loop if run succeeded */
	atomic_bool stop;
	char *path, *target; /* target is used by fs/copy only */
	bool recursive, force;
	struct buf bytes; /* bytes to write, or the response */
	struct host_info info;
	struct host_entry *entries;
	size_t entry_count;
	struct arena arena; /* holds the entries of a folder */
	struct error err;
};

static void job_destroy(struct fs_job *job)
{
	free(job->path);
	free(job->target);
	buf_finish(&job->bytes);
	arena_finish(&job->arena);
	free(job);
}

static void on_cancel(struct rpc_request *request)
{
	struct fs_job *job = request->self;
	atomic_store(&job->stop, true);
	job->request = NULL;
}

static void on_work(void *self)
{
	struct fs_job *job = self;
	job->err.code = ERR_none;
	if (!atomic_load(&job->stop) && job->run(job, &job->err) == 0)
		job->err.code = ERR_none;
}

static void on_done(void *self)
{
	struct fs_job *job = self;
	if (job->request && job->err.code)
		rpc_refuse(job->request, rpc_error_from_system(&job->request->arena, NULL, &job->err));
	else if (job->request)
		job->reply(job);
	job_destroy(job);
}

static struct fs_job *job_create(struct rpc_request *request, struct str path)
{
	struct fs_job *job = xnew(struct fs_job);
	auto_free char *text = str_dup(path);
	job->request = request;
	job->path = path_normalize(text);
	return job;
}

static enum rpc_verdict job_start(struct fs_job *job, int (*run)(struct fs_job *job, struct error *err),
                                  void (*reply)(struct fs_job *job))
{
	struct rpc_request *request = job->request;
	job->run = run;
	job->reply = reply;
	worker_run(request->server->loop, on_work, on_done, job);
	return rpc_wait(request, on_cancel, job);
}

static bool has_nul(struct str path)
{
	return path.len && memchr(path.ptr, '\0', path.len);
}

static enum rpc_verdict refuse_nul(struct rpc_request *request)
{
	return rpc_fail(request, APP_INVALID_REQUEST, "file name contained an unexpected NUL byte");
}

static void reply_empty(struct fs_job *job)
{
	rpc_reply_empty(job->request);
}

/* ---- bytes ---- */

static int run_read(struct fs_job *job, struct error *err)
{
	auto_buf struct buf bytes;
	buf_init(&bytes, LIMIT_CLIENT_FILE);
	if (host_file_read(job->path, &bytes, err) != 0)
		return -1;
	buf_init(&job->bytes, 2 * LIMIT_CLIENT_FILE);
	text_base64(&job->bytes, bytes.data, bytes.len);
	return 0;
}

static void reply_read(struct fs_job *job)
{
	struct app_fs_read_file_response response = {buf_str(&job->bytes)};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_fs_read_file(struct rpc_request *request, const struct app_fs_read_file_params *params)
{
	if (has_nul(params->path))
		return refuse_nul(request);
	return job_start(job_create(request, params->path), run_read, reply_read);
}

static int run_write(struct fs_job *job, struct error *err)
{
	return host_file_write(job->path, buf_str(&job->bytes), err);
}

enum rpc_verdict on_rpc_fs_write_file(struct rpc_request *request, const struct app_fs_write_file_params *params)
{
	char why[RPC_PARAMS_WHY];
	auto_buf struct buf bytes;
	buf_init(&bytes, LIMIT_LINE);
	if (!rpc_params_base64(&bytes, params->data_base64, why))
		return rpc_fail(request, APP_INVALID_REQUEST, "fs/writeFile requires valid base64 dataBase64: %s", why);
	if (has_nul(params->path))
		return refuse_nul(request);
	struct fs_job *job = job_create(request, params->path);
	job->bytes = bytes;
	buf_init(&bytes, 0);
	return job_start(job, run_write, reply_empty);
}

/* ---- what is there ---- */

static int run_create_directory(struct fs_job *job, struct error *err)
{
	return host_folder_make(job->path, job->recursive, err);
}

enum rpc_verdict on_rpc_fs_create_directory(struct rpc_request *request,
                                            const struct app_fs_create_directory_params *params)
{
	if (has_nul(params->path))
		return refuse_nul(request);
	struct fs_job *job = job_create(request, params->path);
	job->recursive = !params->has_recursive || params->recursive;
	return job_start(job, run_create_directory, reply_empty);
}

static int run_get_metadata(struct fs_job *job, struct error *err)
{
	return host_info_read(job->path, &job->info, err);
}

static void reply_get_metadata(struct fs_job *job)
{
	struct app_fs_get_metadata_response response = {
		.is_directory = job->info.is_folder,
		.is_file = job->info.is_file,
		.is_symlink = job->info.is_link,
		.created_at_ms = job->info.created_ms,
		.modified_at_ms = job->info.changed_ms,
	};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_fs_get_metadata(struct rpc_request *request, const struct app_fs_get_metadata_params *params)
{
	if (has_nul(params->path))
		return refuse_nul(request);
	return job_start(job_create(request, params->path), run_get_metadata, reply_get_metadata);
}

static int run_read_directory(struct fs_job *job, struct error *err)
{
	return host_folder_list(job->path, &job->arena, &job->entries, &job->entry_count, err);
}

static void reply_read_directory(struct fs_job *job)
{
	struct app_fs_read_directory_entry *entries =
		arena_array(&job->arena, struct app_fs_read_directory_entry, job->entry_count + 1);
	for (size_t i = 0; i < job->entry_count; i++) {
		const struct host_entry *entry = &job->entries[i];
		entries[i] = (struct app_fs_read_directory_entry){entry->name, entry->is_folder, entry->is_file};
	}
	struct app_fs_read_directory_response response = {entries, job->entry_count};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_fs_read_directory(struct rpc_request *request,
                                          const struct app_fs_read_directory_params *params)
{
	if (has_nul(params->path))
		return refuse_nul(request);
	return job_start(job_create(request, params->path), run_read_directory, reply_read_directory);
}

/* ---- trees ---- */

static int run_remove(struct fs_job *job, struct error *err)
{
	return host_remove(job->path, job->recursive, job->force, &job->stop, err);
}

enum rpc_verdict on_rpc_fs_remove(struct rpc_request *request, const struct app_fs_remove_params *params)
{
	if (has_nul(params->path))
		return refuse_nul(request);
	struct fs_job *job = job_create(request, params->path);
	job->recursive = !params->has_recursive || params->recursive;
	job->force = !params->has_force || params->force;
	return job_start(job, run_remove, reply_empty);
}

static int run_copy(struct fs_job *job, struct error *err)
{
	return host_copy(job->path, job->target, job->recursive, &job->stop, err);
}

enum rpc_verdict on_rpc_fs_copy(struct rpc_request *request, const struct app_fs_copy_params *params)
{
	if (has_nul(params->source_path) || has_nul(params->destination_path))
		return refuse_nul(request);
	struct fs_job *job = job_create(request, params->source_path);
	auto_free char *target = str_dup(params->destination_path);
	job->target = path_normalize(target);
	job->recursive = params->recursive;
	return job_start(job, run_copy, reply_empty);
}

/* ---- watches ---- */

static void on_watched(struct str path, const struct error *err, void *self)
{
	struct rpc_request *request = self;
	struct app_fs_watch_response response = {path};
	if (err)
		rpc_refuse(request, rpc_error_from_system(&request->arena, NULL, err));
	else
		rpc_reply(request, &response);
}

/* Ends the watch when the client disconnects before the response. */
static void on_watch_cancel(struct rpc_request *request)
{
	const struct app_fs_watch_params *params = request->params;
	fs_watch_destroy(fs_watch_find(request->connection, params->watch_id));
}

enum rpc_verdict on_rpc_fs_watch(struct rpc_request *request, const struct app_fs_watch_params *params)
{
	if (fs_watch_find(request->connection, params->watch_id))
		return rpc_fail(request, APP_INVALID_REQUEST, "watchId already exists: %.*s",
		                STR_ARG(params->watch_id));
	if (fs_watch_is_full(request->connection))
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "this connection watches %d paths already; end one with fs/unwatch first",
		                LIMIT_CLIENT_WATCHES);
	if (has_nul(params->path))
		return refuse_nul(request);
	fs_watch_create(request->connection, params->watch_id, params->path, on_watched, request);
	return rpc_wait(request, on_watch_cancel, request);
}

enum rpc_verdict on_rpc_fs_unwatch(struct rpc_request *request, const struct app_fs_unwatch_params *params)
{
	struct app_fs_unwatch_response response = {0};
	fs_watch_destroy(fs_watch_find(request->connection, params->watch_id));
	return rpc_reply(request, &response);
}
