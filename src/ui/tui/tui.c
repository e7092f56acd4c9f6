/* Events of the engine change the state; each change asks for a frame. */
#include "ui/tui/tui.h"

#include <signal.h>
#include <stdio.h>

#include "attach/attach_frame.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "model/model_usage.h"
#include "protocol/message/message.h"
#include "term/term_tty.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"

/* ---- events ---- */

static void on_configured(struct tui *tui, const struct event *event)
{
	const struct ev_session_configured *session = event->msg.session_configured;
	free(tui->session_id);
	free(tui->model);
	free(tui->effort);
	tui->session_id = str_dup(session->session_id);
	tui->model = str_dup(session->model);
	tui->effort = session->has_reasoning_effort
	                      ? xstrdup(enum_wire(&enum_reasoning_effort, (int)session->reasoning_effort))
	                      : NULL;
	free(tui->rollout_path);
	tui->rollout_path = session->rollout_path.ptr ? str_dup(session->rollout_path) : NULL;
	tui_settings_show(tui, session);
	tui_attach_configured(tui, session);
	tui->is_configured = true;
	tui->has_turn |= tui->resume_path != NULL;
	tui->has_no_session = false;
	tui_session_note_crash(tui);
	tui_ask_skills(tui, false);
	tui_send_queued(tui);
}

static void on_started(struct tui *tui, const struct event *event)
{
	(void)event;
	tui->is_running = tui->has_turn = true;
	tui->started_ms = clock_now_ms();
	tui_tick_start(tui);
}

static void stop_working(struct tui *tui, const struct event *event)
{
	tui_terminals_leave(tui);
	tui->is_running = tui->is_interrupted = tui->is_exclusive = tui->sends_unread = false;
	if (!tui->watched)
		loop_timer_stop(tui->tick);
	tui_ask_end_turn(tui->ask, event->id);
}

/* A turn that failed has not answered what joined it late: the history has these messages, and another turn reads
 * them. One attempt is made. */
static void answer_unread(struct tui *tui)
{
	struct op_user_input input = {0};
	if (tui->has_error && tui->unread + tui->half_read > 0)
		tui_submit(tui, OP_user_input, &input);
	tui->unread = tui->half_read = 0;
	tui->has_error = false;
}

static void on_complete(struct tui *tui, const struct event *event)
{
	stop_working(tui, event);
	answer_unread(tui);
	for (size_t i = tui->waiting.count; i-- > 0;) {
		if (!tui->waiting.items[i].is_queued) /* the turn ended before it was read: the engine keeps it */
			tui_remove_waiting(tui, i);
	}
	bool is_plan = !tui->waiting.count && tui->plan;
	if (is_plan)
		tui_request_plan(tui);
	tui_notify(tui, is_plan ? "plan-mode-prompt" : "agent-turn-complete",
	           tui_cells_answer(tui->cells).len ? tui_cells_answer(tui->cells) : STR("The turn is complete"));
	if (!is_plan)
		free(steal(tui->plan));
	tui_send_queued(tui);
}

/* Waiting input returns to the composer, so that none is lost and none is sent unasked. */
static void take_waiting_back(struct tui *tui, bool with_queued)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	for (size_t i = 0; i < tui->waiting.count;) {
		if (tui->waiting.items[i].is_queued && !with_queued) {
			i++;
			continue;
		}
		buf_append_c(&text, tui->waiting.items[i].text);
		buf_append_char(&text, '\n');
		tui_remove_waiting(tui, i);
	}
	buf_append_str(&text, composer_text(&tui->composer));
	composer_set(&tui->composer, str_trim_end(buf_str(&text)));
}

static bool sends_unread(const struct tui *tui, const struct event *event)
{
	return tui->sends_unread && event->msg.turn_aborted->unread_input;
}

/* A message that joined the turn is in the history; Esc sends it now if no request contains it. One that still waits is
 * not: its hooks had not ended. */
static void on_aborted(struct tui *tui, const struct event *event)
{
	struct op_user_input input = {0};
	bool sends = sends_unread(tui, event);
	stop_working(tui, event);
	tui->unread = tui->half_read = 0;
	tui->has_error = false;
	take_waiting_back(tui, !sends);
	free(steal(tui->plan));
	if (sends)
		tui_submit(tui, OP_user_input, &input);
}

static void on_error(struct tui *tui)
{
	tui->has_error = true;
	if (tui->is_configured)
		return;
	tui->has_no_session = true;
	take_waiting_back(tui, true);
}

