/* thread/timeline/list returns turns and items as one list, paged from its end. A position is an index of that list,
 * which only grows at its end, so cursors stay valid while the thread continues. */
#include "app_server/rpc/server.h"
#include "app_server/history/item_view.h"
#include "app_server/store/stored_turns.h"
#include "app_server/threads/thread_items.h"
#include "base/json.h"
#include "base/limits.h"

enum { DEFAULT_PART = 25, LARGEST_PART = 100 };

struct timeline {
	struct app_thread_timeline_entry *entries;
	size_t count;
	struct arena *arena;
};

static void push(struct timeline *timeline, enum app_thread_timeline_entry_tag tag, void *body)
{
	timeline->entries[timeline->count++] = (struct app_thread_timeline_entry){.tag = tag, .body = body};
}

static void push_start(struct timeline *timeline, const struct app_turn *turn)
{
	struct app_timeline_turn_started *body = arena_new(timeline->arena, struct app_timeline_turn_started);
	*body = (struct app_timeline_turn_started){
		.position = (int64_t)timeline->count,
		.turn_id = turn->id,
		.has_started_at = turn->has_started_at,
		.started_at = turn->started_at,
	};
	push(timeline, app_thread_timeline_entry_turn_started, body);
}

static void push_item(struct timeline *timeline, const struct app_turn *turn, struct app_thread_item *item)
{
	struct app_timeline_item *body = arena_new(timeline->arena, struct app_timeline_item);
	*body = (struct app_timeline_item){(int64_t)timeline->count, turn->id, item};
	push(timeline, app_thread_timeline_entry_item, body);
}

static void push_end(struct timeline *timeline, const struct app_turn *turn)
{
	struct app_timeline_turn_completed *body = arena_new(timeline->arena, struct app_timeline_turn_completed);
	*body = (struct app_timeline_turn_completed){
		.position = (int64_t)timeline->count,
		.turn_id = turn->id,
		.status = turn->status,
		.error = turn->error,
		.has_started_at = turn->has_started_at,
		.started_at = turn->started_at,
		.has_completed_at = turn->has_completed_at,
		.completed_at = turn->completed_at,
		.has_duration_ms = turn->has_duration_ms,
		.duration_ms = turn->duration_ms,
	};
	push(timeline, app_thread_timeline_entry_turn_completed, body);
}

static struct timeline make(const struct thread_history *history, struct arena *arena)
{
	struct timeline timeline = {.arena = arena};
	size_t count = 0;
	for (size_t i = 0; i < history->count; i++)
		count += history->turns[i].items_count + 2;
	timeline.entries = arena_array(arena, struct app_thread_timeline_entry, count);
	for (size_t i = 0; i < history->count; i++) {
		struct app_turn *turn = &history->turns[i];
		push_start(&timeline, turn);
		for (size_t n = 0; n < turn->items_count; n++)
			push_item(&timeline, turn, &turn->items[n]);
		if (turn->status != app_turn_status_in_progress)
			push_end(&timeline, turn);
	}
	return timeline;
}

/* ---- parts ---- */

/* Finds the entry after the end of the page. */
static bool find_end(struct store_job *job, const struct timeline *timeline, size_t *ret)
{
	const struct app_thread_timeline_list_params *params = job->params;
	uint64_t position;
	*ret = timeline->count;
	if (!params->cursor.ptr)
		return true;
	const struct json *root = json_parse(&job->arena, params->cursor, NULL);
	if (!json_to_u64(json_get(root, "position"), &position) || position >= timeline->count ||
	    !str_eq(json_get_str(root, "threadId"), params->thread_id))
		return false;
	*ret = (size_t)position;
	return true;
}

static size_t limit_of(const struct app_thread_timeline_list_params *params)
{
	if (!params->has_limit)
		return DEFAULT_PART;
	if (params->limit < 1)
		return 1;
	return params->limit > LARGEST_PART ? LARGEST_PART : (size_t)params->limit;
}

static struct str id_of(const struct app_thread_timeline_entry *entry)
{
	if (entry->tag == app_thread_timeline_entry_item)
		return item_view_id(entry->item->item);
	return entry->tag == app_thread_timeline_entry_turn_started ? entry->turn_started->turn_id
	                                                            : entry->turn_completed->turn_id;
}

/* Writes a cursor in the format of codex 0.169, in which kinds are 0, 1 and 3. */
static struct str write_cursor(struct store_job *job, const struct timeline *timeline, size_t first)
{
	static const int kinds[] = {
		[app_thread_timeline_entry_turn_started] = 0,
		[app_thread_timeline_entry_item] = 1,
		[app_thread_timeline_entry_turn_completed] = 3,
	};
	const struct app_thread_timeline_list_params *params = job->params;
	const struct app_thread_timeline_entry *entry = &timeline->entries[first];
	auto_buf struct buf text;
	struct json_writer w = json_writer(&text);
	buf_init(&text, LIMIT_LINE);
	jw_object(&w);
	jw_member_str(&w, "threadId", params->thread_id);
	jw_member_i64(&w, "position", (int64_t)first);
	jw_member_i64(&w, "kind", kinds[entry->tag]);
	jw_member_str(&w, "id", id_of(entry));
	jw_object_end(&w);
	return arena_str(&job->arena, buf_str(&text));
}

static int run(struct store_job *job, struct error *err)
{
	const struct app_thread_timeline_list_params *params = job->params;
	return stored_turns_read(job, params->thread_id, true, err);
}

static void reply(struct store_job *job)
{
	const struct app_thread_timeline_list_params *params = job->params;
	const struct stored_turns *stored = job->out;
	struct app_thread view;
	size_t end;
	const struct rpc_error *error = stored_turns_join(job, params->thread_id, "thread not loaded:", &view);
	if (error) {
		rpc_refuse(job->request, error);
		return;
	}
	struct timeline timeline = make(&stored->history, &job->arena);
	if (!find_end(job, &timeline, &end)) {
		rpc_fail(job->request, APP_INVALID_REQUEST, "invalid thread timeline cursor");
		return;
	}
	size_t limit = limit_of(params), first = end > limit ? end - limit : 0;
	struct app_thread_timeline_list_response response = {
		.data = timeline.entries + first,
		.data_count = end - first,
		.next_cursor = first ? write_cursor(job, &timeline, first) : STR_NONE,
	};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_thread_timeline_list(struct rpc_request *request,
                                             const struct app_thread_timeline_list_params *params)
{
	return stored_turns_start(request, params->thread_id, run, reply);
}
