/* Start, end and the reports of turns, which all kinds of tasks share. A turn defers its reports, so a task that
 * ends in one of them never destroys a turn inside a callback of the model call. During a compaction the turn
 * belongs to the compaction, for every kind. */
#include "engine/task/task.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "engine/task/compact.h"
#include "engine/session/session_hooks.h"
#include "engine/history/history_item.h"
#include "engine/session/session.h"
#include "engine/session/session_environment.h"
#include "engine/session/session_goal.h"
#include "engine/session/session_grant.h"
#include "engine/session/session_mcp.h"
#include "engine/turn/turn.h"
#include "model/model_error.h"
#include "model/proposed_plan.h"
#include "patch/patch_plan.h"
#include "tool/code/code_cells.h"
#include "tool/tool_clock.h"

struct task *task_of_turn(const struct turn *turn)
{
	return turn->env->self;
}

void task_emit(struct task *task, enum event_tag tag, const void *body)
{
	session_emit(task->session, task->id, tag, body);
}

void task_emit_item(struct task *task, enum event_tag tag, struct turn_item *item)
{
	session_emit_item(task->session, task->id, tag, item);
}

struct task_input task_input_copy(const struct task_input *input, struct arena *arena)
{
	struct user_input *items = arena_array(arena, struct user_input, input->count);
	for (size_t i = 0; i < input->count; i++)
		union_copy(&union_user_input, &input->items[i], arena, &items[i]);
	return (struct task_input){.items = items,
	                           .count = input->count,
	                           .output_schema = arena_str(arena, input->output_schema),
	                           .client_id = arena_str(arena, input->client_id)};
}

/* Reports that the input was discarded: a truncated item would be invalid JSON and break every later request. */
void task_emit_too_large(struct task *task)
{
	char text[160];
	snprintf(text, sizeof(text), "This input has more than %d MB as JSON, images included, and was discarded.",
	         LIMIT_USER_ITEM / MIB);
	struct ev_error event = {.message = str_of(text), .codex_error_info = STR("\"bad_request\"")};
	task_emit(task, EV_error, &event);
}

static void emit_started(struct task *task)
{
	struct ev_task_started event = {
		.has_model_context_window = true,
		.model_context_window = model_info_window(&task->settings->info),
		.collaboration_mode_kind = task->settings->mode,
	};
	task_emit(task, EV_task_started, &event);
}

static void drop_turn(struct task *task)
{
	turn_destroy(task->turn);
	task->turn = NULL;
}

static void drop_compact(struct task *task)
{
	compact_destroy(task->compact);
	task->compact = NULL;
}

static void take_from_turn(struct task *task)
{
	struct turn *turn = task->turn;
	struct str response_id = str_of(turn->response_id);
	struct ev_model_turn_complete event = {.response_id = response_id};
	task_emit(task, EV_model_turn_complete, &event);
	str_free(&task->last_response_id);
	task->last_response_id = str_copy(response_id);
	drop_turn(task);
}

/* ---- the diff ---- */

/* Emits turn_diff. It covers the changes of patches, not those of commands, and no file is read for it. It is
 * emitted after each patch, and at the end of each Turn for clients that subscribed later. */
static void emit_diff(struct task *task)
{
	auto_buf struct buf text;
	buf_init(&text, (size_t)8 * LIMIT_GIT_DIFF);
	git_diff_write(&task->diff, settings_folder(task->settings), &text);
	struct ev_turn_diff event = {.unified_diff = buf_str(&text)};
	if (text.len && !text.over)
		session_emit(task->session, task->id, EV_turn_diff, &event);
}

void task_note_patch(struct task *task, const struct patch_plan *plan)
{
	size_t count;
	const struct patch_change *changes = patch_plan_changes(plan, &count);
	for (size_t i = 0; i < count; i++) {
		struct str old = patch_change_old(&changes[i]);
		/* the diff omits large files, so the new text is not built */
		bool is_large = old.len > LIMIT_GIT_DIFF_FILE;
		struct git_diff_change change = {
			.path = changes[i].path,
			.move_path = changes[i].move_path,
			.old = old,
			.now = is_large ? old : patch_change_new(&changes[i]),
			.is_executable = patch_change_is_executable(&changes[i]),
			.overwritten = patch_change_overwritten(&changes[i]),
			.was_executable = patch_change_was_executable(&changes[i]),
		};
		git_diff_note(&task->diff, &change);
	}
	emit_diff(task);
}

static void end_early(struct task *task, bool by_user)
{
	drop_compact(task);
	if (task->kind->on_cut_short)
		task->kind->on_cut_short(task, by_user);
}