/* Returns the tokens of a total that are neither input nor output. */
static int64_t excess_of(const struct token_usage *usage)
{
	int64_t left;
	bool is_over = __builtin_sub_overflow(usage->total_tokens, usage->input_tokens, &left) ||
	               __builtin_sub_overflow(left, usage->output_tokens, &left);
	return is_over ? 0 : left;
}

/* True for the event of a request that did not fit. Later ones have the same total until a response has usage: they
 * repeat it, or have an estimate of a conversation that has become shorter. A second failure leaves nothing to fill. */
static bool is_filled(const struct tui *tui, int64_t total, int64_t last)
{
	bool is_repeated = last == tui->reported_last && tui->context_used == tui->context_window;
	return total != tui->reported_total || last == 0 || is_repeated;
}

/* A request that did not fit has no usage. The engine then counts a full window and starts again from 0, so the counts
 * before it are kept here, and the window is taken from the totals that follow. */
static void count_usage(struct tui *tui, const struct token_usage_info *info)
{
	struct token_usage total = *info->total_token_usage, *earlier = &tui->earlier_usage;
	int64_t last = info->last_token_usage->total_tokens, reported = total.total_tokens;
	int64_t window = info->has_model_context_window ? info->model_context_window : 0;
	bool is_full = window > 0 && reported == window && !total.input_tokens && !total.output_tokens;
	if (window > 0 && excess_of(&total) == window)
		tui->filled = window;
	if (is_full)
		*earlier = tui->usage;
	total.total_tokens -= reported >= tui->filled ? tui->filled : 0;
	model_usage_add(&total, earlier);
	tui->usage = total;
	tui->context_used = is_full && is_filled(tui, reported, last) ? window : last;
	tui->context_window = window;
	tui->reported_total = reported;
	tui->reported_last = last;
}

static void take_limits(struct tui *tui, const struct rate_limits *limits)
{
	const struct rate_limit_window *windows[] = {limits->primary, limits->secondary};
	for (size_t i = 0; i < countof(windows); i++) {
		if (!windows[i])
			continue;
		tui->has_limit[i] = true;
		tui->limits[i] = *windows[i];
	}
}

static void on_checklist(struct tui *tui, const struct ev_plan_update *update)
{
	tui->steps = update->plan_count;
	tui->steps_done = 0;
	for (size_t i = 0; i < update->plan_count; i++)
		tui->steps_done += update->plan[i].status == step_status_completed;
}

static void on_usage(struct tui *tui, const struct event *event)
{
	const struct token_usage_info *info = event->msg.token_count->info;
	if (event->msg.token_count->rate_limits)
		take_limits(tui, event->msg.token_count->rate_limits);
	if (!info)
		return;
	tui->half_read = tui->unread; /* the request that follows this response has them */
	tui->unread = 0;
	count_usage(tui, info);
}

/* A message that waited was read by the model, and stands in the conversation now. */
static void on_item(struct tui *tui, const struct event *event)
{
	const struct turn_item *item = event->msg.item_completed->item;
	if (item->tag == turn_item_plan) {
		free(tui->plan);
		tui->plan = str_dup(str_trim(item->plan->text));
	}
	if (item->tag != turn_item_user_message || !item->user_message->content_count)
		return;
	const struct user_input *last = &item->user_message->content[item->user_message->content_count - 1];
	for (size_t i = 0; last->tag == user_input_text && i < tui->waiting.count; i++) {
		if (tui->waiting.items[i].is_queued || !str_is(last->text->text, tui->waiting.items[i].text))
			continue;
		tui_remove_waiting(tui, i);
		return;
	}
}

/* Attempts that fail for the same reason are one warning. */
static void add_cause(struct tui *tui, const struct ev_stream_error *error)
{
	auto_free char *text = xasprintf("%.*s: %.*s", STR_ARG(error->message), STR_ARG(error->additional_details));
	if (!str_has_suffix(str_trim_end(buf_str(&tui->warnings)), strchr(text, ':')))
		tui_warning_add(tui, str_of(text));
}

