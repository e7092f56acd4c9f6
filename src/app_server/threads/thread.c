/* Views and notifications show what the engine has reported, not what clients have requested: the response to
 * thread/start is written after session_configured. Settings are stored as the record that clients receive. */
#include "app_server/threads/thread.h"

#include "app_server/rpc/connection.h"
#include "app_server/rpc/server.h"
#include "attach/attach_point.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "remote/environment.h"

struct thread *thread_create(struct app_server *server, const char *originator, const char *client_version)
{
	struct thread *thread = xnew(struct thread);
	thread->server = server;
	thread->originator = xstrdup(originator);
	thread->client_version = xstrdup(client_version);
	thread->created_at = thread->updated_at = clock_unix_ms() / 1000;
	list_init(&thread->link);
	list_init(&thread->bucket);
	list_init(&thread->items);
	return thread;
}

void thread_free(struct thread *thread)
{
	loop_timer_destroy(thread->queue_timer);
	attach_point_destroy(thread->attach);
	config_unref(thread->config);
	list_remove(&thread->link);
	list_remove(&thread->bucket);
	vec_finish(&thread->subscribers);
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

/* ---- attached terminals ---- */

bool thread_is_attached(const struct thread *thread)
{
	return thread->attach && attach_point_count(thread->attach) > 0;
}

void thread_withdraw_attached(struct thread *thread, struct str request)
{
	struct thread *root = thread->root ? thread->root : thread;
	auto_buf struct buf quoted; /* the id of an elicitation is a JSON text */
	buf_init(&quoted, LIMIT_LINE);
	if (!root->attach)
		return;
	json_quote(&quoted, request);
	attach_point_withdraw(root->attach, request, thread);
	attach_point_withdraw(root->attach, buf_str(&quoted), thread);
}

/* ---- views ---- */

/* status points to the other members. */
struct thread_status {
	struct app_thread_status status;
	struct app_thread_status_active active;
	enum app_thread_active_flag flags[app_thread_active_flag_count];
};

/* Lists the kinds of pending requests to clients, each once, except calls of clients' tools. */
static size_t list_flags(const struct thread *thread, enum app_thread_active_flag *ret)
{
	bool has[app_thread_active_flag_count] = {false};
	size_t count = 0;
	for (struct rpc_ask *ask = NULL; (ask = rpc_asks_next(&thread->server->asks, thread, ask));) {
		if (ask->tag == ASK_item_tool_request_user_input)
			has[app_thread_active_flag_waiting_on_user_input] = true;
		else if (ask->tag != ASK_item_tool_call)
			has[app_thread_active_flag_waiting_on_approval] = true;
	}
	for (int i = 0; i < app_thread_active_flag_count; i++) {
		if (has[i])
			ret[count++] = (enum app_thread_active_flag)i;
	}
	return count;
}

static void get_status(const struct thread *thread, struct thread_status *ret)
{
	bool is_running = thread->turn && thread->turn->is_started;
	*ret = (struct thread_status){0};
	ret->status.tag = thread->has_failed ? app_thread_status_system_error : app_thread_status_idle;
	if (!is_running || thread->has_failed)
		return;
	ret->active.active_flags = ret->flags;
	ret->active.active_flags_count = list_flags(thread, ret->flags);
	ret->status.tag = app_thread_status_active;
	ret->status.active = &ret->active;
}

struct app_thread_environment *thread_environments(const struct app_thread_settings *settings, struct arena *arena,
                                                   size_t *ret_count)
{
	struct app_thread_environment local = {.environment_id = STR(ENVIRONMENT_LOCAL)};
	size_t count = settings->environments_count ? settings->environments_count : 1;
	struct app_thread_environment *ret = arena_array(arena, struct app_thread_environment, count);
	for (size_t i = 0; i < count; i++) {
		ret[i] = settings->environments_count ? settings->environments[i] : local;
		if (str_is(ret[i].environment_id, ENVIRONMENT_LOCAL)) /* its folder is that of the thread */
			ret[i].cwd = settings->cwd;
		ret[i].runtime_workspace_roots = &ret[i].cwd;
		ret[i].runtime_workspace_roots_count = 1;
	}
	*ret_count = count;
	return ret;
}

size_t thread_environment_ops(const struct app_thread_settings *settings, struct arena *arena,
                              struct turn_environment **ret)
{
	size_t count;
	const struct app_thread_environment *all = thread_environments(settings, arena, &count);
	*ret = arena_array(arena, struct turn_environment, count);
	for (size_t i = 0; i < count; i++)
		(*ret)[i] = (struct turn_environment){all[i].environment_id, all[i].cwd};
	return count;
}

void thread_view(const struct thread *thread, struct arena *arena, struct app_thread *ret)
{
	const struct app_thread_settings *settings = thread->settings;
	struct thread_status *status = arena_new(arena, struct thread_status);
	struct app_session_source *source = arena_new(arena, struct app_session_source);
	get_status(thread, status);
	source->tag = app_session_source_vscode;
	if (thread->source)
		*source = *thread->source;
	*ret = (struct app_thread){
		.id = str_of(thread->id),
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
	ret->environments = thread_environments(settings, arena, &ret->environments_count);
	thread_note_apply(&thread->note, ret);
}

/* ---- changes ---- */

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

/* ---- notifications ---- */

bool thread_has_subscriber(const struct thread *thread, const struct connection *connection)
{
	vec_for_each(it, &thread->subscribers) {
		if (it->connection == connection)
			return true;
	}
	return false;
}

static bool is_subscriber(const struct connection *connection, const void *self)
{
	return thread_has_subscriber(self, connection);
}

void thread_notify(struct thread *thread, enum app_notification_tag tag, const void *params)
{
	bool is_for_all = app_notifications[tag].audience == APP_TO_ALL;
	app_server_notify_if(thread->server, tag, params, is_for_all ? NULL : is_subscriber, thread);
}

void thread_notify_later(struct thread *thread, enum app_notification_tag tag, const void *params, struct arena *arena,
                         size_t size)
{
	app_server_notify_later(thread->server, tag, params, arena, size, is_subscriber, thread);
}

static bool wants_outcomes(const struct connection *connection, const void *self)
{
	return is_subscriber(connection, self) &&
	       (connection->has_outcome_events || connection->server->config->app_server.turn_outcome_events);
}

void thread_notify_outcome(struct thread *thread, enum app_notification_tag tag, const void *params)
{
	app_server_notify_if(thread->server, tag, params, wants_outcomes, thread);
}

void thread_notify_status(struct thread *thread)
{
	struct thread_status status;
	get_status(thread, &status);
	struct app_thread_status_changed_notification event = {str_of(thread->id), &status.status};
	thread_notify(thread, NOTIFY_thread_status_changed, &event);
}

void thread_notify_not_loaded(struct thread *thread)
{
	struct app_thread_status status = {.tag = app_thread_status_not_loaded};
	struct app_thread_status_changed_notification event = {str_of(thread->id), &status};
	thread_notify(thread, NOTIFY_thread_status_changed, &event);
}

static struct app_token_usage_breakdown breakdown(const struct token_usage *usage)
{
	return (struct app_token_usage_breakdown){
		.total_tokens = usage->total_tokens,
		.input_tokens = usage->input_tokens,
		.cached_input_tokens = usage->cached_input_tokens,
		.output_tokens = usage->output_tokens,
		.reasoning_output_tokens = usage->reasoning_output_tokens,
	};
}

void thread_notify_usage(struct thread *thread, struct str turn_id, const struct token_usage_info *info,
                         struct connection *only)
{
	struct app_token_usage_breakdown total = breakdown(info->total_token_usage),
					 last = breakdown(info->last_token_usage);
	struct app_thread_token_usage usage = {
		.total = &total,
		.last = &last,
		.has_model_context_window = info->has_model_context_window,
		.model_context_window = info->model_context_window,
	};
	struct app_thread_token_usage_updated_notification event = {str_of(thread->id), turn_id, &usage};
	if (only)
		connection_notify(only, NOTIFY_thread_token_usage_updated, &event);
	else
		thread_notify(thread, NOTIFY_thread_token_usage_updated, &event);
}
