/* Clients send the settings that they want to change. Only actual changes are submitted to the engine; subscribers
 * are then notified of all settings. */
#include "app_server/threads/thread_settings.h"

#include "app_server/rpc/server.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/settings/config_view.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_policy.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/config_required.h"
#include "engine/codex/codex.h"
#include "remote/environments.h"

/* ---- the environment ---- */

/* codex 0.169 also takes none, in which a thread has no tools for commands. */

static int check_folders(const struct json *json, struct str id, struct str cwd, struct error *err)
{
	const struct json *roots = json_get(json, "runtimeWorkspaceRoots");
	struct str root = STR_NONE;
	if (!str_has_prefix(cwd, "/") || str_find_char(cwd, '\0') >= 0)
		return error_set(err, ERR_invalid, "invalid cwd for environment `%.*s`: `%.*s` is not an absolute path",
		                 STR_ARG(id), STR_ARG(cwd));
	if (!json_is(roots, JSON_array) || !roots->count)
		return 0;
	if (roots->count > 1 || !json_to_str(roots->child, &root) || !str_eq(root, cwd))
		return error_set(err, ERR_invalid,
		                 "runtimeWorkspaceRoots of environment `%.*s` must be its cwd alone; select further "
		                 "folders with writableRoots of the sandbox policy",
		                 STR_ARG(id));
	return 0;
}

static int read_environment(struct app_server *server, const struct json *json, struct arena *arena,
                            struct app_thread_environment *ret, struct error *err)
{
	struct str id, cwd;
	if (!json_to_str(json_get(json, "environmentId"), &id) || !json_to_str(json_get(json, "cwd"), &cwd))
		return error_set(err, ERR_invalid, "an environment needs `environmentId` and `cwd`, both strings");
	if (!str_is(id, ENVIRONMENT_LOCAL) && !environments_find(services_environments(server->services), id))
		return error_set(err, ERR_invalid, "unknown turn environment id `%.*s`", STR_ARG(id));
	if (check_folders(json, id, cwd, err) != 0)
		return -(int)err->code;
	*ret = (struct app_thread_environment){.environment_id = arena_str(arena, id), .cwd = arena_str(arena, cwd)};
	ret->runtime_workspace_roots = &ret->cwd;
	ret->runtime_workspace_roots_count = 1;
	return 0;
}

static bool is_twice(const struct thread_selection *all, struct str id)
{
	for (size_t i = 0; i < all->count; i++)
		if (str_eq(all->list[i].environment_id, id))
			return true;
	return false;
}

int thread_settings_environments(struct app_server *server, struct str json, struct arena *arena,
                                 struct thread_selection *ret, struct error *err)
{
	struct app_thread_environment one;
	*ret = (struct thread_selection){0};
	if (!json.ptr || str_is(json, "null"))
		return 0;
	const struct json *list = json_parse(arena, json, err);
	if (!list)
		return -(int)err->code;
	if (!json_is(list, JSON_array) || !list->count || list->count > LIMIT_ENVIRONMENT_PLACES)
		return error_set(err, ERR_invalid,
		                 "`environments` must select from 1 to %d environments; omit it to keep the thread's",
		                 LIMIT_ENVIRONMENT_PLACES);
	ret->list = arena_array(arena, struct app_thread_environment, list->count);
	json_for_each(it, list) {
		if (read_environment(server, it, arena, &one, err) != 0)
			return -(int)err->code;
		if (is_twice(ret, one.environment_id))
			return error_set(err, ERR_invalid, "duplicate turn environment id `%.*s`",
			                 STR_ARG(one.environment_id));
		ret->list[ret->count++] = one;
	}
	for (size_t i = 0; i < ret->count; i++)
		ret->list[i].runtime_workspace_roots = &ret->list[i].cwd;
	return 0;
}

/* ---- the other settings ---- */

static int resolve_cwd(struct rpc_request *request, struct str cwd, struct str *ret, struct error *err)
{
	auto_free char *name = str_dup(cwd);
	auto_free char *joined = path_join(request->server->cwd, name);
	auto_free char *clean = path_normalize(joined);
	if (!dir_exists(clean))
		return error_set(err, ERR_invalid, "cwd is not a folder: %s", clean);
	*ret = arena_str(&request->arena, str_of(clean));
	return 0;
}

static void change_mode(struct app_thread_settings *settings, const struct app_turn_start_params *params,
                        struct arena *arena)
{
	struct app_collaboration_mode *mode = arena_new(arena, struct app_collaboration_mode);
	mode->settings = arena_new(arena, struct app_settings);
	*mode->settings = *settings->collaboration_mode->settings;
	mode->mode = settings->collaboration_mode->mode;
	if (params->collaboration_mode) {
		mode->mode = params->collaboration_mode->mode;
		*mode->settings = *params->collaboration_mode->settings;
		if (!mode->settings->developer__instructions
		             .ptr) /* clients see the built-in text that the model receives */
			mode->settings->developer__instructions = codex_mode_text(mode->mode);
		settings->model = mode->settings->model;
		settings->has_effort = mode->settings->has_reasoning__effort;
		settings->effort = mode->settings->reasoning__effort;
	}
	mode->settings->model = settings->model;
	mode->settings->has_reasoning__effort = settings->has_effort;
	mode->settings->reasoning__effort = settings->effort;
	settings->collaboration_mode = mode;
}

