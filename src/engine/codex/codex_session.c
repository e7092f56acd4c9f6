/* The Session is data. The Codex owns it and all that works on it (Task, commands, samples), so their order of start
 * and end is decided here. The first configure_session sets every field of the Session; a further one changes the
 * fields that it has. */
#include "engine/codex/codex_session.h"

#include "agent/agent.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/shared_text.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/model_provider.h"
#include "engine/codex/agents.h"
#include "engine/codex/codex_data.h"
#include "engine/codex/notify.h"
#include "engine/session/conversation.h"
#include "engine/session/environment_docs.h"
#include "engine/session/resume.h"
#include "engine/session/resume_load.h"
#include "engine/session/nested_hooks.h"
#include "engine/session/session.h"
#include "engine/session/session_code.h"
#include "engine/session/session_environment.h"
#include "engine/session/session_goal.h"
#include "engine/session/session_grant.h"
#include "engine/session/session_hooks.h"
#include "engine/session/mcp_approval_store.h"
#include "engine/session/session_mcp.h"
#include "engine/session/session_mcp_list.h"
#include "engine/session/session_model.h"
#include "engine/session/session_permission.h"
#include "engine/session/session_skills.h"
#include "engine/session/session_window.h"
#include "model/model_client.h"
#include "model/model_list.h"
#include "rollout/prompt_history.h"
#include "rollout/rollout_journal.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_reader.h"
#include "rollout/rollout_writer.h"
#include "tool/dynamic_tools.h"
#include "tool/exec/exec_command.h"
#include "tool/exec/exec_session.h"
#include "workspace/git_info.h"

/* ---- the first configuration ---- */

static void emit_configured(struct session *session, struct str sub_id)
{
	const struct settings *settings = session->settings;
	struct ev_session_configured event = {
		.session_id = str_of(session->id),
		.model = str_of(settings->model),
		.model_provider_id = str_of(session->provider->id),
		.approval_policy = (struct ask_for_approval *)(uintptr_t)settings->approval_policy,
		.has_approvals_reviewer = settings->reviewer != approvals_reviewer_user,
		.approvals_reviewer = settings->reviewer,
		.sandbox_policy = (struct sandbox *)(uintptr_t)settings->sandbox,
		.cwd = str_of(settings->cwd),
		.has_reasoning_effort = settings->effort != reasoning_effort_unset,
		.reasoning_effort = settings->effort,
		.rollout_path = session->rollout ? str_of(rollout_writer_path(session->rollout)) : STR_NONE,
	};
	if (session->env->is_interactive) /* other front ends offer no recall of prompts */
		prompt_history_measure(config_home(session->env->config), &event.history_log_id,
		                       &event.history_entry_count);
	event.initial_messages = session_resume_messages(session);
	session_emit(session, sub_id, EV_session_configured, &event);
	if (!session->env->is_unhurried)
		session_warm_up(session);
}

static void replace_text(char **slot, struct str text)
{
	if (!text.ptr)
		return;
	free(*slot);
	*slot = str_dup(text);
}

static void take_notify(struct session *session, const struct op_configure_session *op)
{
	if (!op->notify)
		return;
	arena_reset(&session->notify.arena);
	session->notify.words = arena_array(&session->notify.arena, struct str, op->notify_count);
	session->notify.count = op->notify_count;
	for (size_t i = 0; i < op->notify_count; i++)
		session->notify.words[i] = arena_str(&session->notify.arena, op->notify[i]);
}

/* Starts the rollout. Its first line states where the session began, for lists of sessions. */
static void start_rollout(struct session *session)
{
	const struct session_env *env = session->env;
	struct git_info git = {0};
	auto_buf struct buf tools;
	buf_init(&tools, LIMIT_TOOLS_JSON);
	struct json_writer w = json_writer(&tools);
	if (session->dynamic_tools)
		dynamic_tools_write(session->dynamic_tools, &w);
	git_info_read(session->settings->cwd, &git);
	struct rollout_meta meta = {
		.thread_id = str_of(session->id),
		.started_at_ms = clock_unix_ms(),
		.cwd = str_of(session->settings->cwd),
		.originator = env->originator,
		.cli_version = STR(CODEX_VERSION),
		.source = env->source,
		.model_provider = str_of(session->provider->id),
		.is_paginated = true,
		.base_instructions = conversation_instructions(&session->conversation),
		.git_commit = str_of(git.commit),
		.git_branch = str_of(git.branch),
		.git_url = str_of(git.origin_url),
		.dynamic_tools = session->dynamic_tools ? buf_str(&tools) : STR_NONE,
	};
	const struct agent *agent = env->agent;
	if (agent && agent->parent) {
		meta.root_thread_id = str_of(agent_root(agent)->session_id);
		meta.parent_thread_id = str_of(agent->parent->session_id);
		meta.depth = agent->depth;
		meta.nickname = str_of(agent->label);
		meta.role = str_of(agent->role);
	}
	session->rollout = rollout_writer_create(session_env_rollouts(env), &meta, env->config->fsync);
	git_info_finish(&git);
}

