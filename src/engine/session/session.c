/* The Session is state and nothing else: Ops change it, the Task uses it, the rollout remembers it.
 * What it offers to a model (tools, instructions) is worked out in session_model.c. */
#include "engine/session/session.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

#include "agent/agent.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/model_provider.h"
#include "engine/session/resume.h"
#include "engine/session/resume_load.h"
#include "engine/session/session_model.h"
#include "engine/session/session_record.h"
#include "engine/session/session_skills.h"
#include "engine/session/conversation_usage.h"
#include "model/model_client.h"
#include "rollout/prompt_history.h"
#include "rollout/rollout_journal.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_writer.h"
#include "tool/dynamic_tools.h"
#include "tool/tool.h"
#include "workspace/git_info.h"

void session_push(struct session *session, struct str sub_id, enum event_tag tag, const void *body)
{
	session->env->ops->push(session->env->self, sub_id, tag, body);
}

void session_emit(struct session *session, struct str sub_id, enum event_tag tag, const void *body)
{
	session_push(session, sub_id, tag, body);
	session_record_event(session, sub_id, tag, body);
}

static void record_decision(struct session *session, const struct tool_call *call,
                            const struct review_decision *decision)
{
	if (decision->tag == review_decision_denied || decision->tag == review_decision_abort)
		session_record_decline(session, call->call_id);
}

bool session_answer(struct session *session, enum pending_kind kind, struct str id, const void *answer)
{
	const struct tool_call *call = pending_find(&session->pending, kind, id);
	if (!call || loop_deferred_is_waiting(&session->interrupt)) /* the answer to another request was "abort" */
		return false;
	if (kind == PENDING_approval)
		record_decision(session, call, answer);
	return pending_answer(&session->pending, kind, id, answer);
}

/* item_started and item_completed have the same fields */
_Static_assert(sizeof(struct ev_item_started) == sizeof(struct ev_item_completed), "one body serves both events");

void session_emit_item(struct session *session, struct str turn_id, enum event_tag tag, struct turn_item *item)
{
	struct ev_item_completed event = {.thread_id = str_of(session->id), .turn_id = turn_id, .item = item};
	session_emit(session, turn_id, tag, &event);
}

void session_warn(struct session *session, struct str sub_id, const char *format, ...)
{
	char text[ERROR_TEXT_MAX];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct ev_warning event = {.message = str_of(text)};
	session_emit(session, sub_id, EV_warning, &event);
}

static void emit_configured(struct session *session, struct str sub_id)
{
	const struct settings *settings = session->settings;
	struct ev_session_configured event = {
		.session_id = str_of(session->id),
		.model = str_of(settings->model),
		.model_provider_id = str_of(session->provider->id),
		.approval_policy = (struct ask_for_approval *)(uintptr_t)settings->approval_policy,
		.sandbox_policy = (struct sandbox *)(uintptr_t)settings->sandbox,
		.cwd = str_of(settings->cwd),
		.has_reasoning_effort = settings->effort != reasoning_effort_unset,
		.reasoning_effort = settings->effort,
		.rollout_path = session->rollout ? str_of(rollout_writer_path(session->rollout)) : STR_NONE,
	};
	if (session->env->is_interactive) /* nobody else can bring a prompt back */
		prompt_history_measure(config_home(session->env->config), &event.history_log_id,
		                       &event.history_entry_count);
	event.initial_messages = session_resume_messages(session);
	session_emit(session, sub_id, EV_session_configured, &event);
}

static struct settings_change change_of(const struct op_configure_session *op)
{
	return (struct settings_change){
		.model = op->model,
		.cwd = op->cwd,
		.approval_policy = op->approval_policy,
		.sandbox = op->sandbox_policy,
		.has_effort = op->has_model_reasoning_effort,
		.effort = op->model_reasoning_effort,
		.has_summary = op->has_model_reasoning_summary,
		.summary = op->model_reasoning_summary,
	};
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

/* A new session's file. Its first line says where work began, so that a list can show it (core 10). */
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
	}
	session->rollout = rollout_writer_create(config_home(env->config), &meta, env->config->fsync);
	git_info_finish(&git);
}

/* A resume has read them from its file by now. */
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
	if (op->resume_path.ptr)
		return session_resume(session, err);
	if (!session->env->ephemeral)
		start_rollout(session);
	return 0;
}

static int fill(struct session *session, const struct op_configure_session *op, struct error *err)
{
	const struct session_env *env = session->env;
	struct settings_change change = change_of(op);
	if (session_model_open(session, op->provider, err) != 0)
		return -(int)err->code;
	if (op->has_disable_response_storage)
		session->is_private = op->disable_response_storage;
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
	return open_record(session, op, err);
}

