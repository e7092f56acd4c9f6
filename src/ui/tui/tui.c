/* Events of the engine and keys of the user change the state; each change asks for a frame. */
#include "ui/tui/tui.h"

#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "protocol/message/message.h"
#include "term/term_tty.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"

enum { TICK_MS = 1000, WAITING_MAX = 64 };

/* ---- submissions ---- */

void tui_submit(struct tui *tui, enum op_tag tag, void *body)
{
	struct op op = {.tag = tag, .body = body};
	struct error err;
	if (codex_submit_op(tui->codex, STR("tui"), &op, &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
	tui_frame_change(tui->frame);
}

static void submit_text(struct tui *tui, struct str text)
{
	VEC(struct user_input) items = {0};
	struct input_text part = {.text = text};
	struct op_add_to_history history = {.text = text};
	vec_for_each(image, &tui->images)
		vec_push(&items, (struct user_input){.tag = user_input_local_image, .local_image = image});
	vec_push(&items, (struct user_input){.tag = user_input_text, .text = &part});
	struct op_user_input input = {.items = items.items, .items_count = items.count};
	tui_submit(tui, OP_user_input, &input);
	tui_submit(tui, OP_add_to_history, &history);
	vec_finish(&items);
	exec_images_finish(&tui->images);
	tui->images = (struct exec_images){0};
}

static void add_waiting(struct tui *tui, struct str text, bool is_queued)
{
	if (tui->waiting.count < WAITING_MAX)
		vec_push(&tui->waiting, (struct tui_waiting){str_dup(text), is_queued});
	else
		tui_cells_fail(tui->cells, STR("too much input is waiting; the last one was not kept"));
}

static void remove_waiting(struct tui *tui, size_t at)
{
	free(tui->waiting.items[at].text);
	tui->waiting.count--;
	memmove(&tui->waiting.items[at], &tui->waiting.items[at + 1],
	        (tui->waiting.count - at) * sizeof(struct tui_waiting));
}

void tui_say(struct tui *tui, struct str text)
{
	if (!tui->is_configured) {
		add_waiting(tui, text, true);
		return;
	}
	if (tui->is_running && tui->is_exclusive) {
		add_waiting(tui, text, true);
		return;
	}
	if (tui->is_running) {
		add_waiting(tui, text, false);
		tui->unread++;
	}
	submit_text(tui, text);
}

/* Sends the first input that waits for the end of a turn. */
static void send_queued(struct tui *tui)
{
	for (size_t i = 0; i < tui->waiting.count; i++) {
		if (!tui->waiting.items[i].is_queued)
			continue;
		auto_free char *text = steal(tui->waiting.items[i].text);
		remove_waiting(tui, i);
		tui_say(tui, str_of(text));
		return;
	}
}

void tui_quit(struct tui *tui)
{
	if (tui->is_over)
		loop_stop(tui->loop);
	else
		tui_submit(tui, OP_shutdown, NULL);
	tui->is_over = true;
}

void tui_set_plan_mode(struct tui *tui, bool is_on)
{
	struct mode_settings settings = {.model = str_of(tui->model ? tui->model : "")};
	struct collaboration_mode mode = {.mode = is_on ? mode_kind_plan : mode_kind_default, .settings = &settings};
	struct op_override_turn_context op = {.collaboration_mode = &mode};
	if (!tui->model)
		return;
	tui->is_plan_mode = is_on;
	tui_submit(tui, OP_override_turn_context, &op);
}

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
	tui->is_configured = true;
	tui_session_note_crash(tui);
	send_queued(tui);
}

static void on_started(struct tui *tui, const struct event *event)
{
	(void)event;
	tui->is_running = tui->has_turn = true;
	tui->started_ms = clock_now_ms();
	loop_timer_start(tui->tick, TICK_MS);
}

static void stop_working(struct tui *tui)
{
	tui->is_running = tui->is_interrupted = tui->is_exclusive = false;
	loop_timer_stop(tui->tick);
	tui_ask_withdraw(tui->ask, STR_NONE);
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
	(void)event;
	stop_working(tui);
	answer_unread(tui);
	for (size_t i = tui->waiting.count; i-- > 0;) {
		if (!tui->waiting.items[i].is_queued) /* the turn ended before it was read: the engine keeps it */
			remove_waiting(tui, i);
	}
	if (!tui->waiting.count && tui->has_plan)
		tui_request_plan(tui);
	tui->has_plan = false;
	send_queued(tui);
}

/* Waiting input returns to the composer, so that none is lost and none is sent unasked. */
static void on_aborted(struct tui *tui, const struct event *event)
{
	auto_buf struct buf text;
	(void)event;
	stop_working(tui);
	tui->unread = tui->half_read = 0;
	tui->has_error = false;
	buf_init(&text, LIMIT_LINE);
	vec_for_each(waiting, &tui->waiting) {
		buf_append_c(&text, waiting->text);
		buf_append_char(&text, '\n');
		free(waiting->text);
	}
	tui->waiting.count = 0;
	buf_append_str(&text, composer_text(&tui->composer));
	composer_set(&tui->composer, str_trim_end(buf_str(&text)));
	tui->has_plan = false;
}

static void on_usage(struct tui *tui, const struct event *event)
{
	const struct token_usage_info *info = event->msg.token_count->info;
	if (!info)
		return;
	tui->half_read = tui->unread; /* the request that follows this response has them */
	tui->unread = 0;
	tui->usage = *info->total_token_usage;
	tui->context_used = info->last_token_usage->total_tokens;
	tui->context_window = info->has_model_context_window ? info->model_context_window : 0;
}

/* A message that waited was read by the model, and stands in the conversation now. */
static void on_item(struct tui *tui, const struct event *event)
{
	const struct turn_item *item = event->msg.item_completed->item;
	tui->has_plan = tui->has_plan || item->tag == turn_item_plan;
	if (item->tag != turn_item_user_message || !item->user_message->content_count)
		return;
	const struct user_input *last = &item->user_message->content[item->user_message->content_count - 1];
	for (size_t i = 0; last->tag == user_input_text && i < tui->waiting.count; i++) {
		if (tui->waiting.items[i].is_queued || !str_is(last->text->text, tui->waiting.items[i].text))
			continue;
		remove_waiting(tui, i);
		return;
	}
}

void tui_on_event(const struct event *event, void *self)
{
	struct tui *tui = self;
	tui_cells_event(tui->cells, event);
	switch (event->msg.tag) {
	case EV_session_configured:
		on_configured(tui, event);
		break;
	case EV_task_started:
		on_started(tui, event);
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
		tui->has_error = true;
		break;
	case EV_exec_approval_request:
		tui_request_command(tui, event);
		break;
	case EV_apply_patch_approval_request:
		tui_request_patch(tui, event);
		break;
	case EV_request_user_input:
		tui_request_questions(tui, event);
		break;
	case EV_request_user_input_expired:
		tui_ask_withdraw(tui->ask, event->msg.request_user_input_expired->call_id);
		break;
	case EV_elicitation_request:
		tui_request_elicitation(tui, event);
		break;
	case EV_shutdown_complete:
		loop_stop(tui->loop);
		return;
	default:
		break;
	}
	if (!tui->is_held && !term_tty_is_drained(tui->tty))
		codex_hold(tui->codex);
	tui->is_held = tui->is_held || !term_tty_is_drained(tui->tty);
	tui_frame_change(tui->frame);
}

/* ---- keys ---- */

void tui_interrupt(struct tui *tui)
{
	if (!tui->is_interrupted)
		tui_submit(tui, OP_interrupt, NULL);
	tui->is_interrupted = true;
}

static void send_input(struct tui *tui, bool is_queued)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROMPT * 2);
	if (str_is_blank(composer_text(&tui->composer)))
		return;
	if (tui_command(tui, composer_text(&tui->composer)))
		return;
	composer_take(&tui->composer, &text);
	if (is_queued && tui->is_running)
		add_waiting(tui, buf_str(&text), true);
	else
		tui_say(tui, buf_str(&text));
}

