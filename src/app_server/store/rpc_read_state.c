/* thread/readState/update. A worker reads the thread, the loop changes its note. An update of an outdated revision
 * changes nothing and returns the current state. */
#include "app_server/rpc/rpc_request.h"
#include "app_server/store/stored_turns.h"
#include "app_server/threads/thread_read_state.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/uuid.h"

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
	if (!stored_turns_join(job, params->thread_id, "thread not loaded:", &view))
		return;
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
