/* The Session is data: Ops change it, the Task uses it, the rollout records it. The rollout has two readers: a later
 * resume, which needs the items and the settings, and other programs, which need the events.
 * Tools do not know the Session: they get a host, which is the Session's part that they need. */
#define LOG_MODULE "session"
#include "engine/session/session.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "command/env_policy.h"
#include "config/config.h"
#include "rollout/rollout_journal.h"
#include "rollout/rollout_sink.h"
#include "rollout/rollout_writer.h"
#include "tool/code/code_cells.h"
#include "tool/exec/exec_command.h"
#include "tool/exec/exec_session.h"
#include "tool/tool.h"

/* ---- the rollout ---- */

/* Writes a large line at once, because keeping it in the batch would only use memory. After an error it stays
 * pending, and the flush before the next events reports the error. */
static void flush_large(struct session *session, size_t pending_before)
{
	if (rollout_writer_pending_bytes(session->rollout) > pending_before + LIMIT_ROLLOUT_DIRECT)
		best_effort(session_flush_rollout(session, NULL));
}

/* Adds a line. While the disk is full, pending lines would grow without limit, so those that do not fit are lost.
 * The user was warned when the disk became full (engine/codex/queues.c). */
void session_record(struct session *session, enum rollout_line_type type, struct str payload)
{
	struct error err;
	if (!session->rollout)
		return;
	size_t before = rollout_writer_pending_bytes(session->rollout);
	if (rollout_writer_append(session->rollout, type, payload, &err) != 0) {
		log_debug("not recorded: %s", err.text);
		if (payload.len > LIMIT_ROLLOUT_LINE - KIB)
			session_warn_line(session, type);
	}
	flush_large(session, before);
}

void session_warn_line(struct session *session, enum rollout_line_type type)
{
	session_warn(session, STR(""),
	             "A `%s` line of this session's file would exceed %d MiB and was not written; a resumed session "
	             "lacks it.",
	             rollout_line_name(type), LIMIT_ROLLOUT_LINE / MIB);
}

void session_open_journal(struct session *session)
{
	if (!session->journal)
		session->journal = rollout_journal_create(session->rollout, str_of(session->id));
}

void session_record_event(struct session *session, struct str turn_id, enum event_tag tag, const void *body)
{
	struct error err;
	struct event_msg event = {.tag = tag, .body = (void *)(uintptr_t)body};
	if (!session->rollout)
		return;
	session_open_journal(session);
	size_t before = rollout_writer_pending_bytes(session->rollout);
	if (rollout_journal_event(session->journal, turn_id, &event, &err) != 0)
		log_debug("not recorded: %s", err.text);
	flush_large(session, before);
}

int session_flush_rollout(struct session *session, struct error *err)
{
	return session->rollout ? rollout_writer_flush(session->rollout, err) : 0;
}

static void on_synced(const struct error *err, void *self)
{
	(void)self;
	if (err)
		log_debug("rollout not synced: %s", err->text);
}

void session_sync_rollout(struct session *session)
{
	if (session->rollout && session_flush_rollout(session, NULL) == 0)
		rollout_writer_sync(session->rollout, session->env->loop, on_synced, NULL);
}

/* ---- events ---- */

struct str session_task_submission(const struct session *session)
{
	return session->task ? turn_ids_submission(&session->turn_ids, session->host.turn_id) : STR("");
}

void session_push(struct session *session, struct str sub_id, enum event_tag tag, const void *body,
                  struct shared_text *held)
{
	session->env->ops->push(session->env->self, turn_ids_submission(&session->turn_ids, sub_id), tag, body, held);
}

void session_emit(struct session *session, struct str sub_id, enum event_tag tag, const void *body)
{
	/* Recorded first: the lines of a large event are written and freed before the event is copied. */
	session_record_event(session, sub_id, tag, body);
	session_push(session, sub_id, tag, body, NULL);
}