/* Applies the parameters to the settings. */
static int change(struct rpc_request *request, const struct app_turn_start_params *params,
                  struct app_thread_settings *settings, struct error *err)
{
	if (params->cwd.ptr && resolve_cwd(request, params->cwd, &settings->cwd, err) != 0)
		return -(int)err->code;
	if (params->model.ptr)
		settings->model = params->model;
	if (params->approval_policy)
		settings->approval_policy = (struct app_ask_for_approval *)(uintptr_t)policy_normalize(
			params->approval_policy, &request->arena);
	if (params->has_approvals_reviewer)
		settings->approvals_reviewer = params->approvals_reviewer;
	if (params->sandbox_policy) {
		settings->sandbox_policy = params->sandbox_policy;
		settings->active_permission_profile = NULL;
	}
	if (params->has_effort) {
		settings->has_effort = params->effort != reasoning_effort_unset;
		settings->effort = params->effort;
	}
	if (params->has_summary) {
		settings->has_summary = true;
		settings->summary = params->summary;
	}
	if (params->has_personality) {
		settings->has_personality = true;
		settings->personality = params->personality;
	}
	change_mode(settings, params, &request->arena);
	return 0;
}

/* Checks the change against the administrator's requirements, so that the request fails, not the Op. */
static int check_permitted(const struct thread *thread, const struct app_turn_start_params *params,
                           const struct op_override_turn_context *override, struct error *err)
{
	const struct config_required *required = config_required(thread->config);
	if (params->approval_policy && config_required_check_approval(required, override->approval_policy, err) != 0)
		return -(int)err->code;
	if (params->has_approvals_reviewer &&
	    config_required_check_reviewer(required, override->approvals_reviewer, err) != 0)
		return -(int)err->code;
	auto_free char *model = str_dup(override->model);
	if (params->has_approvals_reviewer && str_eq(override->model, thread->settings->model) &&
	    config_required_check_review(required, model, reviewer_to_engine(params->approvals_reviewer), err) != 0)
		return -(int)err->code;
	if (!override->sandbox_policy)
		return 0;
	return config_required_check_policy(required, override->sandbox_policy, err);
}

static int submit_change(struct thread *thread, const struct app_turn_start_params *params,
                         const struct app_thread_settings *settings, struct arena *arena, struct error *err)
{
	const struct app_collaboration_mode *asked = params->collaboration_mode;
	struct mode_settings mode_settings = {
		.model = settings->model,
		.has_reasoning_effort = settings->has_effort,
		.reasoning_effort = settings->effort,
		.developer_instructions = asked ? asked->settings->developer__instructions : STR_NONE,
	};
	struct collaboration_mode mode = {settings->collaboration_mode->mode, &mode_settings};
	struct op_override_turn_context override = {
		.cwd = settings->cwd,
		.approval_policy = policy_to_engine(settings->approval_policy, arena),
		.has_approvals_reviewer = params->has_approvals_reviewer,
		.approvals_reviewer = reviewer_to_engine(settings->approvals_reviewer),
		.sandbox_policy = params->sandbox_policy ? sandbox_to_engine(params->sandbox_policy, arena) : NULL,
		.model = settings->model,
		.has_effort = settings->has_effort,
		.effort = settings->effort,
		.has_summary = settings->has_summary,
		.summary = settings->summary,
		.collaboration_mode = asked ? &mode : NULL,
		.has_personality = settings->has_personality,
		.personality = settings->personality,
	};
	if (params->environments.ptr && !str_is(params->environments, "null"))
		override.environments_count = thread_environment_ops(settings, arena, &override.environments);
	if (params->cwd.ptr == NULL)
		/* the folder is unchanged; it may have been removed, which does not prevent a turn */
		override.cwd = STR_NONE;
	if (check_permitted(thread, params, &override, err) != 0)
		return -(int)err->code;
	struct op op = {.tag = OP_override_turn_context, .override_turn_context = &override};
	return codex_submit_op(thread->codex, STR("settings"), &op, err);
}

static bool is_same(const struct app_thread_settings *a, const struct app_thread_settings *b)
{
	auto_buf struct buf left, right;
	struct json_writer w;
	buf_init(&left, LIMIT_LINE);
	buf_init(&right, LIMIT_LINE);
	w = json_writer(&left);
	record_encode(&record_app_thread_settings, a, &w);
	w = json_writer(&right);
	record_encode(&record_app_thread_settings, b, &w);
	return str_eq(buf_str(&left), buf_str(&right));
}

