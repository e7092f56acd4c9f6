/* The input of a hook is written for each occurrence of an event; a session without usable hooks of an event writes
 * nothing and starts nothing. */
#include "engine/session/session_hooks.h"

#include <stdio.h>
#include <string.h>

#include "agent/agent.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/history/history_item.h"
#include "engine/session/conversation.h"
#include "engine/session/resume_load.h"
#include "engine/session/session.h"
#include "rollout/rollout_writer.h"

#define DEPTH_NAME "CODEX_HOOK_DEPTH"

struct session_hooks {
	struct session *session;
	struct hook_pool *pool;
	struct list notices; /* struct notice: batches that nothing waits for */
	const char *source;  /* why the session starts; NULL: it has started */
	int64_t depth;       /* engines above this one that ran hooks */
};

struct notice {
	struct list link;
	struct hook_batch *batch;
};

/* ---- reports ---- */

static struct str add_entry(struct hook_entry *entries, size_t *count, enum hook_entry_kind kind, struct str text)
{
	if (text.len)
		entries[(*count)++] = (struct hook_entry){kind, text};
	return text;
}

static size_t write_entries(const struct hook_effect *effect, struct hook_entry entries[4])
{
	size_t count = 0;
	bool is_stopped = effect->status == hook_status_stopped;
	add_entry(entries, &count, hook_entry_kind_warning, effect->message);
	add_entry(entries, &count, hook_entry_kind_error, effect->error);
	add_entry(entries, &count, is_stopped ? hook_entry_kind_stop : hook_entry_kind_feedback, effect->reason);
	add_entry(entries, &count, hook_entry_kind_context, effect->context);
	return count;
}

/* Warns of what a hook has changed or failed to do, for front ends that show no hooks. */
static void warn_of(struct session *session, const struct hook_run_report *report)
{
	const struct hook_effect *effect = report->effect;
	const char *name = hook_events[report->hook->event].name;
	if (effect->message.len)
		session_warn(session, report->turn_id, "%s hook: %.*s", name, STR_ARG(effect->message));
	if (effect->status == hook_status_failed)
		session_warn(session, report->turn_id, "%s hook failed and has no effect: %.*s (%s)", name,
		             STR_ARG(effect->error), report->hook->key);
	else if (effect->status != hook_status_completed)
		session_warn(session, report->turn_id, "%s hook %s: %.*s", name,
		             effect->status == hook_status_blocked ? "blocked" : "stopped the turn",
		             STR_ARG(effect->reason.len ? effect->reason : STR("no reason is given")));
	if (effect->updated_input.len)
		session_warn(session, report->turn_id, "%s hook replaced the arguments of the call.", name);
	if (effect->permission != HOOK_PERMISSION_none)
		session_warn(session, report->turn_id, "%s hook %s the request.", name,
		             effect->permission == HOOK_PERMISSION_allow ? "allowed" : "denied");
}

static void report(const struct hook_run_report *report, void *self)
{
	struct session_hooks *hooks = self;
	const struct hook *hook = report->hook;
	struct hook_entry entries[4];
	struct hook_run run = {
		.id = str_of(report->id),
		.event_name = hook->event,
		.handler_type = STR("command"),
		.execution_mode = hook->is_async ? hook_execution_mode_async : hook_execution_mode_sync,
		.scope = report->turn_id.ptr ? hook_scope_turn : hook_scope_thread,
		.source_path = str_of(hook->path),
		.source = hook->source,
		.display_order = hook->order,
		.status_message = str_of(hook->status_message),
		.started_at = report->started_at,
		.entries = entries,
	};
	struct ev_hook_started started = {.turn_id = report->turn_id, .run = &run};
	struct str id = report->turn_id.ptr ? report->turn_id : STR("");
	if (!report->effect) {
		session_emit(hooks->session, id, EV_hook_started, &started);
		return;
	}
	run.status = report->effect->status;
	run.has_completed_at = run.has_duration_ms = true;
	run.completed_at = report->completed_at;
	run.duration_ms = report->duration_ms;
	run.entries_count = write_entries(report->effect, entries);
	struct ev_hook_completed completed = {.turn_id = report->turn_id, .run = &run};
	session_emit(hooks->session, id, EV_hook_completed, &completed);
	warn_of(hooks->session, report);
}

