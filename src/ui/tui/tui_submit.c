/* Messages of the user, which join a running turn or wait for its end, and changes of the session. */
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "protocol/message/message.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"

enum { WAITING_MAX = 64 };

void tui_submit(struct tui *tui, enum op_tag tag, void *body)
{
	struct op op = {.tag = tag, .body = body};
	struct error err;
	if (!tui_has_session(tui)) /* the first questions are not answered yet */
		return;
	if (tui_engine_submit(tui, &op, &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
	tui_frame_change(tui->frame);
}

static void submit_text(struct tui *tui, struct str text, const struct exec_images *images)
{
	VEC(struct user_input) items = {0};
	struct input_text part = {.text = text};
	vec_for_each(image, images)
		vec_push(&items, (struct user_input){.tag = user_input_local_image, .local_image = image});
	vec_push(&items, (struct user_input){.tag = user_input_text, .text = &part});
	struct op_user_input input = {.items = items.items, .items_count = items.count};
	if (tui->watched)
		tui_agents_send(tui, &input);
	else
		tui_submit(tui, OP_user_input, &input);
	tui_history_add(tui, text);
	vec_finish(&items);
}

/* Takes the images over. */
static void add_waiting(struct tui *tui, struct str text, struct exec_images images, bool is_queued)
{
	if (tui->waiting.count < WAITING_MAX) {
		vec_push(&tui->waiting, (struct tui_waiting){str_dup(text), images, is_queued});
		return;
	}
	tui_cells_fail(tui->cells, STR("too much input is waiting; the last one was not kept"));
	exec_images_finish(&images);
}

void tui_queue(struct tui *tui, struct str text, struct exec_images images)
{
	add_waiting(tui, text, images, true);
}

void tui_remove_waiting(struct tui *tui, size_t at)
{
	free(tui->waiting.items[at].text);
	exec_images_finish(&tui->waiting.items[at].images);
	tui->waiting.count--;
	memmove(&tui->waiting.items[at], &tui->waiting.items[at + 1],
	        (tui->waiting.count - at) * sizeof(struct tui_waiting));
}

void tui_send(struct tui *tui, struct str text, struct exec_images images)
{
	if (tui->has_no_session) {
		tui_cells_fail(tui->cells, STR("there is no session: correct the error above, then start codex again"));
		composer_set(&tui->composer, text);
		exec_images_finish(&images);
		return;
	}
	if (tui->watched) {
		submit_text(tui, text, &images);
		exec_images_finish(&images);
		return;
	}
	if (!tui->is_configured || (tui->is_running && tui->is_exclusive)) {
		add_waiting(tui, text, images, true);
		return;
	}
	tui->is_exclusive = tui->is_exclusive && tui->is_running;
	submit_text(tui, text, &images);
	if (tui->is_running) {
		add_waiting(tui, text, images, false);
		tui->unread++;
	} else {
		exec_images_finish(&images);
	}
}

void tui_say(struct tui *tui, struct str text)
{
	tui_send(tui, text, (struct exec_images){0});
}

void tui_send_queued(struct tui *tui)
{
	for (size_t i = 0; i < tui->waiting.count; i++) {
		if (!tui->waiting.items[i].is_queued)
			continue;
		auto_free char *text = steal(tui->waiting.items[i].text);
		struct exec_images images = tui->waiting.items[i].images;
		tui->waiting.items[i].images = (struct exec_images){0};
		tui_remove_waiting(tui, i);
		tui_send(tui, str_of(text), images);
		return;
	}
}

void tui_interrupt(struct tui *tui, bool sends)
{
	if (tui->watched) {
		tui_agents_interrupt(tui);
		return;
	}
	if (!tui->is_interrupted)
		tui_submit(tui, OP_interrupt, NULL);
	tui->is_interrupted = true;
	tui->sends_unread = sends;
}

void tui_ask_skills(struct tui *tui, bool is_forced)
{
	struct op_list_skills op = {.force_reload = is_forced};
	if (tui->is_configured)
		tui_submit(tui, OP_list_skills, &op);
}

void tui_quit(struct tui *tui)
{
	bool is_detached = tui->options.attaches; /* the session continues */
	if (tui->is_over || is_detached || !tui_has_session(tui))
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
