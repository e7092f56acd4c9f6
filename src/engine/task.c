/* A Task owns the loop of Turns and nothing of what a Turn does. It is freed only from its own
 * end functions, never inside a callback of the Turn it owns: ends are deferred through the Turn. */
#include "engine/task.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "engine/context_initial.h"
#include "engine/notify.h"
#include "engine/response_item.h"
#include "engine/session.h"
#include "engine/session_host.h"
#include "engine/session_model.h"
#include "engine/session_record.h"
#include "engine/turn.h"
#include "engine/user_message.h"

static struct str owned_copy(struct str text)
{
	return text.ptr ? str_n(str_dup(text), text.len) : STR_NONE;
}

static void tell_started(struct task *task)
{
	struct ev_task_started event = {
		.has_model_context_window = true,
		.model_context_window = model_info_window(&task->settings->info),
		.collaboration_mode_kind = task->settings->mode,
	};
	session_emit(task->session, task->id, EV_task_started, &event);
}

/* The user's message as an item of the turn: begun and whole at once. */
static void tell_user_message(struct task *task, const struct task_input *input)
{
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	struct user_message_item message = {.id = str_of(id),
	                                    .content = (struct user_input *)(uintptr_t)input->items,
	                                    .content_count = input->count};
	struct turn_item item = {.tag = turn_item_user_message, .body = &message};
	struct ev_item_started started = {.thread_id = str_of(task->session->id), .turn_id = task->id, .item = &item};
	struct ev_item_completed completed = {.thread_id = started.thread_id, .turn_id = task->id, .item = &item};
	session_emit(task->session, task->id, EV_item_started, &started);
	session_emit(task->session, task->id, EV_item_completed, &completed);
}

static void record_user_item(struct session *session, struct str item)
{
	session->context.user_turns++;
	session_record_item(session, item);
}

/* Cut anywhere it would not be JSON any more, and spoil every request from then on. */
static void tell_too_large(struct task *task)
{
	char text[160];
	snprintf(text, sizeof(text), "This input has more than %d MB as JSON, images included, and was left out.",
	         LIMIT_USER_ITEM / MIB);
	struct ev_error event = {.message = str_of(text), .codex_error_info = STR("\"bad_request\"")};
	session_emit(task->session, task->id, EV_error, &event);
}

static bool record_input(struct task *task, const struct task_input *input)
{
	auto_buf struct buf item;
	buf_init(&item, LIMIT_USER_ITEM);
	user_message_write(&item, task->settings->cwd, input->items, input->count);
	if (item.over) {
		tell_too_large(task);
		return false;
	}
	record_user_item(task->session, buf_str(&item));
	tell_user_message(task, input);
	return true;
}

static void finish(struct task *task)
{
	struct session *session = task->session;
	session->task = NULL;
	task_destroy(task);
	session_sync_rollout(session);
}

/* Read where it stands in the history: it may be large, and a copy of it would live as long as the Task. */
static struct str last_message(const struct task *task, struct arena *arena, struct buf *spare)
{
	const struct context *context = &task->session->context;
	if (!task->has_last_message || task->last_message >= context->items.count)
		return STR_NONE;
	return response_item_text(spare, json_parse(arena, context_item_text(context, task->last_message), NULL));
}

static void complete(struct task *task)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf spare;
	buf_init(&spare, LIMIT_SSE_EVENT);
	struct ev_task_complete event = {.last_agent_message = last_message(task, &arena, &spare),
	                                 .response_id = task->last_response_id};
	session_emit(task->session, task->id, EV_task_complete, &event);
	finish(task);
}

void task_start(struct session *session, struct str id, const struct task_input *input)
{
	struct task *task = xnew(struct task);
	task->session = session;
	task->id = arena_str(&task->arena, id);
	task->settings = settings_ref(session->settings);
	task->output_schema = arena_str(&task->arena, input->output_schema);
	task->started_ns = clock_now_ns();
	buf_init(&task->pending, LIMIT_USER_ITEM);
	session->task = task;
	session_lend_host(session, task);
	if (input->count == 0) { /* nothing said, nothing to begin (protocol-v1 2.2) */
		complete(task);
		return;
	}
	tell_started(task);
	context_tell_settings(session, task->settings);
	session_warn_unknown_model(session, task);
	if (!record_input(task, input)) {
		complete(task);
		return;
	}
	session_record_turn_context(session, task->settings);
	task->turn = turn_start(task);
}

void task_steer(struct task *task, const struct task_input *input)
{
	auto_buf struct buf item;
	if (input->count == 0)
		return;
	buf_init(&item, LIMIT_USER_ITEM);
	user_message_write(&item, task->settings->cwd, input->items, input->count);
	if (item.over || item.len + 1 > task->pending.max - task->pending.len) {
		tell_too_large(task);
		return;
	}
	buf_append_str(&task->pending, buf_str(&item));
	buf_append_char(&task->pending, '\n');
	tell_user_message(task, input);
}

static bool take_pending(struct task *task)
{
	if (task->pending.len == 0)
		return false;
	struct str rest = buf_str(&task->pending), line;
	while (str_next_line(&rest, &line))
		record_user_item(task->session, line);
	buf_clear(&task->pending);
	return true;
}

static void take_from_turn(struct task *task)
{
	struct turn *turn = task->turn;
	task->turn = NULL;
	struct ev_model_turn_complete event = {.response_id = str_of(turn->response_id)};
	session_emit(task->session, task->id, EV_model_turn_complete, &event);
	free((char *)(uintptr_t)task->last_response_id.ptr);
	task->last_response_id = owned_copy(str_of(turn->response_id));
	turn_destroy(turn);
}

static void notify(const struct task *task)
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
	task_tell_diff(task);
	take_from_turn(task);
	bool has_input = take_pending(task);
	if (needs_turn || has_input) {
		task->turn = turn_start(task);
	} else {
		context_mark_task_end(&task->session->context);
		notify(task);
		complete(task);
	}
}

void task_on_turn_failed(struct task *task, const char *message, const char *info)
{
	struct ev_error event = {.message = str_of(message), .codex_error_info = str_of(info)};
	session_emit(task->session, task->id, EV_error, &event);
	turn_destroy(steal(task->turn));
	take_pending(task); /* kept in the history: the next Task's model reads it */
	task->has_last_message = false;
	complete(task);
}

void task_abort(struct task *task, enum turn_abort_reason reason)
{
	struct session *session = task->session;
	if (task->turn)
		turn_abort(task->turn);
	take_pending(task);
	if (reason == turn_abort_reason_interrupted)
		context_tell_abort(session);
	struct ev_turn_aborted event = {.reason = reason};
	session_emit(session, task->id, EV_turn_aborted, &event);
	finish(task);
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
	take_pending(task); /* said and not yet heard: the history has it when the session is resumed */
	settings_unref(task->settings);
	buf_finish(&task->pending);
	free((char *)(uintptr_t)task->last_response_id.ptr);
	git_diff_finish(&task->diff);
	arena_finish(&task->arena);
	free(task);
}