static struct ev_item_completed completed(const struct session *session, struct str turn_id, struct turn_item *item)
{
	return (struct ev_item_completed){.thread_id = str_of(session->id), .turn_id = turn_id, .item = item};
}

void session_record_completed(struct session *session, struct str turn_id, struct turn_item *item)
{
	struct ev_item_completed event = completed(session, turn_id, item);
	session_record_event(session, turn_id, EV_item_completed, &event);
}

void session_push_completed(struct session *session, struct str turn_id, struct turn_item *item,
                            struct shared_text *held)
{
	struct ev_item_completed event = completed(session, turn_id, item);
	session_push(session, turn_id, EV_item_completed, &event, held);
}

void session_emit_item(struct session *session, struct str turn_id, enum event_tag tag, struct turn_item *item)
{
	struct ev_item_started started = {.thread_id = str_of(session->id), .turn_id = turn_id, .item = item};
	struct ev_item_completed whole = completed(session, turn_id, item);
	session_emit(session, turn_id, tag, tag == EV_item_started ? (void *)&started : &whole);
}

void session_warn(struct session *session, struct str sub_id, const char *format, ...)
{
	auto_buf struct buf text;
	va_list args;
	buf_init(&text, LIMIT_WARNING);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	struct ev_warning event = {.message = text.over ? STR("A warning was too long to be shown.") : buf_str(&text)};
	session_emit(session, sub_id, EV_warning, &event);
}

/* ---- settings ---- */

int session_change_settings(struct session *session, const struct settings_change *change, struct error *err)
{
	struct settings *settings = settings_with(session->settings, session->env->config, change, err);
	if (!settings)
		return -(int)err->code;
	bool has_places = settings_name_places(settings) || settings_name_places(session->settings);
	session->has_new_environment |= settings->environment != session->settings->environment ||
	                                (has_places && !settings_have_same_places(settings, session->settings));
	settings_unref(session->settings);
	session->settings = settings;
	return 0;
}

/* ---- answers to pending requests ---- */

/* The journal writes a denied item as declined. */
void session_record_decision(struct session *session, const struct tool_call *call,
                             const struct review_decision *decision, const char *source)
{
	bool is_amended = decision->tag == review_decision_approved_execpolicy_amendment;
	if (!call->mcp.start)
		tool_call_note_decision(call,
		                        is_amended ? "approved_with_amendment"
		                                   : union_find_tag(&union_review_decision, (int)decision->tag)->wire,
		                        source);
	bool is_denied = decision->tag == review_decision_denied || decision->tag == review_decision_abort;
	if (session->journal)
		rollout_journal_decide(session->journal, call->call_id, is_denied);
}

bool session_answer(struct session *session, enum pending_kind kind, struct str id, const void *answer)
{
	const struct tool_call *call = pending_find(&session->requests, kind, id);
	if (!call) {
		id = turn_ids_turn(&session->turn_ids, id);
		call = pending_find(&session->requests, kind, id);
	}
	if (!call || loop_deferred_is_waiting(&session->interrupt)) /* the answer to another one was "abort" */
		return false;
	if (kind == PENDING_approval)
		session_record_decision(session, call, answer, "User");
	loop_defer(&session->asked);
	return pending_answer(&session->requests, kind, id, answer);
}

/* ---- calls that wait for the sink ---- */

const char *session_env_rollouts(const struct session_env *env)
{
	return env->sink ? env->sink->folder : config_home(env->config);
}

void session_number_waits(struct session *session)
{
	struct tool_wait *it;
	uint64_t number = 0;
	list_for_each(it, &session->waits, link) {
		if (!it->number && !number)
			number = session->env->sink->barrier(session->env->sink->self);
		it->number = it->number ? it->number : number;
	}
}

static struct tool_wait *first_settled(struct session *session, uint64_t number)
{
	struct tool_wait *it;
	list_for_each(it, &session->waits, link) {
		if (it->number && it->number <= number)
			return it;
	}
	return NULL;
}