/* Emits an error event, then completes the task. info is CodexErrorInfo as JSON. */
static void fail(struct task *task, const char *message, const char *info)
{
	struct ev_error event = {.message = str_of(message), .codex_error_info = str_of(info)};
	bool is_limit = str_find(event.codex_error_info, STR("usage_limit")) >= 0;
	task_emit(task, EV_error, &event);
	session_goal_stop(task->session, is_limit ? goal_status_usage_limited : goal_status_paused);
	drop_turn(task);
	end_early(task, false);
	task->turn_env.last_message.exists = false;
	task_complete(task);
}

/* ---- the Turns ---- */

/* A hook has stopped the task between two Turns. */
static void stop(struct task *task)
{
	end_early(task, false);
	task->turn_env.last_message.exists = false;
	task_complete(task);
}

/* The hooks of the start have run again, with the summary as history. */
static void on_restarted(struct task *task, const struct hook_result *result)
{
	session_hooks_add_contexts(&task->session->conversation, result);
	if (result->is_stopped)
		stop(task);
	else
		task->kind->on_compacted(task);
}

static void on_post_compact(struct task *task, const struct hook_result *result)
{
	if (result->is_stopped) {
		stop(task);
		return;
	}
	if (session_hooks_start_event(task->session) == hook_event_session_start)
		session_hooks_set_source(task->session, "compact");
	task_run_start_hooks(task, on_restarted);
}

static bool is_manual(const struct task *task)
{
	return !task->kind->on_turn_end;
}

static void on_turn_end(void *self, bool needs_turn)
{
	struct task *task = self;
	if (!task->compact) {
		emit_diff(task);
		take_from_turn(task);
		task->kind->on_turn_end(task, needs_turn);
		return;
	}
	drop_turn(task);
	compact_finish(task->compact);
	drop_compact(task);
	task_run_compact_hooks(task, hook_event_post_compact, is_manual(task), on_post_compact);
}

static void on_turn_failed(void *self)
{
	struct task *task = self;
	struct turn *turn = task->turn;
	bool is_full = turn->failure_kind == MODEL_ERROR_context_window_exceeded;
	if (is_full && task->compact && compact_trim(task->compact)) {
		drop_turn(task);
		task->turn = compact_ask(task->compact);
		return;
	}
	fail(task, turn->failure, turn->failure_info);
}

static const struct turn_events turn_events = {.on_end = on_turn_end, .on_failed = on_turn_failed};

struct task *task_create_under(const struct task_kind *kind, const struct task_owner *owner, struct str id,
                               struct settings *settings)
{
	struct task *task = xcalloc(1, kind->size);
	struct session *session = owner->session;
	task->kind = kind;
	task->owner = owner;
	task->session = session;
	task->id = arena_str(&task->arena, turn_ids_begin(&session->turn_ids, id));
	task->settings = settings_ref(settings);
	task->started_ns = clock_now_ns();
	task->turn_env = (struct turn_env){
		.session = session,
		.conversation = &session->conversation,
		.id = task->id,
		.settings = task->settings,
		.arena = &task->arena,
		.events = &turn_events,
		.self = task,
		.inbox = owner->inbox,
		.inbox_self = owner->self,
	};
	session_mcp_begin_task(session);
	session->task = task;
	session_lend_host(session, task->id, task->settings);
	session_grants_apply(session, task->settings);
	if (!owner->is_continued)
		emit_started(task);
	return task;
}

struct task *task_create(const struct task_kind *kind, const struct task_owner *owner, struct str id)
{
	session_environment_refresh(owner->session);
	return task_create_under(kind, owner, id, owner->session->settings);
}

static void end(struct task *task)
{
	const struct task_owner *owner = task->owner;
	struct session *session = task->session;
	session_goal_add_time(session, task->started_ns);
	session->task = NULL;
	session->host.is_idle = true;
	code_cells_rest(session->host.code.cells);
	task_destroy(task);
	session->host.turn_id = STR_NONE;
	session_record_unheard(session);
	session_sync_rollout(session);
	owner->events->on_end(owner->self);
}

/* Returns the message without the plan, which is a separate item. */
static struct str without_plan(struct str message, struct arena *arena)
{
	auto_buf struct buf text, plan;
	buf_init(&text, LIMIT_SSE_EVENT);
	buf_init(&plan, LIMIT_SSE_EVENT);
	proposed_plan_split(message, &text, &plan);
	return arena_str(arena, buf_str(&text));
}

