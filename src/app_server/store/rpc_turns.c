/* Pages of the turns and items of one thread. Each page reads the whole file, because only the file is authoritative
 * and clients request pages at the pace at which a user scrolls. */
#include "app_server/store/stored_turns.h"
#include "app_server/history/history_page.h"
#include "app_server/history/item_view.h"
#include "app_server/threads/thread_items.h"
#include "base/mem.h"

/* ---- thread/turns/list ---- */

static int run_turns(struct store_job *job, struct error *err)
{
	const struct app_thread_turns_list_params *params = job->params;
	return stored_turns_read(job, params->thread_id, true, err);
}

static void reply_turns(struct store_job *job)
{
	const struct app_thread_turns_list_params *params = job->params;
	struct stored_turns *stored = job->out;
	struct app_thread view;
	struct app_turns_page page;
	struct error err;
	const struct history_turns_query query = {
		.thread_id = params->thread_id,
		.history = &stored->history,
		.cursor = params->cursor,
		.has_limit = params->has_limit,
		.limit = params->limit,
		.is_ascending = params->has_sort_direction && params->sort_direction == app_sort_direction_asc,
		.view = params->has_items_view ? params->items_view : app_turn_items_view_summary,
	};
	const struct rpc_error *error = stored_turns_join(job, params->thread_id, "thread not loaded:", &view);
	if (!error && history_turns_page(&query, &job->arena, &page, &err) != 0)
		error = rpc_error_from(&job->request->arena, &err);
	if (error) {
		rpc_refuse(job->request, error);
		return;
	}
	struct app_thread_turns_list_response response = {
		.data = page.data,
		.data_count = page.data_count,
		.next_cursor = page.next_cursor,
		.backwards_cursor = page.backwards_cursor,
	};
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_thread_turns_list(struct rpc_request *request,
                                          const struct app_thread_turns_list_params *params)
{
	return stored_turns_start(request, params->thread_id, run_turns, reply_turns);
}

/* ---- items ---- */

static int64_t time_of(const struct app_thread_item *item, const char *name, bool *ret_has)
{
	const struct record *body = union_find_tag(&union_app_thread_item, (int)item->tag)->body;
	const struct field *field = record_find_field(body, name);
	const char *base = item->body;
	*ret_has = *(const bool *)(base + field->aux - 1);
	return *(const int64_t *)(const void *)(base + field->offset);
}

static struct app_thread_item_entry entry_of(struct str turn_id, struct app_thread_item *item)
{
	struct app_thread_item_entry entry = {.turn_id = turn_id, .item = item};
	entry.started_at_ms = time_of(item, "started_at_ms", &entry.has_started_at_ms);
	entry.completed_at_ms = time_of(item, "completed_at_ms", &entry.has_completed_at_ms);
	return entry;
}

/* Lists all items, or those of one turn. */
static size_t flatten(const struct thread_history *history, struct str turn_id, struct arena *arena,
                      struct app_thread_item_entry **ret)
{
	size_t count = 0, at = 0;
	for (size_t i = 0; i < history->count; i++)
		count += history->turns[i].items_count;
	*ret = arena_array(arena, struct app_thread_item_entry, count);
	for (size_t i = 0; i < history->count; i++) {
		struct app_turn *turn = &history->turns[i];
		for (size_t n = 0; n < turn->items_count && (!turn_id.ptr || str_eq(turn->id, turn_id)); n++)
			(*ret)[at++] = entry_of(turn->id, &turn->items[n]);
	}
	return at;
}

/* The thread, and the turn if one is named. */
static const struct rpc_error *check_turn(struct store_job *job, struct str thread_id, struct str turn_id)
{
	const struct stored_turns *stored = job->out;
	struct app_thread view;
	const struct rpc_error *error = stored_turns_join(job, thread_id, "thread not loaded:", &view);
	if (!error && turn_id.ptr && !thread_history_find(&stored->history, turn_id))
		error = rpc_error(&job->request->arena, APP_INVALID_REQUEST, "turn not found: %.*s", STR_ARG(turn_id));
	return error;
}

static void defer(struct app_thread_item_entry *entry, const struct app_thread_item_output_deferral *what)
{
	if (!what || !what->command_execution || entry->item->tag != app_thread_item_command_execution ||
	    !entry->item->command_execution->aggregated_output.ptr)
		return;
	entry->item->command_execution->aggregated_output = STR_NONE;
	entry->has_output_deferred = entry->output_deferred = true;
}

/* Returns the cursor. It can also be {"type":"item","itemId":…}: the page then begins with that item. */
static struct str cursor_of(struct store_job *job, const struct app_thread_item_entry *entries, size_t count)
{
	const struct app_thread_items_list_params *params = job->params;
	struct str text;
	const struct json *root = params->cursor.ptr ? json_parse(&job->arena, params->cursor, NULL) : NULL;
	if (!root || root->type == JSON_null)
		return STR_NONE;
	if (json_to_str(root, &text))
		return text;
	struct str wanted = json_get_str(root, "itemId");
	for (size_t i = 0; i < count; i++) {
		if (str_eq(item_view_id(entries[i].item), wanted))
			return history_page_cursor(params->thread_id, HISTORY_ITEMS, i, true, &job->arena);
	}
	return params->cursor; /* an invalid cursor is refused later */
}

static int run_items(struct store_job *job, struct error *err)
{
	const struct app_thread_items_list_params *params = job->params;
	return stored_turns_read(job, params->thread_id, true, err);
}

static void reply_items(struct store_job *job)
{
	const struct app_thread_items_list_params *params = job->params;
	const struct stored_turns *stored = job->out;
	struct app_thread_item_entry *entries;
	struct history_page page;
	struct error err;
	const struct rpc_error *error = check_turn(job, params->thread_id, params->turn_id);
	if (error) {
		rpc_refuse(job->request, error);
		return;
	}
	size_t count = flatten(&stored->history, params->turn_id, &job->arena, &entries);
	struct history_page_query query = {
		.thread_id = params->thread_id,
		.cursor = cursor_of(job, entries, count),
		.kind = HISTORY_ITEMS,
		.count = count,
		.has_limit = params->has_limit,
		.limit = params->limit,
		.is_descending = params->has_sort_direction && params->sort_direction == app_sort_direction_desc,
	};
	if (history_page_make(&query, &job->arena, &page, &err) != 0) {
		rpc_fail_with(job->request, &err);
		return;
	}
	struct app_thread_items_list_response response = {
		.data = arena_array(&job->arena, struct app_thread_item_entry, page.count),
		.data_count = page.count,
		.next_cursor = page.next_cursor,
		.backwards_cursor = page.backwards_cursor,
	};
	for (size_t i = 0; i < page.count; i++) {
		response.data[i] = entries[history_page_at(&page, i)];
		defer(&response.data[i], params->defer_output);
	}
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_thread_items_list(struct rpc_request *request,
                                          const struct app_thread_items_list_params *params)
{
	return stored_turns_start(request, params->thread_id, run_items, reply_items);
}

/* ---- thread/items/read ---- */

static int run_items_read(struct store_job *job, struct error *err)
{
	const struct app_thread_items_read_params *params = job->params;
	return stored_turns_read(job, params->thread_id, true, err);
}

static void reply_items_read(struct store_job *job)
{
	const struct app_thread_items_read_params *params = job->params;
	const struct stored_turns *stored = job->out;
	struct app_thread_item_entry *entries;
	const struct rpc_error *error = check_turn(job, params->thread_id, params->turn_id);
	if (error) {
		rpc_refuse(job->request, error);
		return;
	}
	size_t count = flatten(&stored->history, params->turn_id, &job->arena, &entries);
	struct app_thread_items_read_response response = {
		.data = arena_array(&job->arena, struct app_thread_item_entry, params->item_ids_count),
	};
	for (size_t i = 0; i < params->item_ids_count; i++) {
		for (size_t n = 0; n < count; n++) {
			if (str_eq(item_view_id(entries[n].item), params->item_ids[i])) {
				response.data[response.data_count++] = entries[n];
				break;
			}
		}
	}
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_thread_items_read(struct rpc_request *request,
                                          const struct app_thread_items_read_params *params)
{
	enum { MOST_IDS = 100 };
	if (params->item_ids_count < 1 || params->item_ids_count > MOST_IDS)
		return rpc_fail(request, APP_INVALID_REQUEST, "itemIds must contain 1 to %d IDs", MOST_IDS);
	return stored_turns_start(request, params->thread_id, run_items_read, reply_items_read);
}