void session_settle(struct session *session, uint64_t number)
{
	struct tool_wait *wait;
	while ((wait = first_settled(session, number))) {
		list_remove(&wait->link);
		wait->then(wait);
	}
}

/* ---- the host of its tool calls ---- */

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
	struct session *session = session_of(host);
	session_record_event(session, call->turn_id, tag, body); /* also what a hook or the reviewer will deny */
	if (session->permission_ops->start(session, call, tag, body, answer))
		return;
	pending_add(&session->requests, tag, body, call, answer);
	session_push(session, call->turn_id, tag, body, NULL);
}

static bool host_settle(struct tool_host *host, struct tool_wait *wait, struct str call_id)
{
	struct session *session = session_of(host);
	const struct session_env *env = session->env;
	if (!env->sink)
		return false;
	wait->number = 0;
	list_remove(&wait->link);
	list_append(&session->waits, &wait->link);
	env->sink->on_begin(env->sink->self, session->id, call_id);
	env->ops->settle(env->self);
	return true;
}

static bool host_is_asking(struct tool_host *host)
{
	const struct session *session = session_of(host);
	return !list_empty(&session->requests) || !list_empty(&session->permissions) || !list_empty(&session->reviews);
}

/* The item waits until the next turn, like a report of a user's command. */
static void host_add_item(struct tool_host *host, struct str item)
{
	struct session *session = session_of(host);
	if (item.len + 1 > session->unheard.max - session->unheard.len)
		return;
	buf_append_str(&session->unheard, item);
	buf_append_char(&session->unheard, '\n');
}

static void host_withdraw(struct tool_host *host, struct str id)
{
	struct session *session = session_of(host);
	pending_withdraw(&session->requests, id);
	loop_defer(&session->asked);
}

static void drop_requests(struct session *session, const struct tool_call *call, pending_dropped_fn on_dropped)
{
	session->permission_ops->drop(session, call);
	pending_drop(&session->requests, call, on_dropped, session);
	loop_defer(&session->asked);
}

/* The clients of a root see the requests of its subagents, and not the events by which their turns end. */
static void on_dropped(const struct ev_request_user_input_expired *event, void *self)
{
	session_push(self, event->turn_id, EV_request_user_input_expired, event, NULL);
}

void session_drop_requests(struct session *session, const struct tool_call *call)
{
	const struct agent *agent = session->env->agent;
	drop_requests(session, call, call && agent && agent->parent ? on_dropped : NULL);
}

static void host_unask(struct tool_host *host, struct tool_call *call)
{
	drop_requests(session_of(host), call, NULL);
}

static void host_patched(struct tool_host *host, const struct patch_plan *plan)
{
	const struct session_env *env = session_of(host)->env;
	env->ops->on_patched(env->self, plan);
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
	const struct session_env *env = session_of(host)->env;
	return env->ops->agent(env->self, by_thread);
}

static void on_rules_warning(const char *text, void *self)
{
	struct session *session = self;
	session_warn(session, session->host.turn_id, "%s", text);
}

static const struct exec_policy *host_rules(struct tool_host *host)
{
	struct session *session = session_of(host);
	return exec_rules_get(&session->rules, on_rules_warning, session);
}

static void host_amend(struct tool_host *host, const struct str *words, size_t count)
{
	struct error err;
	struct session *session = session_of(host);
	if (exec_rules_amend(&session->rules, session->env->config, words, count, &err) != 0)
		session_warn(session, host->turn_id, "the rule counts for this session only: %s", err.text);
}