/* Converts a permission profile to its sandbox policy. */
static int resolve_profile(const struct app_turn_start_params *params, struct app_thread_settings *settings,
                           struct arena *arena, struct app_sandbox_policy **ret, struct error *err)
{
	static const enum app_sandbox_policy_tag tags[] = {
		[sandbox_mode_read_only] = app_sandbox_policy_read_only,
		[sandbox_mode_workspace_write] = app_sandbox_policy_workspace_write,
		[sandbox_mode_danger_full_access] = app_sandbox_policy_danger_full_access,
	};
	enum sandbox_mode mode;
	if (params->sandbox_policy)
		return error_set(err, ERR_invalid, "`permissions` cannot be combined with `sandboxPolicy`");
	if (permission_profile_find(params->permissions, &mode, err) != 0)
		return -(int)err->code;
	*ret = arena_new(arena, struct app_sandbox_policy);
	(*ret)->tag = tags[mode];
	if (mode == sandbox_mode_workspace_write)
		(*ret)->workspace_write = arena_new(arena, struct app_sandbox_policy_workspace_write);
	else if (mode == sandbox_mode_read_only)
		(*ret)->read_only = arena_new(arena, struct app_sandbox_read_only);
	settings->active_permission_profile = arena_new(arena, struct app_active_permission_profile);
	settings->active_permission_profile->id = params->permissions;
	return 0;
}

/* The folder of `local` is that of the thread. */
static void select_environments(const struct thread_selection *selected, struct app_turn_start_params *wanted,
                                struct app_thread_settings *settings)
{
	if (!selected->count)
		return;
	for (size_t i = 0; i < selected->count; i++)
		if (str_is(selected->list[i].environment_id, ENVIRONMENT_LOCAL))
			wanted->cwd = selected->list[i].cwd;
	thread_settings_take(settings, selected);
}

void thread_settings_take(struct app_thread_settings *settings, const struct thread_selection *selected)
{
	bool is_local = selected->count == 1 && str_is(selected->list->environment_id, ENVIRONMENT_LOCAL);
	settings->environments = is_local ? NULL : selected->list;
	settings->environments_count = is_local ? 0 : selected->count;
}

int thread_settings_change(struct rpc_request *request, struct thread *thread,
                           const struct app_turn_start_params *params, bool *ret_is_changed, struct error *err)
{
	struct app_thread_settings settings = *thread->settings;
	struct app_turn_start_params wanted = *params;
	struct app_sandbox_policy *sandbox = NULL;
	struct thread_selection selected;
	*ret_is_changed = false;
	if (thread_settings_environments(request->server, params->environments, &request->arena, &selected, err) != 0)
		return -(int)err->code;
	select_environments(&selected, &wanted, &settings);
	if (params->permissions.ptr && resolve_profile(params, &settings, &request->arena, &sandbox, err) != 0)
		return -(int)err->code;
	if (change(request, &wanted, &settings, err) != 0)
		return -(int)err->code;
	if (sandbox)
		settings.sandbox_policy = wanted.sandbox_policy = sandbox;
	bool is_unchanged = is_same(&settings, thread->settings);
	if (is_unchanged && !selected.count) /* another machine may have been registered under the id */
		return 0;
	if (submit_change(thread, &wanted, &settings, &request->arena, err) != 0)
		return -(int)err->code;
	auto_free char *model = str_dup(settings.model);
	if (config_required_review_for(config_required(thread->config), model)) /* as the engine does */
		settings.approvals_reviewer = app_approvals_reviewer_auto_review;
	thread_set_settings(thread, &settings);
	*ret_is_changed = !is_unchanged;
	return 0;
}

void thread_settings_notify(struct thread *thread)
{
	auto_arena struct arena arena = {0};
	struct app_thread_settings settings = *thread->settings;
	settings.environments = thread_environments(thread->settings, &arena, &settings.environments_count);
	struct app_thread_settings_updated_notification event = {str_of(thread->id), &settings};
	thread_notify(thread, NOTIFY_thread_settings_updated, &event);
}

/* ---- thread/settings/update ---- */

enum rpc_verdict on_rpc_thread_settings_update(struct rpc_request *request,
                                               const struct app_thread_settings_update_params *params)
{
	struct error err;
	bool is_changed;
	struct app_thread_settings_update_response response = {0};
	struct thread *thread = threads_find(request->server, params->thread_id);
	const struct app_turn_start_params changes = {
		.cwd = params->cwd,
		.approval_policy = params->approval_policy,
		.has_approvals_reviewer = params->has_approvals_reviewer,
		.approvals_reviewer = params->approvals_reviewer,
		.sandbox_policy = params->sandbox_policy,
		.permissions = params->permissions,
		.model = params->model,
		.has_effort = params->has_effort,
		.effort = params->effort,
		.has_summary = params->has_summary,
		.summary = params->summary,
		.has_personality = params->has_personality,
		.personality = params->personality,
		.collaboration_mode = params->collaboration_mode,
		.environments = params->environments,
	};
	if (!thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	if (thread_settings_change(request, thread, &changes, &is_changed, &err) != 0)
		return rpc_fail_submit(request, &err);
	enum rpc_verdict verdict = rpc_reply(request, &response);
	if (is_changed)
		thread_settings_notify(thread);
	return verdict;
}
