/* thread/resume opens a stored thread, or joins a loaded one. A client that joins becomes a subscriber before the
 * rollout is read and receives notifications meanwhile, so that it misses no event.
 *
 * thread/fork opens a copy of a rollout; the source keeps running, in this process or another one. */
#include <errno.h>

#include "app_server/history/history_page.h"
#include "app_server/history/item_view.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/thread_unload.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_fork.h"
#include "app_server/threads/thread_goal.h"
#include "app_server/threads/thread_inject.h"
#include "app_server/threads/thread_items.h"
#include "app_server/threads/thread_load.h"
#include "app_server/threads/thread_open.h"
#include "app_server/threads/thread_queue_send.h"
#include "app_server/threads/thread_restore.h"
#include "app_server/threads/threads.h"
#include "base/json.h"
#include "base/limits.h"
#include "rollout/rollout_reader.h"

/* A request whose rollout is being read; allocated in the request's arena. */
struct resume {
	struct rpc_request *request;
	struct thread_load *load;
	bool is_new_subscriber;
};

/* ---- the response of thread/resume ---- */

static struct app_thread_item *find_item(struct app_thread_item *items, size_t count, struct str id)
{
	for (size_t i = count; i > 0; i--) {
		if (str_eq(item_view_id(&items[i - 1]), id))
			return &items[i - 1];
	}
	return NULL;
}

/* Adds the running turn, with which the file may end. Items that have started may not be in the file yet. */
static void add_running(const struct thread *thread, struct thread_load *load, struct arena *arena)
{
	struct app_turn *turn = thread->turn ? thread_history_find(&load->history, str_of(thread->turn->id)) : NULL;
	const struct thread_item *it;
	size_t count = turn ? turn->items_count : 0, open = 0;
	if (!turn)
		return;
	list_for_each(it, &thread->items, link)
		open++;
	struct app_thread_item *items = arena_array(arena, struct app_thread_item, count + open);
	for (size_t i = 0; i < count; i++)
		items[i] = turn->items[i];
	list_for_each(it, &thread->items, link) {
		struct app_thread_item *known = find_item(items, turn->items_count, it->id);
		if (str_is(it->turn_id, thread->turn->id))
			*(known ? known : &items[count++]) = it->item;
	}
	turn->items = items;
	turn->items_count = count;
	turn->status = app_turn_status_in_progress;
	history_json_replace(&load->turns, (size_t)(turn - load->history.turns), turn);
}

/* Reads initialTurnsPage. ERR_invalid: it is not one. */
static int read_turns_query(struct str text, struct arena *arena, struct history_turns_query *ret, struct error *err)
{
	struct app_thread_resume_initial_turns_page_params params = {0};
	const struct json *json = json_parse(arena, text, err);
	if (!json || record_decode(&record_app_thread_resume_initial_turns_page_params, json, arena, &params, err) != 0)
		return error_wrap(err, "Invalid request: initialTurnsPage");
	ret->has_limit = params.has_limit;
	ret->limit = params.limit;
	ret->is_ascending = params.has_sort_direction && params.sort_direction == app_sort_direction_asc;
	ret->view = params.has_items_view ? params.items_view : app_turn_items_view_summary;
	return 0;
}

/* Writes the page that the client wants with the thread; it was checked before. */
static void write_turns(const struct thread *thread, const struct thread_load *load, struct str wanted,
                        struct arena *arena, struct buf *out)
{
	struct error ignored;
	struct app_turns_page page;
	struct history_turns_query query = {.thread_id = str_of(thread->id), .history = &load->history};
	struct json_writer w = json_writer(out);
	if (wanted.ptr && read_turns_query(wanted, arena, &query, &ignored) == 0 &&
	    history_turns_page(&query, arena, &page, &ignored) == 0)
		record_encode(&record_app_turns_page, &page, &w);
}

static void answer(struct thread *thread, struct rpc_request *request, struct thread_load *load)
{
	auto_arena struct arena arena = {0};
	const struct app_thread_resume_params *params = request->params;
	struct connection *connection = request->connection;
	bool shows_turns = !params->exclude_turns; /* read now, because the response frees the parameters */
	struct app_thread_start_response opened;
	auto_buf struct buf page;
	buf_init(&page, LIMIT_RPC_LIST);
	thread_restore_git(load, thread);
	thread_open_describe(thread, &arena, &opened);
	add_running(thread, load, &arena);
	write_turns(thread, load, params->initial_turns_page, &arena, &page);
	if (!thread->turn)
		thread_set_last_turn(thread, thread_history_last(&load->history));
	struct app_thread_resume_response response = {
		THREAD_OPEN_RESPONSE(&opened),
		.collaboration_mode = thread->settings->collaboration_mode,
		.initial_turns_page = page.len && !page.over ? buf_str(&page) : STR_NONE,
		.turns_backwards_cursor = history_turns_end(str_of(thread->id), load->history.count, &arena),
		.items_backwards_cursor =
			history_items_end(str_of(thread->id), load->history.turns, load->history.count, &arena),
	};
	if (shows_turns)
		rpc_reply_with_items(request, &response, "result.thread.turns", &load->turns.text);
	else
		rpc_reply(request, &response);
	thread_restore_usage(load, thread, shows_turns ? connection : NULL);
	thread_notify_goal(thread, STR_NONE);
}