/* The message is read from the history: it may be large, and a copy would live as long as the task. */
struct str task_last_message(const struct task *task, struct arena *arena, struct buf *spare)
{
	const struct context *context = &task->turn_env.conversation->context;
	const struct turn_last_message *last = &task->turn_env.last_message;
	if (!last->exists || last->index >= context->items.count)
		return STR_NONE;
	struct str whole = context_item_text(context, last->index);
	if (last->len)
		return str_n(whole.ptr + last->at, last->len);
	const struct json *item = json_parse(arena, whole, NULL);
	struct str text = response_item_text(spare, item);
	return task->settings->mode == mode_kind_plan ? without_plan(text, arena) : text;
}

void task_complete(struct task *task)
{
	if (task->turn_env.plan == TURN_PLAN_open) /* the stream broke, or the finished message has no plan */
		turn_close_plan(&task->turn_env, STR(""));
	auto_arena struct arena arena = {0};
	auto_buf struct buf spare;
	buf_init(&spare, LIMIT_SSE_EVENT);
	struct ev_task_complete event = {.last_agent_message = task_last_message(task, &arena, &spare),
	                                 .response_id = task->last_response_id};
	const struct turn_env *env = &task->turn_env;
	bool is_shared = event.last_agent_message.ptr && env->last_message.len;
	session_record_event(task->session, task->id, EV_task_complete, &event);
	session_push(task->session, task->id, EV_task_complete, &event,
	             is_shared ? context_item_whole(&env->conversation->context, env->last_message.index) : NULL);
	end(task);
}

/* ---- compaction ---- */

bool task_needs_compact(const struct task *task)
{
	return compact_is_due(&task->turn_env);
}

static void on_pre_compact(struct task *task, const struct hook_result *result)
{
	struct error err;
	if (result->is_stopped) {
		stop(task);
		return;
	}
	task->compact = compact_create(&task->turn_env, &err);
	if (task->compact)
		task->turn = compact_ask(task->compact);
	else
		fail(task, err.text, "\"other\"");
}

void task_compact(struct task *task)
{
	session_record_unheard(task->session); /* notes of scripts refer to calls that the summary replaces */
	task_run_compact_hooks(task, hook_event_pre_compact, is_manual(task), on_pre_compact);
}

/* The task of Op compact takes no input. If it ends early, the history is unchanged. */
static const struct task_kind compact_kind = {
	.size = sizeof(struct task),
	.on_compacted = task_complete,
};

void task_start_compact(const struct task_owner *owner, struct str id)
{
	struct session *session = owner->session;
	struct task *task = task_create(&compact_kind, owner, id);
	if (session->conversation.context.items.count) {
		task_compact(task);
		return;
	}
	session_warn(session, task->id, "There is nothing to summarise yet.");
	task_complete(task);
}

/* ---- input, holds, aborts ---- */

void task_emit_message(struct task *task, const struct task_input *input)
{
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	struct user_message_item message = {.id = str_of(id),
	                                    .client_id = input->client_id,
	                                    .content = (struct user_input *)(uintptr_t)input->items,
	                                    .content_count = input->count};
	struct turn_item item = {.tag = turn_item_user_message, .body = &message};
	task_emit_item(task, EV_item_started, &item);
	task_emit_item(task, EV_item_completed, &item);
}

bool task_can_steer(const struct task *task)
{
	return task->kind->steer;
}

void task_steer(struct task *task, const struct task_input *input)
{
	task->kind->steer(task, input);
	tool_clock_wake(&task->session->host);
}

void task_succeed(struct task *task)
{
	task->owner->events->on_success(task->owner->self, task);
	task_complete(task);
}

void task_abort(struct task *task, enum turn_abort_reason reason)
{
	code_cells_end(task->session->host.code.cells);
	if (task->turn && !task->compact)
		turn_abort(task->turn);
	hook_batch_cancel(steal(task->hooks));
	drop_turn(task);
	session_abort_shells(task->session);
	end_early(task, reason == turn_abort_reason_interrupted);
	struct ev_turn_aborted event = {reason, task->has_unread, task->has_unread};
	task_emit(task, EV_turn_aborted, &event);
	end(task);
}

void task_hold(struct task *task)
{
	if (task->turn)
		turn_hold(task->turn);
}

void task_release(struct task *task)
{
	if (task->turn)
		turn_release(task->turn);
}

void task_destroy(struct task *task)
{
	if (!task)
		return;
	turn_destroy(task->turn);
	hook_batch_cancel(task->hooks);
	compact_destroy(task->compact);
	if (task->kind->finish)
		task->kind->finish(task);
	settings_unref(task->settings);
	str_free(&task->last_response_id);
	turn_shown_finish(&task->turn_env.plan_shown);
	git_diff_finish(&task->diff);
	arena_finish(&task->arena);
	free(task);
}
