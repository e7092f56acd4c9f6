/* Cursors have the reference's shape, a JSON object in a string; the ordinal is the entry's place in the list, which
 * only grows at its end. */
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

enum { DEFAULT_PART = 25, LARGEST_PART = 100 };

/* ---- one thread ---- */

enum rpc_verdict stored_turns_start(struct rpc_request *request, struct str thread_id, store_job_run_fn run,
                                    store_job_reply_fn reply)
{
	if (!uuid_is_valid(thread_id)) {
		threads_get(request, thread_id); /* says where it stops being an id */
		return RPC_FAIL;
	}
	return store_job_start(request, sizeof(struct stored_turns), run, reply);
}

static int read_history(struct store_job *job, const char *path, struct stored_turns *out, struct error *err)
{
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_EVENTS, err);
	if (!reader)
		return -1;
	thread_history_read(reader, &job->arena, &out->history);
	rollout_reader_destroy(reader);
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

/* Its turn has lines in the file already, and no end. */
static void mark_running(const struct thread *thread, struct thread_history *history)
{
	struct app_turn *turn = thread->turn ? thread_history_find(history, str_of(thread->turn->id)) : NULL;
	if (turn && !turn->has_completed_at)
		turn->status = app_turn_status_in_progress;
}

bool stored_turns_join(struct store_job *job, struct str thread_id, struct app_thread *ret)
{
	struct stored_turns *out = job->out;
	struct thread *thread = threads_find(job->request->server, thread_id);
	if (!out->is_found && !thread) {
		rpc_fail(job->request, APP_INVALID_REQUEST, "thread not loaded: %.*s", STR_ARG(thread_id));
		return false;
	}
	if (!out->is_found) {
		thread_view(thread, &job->arena, ret);
		return true;
	}
	*ret = out->thread;
	if (!thread)
		return true;
	stored_thread_join(job->request->server, &job->arena, ret);
	ret->has_can_accept_direct_input = ret->can_accept_direct_input = true;
	mark_running(thread, &out->history);
	return true;
}

/* ---- parts of lists ---- */

struct str stored_page_cursor(struct str thread_id, const char *kind, size_t index, bool includes, struct arena *arena)
{
	return str_of(arena_printf(arena,
	                           "{\"requestedThreadId\":\"%.*s\",\"rolloutOrdinal\":%zu,\"includeAnchor\":%s,"
	                           "\"scope\":{\"kind\":\"%s\"}}",
	                           STR_ARG(thread_id), index, includes ? "true" : "false", kind));
}

static int refuse_cursor(struct str cursor, struct error *err)
{
	return error_set(err, ERR_invalid, "invalid cursor: %.*s", (int)(cursor.len > 200 ? 200 : cursor.len),
	                 cursor.len ? cursor.ptr : "");
}

/* The index that the part begins with; count or SIZE_MAX: it is empty. */
static int find_first(const struct stored_page_query *query, struct arena *arena, size_t *ret, struct error *err)
{
	uint64_t ordinal;
	*ret = query->is_descending ? query->count - 1 : 0;
	if (!query->cursor.ptr)
		return 0;
	const struct json *root = json_parse(arena, query->cursor, NULL);
	if (!json_to_u64(json_get(root, "rolloutOrdinal"), &ordinal) || ordinal >= query->count ||
	    !str_eq(json_get_str(root, "requestedThreadId"), query->thread_id) ||
	    !str_is(json_get_str(json_get(root, "scope"), "kind"), query->kind))
		return refuse_cursor(query->cursor, err);
	*ret = (size_t)ordinal;
	if (!json_get_bool(root, "includeAnchor", false))
		*ret += query->is_descending ? SIZE_MAX : 1;
	return 0;
}

static size_t limit_of(const struct stored_page_query *query)
{
	if (!query->has_limit)
		return DEFAULT_PART;
	if (query->limit < 1)
		return 1;
	return query->limit > LARGEST_PART ? LARGEST_PART : (size_t)query->limit;
}

size_t stored_page_at(const struct stored_page *page, size_t n)
{
	return page->is_descending ? page->first - n : page->first + n;
}

int stored_page_make(const struct stored_page_query *query, struct arena *arena, struct stored_page *ret,
                     struct error *err)
{
	size_t limit = limit_of(query);
	*ret = (struct stored_page){.is_descending = query->is_descending};
	int status = find_first(query, arena, &ret->first, err);
	if (status != 0 || ret->first >= query->count)
		return status;
	size_t rest = query->is_descending ? ret->first + 1 : query->count - ret->first;
	ret->count = rest < limit ? rest : limit;
	ret->backwards_cursor = stored_page_cursor(query->thread_id, query->kind, ret->first, true, arena);
	if (rest > limit)
		ret->next_cursor = stored_page_cursor(query->thread_id, query->kind,
		                                      stored_page_at(ret, ret->count - 1), false, arena);
	return 0;
}