/* ---- a stored thread ---- */

static void answer_opened(struct thread *thread, struct rpc_request *request)
{
	thread_restore_origin(thread->opening.load, thread);
	thread_notify_status(thread);
	answer(thread, request, thread->opening.load);
	thread_queue_send_next(thread);
}

static void open_stored(struct rpc_request *request, struct thread_load *load)
{
	const struct app_thread_resume_params *resume = request->params;
	const struct app_thread_start_params params = {THREAD_RESTORE_PARAMS(resume)};
	thread_restore_open(request, load, &params, "failed to resume the thread", answer_opened);
}

/* ---- a history without a rollout ---- */

/* Returns the text of the user's first message, or STR_NONE. */
static struct str first_words(const struct json *items)
{
	json_for_each(item, items) {
		const struct json *content = json_get(item, "content");
		if (str_is(json_get_str(item, "role"), "user") && json_is(content, JSON_array) && content->child)
			return json_get_str(content->child, "text");
	}
	return STR_NONE;
}

static void answer_history(struct thread *thread, struct rpc_request *request)
{
	struct error err;
	auto_arena struct arena arena = {0};
	const struct app_thread_resume_params *params = request->params;
	struct app_thread_start_response opened;
	const struct json *items = json_parse(&arena, params->history, NULL);
	struct str words = first_words(items);
	if (thread_inject(thread, items, &arena, &err) != 0) {
		rpc_fail_submit(request, &err);
		return;
	}
	thread->preview = words.len ? str_dup(words) : NULL;
	thread_open_describe(thread, &arena, &opened);
	struct app_thread_resume_response response = {THREAD_OPEN_RESPONSE(&opened),
	                                              .collaboration_mode = thread->settings->collaboration_mode};
	rpc_reply(request, &response);
}

