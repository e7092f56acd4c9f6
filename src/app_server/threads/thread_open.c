/* Opens the Codex of a thread, and creates the thread of each subagent, whose Codex the engine owns.
 *
 * A request that opens a thread is answered when the engine reports the Session as configured. A subagent's thread gets
 * the subscribers of its parent. No notification announces it: clients see its first status. */
#include "app_server/threads/thread_open.h"

#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/notify.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_attach.h"
#include "app_server/threads/thread_config.h"
#include "app_server/threads/thread_load.h"
#include "app_server/threads/thread_policy.h"
#include "app_server/threads/thread_settings.h"
#include "app_server/threads/thread_unload.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/config_required.h"
#include "engine/codex/codex.h"
#include "remote/environment.h"
#include "workspace/agents_md.h"

/* ---- settings ---- */

static struct app_active_permission_profile *
profile_of(const struct thread *thread, const struct app_thread_start_params *params, struct arena *arena)
{
	if (!params->permissions.ptr &&
	    thread->opening.session.sandbox_policy) /* the thread was restored, so the name of the profile is unknown */
		return NULL;
	if (!params->permissions.ptr)
		return policy_default_profile(thread->config, arena);
	struct app_active_permission_profile *ret = arena_new(arena, struct app_active_permission_profile);
	ret->id = params->permissions;
	return ret;
}

/* Copies the settings. The approval policy is shown as the client wrote it, if the client gave one. */
static void take_settings(struct thread *thread, const struct ev_session_configured *event)
{
	auto_arena struct arena arena = {0};
	const struct app_thread_start_params *params = thread->opening.params;
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
		.approvals_reviewer = reviewer_from_engine(event->approvals_reviewer),
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
	struct thread_selection selected = thread->opening.environments;
	thread_settings_take(&settings, &selected);
	if (thread->root && thread->root->settings) { /* a subagent works where its root does */
		settings.environments = thread->root->settings->environments;
		settings.environments_count = thread->root->settings->environments_count;
	}
	if (thread_settings_environments(thread->server, params->environments, &arena, &selected, NULL) == 0 &&
	    selected.count)
		thread_settings_take(&settings, &selected);
	if (mode.mode != mode_kind_default)
		mode_settings.developer__instructions = codex_mode_text(mode.mode);
	thread_set_settings(thread, &settings);
}

/* ---- the Session is configured, or could not be ---- */

static void on_configured(struct thread *thread, const struct ev_session_configured *event)
{
	if (!thread->root && !thread->starting) /* the client has disconnected */
		return;
	thread->path = event->rollout_path.ptr ? str_dup(event->rollout_path) : NULL;
	if (thread->root) {
		take_settings(thread, event);
		thread_notify_status(thread);
		return;
	}
	snprintf(thread->id, sizeof(thread->id), "%.*s", STR_ARG(event->session_id));
	take_settings(thread, event);
	threads_add_id(thread);
	struct rpc_request *request = steal(thread->starting);
	subscribers_add(thread, request->connection);
	thread->opening.answer(thread, request);
	thread_load_destroy(steal(thread->opening.load));
}

static void on_refused(struct thread *thread, struct str message)
{
	rpc_fail(steal(thread->starting), APP_INVALID_REQUEST, "%s: %.*s", thread->opening.refusal, STR_ARG(message));
	thread->is_dead = true;
	app_server_sweep(thread->server);
}

static void on_event(const struct event *event, void *self)
{
	struct thread *thread = self;
	thread_attach_event(thread, event);
	if (event->msg.tag == EV_session_configured)
		on_configured(thread, event->msg.session_configured);
	else if (event->msg.tag == EV_error && thread->starting)
		on_refused(thread, event->msg.error->message);
	else
		notify_event(thread, event);
}

/* ---- subagents ---- */

/* Returns {"thread_spawn":{…}}, as in the rollout of a subagent. */
static struct app_session_source *describe_source(const struct codex_child *about, struct arena *arena)
{
	struct app_session_source *ret = arena_new(arena, struct app_session_source);
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	struct json_writer w = json_writer(&text);
	jw_object(&w);
	jw_key(&w, "thread_spawn");
	jw_object(&w);
	jw_member_cstr(&w, "parent_thread_id", about->parent_thread_id);
	jw_member_i64(&w, "depth", about->depth);
	jw_member_cstr(&w, "agent_path", NULL);
	jw_member_cstr(&w, "agent_nickname", about->nickname);
	jw_member_cstr(&w, "agent_role", about->role);
	jw_object_end(&w);
	jw_object_end(&w);
	ret->tag = app_session_source_sub_agent;
	ret->sub_agent = arena_new(arena, struct app_session_source_sub_agent);
	ret->sub_agent->source = arena_str(arena, buf_str(&text));
	return ret;
}

