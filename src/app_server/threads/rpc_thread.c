/* thread/start answers with the settings from session_configured. The thread/started that follows goes to all
 * clients. */
#include "app_server/threads/rpc_thread.h"

#include <stdio.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/threads/thread_load.h"
#include "app_server/threads/thread_policy.h"
#include "base/error.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "workspace/agents_md.h"
#include "tool/dynamic_tools.h"

/* ---- thread/start ---- */

static struct app_active_permission_profile *
profile_of(const struct thread *thread, const struct app_thread_start_params *params, struct arena *arena)
{
	if (!params->permissions.ptr &&
	    thread->opening.session.sandbox_policy) /* the rollout's policy has no profile name */
		return NULL;
	if (!params->permissions.ptr)
		return policy_default_profile(thread->config, arena);
	struct app_active_permission_profile *ret = arena_new(arena, struct app_active_permission_profile);
	ret->id = params->permissions;
	return ret;
}

/* Keeps the client's form of a setting; the others come from the engine. */
static void take_settings(struct thread *thread, const struct ev_session_configured *event)
{
	auto_arena struct arena arena = {0};
	const struct app_thread_start_params *params = thread->opening.wishes;
	const struct app_ask_for_approval *asked = params->approval_policy;
	struct app_settings mode_settings = {
		.model = event->model,
		.has_reasoning__effort = event->has_reasoning_effort,
		.reasoning__effort = event->reasoning_effort,
	};
	struct app_collaboration_mode mode = {.mode = thread->config->collaboration_mode, .settings = &mode_settings};
	struct app_thread_settings settings = {
		.cwd = event->cwd,
		.approval_policy = asked ? (struct app_ask_for_approval *)(uintptr_t)policy_normalize(asked, &arena)
	                                 : policy_from_engine(event->approval_policy, &arena),
		.sandbox_policy = sandbox_from_engine(event->sandbox_policy, &arena),
		.active_permission_profile = profile_of(thread, params, &arena),
		.model = event->model,
		.model_provider = event->model_provider_id,
		.has_effort = event->has_reasoning_effort,
		.effort = event->reasoning_effort,
		.collaboration_mode = &mode,
		.has_personality = thread->config->is_set.personality,
		.personality = thread->config->personality,
	};
	if (mode.mode != mode_kind_default)
		mode_settings.developer__instructions = codex_mode_text(mode.mode);
	thread_set_settings(thread, &settings);
}

static size_t list_instructions(const struct thread *thread, struct arena *arena, struct str **ret)
{
	const struct config *config = thread->config;
	auto_free char *cwd = str_dup(thread->settings->cwd);
	struct agents_md_options options = {
		.home = config_home(config),
		.cwd = cwd,
		.max_bytes = (size_t)config->project_doc_max_bytes,
		.fallbacks = config->project_doc_fallback_filenames.items,
		.fallback_count = config->project_doc_fallback_filenames.count,
		.root_markers = config->project_root_markers.items,
		.root_marker_count = config->project_root_markers.count,
		.is_trusted = config_trusts_folder(config, cwd),
	};
	return agents_md_list(&options, arena, ret);
}

void rpc_thread_describe(const struct thread *thread, struct arena *arena, struct app_thread_start_response *ret)
{
	const struct app_thread_settings *settings = thread->settings;
	struct app_thread *view = arena_new(arena, struct app_thread);
	thread_view(thread, arena, view);
	*ret = (struct app_thread_start_response){
		.thread = view,
		.model = settings->model,
		.model_provider = settings->model_provider,
		.cwd = settings->cwd,
		.runtime_workspace_roots = view->environments->runtime_workspace_roots,
		.runtime_workspace_roots_count = view->environments->runtime_workspace_roots_count,
		.approval_policy = settings->approval_policy,
		.sandbox = settings->sandbox_policy,
		.active_permission_profile = settings->active_permission_profile,
		.has_reasoning_effort = settings->has_effort,
		.reasoning_effort = settings->effort,
	};
	ret->instruction_sources_count = list_instructions(thread, arena, &ret->instruction_sources);
}

static void answer_start(struct thread *thread, struct rpc_request *request)
{
	auto_arena struct arena arena = {0};
	struct app_thread_start_response response;
	rpc_thread_describe(thread, &arena, &response);
	rpc_reply(request, &response);
	struct app_thread_started_notification event = {response.thread};
	thread_notify(thread, NOTIFY_thread_started, &event);
}

/* The Session would report the same error, but as a failure to create it. */
static int check_tools(struct str described, struct error *err)
{
	struct dynamic_tools *tools = described.ptr ? dynamic_tools_read(described, err) : NULL;
	dynamic_tools_destroy(tools);
	return described.ptr && !tools ? -(int)err->code : 0;
}