/* Takes the client's tools; a resumed session has read them from its file. */
static int take_dynamic_tools(struct session *session, struct str described, struct error *err)
{
	if (!described.ptr)
		return 0;
	struct dynamic_tools *tools = dynamic_tools_read(described, err);
	if (!tools)
		return -(int)err->code;
	dynamic_tools_destroy(session->dynamic_tools);
	session->dynamic_tools = tools;
	return 0;
}

static int open_record(struct session *session, const struct op_configure_session *op, struct error *err)
{
	if (op->resume_path.ptr && session_resume(session, err) != 0)
		return -(int)(err ? err->code : ERR_internal);
	session->has_new_environment = session->settings->environment != NULL;
	if (op->resume_path.ptr && !op->environments_count &&
	    session_environment_restore(session, session->resumed->reader->environment, err) != 0)
		return -(int)(err ? err->code : ERR_internal);
	if (!op->resume_path.ptr && !session->env->ephemeral)
		start_rollout(session);
	if (session->rollout && session->env->sink)
		rollout_writer_use_sink(session->rollout, session->env->sink);
	return 0;
}

static int fill(struct session *session, const struct op_configure_session *op, struct error *err)
{
	const struct session_env *env = session->env;
	struct settings_change change = settings_change_of(op);
	struct model_provider *provider = session_read_provider(session, op->provider, err);
	if (!provider)
		return -(int)err->code;
	session_model_open(session, provider);
	if (op->has_disable_response_storage)
		session->is_private = op->disable_response_storage;
	if (session_environment_select(session, op->environments, op->environments_count, &change, err) != 0 ||
	    model_catalog_load(env->config->model_catalog_json, err) != 0)
		return -(int)err->code;
	if (!env->config->model_catalog_json)
		model_list_load(session->provider);
	struct settings *base = settings_create(env->config, env->cwd, session->provider->oss_model);
	session->settings = settings_with(base, env->config, &change, err);
	settings_unref(base);
	if (!session->settings)
		return -(int)err->code;
	if (session_read_base(session, op->base_instructions, err) != 0)
		return -(int)err->code;
	if (!op->resume_path.ptr && take_dynamic_tools(session, op->dynamic_tools, err) != 0)
		return -(int)err->code;
	take_notify(session, op);
	replace_text(&session->user_instructions, op->instructions);
	replace_text(&session->user_instructions, op->user_instructions);
	return session_hooks_open(session, err) != 0 ? -(int)err->code : open_record(session, op, err);
}

static void destroy_session(struct session *session)
{
	/* cannot fail silently: a full disk was reported when it became full */
	best_effort(session_flush_rollout(session, NULL));
	session_goal_destroy(session);
	session_grants_destroy(session->grants);
	session_hooks_destroy(session->hooks);
	session_mcp_lists_destroy(session);
	mcp_approvals_detach(session);
	session_mcp_destroy(session->mcp);
	session_skills_destroy(session->skills);
	resume_load_destroy(session->resumed);
	rollout_journal_destroy(session->journal);
	rollout_writer_destroy(session->rollout);
	session_window_finish(session);
	model_client_destroy(session->model);
	model_provider_destroy(session->provider);
	dynamic_tools_destroy(session->dynamic_tools);
	conversation_finish(&session->conversation);
	settings_unref(session->settings);
	turn_ids_finish(&session->turn_ids);
	arena_finish(&session->limits_arena);
	arena_finish(&session->notify.arena);
	detached_finish(&session->notices);
	environment_docs_destroy(session->docs);
	buf_finish(&session->unheard);
	shared_text_unref(session->base_instructions);
	free(session->user_instructions);
	free(session);
}