/* ---- opening ---- */

static void warn_untrusted(struct session *session, const struct hook_config *config)
{
	size_t count = 0;
	const struct hook *first = NULL;
	vec_for_each(hook, &config->list.hooks) {
		bool is_known =
			hook->trust == app_hook_trust_status_trusted || hook->trust == app_hook_trust_status_managed;
		if (!hook->is_enabled || is_known)
			continue;
		first = first ? first : hook;
		count++;
	}
	if (count && config_bypasses_hook_trust(session->env->config))
		session_warn(session, STR(""),
		             "--dangerously-bypass-hook-trust: %zu hook%s that you have not reviewed %s, "
		             "the first of %s.",
		             count, count > 1 ? "s" : "", count > 1 ? "run" : "runs", first->path);
	else if (count)
		session_warn(
			session, STR(""),
			"%zu hook%s of %s %s not trusted and %s not run. `codex hooks list` shows %s; `codex hooks "
			"trust` lets %s run.",
			count, count > 1 ? "s" : "", first->path, count > 1 ? "are" : "is", count > 1 ? "do" : "does",
			count > 1 ? "them" : "it", count > 1 ? "them" : "it");
}

void session_hooks_warn(struct session *session)
{
	const struct hook_config *config = hook_set_config(hook_pool_set(session->hooks->pool));
	const struct agent *agent = session->env->agent;
	if ((agent && agent->parent)) /* the parent has warned */
		return;
	vec_for_each(text, &config->list.warnings)
		session_warn(session, STR(""), "%s", *text);
	warn_untrusted(session, config);
}

static bool has_usable(const struct hook_config *config)
{
	vec_for_each(hook, &config->list.hooks)
		if (hook->is_usable)
			return true;
	return false;
}

static const char *source_of(const struct session *session)
{
	if (session->resumed)
		return session->resumed->is_fork ? "fork" : "resume";
	return session->env->is_cleared ? "clear" : "startup";
}

int session_hooks_open(struct session *session, struct error *err)
{
	int64_t depth = 0;
	struct session_hooks *hooks = xnew(struct session_hooks);
	struct hook_set *set = hook_set_create(session->env->config);
	const struct hook_reporter reporter = {report, hooks};
	str_to_i64(str_of(config_env(DEPTH_NAME)), &depth);
	hooks->session = session;
	hooks->depth = depth > 0 ? depth : 0;
	hooks->source = source_of(session);
	list_init(&hooks->notices);
	session->hooks = hooks;
	hooks->pool = hook_pool_create(session->env->loop, set, &reporter);
	hook_set_unref(set);
	if (has_usable(hook_set_config(hook_pool_set(hooks->pool))) && depth >= LIMIT_HOOK_DEPTH)
		return error_set(
			err, ERR_limit,
			"this session was started by a hook of a session that was started by a hook, %lld deep; "
			"start it with --disable hooks",
			(long long)depth);
	return 0;
}

void session_hooks_renew(struct session *session, const struct config *config)
{
	bool is_allowed = session->hooks && session->hooks->depth < LIMIT_HOOK_DEPTH;
	struct hook_set *set = is_allowed ? hook_set_create(config) : NULL;
	if (set)
		hook_pool_replace(session->hooks->pool, set);
	hook_set_unref(set);
}

static void notice_destroy(struct notice *notice)
{
	list_remove(&notice->link);
	free(notice);
}

void session_hooks_destroy(struct session_hooks *hooks)
{
	struct notice *notice;
	if (!hooks)
		return;
	list_for_each(notice, &hooks->notices, link) {
		hook_batch_cancel(notice->batch);
		notice_destroy(notice);
	}
	hook_pool_destroy(hooks->pool);
	free(hooks);
}

/* ---- starting ---- */

bool session_hooks_has(const struct session *session, enum hook_event event)
{
	return session->hooks && hook_set_has(hook_pool_set(session->hooks->pool), event);
}

static const char *permission_mode(const struct settings *settings)
{
	if (settings->mode == mode_kind_plan)
		return "plan";
	return settings->approval_policy->tag == ask_for_approval_never ? "bypassPermissions" : "default";
}