enum rpc_verdict on_rpc_thread_start(struct rpc_request *request, const struct app_thread_start_params *params)
{
	struct error err;
	struct thread_opening opening = {
		.wishes = params,
		.refusal = "failed to load configuration",
		.answer = answer_start,
	};
	if (check_tools(params->dynamic_tools, &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "%s", err.text);
	return thread_open(request, &opening, &err) ? RPC_WAIT : rpc_fail_with(request, &err);
}

/* ---- a thread is open ---- */

void rpc_thread_on_configured(struct thread *thread, const struct ev_session_configured *event)
{
	if (thread->root) {
		take_settings(thread, event);
		thread->path = event->rollout_path.ptr ? str_dup(event->rollout_path) : NULL;
		thread_notify_status(thread);
		return;
	}
	if (!thread->starting) /* its client has disconnected */
		return;
	snprintf(thread->id, sizeof(thread->id), "%.*s", STR_ARG(event->session_id));
	thread->path = event->rollout_path.ptr ? str_dup(event->rollout_path) : NULL;
	take_settings(thread, event);
	threads_add(thread);
	struct rpc_request *request = steal(thread->starting);
	thread_watch(thread, request->connection);
	thread->opening.answer(thread, request);
	thread_load_destroy(steal(thread->opening.load));
}

void rpc_thread_on_refused(struct thread *thread, struct str message)
{
	rpc_fail(steal(thread->starting), APP_INVALID_REQUEST, "%s: %.*s", thread->opening.refusal, STR_ARG(message));
	thread->is_dead = true;
	app_server_sweep(thread->server);
}

enum rpc_verdict rpc_thread_refuse(struct rpc_request *request, const struct error *err)
{
	if (err->code == ERR_limit)
		return rpc_fail(request, APP_OVERLOADED, "Server overloaded; retry later.");
	return rpc_fail_with(request, err);
}

/* ---- what is loaded, who watches ---- */

enum rpc_verdict on_rpc_thread_loaded_list(struct rpc_request *request,
                                           const struct app_thread_loaded_list_params *params)
{
	VEC(struct str) ids = {0};
	struct thread *it;
	bool is_on = !params->cursor.ptr; /* the cursor is the last id of the previous page */
	size_t limit = params->has_limit && params->limit > 0 ? (size_t)params->limit : SIZE_MAX;
	struct app_thread_loaded_list_response response = {0};
	list_for_each(it, &request->server->threads->all, link) {
		if (is_on && it->id[0] && ids.count == limit) {
			response.next_cursor = ids.items[ids.count - 1];
			break;
		}
		if (is_on && it->id[0])
			vec_push(&ids, str_of(it->id));
		is_on |= str_is(params->cursor, it->id);
	}
	response.data = ids.items;
	response.data_count = ids.count;
	enum rpc_verdict verdict =
		is_on ? rpc_reply(request, &response)
		      : rpc_fail(request, APP_INVALID_REQUEST, "invalid cursor: %.*s", STR_ARG(params->cursor));
	vec_finish(&ids);
	return verdict;
}

enum rpc_verdict on_rpc_thread_unsubscribe(struct rpc_request *request,
                                           const struct app_thread_unsubscribe_params *params)
{
	struct app_thread_unsubscribe_response response = {.status = app_thread_unsubscribe_status_not_loaded};
	struct thread *thread = threads_find(request->server, params->thread_id);
	if (!thread && !uuid_is_valid(params->thread_id)) {
		threads_get(request, params->thread_id);
		return RPC_FAIL;
	}
	if (thread)
		response.status = thread_unwatch(thread, request->connection)
		                          ? app_thread_unsubscribe_status_unsubscribed
		                          : app_thread_unsubscribe_status_not_subscribed;
	return rpc_reply(request, &response);
}

/* ---- thread/increment_elicitation, thread/decrement_elicitation ---- */

/* A command waits for an answer that its client requests from a person: timeouts must not run meanwhile. */
enum rpc_verdict on_rpc_thread_increment_elicitation(struct rpc_request *request,
                                                     const struct app_thread_increment_elicitation_params *params)
{
	struct thread *thread = threads_get(request, params->thread_id);
	if (!thread)
		return RPC_FAIL;
	if (!thread_is_watched(thread, request->connection))
		return rpc_fail(request, APP_INVALID_REQUEST, "resume thread %s first: you do not follow it",
		                thread->id);
	if (!thread->elicitations++)
		codex_hold(thread->codex);
	struct app_thread_increment_elicitation_response response = {thread->elicitations, true};
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_thread_decrement_elicitation(struct rpc_request *request,
                                                     const struct app_thread_decrement_elicitation_params *params)
{
	struct thread *thread = threads_get(request, params->thread_id);
	if (!thread)
		return RPC_FAIL;
	if (!thread->elicitations)
		return rpc_fail(request, APP_INVALID_REQUEST, "out-of-band elicitation count is already zero");
	if (!--thread->elicitations)
		codex_release(thread->codex);
	struct app_thread_decrement_elicitation_response response = {thread->elicitations, thread->elicitations > 0};
	return rpc_reply(request, &response);
}
