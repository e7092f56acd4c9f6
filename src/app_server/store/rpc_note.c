/* A note is read on a worker, with the thread that it is about, and changed on the loop, where no other change can come
 * between. It is written there, too, as lines of rollouts are: one small file, without waiting for the disk.
 *
 * How far somebody has read is kept only while a client is there that can show it (the experimental API): for others
 * each turn would cost a file. */
#define LOG_MODULE "app_server"
#include "app_server/store/rpc_note.h"

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/store/stored_turns.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/store/thread_history.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/uuid.h"
#include "config/config.h"

/* ---- both kinds of threads ---- */

/* A copy: the one that is loaded has its own; else what was found on disk. */
static struct thread_note *note_of(struct store_job *job, struct str thread_id)
{
	struct stored_turns *stored = job->out;
	struct thread *thread = threads_find(job->request->server, thread_id);
	struct thread_note *ret = arena_new(&job->arena, struct thread_note);
	thread_note_copy(thread ? &thread->note : &stored->note, &job->arena, ret);
	return ret;
}

static int keep(struct app_server *server, struct str thread_id, const struct thread_note *note, struct error *err)
{
	struct thread *thread = threads_find(server, thread_id);
	if (thread_note_write(config_home(server->config), thread_id, note, err) != 0)
		return -(int)err->code;
	if (thread)
		thread_set_note(thread, note);
	return 0;
}

static void tell_state(struct thread *thread)
{
	if (!thread->note.read)
		return;
	struct app_thread_read_state_changed_notification event = {str_of(thread->id), thread->note.read};
	thread_notify(thread, NOTIFY_thread_read_state_changed, &event);
}

/* ---- thread/readState/update ---- */

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
	rpc_fail_data(job->request, APP_INVALID_REQUEST, STR("read state changed"), buf_str(&data));
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
	if (keep(server, params->thread_id, note, &err) != 0) {
		rpc_fail_with(job->request, &err);
		return;
	}
	struct thread *thread = threads_find(server, params->thread_id);
	struct app_thread_read_state_update_response response = {note->read};
	if (thread)
		tell_state(thread);
	rpc_reply(job->request, &response);
}

static void reply_update(struct store_job *job)
{
	const struct app_thread_read_state_update_params *params = job->params;
	const struct stored_turns *stored = job->out;
	struct app_thread view;
	if (!stored_turns_join(job, params->thread_id, &view))
		return;
	if (!stored->is_found) {
		rpc_fail(job->request, APP_INVALID_REQUEST, "thread read state unavailable");
		return;
	}
	struct thread_note *note = note_of(job, params->thread_id);
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
		return threads_refuse_id(request, APP_INVALID_PARAMS, "thread", params->thread_id);
	return stored_turns_start(request, params->thread_id, run_update, reply_update);
}

/* ---- what a turn does to it ---- */

static bool has_readers(const struct app_server *server)
{
	const struct connection *it;
	list_for_each(it, &server->connections, link) {
		if (it->has_experimental_api)
			return true;
	}
	return false;
}

static void change(struct thread *thread, const struct thread_note *note)
{
	struct error err;
	if (keep(thread->server, str_of(thread->id), note, &err) != 0)
		log_debug("not noted: %s", err.text);
	else
		tell_state(thread);
}

void rpc_note_on_turn_end(struct thread *thread, struct str turn_id)
{
	auto_arena struct arena arena = {0};
	struct thread_note note = thread->note;
	const struct app_thread_unread_position *unread = note.read ? note.read->first_unread : NULL;
	if (thread->is_ephemeral || !has_readers(thread->server))
		return;
	if (unread && unread->tag == app_thread_unread_position_turn)
		turn_id = unread->turn->turn_id;
	else if (unread)
		turn_id = STR_NONE;
	thread_note_mark_unread(&note, turn_id, &arena);
	change(thread, &note);
}

void rpc_note_on_revert(struct thread *thread, const struct thread_history *history, const struct app_turn *from)
{
	auto_arena struct arena arena = {0};
	struct thread_note note = thread->note;
	const struct app_thread_unread_position *unread = note.read ? note.read->first_unread : NULL;
	if (!unread || unread->tag != app_thread_unread_position_turn)
		return;
	const struct app_turn *turn = thread_history_find(history, unread->turn->turn_id);
	if (!turn || turn < from)
		return;
	thread_note_mark_read(&note, &arena);
	change(thread, &note);
}

/* ---- thread/metadata/update ---- */

static struct app_git_info *git_of(const struct app_thread *view, struct arena *arena)
{
	struct app_git_info *ret = arena_new(arena, struct app_git_info);
	if (view->git_info)
		record_copy(&record_app_git_info, view->git_info, arena, ret);
	return ret;
}

/* Absent: as it is; null: not known. */
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
	const struct stored_turns *stored = job->out;
	struct app_thread view;
	if (!stored->is_found && !threads_find(server, params->thread_id)) {
		rpc_fail(job->request, APP_INVALID_REQUEST, "no rollout found for thread id %.*s",
		         STR_ARG(params->thread_id));
		return;
	}
	stored_turns_join(job, params->thread_id, &view);
	struct thread_note *note = note_of(job, params->thread_id);
	if (set_metadata(params, &view, note, &job->arena, &err) != 0 ||
	    keep(server, params->thread_id, note, &err) != 0) {
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
