/* thread/metadata/update: what clients correct of a thread's repository and settings. The thread is read on a worker,
 * its note is changed on the loop. */
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/store/stored_turns.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_read_state.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/json.h"

static struct app_git_info *git_of(const struct app_thread *view, struct arena *arena)
{
	struct app_git_info *ret = arena_new(arena, struct app_git_info);
	if (view->git_info)
		record_copy(&record_app_git_info, view->git_info, arena, ret);
	return ret;
}

/* An absent key changes nothing; null clears the value. */
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
	if (!stored_turns_join(job, params->thread_id, "no rollout found for thread id", &view))
		return;
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