static void handle(struct tui *tui, const struct event *event)
{
	if (event->msg.tag == EV_turn_aborted)
		tui_cells_expect(tui->cells, sends_unread(tui, event));
	/* while a subagent is shown, the rollout keeps what happens; a patch belongs to the question about it */
	if (!tui->watched || event->msg.tag == EV_apply_patch_approval_request)
		tui_cells_event(tui->cells, event);
	tui_denied_event(tui, event);
	switch (event->msg.tag) {
	case EV_session_configured:
		on_configured(tui, event);
		tui_status_look(tui);
		break;
	case EV_task_started:
		on_started(tui, event);
		break;
	case EV_model_turn_complete:
		tui_terminals_leave(tui);
		break;
	case EV_task_complete:
		on_complete(tui, event);
		break;
	case EV_turn_aborted:
		on_aborted(tui, event);
		break;
	case EV_token_count:
		on_usage(tui, event);
		break;
	case EV_item_completed:
		on_item(tui, event);
		break;
	case EV_error:
		on_error(tui);
		break;
	case EV_stream_error:
		add_cause(tui, event->msg.stream_error);
		break;
	case EV_warning:
		tui_warning_add(tui, event->msg.warning->message);
		break;
	case EV_exec_approval_request:
		tui_notify(tui, "approval-requested", STR("Approval requested: a command"));
		tui_request_command(tui, event);
		break;
	case EV_apply_patch_approval_request:
		tui_notify(tui, "approval-requested", STR("Approval requested: edits"));
		tui_request_patch(tui, event);
		break;
	case EV_exec_command_begin:
		tui_terminal_begun(tui, event->msg.exec_command_begin);
		break;
	case EV_exec_command_end:
		tui_terminal_ended(tui, event->msg.exec_command_end);
		tui_status_look(tui);
		break;
	case EV_plan_update:
		on_checklist(tui, event->msg.plan_update);
		break;
	case EV_thread_name_updated:
		free(tui->thread_name);
		tui->thread_name = str_dup(event->msg.thread_name_updated->thread_name);
		break;
	case EV_collab_agent_spawn_end:
		tui_agent_spawned(tui, event->msg.collab_agent_spawn_end);
		break;
	case EV_mcp_list_tools_response:
		tui_show_tools(tui, event->msg.mcp_list_tools_response);
		break;
	case EV_list_skills_response:
		tui_set_skills(tui, event->msg.list_skills_response);
		tui_complete_update(tui);
		break;
	case EV_skills_update_available:
		tui_ask_skills(tui, true);
		break;
	case EV_request_user_input:
		tui_notify(tui, "user-input-requested", STR("Codex has a question"));
		tui_request_questions(tui, event);
		break;
	case EV_request_user_input_expired:
		tui_ask_withdraw(tui->ask, &(struct attach_answered){event->msg.request_user_input_expired->call_id,
		                                                     event->id, 0});
		break;
	case EV_elicitation_request:
		tui_notify(tui, "approval-requested", event->msg.elicitation_request->message);
		tui_request_elicitation(tui, event);
		break;
	case EV_shutdown_complete:
		loop_stop(tui->loop);
		break;
	default:
		break;
	}
}

/* ---- order ---- */

enum { EARLY_MAX = 64 };

/* A message that joins the turn while text arrives or calls run is read after them: it is shown as waiting until then.
 */
static bool is_busy(const struct tui *tui)
{
	return tui_cells_is_streaming(tui->cells) || tui_cells_is_calling(tui->cells);
}

static bool is_early(const struct tui *tui, const struct event *event)
{
	return tui->early.count < EARLY_MAX && event->msg.tag == EV_item_completed &&
	       event->msg.item_completed->item->tag == turn_item_user_message && !tui->watched && is_busy(tui);
}

void tui_handle_early(struct tui *tui)
{
	vec_for_each(event, &tui->early) {
		handle(tui, *event);
		event_destroy(*event);
	}
	tui->early.count = 0;
}

void tui_on_event(const struct event *event, void *self)
{
	struct tui *tui = self;
	bool ends = event->msg.tag == EV_task_complete || event->msg.tag == EV_turn_aborted;
	if (is_early(tui, event)) {
		vec_push(&tui->early, event_create(event->id, EV_item_completed, event->msg.item_completed));
		return;
	}
	if (ends && tui->early.count) {
		tui_cells_end_turn(tui->cells);
		tui_handle_early(tui);
	}
	handle(tui, event);
	if (!is_busy(tui))
		tui_handle_early(tui);
	if (!tui->is_held && !term_tty_is_drained(tui->tty))
		tui_engine_hold(tui, true);
	tui->is_held = tui->is_held || !term_tty_is_drained(tui->tty);
	tui_title_update(tui);
	tui_frame_change(tui->frame);
}
