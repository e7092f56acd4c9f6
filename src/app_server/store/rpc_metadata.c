/* Methods that change a thread's note: thread/metadata/update, which corrects its repository and settings, and
 * thread/readState/update. A worker reads the thread; the loop changes the note. */
#include "app_server/rpc/rpc_request.h"

#include "app_server/rpc/server.h"
#include "app_server/store/stored_turns.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_read_state.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/uuid.h"

static struct app_git_info *git_of(const struct app_thread *view, struct arena *arena)
{
	struct app_git_info *ret = arena_new(arena, struct app_git_info);
	if (view->git_info)
		record_copy(&record_app_git_info, view->git_info, arena, ret);
	return ret;
}

/* Sets a text. An absent key changes nothing; null clears the value. */
static int set_text(const struct json *patch, const char *key, struct str *text, struct error *err)
{
	const struct json *value = json_get(patch, key);
	struct str words = STR_NONE;
	if (!value)
		return 0;
	if (json_to_str(value, &words) && !(words = str_trim(words)).len)
		return error_set(err, ERR_invalid, "gitInfo.%s must not be empty", key);
	*text = words;
	return 0;
}

static int set_git(const struct json *patch, const struct app_thread *view, struct thread_note *note,
                   struct arena *arena, struct error *err)
{
	struct app_thread_metadata_git_info_update_params checked = {0};
	struct app_git_info *git = git_of(view, arena);
	if (record_decode(&record_app_thread_metadata_git_info_update_params, patch, arena, &checked, err) != 0)
		return error_wrap(err, "Invalid request");
	if (!json_get(patch, "sha") && !json_get(patch, "branch") && !json_get(patch, "originUrl"))
		return error_set(err, ERR_invalid, "gitInfo must include at least one field");
	if (set_text(patch, "sha", &git->sha, err) != 0 || set_text(patch, "branch", &git->branch, err) != 0 ||
	    set_text(patch, "originUrl", &git->origin_url, err) != 0)
		return -(int)err->code;
	note->git = git;
	return 0;
}

static int set_metadata(const struct app_thread_metadata_update_params *params, const struct app_thread *view,
                        struct thread_note *note, struct arena *arena, struct error *err)
{
	const struct json *patch = params->git_info.ptr ? json_parse(arena, params->git_info, NULL) : NULL;
	if (params->project_id.len)
		return error_set(err, ERR_invalid, "project not found: %.*s", STR_ARG(params->project_id));
	if (params->has_daybreak_enabled) {
		note->has_daybreak = true;
		note->daybreak = params->daybreak_enabled;
	}
	return patch && patch->type != JSON_null ? set_git(patch, view, note, arena, err) : 0;
}

static int run_metadata(struct store_job *job, struct error *err)
{
	const struct app_thread_metadata_update_params *params = job->params;
	return stored_turns_read(job, params->thread_id, false, err);
}

static void reply_metadata(struct store_job *job)
{
	struct error err;
	const struct app_thread_metadata_update_params *params = job->params;
	struct app_server *server = job->request->server;
	struct app_thread view;
	const struct rpc_error *error =
		stored_turns_join(job, params->thread_id, "no rollout found for thread id", &view);
	if (error) {
		rpc_refuse(job->request, error);
		return;
	}
	struct thread_note *note = stored_turns_note(job, params->thread_id);
	if (set_metadata(params, &view, note, &job->arena, &err) != 0 ||
	    thread_note_keep(server, params->thread_id, note, &err) != 0) {
		rpc_fail_with(job->request, &err);
		return;
	}
	thread_note_apply(note, &view);
	struct app_thread_metadata_update_response response = {&view};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_thread_metadata_update(struct rpc_request *request,
                                               const struct app_thread_metadata_update_params *params)
{
	const struct thread *thread = threads_find(request->server, params->thread_id);
	bool has_git = params->git_info.ptr && !str_is(params->git_info, "null");
	if (thread && thread->is_ephemeral)
		return rpc_fail(request, APP_INVALID_REQUEST, "ephemeral thread does not support metadata updates: %s",
		                thread->id);
	if (!has_git && !params->project_id.ptr && !params->has_daybreak_enabled)
		return rpc_fail(request, APP_INVALID_REQUEST, "thread metadata update must include at least one field");
	return stored_turns_start(request, params->thread_id, run_metadata, reply_metadata);
}

/* ---- thread/readState/update ---- */

/* Updates the read state. An update of an outdated revision is refused with the current state. */
static int run_update(struct store_job *job, struct error *err)
{
	const struct app_thread_read_state_update_params *params = job->params;
	return stored_turns_read(job, params->thread_id, false, err);
}

static void refuse_outdated(struct store_job *job, const struct app_thread_read_state *state)
{
	auto_buf struct buf data;
	struct json_writer w = json_writer(&data);
	buf_init(&data, LIMIT_THREAD_NOTE);
	jw_object(&w);
	jw_member_cstr(&w, "reason", "readStateConflict");
	jw_key(&w, "readState");
	record_encode(&record_app_thread_read_state, state, &w);
	jw_object_end(&w);
	rpc_refuse(job->request,
	           rpc_error_data(&job->request->arena, APP_INVALID_REQUEST, buf_str(&data), "read state changed"));
}

static void update(struct store_job *job, struct thread_note *note)
{
	struct error err;
	const struct app_thread_read_state_update_params *params = job->params;
	struct app_server *server = job->request->server;
	if (params->operation->tag == app_thread_read_state_operation_read)
		thread_note_mark_read(note, &job->arena);
	else
		thread_note_mark_unread(note, STR_NONE, &job->arena);
	if (thread_note_keep(server, params->thread_id, note, &err) != 0) {
		rpc_fail_with(job->request, &err);
		return;
	}
	struct thread *thread = threads_find(server, params->thread_id);
	struct app_thread_read_state_update_response response = {note->read};
	if (thread)
		thread_read_state_notify(thread);
	rpc_reply(job->request, &response);
}

static void reply_update(struct store_job *job)
{
	const struct app_thread_read_state_update_params *params = job->params;
	const struct stored_turns *stored = job->out;
	struct app_thread view;
	const struct rpc_error *error = stored_turns_join(job, params->thread_id, "thread not loaded:", &view);
	if (error) {
		rpc_refuse(job->request, error);
		return;
	}
	if (!stored->is_found) {
		rpc_fail(job->request, APP_INVALID_REQUEST, "thread read state unavailable");
		return;
	}
	struct thread_note *note = stored_turns_note(job, params->thread_id);
	struct app_thread_read_state state = thread_note_state(note, params->thread_id, &job->arena);
	if (!str_eq(state.revision, params->expected_revision))
		refuse_outdated(job, &state);
	else
		update(job, note);
}

enum rpc_verdict on_rpc_thread_read_state_update(struct rpc_request *request,
                                                 const struct app_thread_read_state_update_params *params)
{
	if (!uuid_is_valid(params->thread_id))
		return rpc_refuse(request,
		                  rpc_error_bad_id(&request->arena, APP_INVALID_PARAMS, "thread", params->thread_id));
	return stored_turns_start(request, params->thread_id, run_update, reply_update);
}
