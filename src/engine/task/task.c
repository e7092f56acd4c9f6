/* What all kinds of Task share: how one begins, how it ends, and whom its Turn reports to. A Task is freed
 * only from its own end functions, never inside a callback of the Turn it owns: ends are deferred through
 * the Turn. While a compaction goes on the Turn is the compaction's, whatever the kind. */
#include "engine/task/task.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/codex/agents.h"
#include "engine/task/compact.h"
#include "engine/codex/notify.h"
#include "engine/history/response_item.h"
#include "engine/session/session.h"
#include "engine/codex/session_host.h"
#include "engine/session/session_record.h"
#include "engine/turn/turn.h"
#include "model/model_error.h"
#include "model/proposed_plan.h"

void task_emit(struct task *task, enum event_tag tag, const void *body)
{
	session_emit(task->session, task->id, tag, body);
}

/* item_started and item_completed have the same fields */
_Static_assert(sizeof(struct ev_item_started) == sizeof(struct ev_item_completed), "one body serves both events");

void task_emit_item(struct task *task, enum event_tag tag, struct turn_item *item)
{
	struct ev_item_completed event = {
		.thread_id = str_of(task->session->id), .turn_id = task->id, .item = item};
	task_emit(task, tag, &event);
}

static void tell_started(struct task *task)
{
	struct ev_task_started event = {
		.has_model_context_window = true,
		.model_context_window = model_info_window(&task->settings->info),
		.collaboration_mode_kind = task->settings->mode,
	};
	task_emit(task, EV_task_started, &event);
}

struct task *task_create_under(const struct task_kind *kind, struct session *session, struct str id,
                               struct settings *settings)
{
	struct task *task = xcalloc(1, kind->size);
	task->kind = kind;
	task->session = session;
	task->id = arena_str(&task->arena, id);
	task->settings = settings_ref(settings);
	task->started_ns = clock_now_ns();
	session->task = task;
	session_lend_host(session, task);
	tell_started(task);
	return task;
}

struct task *task_create(const struct task_kind *kind, struct session *session, struct str id)
{
	return task_create_under(kind, session, id, session->settings);
}

static void end(struct task *task)
{
	struct session *session = task->session;
	session->task = NULL;
	task_destroy(task);
	session_record_unheard(session);
	session_sync_rollout(session);
	agents_on_task_end(session);
}

/* What was said to the user; a plan is an item of its own. */
static struct str without_plan(struct str message, struct arena *arena)
{
	auto_buf struct buf text, plan;
	buf_init(&text, LIMIT_SSE_EVENT);
	buf_init(&plan, LIMIT_SSE_EVENT);
	proposed_plan_split(message, &text, &plan);
	return arena_str(arena, buf_str(&text));
}

/* Read where it stands in the history: it may be large, and a copy of it would live as long as the Task. */
static struct str last_message(const struct task *task, struct arena *arena, struct buf *spare)
{
	const struct context *context = &task->session->context;
	if (!task->has_last_message || task->last_message >= context->items.count)
		return STR_NONE;
	const struct json *item = json_parse(arena, context_item_text(context, task->last_message), NULL);
	struct str text = response_item_text(spare, item);
	return task->settings->mode == mode_kind_plan ? without_plan(text, arena) : text;
}

void task_complete(struct task *task)
{
	if (task->plan == TASK_PLAN_open) /* of a stream that broke, or a message that took it back */
		turn_close_plan(task, STR(""));
	auto_arena struct arena arena = {0};
	auto_buf struct buf spare;
	buf_init(&spare, LIMIT_SSE_EVENT);
	struct ev_task_complete event = {.last_agent_message = last_message(task, &arena, &spare),
	                                 .response_id = task->last_response_id};
	task_emit(task, EV_task_complete, &event);
	end(task);
}

static void drop_turn(struct task *task)
{
	turn_destroy(task->turn);
	task->turn = NULL;
}

static void take_from_turn(struct task *task)
{
	struct turn *turn = task->turn;
	struct str response_id = str_of(turn->response_id);
	struct ev_model_turn_complete event = {.response_id = response_id};
	task_emit(task, EV_model_turn_complete, &event);
	free((char *)(uintptr_t)task->last_response_id.ptr);
	task->last_response_id = response_id.ptr ? str_n(str_dup(response_id), response_id.len) : STR_NONE;
	drop_turn(task);
}

static void cut_short(struct task *task, bool by_user)
{
	compact_destroy(task->compact);
	task->compact = NULL;
	if (task->kind->on_cut_short)
		task->kind->on_cut_short(task, by_user);
}

void task_fail(struct task *task, const char *message, const char *info)
{
	struct ev_error event = {.message = str_of(message), .codex_error_info = str_of(info)};
	task_emit(task, EV_error, &event);
	drop_turn(task);
	cut_short(task, false);
	task->has_last_message = false;
	task_complete(task);
}

bool task_can_steer(const struct task *task)
{
	return task->kind->steer;
}

void task_steer(struct task *task, const struct task_input *input)
{
	task->kind->steer(task, input);
}

void task_notify(const struct task *task)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf spare = {0};
	if (!notify_is_wanted(task->session))
		return;
	buf_init(&spare, LIMIT_SSE_EVENT);
	notify_task_complete(task->session, task, last_message(task, &arena, &spare));
}

void task_on_turn_end(struct task *task, bool needs_turn)
{
	if (!task->compact) {
		task_tell_diff(task);
		take_from_turn(task);
		task->kind->on_turn_end(task, needs_turn);
		return;
	}
	drop_turn(task);
	compact_finish(task);
	task->kind->on_compacted(task);
}

void task_on_turn_failed(struct task *task)
{
	struct turn *turn = task->turn;
	bool is_full = turn->failure_kind == MODEL_ERROR_context_window_exceeded;
	if (is_full && task->compact && compact_trim(task)) {
		drop_turn(task);
		compact_ask(task);
		return;
	}
	task_fail(task, turn->failure, turn->failure_info);
}

void task_abort(struct task *task, enum turn_abort_reason reason)
{
	if (task->turn && !task->compact)
		turn_abort(task->turn);
	drop_turn(task);
	session_abort_shells(task->session);
	cut_short(task, reason == turn_abort_reason_interrupted);
	struct ev_turn_aborted event = {.reason = reason};
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
	compact_destroy(task->compact);
	if (task->kind->finish)
		task->kind->finish(task);
	settings_unref(task->settings);
	free((char *)(uintptr_t)task->last_response_id.ptr);
	turn_told_finish(&task->plan_told);
	git_diff_finish(&task->diff);
	arena_finish(&task->arena);
	free(task);
}