struct session *session_create(const struct session_env *env, const struct op_configure_session *op,
                               struct resume_load *load, struct error *err)
{
	struct session *session = xnew(struct session);
	session->env = env;
	session->resumed = load;
	if (env->agent) /* the tree has given a subagent its id */
		memcpy(session->id, env->agent->session_id, sizeof(session->id));
	else
		uuid_v7(session->id);
	conversation_init(&session->conversation, session, NULL);
	pending_init(&session->pending);
	detached_init(&session->notices);
	list_init(&session->shells);
	buf_init(&session->unheard, LIMIT_USER_ITEM);
	if (fill(session, op, err) != 0) {
		session_destroy(session);
		return NULL;
	}
	return session;
}

void session_announce(struct session *session, struct str sub_id)
{
	emit_configured(session, sub_id);
	session_emit(session, STR(""), EV_mcp_startup_complete, &(struct ev_mcp_startup_complete){0});
	session_resume_tell(session);
}

/* Applies the fields that are not in struct settings. On error nothing changes. */
static int take_over(struct session *session, const struct op_configure_session *op, struct error *err)
{
	if (op->base_instructions.ptr && session_read_base(session, op->base_instructions, err) != 0)
		return -(int)err->code;
	if (op->provider.ptr && session_model_open(session, op->provider, err) != 0)
		return -(int)err->code;
	if (op->has_disable_response_storage)
		session->is_private = op->disable_response_storage;
	take_notify(session, op);
	replace_text(&session->user_instructions, op->instructions);
	replace_text(&session->user_instructions, op->user_instructions);
	return 0;
}

struct settings *session_check_configure(const struct session *session, const struct op_configure_session *op,
                                         struct error *err)
{
	struct settings_change change = change_of(op);
	if (op->resume_path.ptr) {
		error_set(err, ERR_invalid, "resume_path can be given only to the first configure_session");
		return NULL;
	}
	if (op->dynamic_tools.ptr) {
		error_set(err, ERR_invalid, "dynamic_tools can be given only to the first configure_session");
		return NULL;
	}
	return settings_with(session->settings, session->env->config, &change, err);
}

int session_reconfigure(struct session *session, struct str sub_id, const struct op_configure_session *op,
                        struct settings *settings, struct error *err)
{
	if (take_over(session, op, err) != 0) {
		settings_unref(settings);
		return -(int)err->code;
	}
	settings_unref(session->settings);
	session->settings = settings;
	emit_configured(session, sub_id);
	return 0;
}

int session_change_settings(struct session *session, const struct settings_change *change, struct error *err)
{
	struct settings *settings = settings_with(session->settings, session->env->config, change, err);
	if (!settings)
		return -(int)err->code;
	settings_unref(session->settings);
	session->settings = settings;
	return 0;
}

/* What the model was told behind the mark it does not know any more. Other tools know how to take back
 * whole turns; a history cut elsewhere is recorded as it stands. */
void session_rewind(struct session *session, const struct context_mark *mark)
{
	size_t dropped = session->conversation.context.user_turns - mark->user_turns;
	bool is_whole = mark->ends_task && !session->has_new_history;
	if (mark->item_count < session->conversation.announced_at) {
		settings_unref(session->conversation.announced);
		session->conversation.announced = NULL;
	}
	context_rewind(&session->conversation.context, mark);
	if (is_whole)
		session_record_rewind(session, dropped);
	else
		conversation_record_history(&session->conversation, STR(""));
	session->has_new_history |= !is_whole;
	conversation_close_calls(&session->conversation);
	conversation_limit_usage(&session->conversation);
}

void session_go_elsewhere(struct session *session, struct str response_id)
{
	settings_unref(session->conversation.announced);
	session->conversation.announced = NULL;
	session->conversation.context.user_turns = 0;
	context_truncate(&session->conversation.context, 0);
	context_mark_response(&session->conversation.context, response_id);
	conversation_record_history(&session->conversation, STR(""));
	conversation_limit_usage(&session->conversation);
	session->has_new_history = true;
}

void session_destroy(struct session *session)
{
	if (!session)
		return;
	if (session->rollout)
		session_flush_rollout(session, NULL);
	session_skills_destroy(session->skills);
	resume_load_destroy(session->resumed);
	rollout_journal_destroy(session->journal);
	rollout_writer_destroy(session->rollout);
	model_client_destroy(session->model);
	model_provider_destroy(session->provider);
	pending_finish(&session->pending);
	dynamic_tools_destroy(session->dynamic_tools);
	conversation_finish(&session->conversation);
	settings_unref(session->settings);
	arena_finish(&session->limits_arena);
	arena_finish(&session->notify.arena);
	detached_finish(&session->notices);
	buf_finish(&session->unheard);
	free(session->base_instructions);
	free(session->user_instructions);
	free(session);
}