static void create_child(struct codex *child, const struct codex_child *about, struct thread *root)
{
	static const struct app_thread_start_params no_params;
	struct thread *parent = threads_find(root->server, str_of(about->parent_thread_id));
	struct thread *thread = thread_create(root->server, root->originator, root->client_version);
	snprintf(thread->id, sizeof(thread->id), "%s", about->thread_id);
	thread->root = root;
	thread->codex = child;
	thread->config = config_ref(root->config);
	thread->source = describe_source(about, &thread->origin_arena);
	thread->is_ephemeral = root->is_ephemeral;
	thread->opening.params = &no_params;
	threads_add(thread);
	threads_add_id(thread);
	codex_listen(child, on_event, thread);
	parent = parent ? parent : root;
	vec_for_each(it, &parent->subscribers)
		subscribers_add(thread, it->connection);
}

static void on_child(struct codex *child, const struct codex_child *about, void *self)
{
	struct thread *root = self, *it;
	if (about) {
		create_child(child, about, root);
		return;
	}
	list_for_each(it, &root->server->threads->all, link) {
		if (it->root == root && it->codex == child) {
			thread_notify_not_loaded(it);
			thread_destroy(it);
			return;
		}
	}
}

/* ---- opening ---- */

static void open_codex(struct thread *thread, const char *cwd)
{
	const struct app_thread_start_params *params = thread->opening.params;
	struct codex_options options = {
		.reports_refusals = true,
		.services = thread->server->services,
		.config = thread->config,
		.source = session_source_vscode,
		.cwd = cwd,
		.client = thread->originator,
		.client_version = thread->client_version,
		.ephemeral = thread->is_ephemeral,
		.steers = true,
		.serves_tools = true,
		.is_cleared = params && str_is(params->session_start_source, "\"clear\""),
		.runs_unasked = true,
		.on_event = on_event,
		.on_child = on_child,
		.self = thread,
	};
	thread->codex = codex_open(&options);
}

static int configure(struct thread *thread, const struct thread_selection *selected, struct error *err)
{
	const struct app_thread_start_params *params = thread->opening.params;
	auto_arena struct arena arena = {0};
	struct op_configure_session configure = thread->opening.session;
	if (params->model.ptr)
		configure.model = params->model;
	configure.base_instructions = params->base_instructions;
	configure.dynamic_tools = params->dynamic_tools;
	if (params->approval_policy)
		configure.approval_policy = policy_to_engine(params->approval_policy, &arena);
	if (params->has_approvals_reviewer) {
		configure.has_approvals_reviewer = true;
		configure.approvals_reviewer = reviewer_to_engine(params->approvals_reviewer);
	}
	configure.environments = arena_array(&arena, struct turn_environment, selected->count);
	configure.environments_count = selected->count;
	for (size_t i = 0; i < selected->count; i++)
		configure.environments[i] =
			(struct turn_environment){selected->list[i].environment_id, selected->list[i].cwd};
	struct op op = {.tag = OP_configure_session, .configure_session = &configure};
	return codex_submit_op(thread->codex, STR(""), &op, err);
}

/* Returns the absolute folder of the parameters, else that of the rollout, else that of the server. */
static char *choose_cwd(const struct app_server *server, const struct thread_opening *opening,
                        const struct thread_selection *selected)
{
	struct str cwd = opening->params->cwd.ptr ? opening->params->cwd : opening->cwd;
	for (size_t i = 0; i < selected->count; i++)
		if (str_is(selected->list[i].environment_id, ENVIRONMENT_LOCAL))
			cwd = selected->list[i].cwd;
	auto_free char *name = cwd.ptr ? str_dup(cwd) : xstrdup(server->cwd);
	auto_free char *joined = path_join(server->cwd, name);
	return path_normalize(joined);
}

/* Called when the client has disconnected. */
static void on_cancel(struct rpc_request *request)
{
	struct thread *thread = request->self;
	thread->starting = NULL;
	thread->is_dead = true;
	app_server_sweep(thread->server);
}

