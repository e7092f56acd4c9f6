/* Clients receive the state that the engine reports, not the requested one: thread/start is answered after
 * session_configured. Settings are kept as the record of their notification. */
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/threads/notify.h"
#include "app_server/rpc/rpc.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread_ask.h"
#include "app_server/threads/thread_config.h"
#include "app_server/threads/thread_idle.h"
#include "app_server/threads/thread_load.h"
#include "app_server/threads/thread_policy.h"
#include "app_server/threads/thread_turn.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"

/* ---- what it is ---- */

void thread_get_status(const struct thread *thread, struct thread_status *ret)
{
	bool is_running = thread->turn && thread->turn->is_started;
	*ret = (struct thread_status){0};
	ret->status.tag = thread->has_failed ? app_thread_status_system_error : app_thread_status_idle;
	if (!is_running || thread->has_failed)
		return;
	ret->active.active_flags = ret->flags;
	ret->active.active_flags_count = thread_asks_flags(thread, ret->flags);
	ret->status.tag = app_thread_status_active;
	ret->status.active = &ret->active;
}

struct app_thread_environment *thread_environment(const struct app_thread_settings *settings, struct arena *arena)
{
	struct app_thread_environment *ret = arena_new(arena, struct app_thread_environment);
	struct str *root = arena_new(arena, struct str);
	*root = settings->cwd;
	*ret = (struct app_thread_environment){
		.environment_id = STR("local"),
		.cwd = settings->cwd,
		.runtime_workspace_roots = root,
		.runtime_workspace_roots_count = 1,
	};
	return ret;
}

void thread_view(const struct thread *thread, struct arena *arena, struct app_thread *ret)
{
	const struct app_thread_settings *settings = thread->settings;
	struct thread_status *status = arena_new(arena, struct thread_status);
	struct app_session_source *source = arena_new(arena, struct app_session_source);
	thread_get_status(thread, status);
	source->tag = app_session_source_vscode;
	if (thread->source)
		*source = *thread->source;
	*ret = (struct app_thread){
		.id = str_of(thread->id),
		.environments = thread_environment(settings, arena),
		.environments_count = 1,
		.session_id = str_of(thread->root ? thread->root->id : thread->id),
		.forked_from_id = str_of(thread->forked_from),
		.preview = str_of(thread->preview ? thread->preview : ""),
		.ephemeral = thread->is_ephemeral,
		.history_mode = app_thread_history_mode_paginated,
		.model_provider = settings->model_provider,
		.model = settings->model,
		.has_reasoning_effort = settings->has_effort,
		.reasoning_effort = settings->effort,
		.created_at = thread->created_at,
		.updated_at = thread->updated_at,
		.has_recency_at = true,
		.recency_at = thread->updated_at,
		.status = &status->status,
		.path = str_of(thread->path),
		.cwd = settings->cwd,
		.cli_version = STR(CODEX_VERSION),
		.originator = str_of(thread->originator),
		.source = source,
		.has_can_accept_direct_input = true,
		.can_accept_direct_input = true,
		.git_info = thread->git,
		.name = str_of(thread->name),
	};
	thread_note_apply(&thread->note, ret);
}

void thread_set_settings(struct thread *thread, const struct app_thread_settings *settings)
{
	struct arena arena = {0};
	struct app_thread_settings *copy = arena_new(&arena, struct app_thread_settings);
	record_copy(&record_app_thread_settings, settings, &arena, copy);
	arena_finish(&thread->settings_arena);
	thread->settings_arena = arena;
	thread->settings = copy;
}

void thread_set_last_turn(struct thread *thread, struct str id)
{
	char *copy = id.ptr ? str_dup(id) : NULL;
	free(thread->last_turn_id);
	thread->last_turn_id = copy;
}

void thread_set_note(struct thread *thread, const struct thread_note *note)
{
	struct arena arena = {0};
	struct thread_note copy;
	thread_note_copy(note, &arena, &copy);
	arena_finish(&thread->note_arena);
	thread->note_arena = arena;
	thread->note = copy;
}

/* ---- who watches ---- */

bool thread_is_watched(const struct thread *thread, const struct connection *connection)
{
	vec_for_each(it, &thread->watchers) {
		if (it->connection == connection)
			return true;
	}
	return false;
}

/* Holds the Codex for a slow watcher; for a limited time only if there are other watchers. */
void thread_review_holds(struct thread *thread)
{
	vec_for_each(it, &thread->watchers) {
		const struct connection *connection = it->connection;
		bool holds = connection->is_slow && (!connection->is_overdue || thread->watchers.count == 1);
		if (holds == it->is_held)
			continue;
		it->is_held = holds;
		(holds ? codex_hold : codex_release)(thread->codex);
	}
}

void thread_watch(struct thread *thread, struct connection *connection)
{
	if (thread_is_watched(thread, connection))
		return;
	vec_push(&thread->watchers, (struct thread_watcher){.connection = connection});
	thread_review_holds(thread);
	rpc_asks_repeat(&thread->server->asks, connection, thread);
}

bool thread_unwatch(struct thread *thread, const struct connection *connection)
{
	for (size_t i = 0; i < thread->watchers.count; i++) {
		if (thread->watchers.items[i].connection != connection)
			continue;
		if (thread->watchers.items[i].is_held)
			codex_release(thread->codex);
		thread->watchers.items[i] = thread->watchers.items[--thread->watchers.count];
		if (!thread->watchers.count && thread->elicitations) { /* no client is left to answer */
			thread->elicitations = 0;
			codex_release(thread->codex);
		}
		thread_review_holds(thread);
		if (!thread->watchers.count)
			thread_asks_abandon(thread);
		thread_idle_review(thread);
		return true;
	}
	return false;
}

