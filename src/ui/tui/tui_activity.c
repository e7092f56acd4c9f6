/* An attempt is shown as a thought until the model answers again, or the turn is over. Other events, such as requests
 * of subagents, arrive meanwhile. */
#include "ui/tui/tui_activity.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/message.h"
#include "term/term_paint.h"
#include "term/term_row.h"
#include "ui/tui/tui_ask.h"

enum { THOUGHT_MAX = 200 };

void tui_activity_init(struct tui_activity *activity)
{
	*activity = (struct tui_activity){0};
	buf_init(&activity->thinking, THOUGHT_MAX);
}

static void finish_call(struct running_call *call)
{
	free(call->call_id);
	free(call->task);
	free(call->process);
	free(call->text);
}

void tui_activity_end(struct tui_activity *activity)
{
	vec_for_each(running, &activity->running)
		finish_call(running);
	activity->running.count = 0;
	buf_clear(&activity->thinking);
}

void tui_activity_finish(struct tui_activity *activity)
{
	tui_activity_end(activity);
	vec_finish(&activity->running);
	free(activity->cause);
	buf_finish(&activity->thinking);
}

/* ---- thoughts and attempts ---- */

static void add_thought(struct tui_activity *activity, struct str delta)
{
	if (activity->has_thought)
		buf_clear(&activity->thinking);
	activity->has_thought = false;
	size_t room = THOUGHT_MAX - activity->thinking.len;
	buf_append(&activity->thinking, delta.ptr, delta.len < room ? delta.len : room);
}

struct str tui_activity_heading(const struct tui_activity *activity)
{
	struct str text = str_trim_start(buf_str(&activity->thinking));
	ptrdiff_t end;
	if (!str_cut_prefix(&text, "**") || (end = str_find(text, STR("**"))) < 0)
		return STR("");
	return str_n(text.ptr, (size_t)end);
}

/* Returns true if the cause is another one than before. */
static bool begin_attempt(struct tui_activity *activity, const struct ev_stream_error *error)
{
	buf_clear(&activity->thinking);
	buf_printf(&activity->thinking, "**%.*s**", STR_ARG(error->message));
	activity->is_retrying = activity->has_thought = true;
	if (activity->cause && str_is(error->additional_details, activity->cause))
		return false;
	free(activity->cause);
	activity->cause = str_dup(error->additional_details);
	return true;
}

static bool is_end_of_thought(const struct event_msg *msg)
{
	return msg->tag == EV_agent_reasoning_section_break ||
	       (msg->tag == EV_item_completed && msg->item_completed->item->tag == turn_item_reasoning);
}

static bool is_end_of_attempt(enum event_tag tag)
{
	switch (tag) {
	case EV_task_started:
	case EV_task_complete:
	case EV_turn_aborted:
	case EV_token_count:
	case EV_item_started:
	case EV_item_completed:
	case EV_agent_message_content_delta:
	case EV_plan_delta:
	case EV_reasoning_content_delta:
	case EV_reasoning_raw_content_delta:
		return true;
	default:
		return false;
	}
}

/* The calls that have not ended continue in the background. */
static void leave_calls(struct tui_activity *activity)
{
	vec_for_each(running, &activity->running)
		running->is_apart = true;
}

bool tui_activity_is_calling(const struct tui_activity *activity)
{
	vec_for_each(running, &activity->running) {
		if (!running->is_apart)
			return true;
	}
	return false;
}

bool tui_activity_event(struct tui_activity *activity, const struct event *event)
{
	const struct event_msg *msg = &event->msg;
	if (msg->tag == EV_stream_error)
		return begin_attempt(activity, msg->stream_error);
	if (activity->is_retrying && is_end_of_attempt(msg->tag)) {
		buf_clear(&activity->thinking);
		activity->is_retrying = false;
	}
	if (msg->tag == EV_task_started)
		free(steal(activity->cause));
	else if (msg->tag == EV_reasoning_content_delta && !activity->hides_thoughts)
		add_thought(activity, msg->reasoning_content_delta->delta);
	else if (msg->tag == EV_mcp_tool_call_end)
		tui_activity_forget(activity, msg->mcp_tool_call_end->call_id, STR_NONE);
	else if (msg->tag == EV_model_turn_complete)
		leave_calls(activity);
	activity->has_thought |= is_end_of_thought(msg);
	return true;
}

/* ---- calls ---- */

void tui_activity_add(struct tui_activity *activity, const struct beginning_call *begun, struct buf *text)
{
	struct running_call call = {.verb = begun->verb, .number = ++activity->begun, .is_apart = begun->is_apart};
	if (activity->running.count == LIMIT_COMMANDS)
		return;
	call.call_id = str_dup(begun->call_id);
	call.task = str_dup(begun->task);
	call.process = begun->process.ptr ? str_dup(begun->process) : NULL;
	call.text = buf_take(text);
	vec_push(&activity->running, call);
}

static bool is_call(const struct running_call *call, struct str call_id, struct str process)
{
	return str_is(call_id, call->call_id) && (call->process ? str_is(process, call->process) : !process.ptr);
}

uint64_t tui_activity_forget(struct tui_activity *activity, struct str call_id, struct str process)
{
	for (size_t i = 0; i < activity->running.count; i++) {
		struct running_call *running = &activity->running.items[i];
		if (!is_call(running, call_id, process))
			continue;
		uint64_t number = running->number;
		finish_call(running);
		memmove(running, running + 1, (activity->running.count - i - 1) * sizeof(*running));
		activity->running.count--;
		return number;
	}
	return activity->begun + 1;
}

static void draw_call(const struct running_call *call, struct term_paint *paint, struct term_row *row)
{
	struct str text = str_of(call->text), line;
	term_row_clear(row);
	term_row_add_c(row, TERM_bold, "• ");
	term_row_add_c(row, TERM_bold, call->verb);
	if (str_next_line(&text, &line))
		term_row_add(row, TERM_plain, line);
	term_paint_live(paint, row);
}

void tui_activity_draw(const struct tui_activity *activity, const struct tui_ask *ask, const struct tui_rows *rows)
{
	size_t drawn = 0;
	for (size_t i = 0; i < activity->running.count && drawn < RUNNING_SHOWN && drawn < rows->most; i++) {
		const struct running_call *call = &activity->running.items[i];
		if (tui_ask_has_approval(ask, str_of(call->call_id), str_of(call->task)))
			continue;
		term_row_clear(rows->row);
		if (!drawn++ && rows->has_gap)
			term_paint_live(rows->paint, rows->row);
		draw_call(call, rows->paint, rows->row);
	}
}
