/* Esc Esc on an empty composer: an earlier message returns to the composer, and the conversation goes back before it.
 * The messages are read from the rollout when the list is opened, so that none is kept for it. */
#include "app_server/history/thread_history.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/app.h"
#include "rollout/rollout_reader.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_sheet.h"

enum { MESSAGES_MAX = 1000, ROWS_MAX = 12, ROWS_AROUND = 2 };

struct message {
	char *text;
	VEC(char *) images;
};

struct backtrack {
	struct tui_panel panel; /* first */
	struct tui *tui;
	VEC(struct message) messages; /* the last ones, oldest first */
	size_t at, room;              /* room: rows on the last screen */
	bool is_chosen;
	struct term_key typed; /* text that closed the list; its bytes are borrowed */
	bool is_typed;
};

static struct backtrack *of(struct tui_panel *panel)
{
	return (struct backtrack *)panel;
}

static void message_finish(struct message *message)
{
	vec_for_each(image, &message->images)
		free(*image);
	vec_finish(&message->images);
	free(message->text);
}

static void destroy(struct tui_panel *panel)
{
	struct backtrack *backtrack = of(panel);
	vec_for_each(message, &backtrack->messages)
		message_finish(message);
	vec_finish(&backtrack->messages);
	free(backtrack);
}

/* ---- the list ---- */

static void draw(struct tui_panel *panel, struct tui_sheet *sheet)
{
	struct backtrack *backtrack = of(panel);
	size_t count = backtrack->messages.count, room = count < ROWS_MAX ? count : ROWS_MAX;
	if (room + ROWS_AROUND > sheet->most)
		room = sheet->most > ROWS_AROUND ? sheet->most - ROWS_AROUND : 1;
	sheet_line(sheet, TERM_bold, "Edit previous message");
	size_t from = sheet_window(count, backtrack->at, room);
	for (size_t i = from; i < count && i < from + room; i++) {
		struct str text = str_of(backtrack->messages.items[i].text), line = STR("");
		str_next_line(&text, &line);
		auto_free char *label = str_dup(line);
		sheet_item(sheet, &(struct sheet_item){.label = label, .is_chosen = i == backtrack->at}, 0);
	}
	sheet_foot(sheet, sheet_rest_of(count, from, room),
	           "  esc or ← older · → newer · enter edits it · ctrl-c back");
	backtrack->room = room;
}

/* True: there is no older message, and Esc closes the list. */
static bool go_older(struct backtrack *backtrack)
{
	if (!backtrack->at)
		return true;
	backtrack->at--;
	return false;
}

static bool named_key(struct backtrack *backtrack, const struct term_key *key)
{
	switch (key->name) {
	case KEY_escape:
		return go_older(backtrack);
	case KEY_left:
	case KEY_up:
		go_older(backtrack);
		return false;
	case KEY_right:
	case KEY_down:
		backtrack->at += backtrack->at + 1 < backtrack->messages.count;
		return false;
	case KEY_enter:
		backtrack->is_chosen = true;
		return true;
	default:
		sheet_move(&backtrack->at, backtrack->messages.count, backtrack->room, key);
		return false;
	}
}

/* Text belongs to the composer: dropped, it would leave an Enter that follows to go back. */
static bool key(struct tui_panel *panel, const struct term_key *key)
{
	struct backtrack *backtrack = of(panel);
	if (key->kind == TERM_NAMED)
		return named_key(backtrack, key);
	backtrack->typed = *key;
	backtrack->is_typed = key->kind == TERM_PASTE || (key->kind == TERM_CHAR && !key->mods);
	return backtrack->is_typed || (key->kind == TERM_CHAR && key->mods == TERM_CTRL && str_is(key->text, "c"));
}

static void report(struct tui_panel *panel)
{
	struct backtrack *backtrack = of(panel);
	struct tui *tui = backtrack->tui;
	if (backtrack->is_typed)
		tui_on_key(&backtrack->typed, tui);
	if (!backtrack->is_chosen)
		return;
	const struct message *message = &backtrack->messages.items[backtrack->at];
	struct op_thread_rollback op = {.num_turns = (int64_t)(backtrack->messages.count - backtrack->at)};
	tui_submit(tui, OP_thread_rollback, &op);
	composer_set(&tui->composer, str_of(message->text));
	vec_for_each(image, &message->images)
		composer_attach(&tui->composer, *image);
}

/* ---- the messages ---- */

static void add_message(struct backtrack *backtrack, const struct app_item_user_message *item)
{
	auto_buf struct buf text;
	struct message message = {0};
	buf_init(&text, LIMIT_LINE);
	for (size_t i = 0; i < item->content_count; i++) {
		const struct app_user_input *input = &item->content[i];
		if (input->tag == app_user_input_text && input->text)
			buf_append_str(&text, input->text->text);
		else if (input->tag == app_user_input_local_image && input->local_image)
			vec_push(&message.images, str_dup(input->local_image->path));
	}
	message.text = str_dup(buf_str(&text));
	vec_push(&backtrack->messages, message);
}

static void drop_oldest(struct backtrack *backtrack)
{
	struct message *items = backtrack->messages.items;
	size_t drop = backtrack->messages.count > MESSAGES_MAX ? backtrack->messages.count - MESSAGES_MAX : 0;
	for (size_t i = 0; i < drop; i++)
		message_finish(&items[i]);
	if (drop)
		memmove(items, items + drop, MESSAGES_MAX * sizeof(*items));
	backtrack->messages.count -= drop;
}

static int read_messages(struct backtrack *backtrack, const char *path, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct thread_history history;
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_EVENTS, err);
	if (!reader)
		return -(int)err->code;
	thread_history_read(reader, &arena, &history);
	for (size_t i = 0; i < history.count; i++) {
		for (size_t k = 0; k < history.turns[i].items_count; k++) {
			if (history.turns[i].items[k].tag == app_thread_item_user_message)
				add_message(backtrack, history.turns[i].items[k].user_message);
		}
	}
	rollout_reader_destroy(reader);
	drop_oldest(backtrack);
	return 0;
}

void tui_backtrack_open(struct tui *tui)
{
	static const struct tui_panel_class class = {.draw = draw, .key = key, .report = report, .destroy = destroy};
	struct backtrack *backtrack = xnew(struct backtrack);
	const char *path = tui_engine_path(tui);
	struct error err;
	backtrack->panel = (struct tui_panel){.class = &class};
	backtrack->tui = tui;
	if (path && tui->has_turn && read_messages(backtrack, path, &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
	backtrack->at = backtrack->messages.count ? backtrack->messages.count - 1 : 0;
	if (backtrack->messages.count) {
		tui_ask_add(tui->ask, &backtrack->panel);
		return;
	}
	tui_cells_note(tui->cells, STR("There is no recorded message to go back to"));
	destroy(&backtrack->panel);
}