/* Builds the environment for each command; a session that runs no commands has none. */
static const char *const *host_command_env(struct tool_host *host, const struct environment *environment, bool is_model,
                                           struct str call_id)
{
	struct session *session = session_of(host);
	env_finish(&session->command_env);
	env_init(&session->command_env);
	if (!environment)
		exec_command_env(&session->env->config->shell_environment_policy, &session->command_env);
	const struct sandbox_policy *policy = tool_host_policy(host, environment);
	bool has_sandbox =
		is_model && (policy->mode == sandbox_mode_read_only || policy->mode == sandbox_mode_workspace_write);
	struct env_engine engine = {
		.thread_id = session->id,
		.call_id = is_model ? call_id : STR_NONE,
		.network_disabled = has_sandbox && !policy->network_access,
		.plain_terminal = is_model,
	};
	env_engine_apply(&engine, &session->command_env);
	return env_vars(&session->command_env);
}

static void on_interrupt(void *self)
{
	const struct session *session = self;
	session->env->ops->on_abort(session->env->self);
}

/* Scripts hold their answers while a request is pending. */
static void on_asked(void *self)
{
	const struct session *session = self;
	code_cells_release(session->host.code.cells);
}

void session_host_init(struct session *session)
{
	struct loop *loop = session->env->loop;
	session->host = (struct tool_host){
		.loop = loop,
		.watch = session->env->calls,
		.thread_id = session->id,
		.mutes_output = session->env->mutes_output,
		.begins_once_allowed = session->env->begins_once_allowed,
		.reports_refusals = session->env->reports_refusals,
		.command_env = host_command_env,
		.emit = host_emit,
		.settle = host_settle,
		.has_collab = session->env->config->features.collab,
		.has_team = session->env->config->features.multi_agent_v2,
		.asks_in_default_mode = session->env->config->features.default_mode_request_user_input,
		.is_unattended = session->env->is_unattended,
		.is_subagent = session->env->agent && session->env->agent->parent,
		.dynamic = session->env->serves_tools ? session->dynamic_tools : NULL,
		.allows_login_shell = session->env->config->allow_login_shell,
		.question_timeout_ms = (uint64_t)session->env->config->request_user_input_timeout_ms,
		.ask = host_ask,
		.unask = host_unask,
		.is_asking = host_is_asking,
		.add_item = host_add_item,
		.is_idle = true,
		.withdraw = host_withdraw,
		.patched = host_patched,
		.interrupt = host_interrupt,
		.is_approved = host_is_approved,
		.remember = host_remember,
		.agent = host_agent,
		.rules = host_rules,
		.amend = host_amend,
	};
	loop_deferred_init(&session->interrupt, loop, on_interrupt, session);
	loop_deferred_init(&session->asked, loop, on_asked, session);
	list_init(&session->host.commands);
	list_init(&session->host.sleeps);
	list_init(&session->requests);
	list_init(&session->waits);
	session->exec = exec_sessions_create(&session->host);
	session->host.exec = session->exec;
}

void session_lend_host(struct session *session, struct str turn_id, const struct settings *settings)
{
	struct tool_host *host = &session->host;
	settings_unref(session->lent);
	session->lent = settings_ref((struct settings *)(uintptr_t)settings);
	host->cwd = settings_folder(settings);
	host->environment = settings->environment;
	host->settings_sandbox = &settings->sandbox_policy;
	host->further = settings->further;
	host->further_count = settings->further_count;
	host->turn_id = turn_id;
	host->approval_policy = settings->approval_policy;
	host->has_reviewer = settings->reviewer == approvals_reviewer_auto_review;
	host->sandbox = &settings->sandbox_policy;
	host->mode = settings->mode;
	host->effort = settings_shown_effort(settings);
	host->offers_update_plan = session->env->config->tools.update_plan;
	host->output_budget = settings->info.output_budget;
	host->is_idle = false;
	code_cells_resume(host->code.cells);
}

void session_host_finish(struct session *session)
{
	code_cells_destroy(session->host.code.cells);
	session_drop_requests(session, NULL);
	exec_sessions_destroy(session->exec);
	loop_deferred_finish(&session->interrupt);
	loop_deferred_finish(&session->asked);
	exec_rules_finish(&session->rules);
	settings_unref(steal(session->lent));
	env_finish(&session->command_env);
	buf_finish(&session->inherited_env);
}