/* load: the rollout that op resumes, or NULL; ownership is taken even on error. */
static struct session *create_session(const struct session_env *env, const struct op_configure_session *op,
                                      struct resume_load *load, struct error *err)
{
	struct session *session = xnew(struct session);
	session->env = env;
	session->resumed = load;
	if (env->agent) /* the tree has chosen the id of the subagent */
		memcpy(session->id, env->agent->session_id, sizeof(session->id));
	else
		uuid_v7(session->id);
	conversation_init(&session->conversation, session, NULL);
	detached_init(&session->notices);
	list_init(&session->shells);
	list_init(&session->mcp_lists);
	buf_init(&session->unheard, LIMIT_USER_ITEM);
	if (exec_rules_read(&session->rules, env->config, err) != 0 || fill(session, op, err) != 0) {
		exec_rules_finish(&session->rules);
		destroy_session(session);
		return NULL;
	}
	return session;
}

/* Emits session_configured with sub_id, and the events that follow it. */
static void announce(struct session *session, struct str sub_id)
{
	emit_configured(session, sub_id);
	session_hooks_warn(session);
	mcp_approvals_attach(session);
	session_mcp_open(session);
	session_resume_warn(session);
}

/* ---- a further configuration ---- */

/* Applies the fields that are not in struct settings. On error nothing changes. */
static int take_over(struct session *session, const struct op_configure_session *op, struct error *err)
{
	struct model_provider *provider = NULL;
	if (op->provider.ptr && !(provider = session_read_provider(session, op->provider, err)))
		return -(int)err->code;
	if (op->base_instructions.ptr && session_read_base(session, op->base_instructions, err) != 0) {
		model_provider_destroy(provider);
		return -(int)err->code;
	}
	if (provider)
		session_model_open(session, provider);
	if (op->has_disable_response_storage)
		session->is_private = op->disable_response_storage;
	take_notify(session, op);
	replace_text(&session->user_instructions, op->instructions);
	replace_text(&session->user_instructions, op->user_instructions);
	return 0;
}

/* Returns the settings of a further configure_session, owned by the caller; NULL and err if it cannot be applied. */
static struct settings *check_configure(const struct session *session, const struct op_configure_session *op,
                                        struct error *err)
{
	struct settings_change change = settings_change_of(op);
	if (op->resume_path.ptr) {
		error_set(err, ERR_invalid, "resume_path can be given only to the first configure_session");
		return NULL;
	}
	if (op->dynamic_tools.ptr) {
		error_set(err, ERR_invalid, "dynamic_tools can be given only to the first configure_session");
		return NULL;
	}
	if (session_environment_select(session, op->environments, op->environments_count, &change, err) != 0)
		return NULL;
	return settings_with(session->settings, session->env->config, &change, err);
}

/* Applies new settings; history and id stay. Takes ownership of the settings even on error. No work of the session
 * may be running. */
static int reconfigure(struct session *session, struct str sub_id, const struct op_configure_session *op,
                       struct settings *settings, struct error *err)
{
	if (take_over(session, op, err) != 0) {
		settings_unref(settings);
		return -(int)err->code;
	}
	session->has_new_environment |= session_environment_is_moved(session->settings, settings);
	settings_unref(session->settings);
	session->settings = settings;
	emit_configured(session, sub_id);
	return 0;
}

/* ---- the goal ----
 *
 * A goal starts a turn only after a Task that succeeded, or after it was set: a turn that fails or that a hook stops
 * would otherwise be started again and again. Input and messages of subagents precede it, and their Tasks are followed
 * by the goal's next turn. */

static void start_goal_turn(void *self)
{
	struct codex *codex = self;
	char id[UUID_TEXT_SIZE];
	bool is_free = codex->session && !codex->session->task && !codex->is_shut_down &&
	               !environment_docs_begin(codex->session); /* after which the goal is continued */
	if (is_free && codex->sq.count) { /* submissions come first; they are carried out in this round of the loop */
		loop_defer(&codex->goal);
	} else if (is_free && codex->has_succeeded && session_goal_takes_turn(codex->session)) {
		codex->has_succeeded = false;
		uuid_v7(id);
		task_start_goal(&codex->tasks, str_of(id));
	}
}

void codex_init_goal(struct codex *codex)
{
	loop_deferred_init(&codex->goal, codex->env.loop, start_goal_turn, codex);
}

void codex_continue_goal(struct codex *codex)
{
	if (codex->has_succeeded && codex->session->goal && codex->env.runs_unasked)
		loop_defer(&codex->goal);
}

/* ---- reports of the Tasks ---- */