static void write_common(const struct session *session, const struct session_hook *hook, struct json_writer *w)
{
	const struct agent *agent = session->env->agent;
	unsigned flags = hook_events[hook->event].flags;
	bool is_request = hook->event == hook_event_pre_model_request || hook->event == hook_event_post_model_request;
	jw_member_cstr(w, "session_id", session->id);
	if (!(flags & HOOK_THREAD))
		jw_member_str(w, "turn_id", hook->turn_id);
	jw_member_cstr(w, "transcript_path", session->rollout ? rollout_writer_path(session->rollout) : NULL);
	jw_member_cstr(w, "cwd", hook->settings->cwd);
	jw_member_cstr(w, "hook_event_name", hook_events[hook->event].name);
	if (hook->event != hook_event_session_end)
		jw_member_cstr(w, "model", hook->settings->model);
	if (hook->event != hook_event_session_end && !is_request)
		jw_member_cstr(w, "permission_mode", permission_mode(hook->settings));
	if (agent && agent->parent) {
		jw_member_cstr(w, "agent_id", session->id);
		jw_member_cstr(w, "agent_type", agent->role ? agent->role : "default");
	}
}

static void write_input(const struct session *session, const struct session_hook *hook, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	write_common(session, hook, &w);
	if (hook->write)
		hook->write(&w, hook->arg);
	jw_object_end(&w);
}

/* Returns the environment of commands, and the depth, which an engine started by the hook reads. */
static const char *const *environment(struct session *session)
{
	char depth[32];
	session->host.command_env(&session->host, NULL, false, STR_NONE);
	snprintf(depth, sizeof(depth), "%lld", (long long)session->hooks->depth + 1);
	env_set(&session->command_env, STR(DEPTH_NAME), str_of(depth));
	return env_vars(&session->command_env);
}

struct hook_batch *session_hooks_start(struct session *session, const struct session_hook *hook, hook_done_fn done,
                                       void *self)
{
	auto_buf struct buf input;
	buf_init(&input, LIMIT_TOOL_ITEM);
	if (!session_hooks_has(session, hook->event))
		return NULL;
	write_input(session, hook, &input);
	const struct hook_call call = {
		.event = hook->event,
		.subject = hook->subject,
		.input = input.over ? str_n(input.data, LIMIT_EXEC_STDIN) : buf_str(&input),
		.tag = hook->tag,
		.cwd = hook->settings->cwd,
		.env = environment(session),
		.turn_id = hook_events[hook->event].flags & HOOK_THREAD ? STR_NONE : hook->turn_id,
	};
	return hook_batch_start(session->hooks->pool, &call, done, self);
}

static void on_notified(const struct hook_result *result, void *self)
{
	(void)result;
	notice_destroy(self);
}

void session_hooks_notify(struct session *session, const struct session_hook *hook)
{
	struct notice *notice = xnew(struct notice);
	list_init(&notice->link);
	notice->batch = session_hooks_start(session, hook, on_notified, notice);
	if (notice->batch)
		list_append(&session->hooks->notices, &notice->link);
	else
		notice_destroy(notice);
}

/* ---- the start of the session ---- */

static bool is_subagent(const struct session *session)
{
	return session->env->agent && session->env->agent->parent;
}

enum hook_event session_hooks_start_event(const struct session *session)
{
	return is_subagent(session) ? hook_event_subagent_start : hook_event_session_start;
}

enum hook_event session_hooks_stop_event(const struct session *session)
{
	return is_subagent(session) ? hook_event_subagent_stop : hook_event_stop;
}

const char *session_hooks_take_source(struct session *session)
{
	return session->hooks ? steal(session->hooks->source) : NULL;
}

void session_hooks_set_source(struct session *session, const char *source)
{
	if (session->hooks)
		session->hooks->source = source;
}

void session_hooks_add_contexts(struct conversation *conversation, const struct hook_result *result)
{
	vec_for_each(text, &result->contexts) {
		auto_buf struct buf item;
		buf_init(&item, LIMIT_USER_ITEM);
		text_message_write(&item, "developer", *text);
		conversation_add(conversation, buf_str(&item));
	}
}