static struct thread *create_for(const struct rpc_request *request, const struct thread_opening *opening)
{
	const char *originator = config_env("CODEX_INTERNAL_ORIGINATOR_OVERRIDE");
	const struct connection *client = request->connection;
	struct thread *thread =
		thread_create(request->server, originator ? originator : client->client_name, client->client_version);
	threads_add(thread);
	thread->opening = *opening;
	thread->is_ephemeral = opening->params->ephemeral;
	return thread;
}

/* A stored session may be older than the administrator's requirements: policies that these exclude are not restored,
 * and the configuration's apply. */
static void drop_excluded(struct op_configure_session *session, const struct config_required *required)
{
	if (session->sandbox_policy && config_required_check_policy(required, session->sandbox_policy, NULL) != 0)
		session->sandbox_policy = NULL;
	if (session->approval_policy && config_required_check_approval(required, session->approval_policy, NULL) != 0)
		session->approval_policy = NULL;
	if (session->has_approvals_reviewer &&
	    config_required_check_reviewer(required, session->approvals_reviewer, NULL) != 0)
		session->has_approvals_reviewer = false;
}

struct thread *thread_open(struct rpc_request *request, const struct thread_opening *opening, struct error *err)
{
	struct app_server *server = request->server;
	struct thread_selection selected;
	struct str json = opening->params->environments;
	if (thread_settings_environments(server, json, &request->arena, &selected, err) != 0) {
		thread_load_destroy(opening->load);
		return NULL;
	}
	auto_free char *cwd = choose_cwd(server, opening, &selected);
	struct config *config = thread_config_load(&server->threads->configs, server, opening->params, cwd, err);
	if (!config) {
		thread_load_destroy(opening->load);
		return NULL;
	}
	struct thread *thread = create_for(request, opening);
	thread->config = config;
	drop_excluded(&thread->opening.session, config_required(config));
	open_codex(thread, cwd);
	if (configure(thread, &selected, err) != 0) {
		thread_destroy(thread);
		return NULL;
	}
	thread->starting = request;
	rpc_wait(request, on_cancel, thread);
	return thread;
}

/* ---- the view after opening ---- */

/* Returns the number of files of this machine: the global one, or those of the project alone. */
static size_t list_here(const struct thread *thread, bool is_project, struct arena *arena, struct str **ret)
{
	const struct config *config = thread->config;
	auto_free char *cwd = str_dup(thread->settings->cwd);
	struct agents_md_options options = {
		.home = config_home(config),
		.cwd = cwd,
		.max_bytes = is_project ? (size_t)config->project_doc_max_bytes : 0,
		.is_project_only = is_project,
		.fallbacks = config->project_doc_fallback_filenames.items,
		.fallback_count = config->project_doc_fallback_filenames.count,
		.root = config_root_of(config, cwd),
		.root_markers = config->project_root_markers.items,
		.root_marker_count = config->project_root_markers.count,
		.is_trusted = config_trusts_folder(config, cwd),
	};
	return agents_md_list(&options, arena, ret);
}

static size_t list_instructions(const struct thread *thread, struct arena *arena, struct str **ret)
{
	VEC(struct str) all = {0};
	struct str *here;
	const struct str *there;
	size_t count = list_here(thread, false, arena, &here), places;
	const struct app_thread_environment *place = thread_environments(thread->settings, arena, &places);
	for (size_t i = 0; i < count; i++)
		vec_push(&all, here[i]);
	for (size_t at = 0; at < places; at++) {
		bool is_here = str_is(place[at].environment_id, ENVIRONMENT_LOCAL);
		count = is_here ? list_here(thread, true, arena, &here)
		                : codex_remote_instructions(thread->codex, at, &there);
		for (size_t i = 0; i < count; i++)
			vec_push(&all, is_here ? here[i] : arena_str(arena, there[i]));
	}
	count = all.count;
	*ret = arena_array(arena, struct str, count);
	for (size_t i = 0; i < count; i++)
		(*ret)[i] = all.items[i];
	vec_finish(&all);
	return count;
}

void thread_open_describe(const struct thread *thread, struct arena *arena, struct app_thread_start_response *ret)
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
		.approvals_reviewer = settings->approvals_reviewer,
		.sandbox = settings->sandbox_policy,
		.active_permission_profile = settings->active_permission_profile,
		.has_reasoning_effort = settings->has_effort,
		.reasoning_effort = settings->effort,
	};
	ret->instruction_sources_count = list_instructions(thread, arena, &ret->instruction_sources);
}