static void on_task_success(void *self, const struct task *task)
{
	struct codex *codex = self;
	codex->has_succeeded = true;
	if (notify_is_wanted(codex->session))
		notify_task_complete(codex->session, task);
}

static void on_task_end(void *self)
{
	agents_on_task_end(self);
	codex_continue_goal(self);
}

static const struct task_events task_events = {
	.on_success = on_task_success,
	.on_end = on_task_end,
};

/* ---- open, hold, close ---- */

int codex_open_session(struct codex *codex, struct str sub_id, const struct op_configure_session *op, struct error *err)
{
	struct resume_load *load = op->resume_path.ptr ? resume_wait_take(&codex->resume_wait, op->resume_path) : NULL;
	struct session *session = create_session(&codex->env, op, load, err);
	if (!session)
		return -(int)err->code;
	session_permission_init(session);
	session_host_init(session);
	session->host.inherited_env = session_environment_inherited;
	session_goal_lend(session);
	session_grants_lend(session);
	nested_hooks_init(session);
	session_code_open(session);
	session->host.is_held = codex->holds > 0;
	if (session->resumed)
		agents_restore(session, session->resumed->reader);
	announce(session, sub_id);
	codex->session = session;
	codex->tasks = (struct task_owner){
		.session = session,
		.events = &task_events,
		.inbox = &agents_inbox,
		.self = codex,
	};
	return 0;
}

void codex_continue(struct codex *codex)
{
	const struct unfinished *unfinished = codex->env.unfinished;
	codex->env.unfinished = NULL;
	if (unfinished && unfinished->id.ptr)
		task_continue(&codex->tasks, unfinished);
}

void codex_end_commands(struct codex *codex)
{
	session_abort_shells(codex->session);
	exec_sessions_end(codex->session->exec);
}

int codex_reconfigure_session(struct codex *codex, struct str sub_id, const struct op_configure_session *op,
                              struct error *err)
{
	struct session *session = codex->session;
	struct settings *settings = check_configure(session, op, err);
	if (!settings)
		return -(int)err->code;
	if (session->task)
		task_abort(session->task, turn_abort_reason_interrupted);
	codex_end_commands(codex);
	return reconfigure(session, sub_id, op, settings, err);
}

void codex_hold_session(struct codex *codex)
{
	struct session *session = codex->session;
	exec_commands_hold(&session->host);
	if (session->task)
		task_hold(session->task);
}

void codex_release_session(struct codex *codex)
{
	struct session *session = codex->session;
	exec_commands_release(&session->host);
	if (session->task)
		task_release(session->task);
}

void codex_interrupt(struct codex *codex)
{
	struct session *session = codex->session;
	session_goal_stop(session, goal_status_paused);
	if (!session->task)
		return;
	struct str id = str_copy(session->task->id);
	const struct session_hook hook = {.event = hook_event_interrupt, .turn_id = id, .settings = session->settings};
	task_abort(session->task, turn_abort_reason_interrupted);
	session_hooks_notify(session, &hook);
	str_free(&id);
}

static void write_end(struct json_writer *w, const void *arg)
{
	(void)arg;
	jw_member_cstr(w, "reason", "other");
}

static void complete_shutdown(struct codex *codex, struct str id)
{
	if (codex->session)
		session_mcp_cancel(codex->session->mcp);
	eq_push_last(&codex->eq, id, EV_shutdown_complete, NULL);
}

static void on_ended(const struct hook_result *result, void *self)
{
	struct codex *codex = self;
	(void)result;
	codex->ending = NULL;
	complete_shutdown(codex, str_of(codex->ending_id));
	if (codex->on_farewell)
		codex->on_farewell(codex->farewell_self);
}

void codex_end_session(struct codex *codex, struct str id)
{
	struct session_hook hook = {.event = hook_event_session_end, .write = write_end};
	if (codex->session) {
		hook.settings = codex->session->settings;
		codex->ending = session_hooks_start(codex->session, &hook, on_ended, codex);
	}
	if (codex->ending)
		codex->ending_id = str_dup(id);
	else
		complete_shutdown(codex, id);
}

void codex_close_session(struct codex *codex)
{
	struct session *session = codex->session;
	hook_batch_cancel(steal(codex->ending));
	free(steal(codex->ending_id));
	if (!session)
		return;
	task_destroy(session->task);
	session_destroy_shells(session);
	session_host_finish(session);
	session_code_close(session);
	samples_cancel(&codex->samples);
	destroy_session(session);
}