/* Begins a new thread with these items; the id and the path of the request are not used. */
static enum rpc_verdict open_history(struct rpc_request *request, const struct app_thread_resume_params *params)
{
	struct error err;
	struct app_thread_start_params *start = arena_new(&request->arena, struct app_thread_start_params);
	struct thread_opening opening = {
		.params = start, .refusal = "failed to load configuration", .answer = answer_history};
	*start = (struct app_thread_start_params){THREAD_RESTORE_PARAMS(params)};
	if (thread_inject_check(json_parse(&request->arena, params->history, NULL), &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "%s", err.text);
	return thread_open(request, &opening, &err) ? RPC_WAIT : rpc_fail_with(request, &err);
}

/* ---- the request ---- */

static void on_cancel(struct rpc_request *request)
{
	struct resume *resume = request->self;
	thread_load_destroy(resume->load);
}

static void refuse(struct resume *resume, const struct error *err)
{
	const struct app_thread_resume_params *params = resume->request->params;
	struct thread *thread = threads_find(resume->request->server, params->thread_id);
	if (thread && resume->is_new_subscriber)
		subscribers_remove(thread, resume->request->connection);
	if (thread && err->sys == ENOENT)
		rpc_fail(resume->request, APP_INVALID_REQUEST, "no rollout found for thread id %s", thread->id);
	else
		rpc_fail(resume->request, APP_INVALID_REQUEST, "%s", err->text);
}

/* True if a request for a loaded thread names another file than the thread's. */
static bool is_stale(const struct thread *thread, struct str path)
{
	return path.ptr && !(thread->path && str_is(path, thread->path));
}

static enum rpc_verdict refuse_stale(struct rpc_request *request, const struct thread *thread, struct str path)
{
	return rpc_fail(request, APP_INVALID_REQUEST,
	                "cannot resume running thread %s with stale path: requested `%.*s`, active `%s`", thread->id,
	                STR_ARG(path), thread->path ? thread->path : "");
}

static void on_loaded(struct thread_load *load, void *self)
{
	struct resume *resume = self;
	struct rpc_request *request = resume->request;
	if (load->err.code) {
		refuse(resume, &load->err);
		thread_load_destroy(load);
		return;
	}
	struct thread *thread = threads_find(request->server, load->reader->meta.thread_id);
	if (!thread) {
		open_stored(request, load);
		return;
	}
	const struct app_thread_resume_params *params = request->params;
	if (is_stale(thread, params->path)) {
		refuse_stale(request, thread, params->path);
	} else {
		subscribers_add(thread, request->connection);
		answer(thread, request, load);
	}
	thread_load_destroy(load);
}

static enum rpc_verdict load(struct rpc_request *request, struct str id, struct str path, bool is_new_subscriber)
{
	const struct app_thread_resume_params *params = request->params;
	struct resume *resume = arena_new(&request->arena, struct resume);
	resume->request = request;
	resume->is_new_subscriber = is_new_subscriber;
	resume->load = thread_load_create(request->server, id, path, NULL, !params->exclude_turns, on_loaded, resume);
	return rpc_wait(request, on_cancel, resume);
}

static enum rpc_verdict join(struct rpc_request *request, struct thread *thread, struct str path)
{
	bool is_new = !thread_has_subscriber(thread, request->connection);
	if (is_stale(thread, path))
		return refuse_stale(request, thread, path);
	if (!thread->path)
		return rpc_fail(request, APP_INVALID_REQUEST, "no rollout found for thread id %s", thread->id);
	subscribers_add(thread, request->connection);
	return load(request, str_of(thread->id), str_of(thread->path), is_new);
}

enum rpc_verdict on_rpc_thread_resume(struct rpc_request *request, const struct app_thread_resume_params *params)
{
	struct thread *thread = threads_find(request->server, params->thread_id);
	struct history_turns_query ignored;
	struct error err;
	if (params->initial_turns_page.ptr &&
	    read_turns_query(params->initial_turns_page, &request->arena, &ignored, &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "%s", err.text);
	if (params->history.ptr)
		return open_history(request, params);
	if (thread)
		return join(request, thread, params->path);
	if (!params->path.ptr && !uuid_is_valid(params->thread_id))
		return rpc_refuse(request,
		                  rpc_error_bad_id(&request->arena, APP_INVALID_REQUEST, "session", params->thread_id));
	return load(request, params->thread_id, params->path, false);
}

/* ---- thread/fork ---- */

static void answer_fork(struct thread *thread, struct rpc_request *request)
{
	auto_arena struct arena arena = {0};
	const struct app_thread_fork_params *params = request->params;
	struct thread_load *load = thread->opening.load;
	struct connection *connection = request->connection;
	bool shows_turns = !params->exclude_turns; /* read now, because the response frees the parameters */
	struct app_thread_start_response opened;
	thread_restore_origin(load, thread);
	thread_fork_keep(load->fork);
	thread_set_last_turn(thread, thread_history_last(&load->history));
	thread_open_describe(thread, &arena, &opened);
	const struct app_thread_fork_response response = {THREAD_OPEN_RESPONSE(&opened)};
	if (shows_turns)
		rpc_reply_with_items(request, &response, "result.thread.turns", &load->turns.text);
	else
		rpc_reply(request, &response);
	thread_restore_usage(load, thread, shows_turns ? connection : NULL);
	struct app_thread_started_notification event = {opened.thread};
	thread_notify(thread, NOTIFY_thread_started, &event);
}

static void on_fork_loaded(struct thread_load *load, void *self)
{
	struct rpc_request *request = self;
	const struct app_thread_fork_params *fork = request->params;
	if (load->err.code) {
		rpc_fail(request, APP_INVALID_REQUEST, "%s", load->err.text);
		thread_load_destroy(load);
		return;
	}
	const struct app_thread_start_params params = {THREAD_RESTORE_PARAMS(fork), .ephemeral = fork->ephemeral};
	thread_restore_open(request, load, &params, "failed to fork the thread", answer_fork);
}

static void on_fork_cancel(struct rpc_request *request)
{
	thread_load_destroy(request->self);
}

enum rpc_verdict on_rpc_thread_fork(struct rpc_request *request, const struct app_thread_fork_params *params)
{
	const struct thread *source = threads_find(request->server, params->thread_id);
	if (params->last_turn_id.ptr && params->before_turn_id.ptr)
		return rpc_fail(request, APP_INVALID_REQUEST, "`lastTurnId` cannot be combined with `beforeTurnId`");
	if (!params->path.ptr && !uuid_is_valid(params->thread_id))
		return rpc_refuse(request,
		                  rpc_error_bad_id(&request->arena, APP_INVALID_REQUEST, "thread", params->thread_id));
	if (source && !source->path && !params->path.ptr)
		return rpc_fail(request, APP_INVALID_REQUEST, "no rollout found for thread id %s", source->id);
	struct thread_fork *fork = thread_fork_create(params->last_turn_id, params->before_turn_id,
	                                              source && source->turn ? source->turn->id : NULL,
	                                              request->connection->client_name, params->ephemeral);
	return rpc_wait(request, on_fork_cancel,
	                thread_load_create(request->server, params->thread_id, params->path, fork,
	                                   !params->exclude_turns, on_fork_loaded, request));
}
