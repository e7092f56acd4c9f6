/* Tools do not know the Session: they get these functions and the facts of the Task. */
#include "engine/codex/session_host.h"

#include "base/error.h"
#include "base/limits.h"
#include "config/config.h"
#include "engine/codex/agents.h"
#include "engine/codex/codex_data.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/task/task.h"
#include "command/env_policy.h"
#include "tool/exec/exec_command.h"
#include "tool/tool.h"
#include "tool/exec/exec_session.h"

static struct session *session_of(struct tool_host *host)
{
	return container_of(host, struct session, host);
}

static void host_emit(struct tool_host *host, struct str turn_id, enum event_tag tag, const void *body)
{
	session_emit(session_of(host), turn_id, tag, body);
}

static void host_ask(struct tool_host *host, struct tool_call *call, enum event_tag tag, const void *body,
                     tool_answer_fn answer)
{
	pending_add(&session_of(host)->pending, pending_kind_of(tag), call, answer);
	host_emit(host, call->turn_id, tag, body);
}

static void host_unask(struct tool_host *host, struct tool_call *call)
{
	pending_drop(&session_of(host)->pending, call);
}

static void host_patched(struct tool_host *host, const struct patch_plan *plan)
{
	struct session *session = session_of(host);
	if (session->task)
		task_note_patch(session->task, plan);
}

static void host_interrupt(struct tool_host *host)
{
	struct session *session = session_of(host);
	loop_defer(&session->interrupt);
}

static bool host_is_approved(struct tool_host *host, struct str key)
{
	return exec_rules_is_approved(&session_of(host)->rules, key);
}

static void host_remember(struct tool_host *host, struct str key)
{
	exec_rules_approve(&session_of(host)->rules, key);
}

static struct agent *host_agent(struct tool_host *host, bool by_thread)
{
	const struct session *session = session_of(host);
	bool has_tools = by_thread ? session_offers_agents(session) : session->env->config->features.subagent_tools;
	return has_tools ? agents_self(session_of(host)) : NULL;
}

static void on_rules_warning(const char *text, void *self)
{
	struct session *session = self;
	session_warn(session, session->host.turn_id, "%s", text);
}

static const struct exec_policy *host_rules(struct tool_host *host)
{
	struct session *session = session_of(host);
	return exec_rules_get(&session->rules, session->env->config, on_rules_warning, session);
}

static void host_amend(struct tool_host *host, const struct str *words, size_t count)
{
	struct error err;
	struct session *session = session_of(host);
	if (exec_rules_amend(&session->rules, session->env->config, words, count, &err) != 0)
		session_warn(session, host->turn_id, "the rule counts for this session only: %s", err.text);
}

/* Built for each command; sessions that run none have no environment. */
static const char *const *host_command_env(struct tool_host *host, bool is_model)
{
	struct session *session = session_of(host);
	env_finish(&session->command_env);
	env_init(&session->command_env);
	exec_command_env(&session->env->config->shell_environment_policy, &session->command_env);
	bool has_sandbox = is_model && (host->sandbox->mode == sandbox_mode_read_only ||
	                                host->sandbox->mode == sandbox_mode_workspace_write);
	struct env_engine engine = {
		.thread_id = session->id,
		.network_disabled = has_sandbox && !host->sandbox->network_access,
		.plain_terminal = is_model,
	};
	env_engine_apply(&engine, &session->command_env);
	return env_vars(&session->command_env);
}

static void on_interrupt(void *self)
{
	struct session *session = self;
	if (session->task)
		task_abort(session->task, turn_abort_reason_interrupted);
}

void session_host_init(struct session *session)
{
	struct loop *loop = session->env->loop;
	session->host = (struct tool_host){
		.loop = loop,
		.thread_id = session->id,
		.mutes_output = session->env->mutes_output,
		.begins_once_allowed = session->env->begins_once_allowed,
		.is_held = codex_of(session)->holds > 0,
		.command_env = host_command_env,
		.emit = host_emit,
		.has_collab = session->env->config->features.collab,
		.asks_in_default_mode = session->env->config->features.default_mode_request_user_input,
		.is_unattended = session->env->is_unattended,
		.dynamic = session->env->serves_tools ? session->dynamic_tools : NULL,
		.allows_login_shell = session->env->config->allow_login_shell,
		.question_timeout_ms = (uint64_t)session->env->config->request_user_input_timeout_ms,
		.ask = host_ask,
		.unask = host_unask,
		.patched = host_patched,
		.interrupt = host_interrupt,
		.is_approved = host_is_approved,
		.remember = host_remember,
		.agent = host_agent,
		.rules = host_rules,
		.amend = host_amend,
	};
	loop_deferred_init(&session->interrupt, loop, on_interrupt, session);
	list_init(&session->host.commands);
	session->exec = exec_sessions_create(&session->host);
	session->host.exec = session->exec;
}

void session_lend_host(struct session *session, const struct task *task)
{
	struct tool_host *host = &session->host;
	host->cwd = task->settings->cwd;
	host->turn_id = task->id;
	host->approval_policy = task->settings->approval_policy;
	host->sandbox = &task->settings->sandbox_policy;
	host->mode = task->settings->mode;
	host->effort = settings_shown_effort(task->settings);
	host->offers_update_plan = session->env->config->tools.update_plan;
	host->output_budget = task->settings->info.output_budget;
}

void session_end_commands(struct session *session)
{
	session_abort_shells(session);
	if (session->exec)
		exec_sessions_end(session->exec);
}

void session_host_finish(struct session *session)
{
	session_destroy_shells(session);
	exec_sessions_destroy(session->exec);
	loop_deferred_finish(&session->interrupt);
	exec_rules_finish(&session->rules);
	env_finish(&session->command_env);
}