static bool is_addressee(const struct connection *connection, const void *self)
{
	return thread_is_watched(self, connection);
}

void thread_notify(struct thread *thread, enum app_notification_tag tag, const void *params)
{
	bool is_for_all = app_notifications[tag].audience == APP_TO_ALL;
	app_server_notify_if(thread->server, tag, params, is_for_all ? NULL : is_addressee, thread);
}

static bool wants_outcomes(const struct connection *connection, const void *self)
{
	return is_addressee(connection, self) &&
	       (connection->has_outcome_events || connection->server->config->app_server.turn_outcome_events);
}

void thread_notify_outcome(struct thread *thread, enum app_notification_tag tag, const void *params)
{
	app_server_notify_if(thread->server, tag, params, wants_outcomes, thread);
}

void thread_notify_status(struct thread *thread)
{
	struct thread_status status;
	thread_get_status(thread, &status);
	struct app_thread_status_changed_notification event = {str_of(thread->id), &status.status};
	thread_notify(thread, NOTIFY_thread_status_changed, &event);
}

/* ---- its beginning ---- */

static void on_event(const struct event *event, void *self)
{
	notify_event(self, event);
}

/* Destroys the thread of a cancelled request. */
static void on_start_cancelled(struct rpc_request *request)
{
	struct thread *thread = request->self;
	thread->starting = NULL;
	thread->is_dead = true;
	app_server_sweep(thread->server);
}

static struct thread *thread_create(struct rpc_request *request)
{
	const char *originator = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	struct thread *thread = xnew(struct thread);
	thread->server = request->server;
	thread->originator = xstrdup(originator ? originator : request->connection->client_name);
	thread->client_version = xstrdup(request->connection->client_version);
	thread->created_at = thread->updated_at = clock_unix_ms() / 1000;
	list_init(&thread->bucket);
	thread_items_init(&thread->items);
	list_append(&request->server->threads->all, &thread->link);
	return thread;
}

static void open_codex(struct thread *thread, const char *cwd)
{
	struct codex_options options = {
		.services = thread->server->services,
		.config = thread->config,
		.source = session_source_vscode,
		.cwd = cwd,
		.client = thread->originator,
		.client_version = thread->client_version,
		.ephemeral = thread->is_ephemeral,
		.steers = true,
		.serves_tools = true,
		.runs_unasked = true,
		.on_event = on_event,
		.on_child = thread_on_child,
		.self = thread,
	};
	thread->codex = codex_open(&options);
}

static int configure(struct thread *thread, struct error *err)
{
	const struct app_thread_start_params *wishes = thread->opening.wishes;
	auto_arena struct arena arena = {0};
	struct op_configure_session configure = thread->opening.session;
	if (wishes->model.ptr)
		configure.model = wishes->model;
	configure.base_instructions = wishes->base_instructions;
	configure.dynamic_tools = wishes->dynamic_tools;
	if (wishes->approval_policy) {
		configure.approval_policy = policy_to_engine(wishes->approval_policy, &arena);
	}
	struct op op = {.tag = OP_configure_session, .configure_session = &configure};
	return codex_submit_op(thread->codex, STR(""), &op, err);
}

/* The client's folder, else the rollout's, else the server's. */
static char *choose_cwd(const struct app_server *server, const struct thread_opening *opening)
{
	struct str wish = opening->wishes->cwd.ptr ? opening->wishes->cwd : opening->cwd;
	auto_free char *asked = wish.ptr ? str_dup(wish) : xstrdup(server->cwd);
	auto_free char *joined = path_join(server->cwd, asked);
	return path_normalize(joined);
}

struct thread *thread_open(struct rpc_request *request, const struct thread_opening *opening, struct error *err)
{
	struct app_server *server = request->server;
	auto_free char *cwd = choose_cwd(server, opening);
	struct config *config = thread_config_load(server, opening->wishes, cwd, err);
	if (!config) {
		thread_load_destroy(opening->load);
		return NULL;
	}
	struct thread *thread = thread_create(request);
	thread->opening = *opening;
	thread->is_ephemeral = opening->wishes->ephemeral;
	thread->config = config;
	open_codex(thread, cwd);
	if (configure(thread, err) != 0) {
		thread_destroy(thread);
		return NULL;
	}
	thread->starting = request;
	rpc_wait(request, on_start_cancelled, thread);
	return thread;
}

void thread_destroy(struct thread *thread)
{
	if (!thread)
		return;
	if (!thread->root)
		codex_close(thread->codex);
	thread_load_destroy(thread->opening.load);
	config_unref(thread->config);
	list_remove(&thread->link);
	list_remove(&thread->bucket);
	thread_asks_withdraw(thread);
	thread_turn_destroy(thread->turn);
	thread_items_finish(&thread->items);
	vec_finish(&thread->watchers);
	arena_finish(&thread->settings_arena);
	arena_finish(&thread->note_arena);
	arena_finish(&thread->origin_arena);
	free(thread->forked_from);
	free(thread->last_turn_id);
	free(thread->path);
	free(thread->preview);
	free(thread->name);
	free(thread->originator);
	free(thread->client_version);
	free(thread);
}