static void on_ctrl_c(struct tui *tui)
{
	auto_buf struct buf dropped;
	buf_init(&dropped, LIMIT_PROMPT * 2);
	if (tui->is_running)
		tui_interrupt(tui);
	else if (composer_is_empty(&tui->composer))
		tui_quit(tui);
	else
		composer_take(&tui->composer, &dropped); /* Up brings it back */
}

/* The keys with Ctrl that are not the editor's. True: taken. */
static bool on_ctrl(struct tui *tui, char c)
{
	switch (c) {
	case 'c':
		on_ctrl_c(tui);
		return true;
	case 'd':
		if (!composer_is_empty(&tui->composer))
			return false;
		tui_quit(tui);
		return true;
	case 'l': /* a new frame at the top; nothing is lost */
		term_tty_write(tui->tty, STR("\x1b[H\x1b[2J"));
		tui_frame_restart(tui->frame);
		return true;
	case 't':
		tui_transcript_open(tui);
		return true;
	case 'z':
		tui_frame_leave(tui->frame);
		term_tty_suspend(tui->tty);
		return true;
	default:
		return false;
	}
}

static bool on_named(struct tui *tui, const struct term_key *key)
{
	if (key->name == KEY_enter && !key->mods && !key->is_burst)
		send_input(tui, false);
	else if (key->name == KEY_enter && !key->mods)
		composer_paste(&tui->composer, STR("\n"));
	else if (key->name == KEY_tab)
		send_input(tui, true);
	else if (key->name == KEY_back_tab || (key->name == KEY_tab && key->mods == TERM_SHIFT))
		tui_set_plan_mode(tui, !tui->is_plan_mode);
	else if (key->name == KEY_escape && tui->is_running)
		tui_interrupt(tui);
	else if (key->name == KEY_up && key->mods == TERM_ALT && tui->waiting.count &&
	         tui->waiting.items[tui->waiting.count - 1].is_queued) {
		composer_set(&tui->composer, str_of(tui->waiting.items[tui->waiting.count - 1].text));
		remove_waiting(tui, tui->waiting.count - 1);
	} else
		return false;
	return true;
}

void tui_on_key(const struct term_key *key, void *self)
{
	struct tui *tui = self;
	if (key->kind == TERM_FOCUSED || key->kind == TERM_BLURRED)
		return;
	tui_frame_echo(tui->frame);
	if (tui_transcript_key(tui, key)) {
		tui_ask_typed(tui->ask);
		return;
	}
	if (tui_ask_is_shown(tui->ask)) {
		tui_ask_key(tui->ask, key);
		return;
	}
	tui_ask_typed(tui->ask);
	if (key->kind == TERM_PASTE)
		composer_paste(&tui->composer, key->text);
	else if (key->kind == TERM_CHAR && key->mods == TERM_CTRL && on_ctrl(tui, key->text.ptr[0]))
		return;
	else if (key->kind == TERM_CHAR || !on_named(tui, key))
		composer_key(&tui->composer, key);
}
