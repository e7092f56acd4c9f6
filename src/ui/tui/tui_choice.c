/* A search keeps the indices of the entries that contain its text, so that an answer names an entry of the whole
 * list. */
#include "ui/tui/tui_choice.h"

#include <limits.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "protocol/message/message.h"
#include "term/term_width.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_sheet.h"

enum { NO_CHOICE = CHOICE_ESCAPED - 1, SEARCH_MAX = 256, LABEL_COLUMNS_MAX = 40, ROWS_MAX = 12 };

struct choice_panel {
	struct tui_panel panel; /* first */
	struct tui_choices what;
	struct tui_choice *items; /* owned texts */
	char *title;
	struct event *about;
	struct buf search;
	VEC(size_t) found; /* entries that are shown */
	size_t at, room;   /* index in found; entries on the last screen */
	int answer;
	unsigned long visible; /* of an approval: bits of the entries that are visible, and all of the text with them */
	bool is_read;          /* all was shown */
	uint64_t stray_ms;     /* when a letter was typed that is no answer to an approval */
};

static struct choice_panel *of(struct tui_panel *panel)
{
	return (struct choice_panel *)panel;
}

static void destroy(struct tui_panel *panel)
{
	struct choice_panel *choice = of(panel);
	for (size_t i = 0; i < choice->what.count; i++) {
		free((char *)choice->items[i].label);
		free((char *)choice->items[i].about);
	}
	free(choice->items);
	free(choice->title);
	event_destroy(choice->about);
	buf_finish(&choice->search);
	vec_finish(&choice->found);
	free(choice);
}

static void report(struct tui_panel *panel)
{
	struct choice_panel *choice = of(panel);
	struct tui_chosen chosen = {
		.id = panel->id ? str_of(panel->id) : STR_NONE,
		.at = choice->answer,
		.label = choice->answer >= 0 ? str_of(choice->items[choice->answer].label) : STR_NONE,
		.about = choice->about,
	};
	choice->what.on_chosen(&chosen, choice->what.self);
}

/* ---- the search ---- */

static void search(struct choice_panel *choice)
{
	struct str part = buf_str(&choice->search);
	choice->found.count = choice->at = 0;
	for (size_t i = 0; i < choice->what.count; i++) {
		const struct tui_choice *item = &choice->items[i];
		if (str_contains_fold(str_of(item->label), part) ||
		    (item->about && str_contains_fold(str_of(item->about), part)))
			vec_push(&choice->found, i);
	}
}

static void search_key(struct choice_panel *choice, const struct term_key *key)
{
	if (key->kind == TERM_CHAR && !key->mods)
		buf_append_str(&choice->search, key->text);
	else if (key->kind == TERM_NAMED && key->name == KEY_backspace)
		buf_truncate(&choice->search, choice->search.len - term_cluster_last(buf_str(&choice->search)));
	else
		return;
	search(choice);
}

/* ---- keys ---- */

/* Shows the whole text of an approval. */
static bool read_all(struct choice_panel *choice)
{
	auto_buf struct buf text;
	buf_init(&text, 2 * LIMIT_LINE);
	buf_append_c(&text, choice->title);
	for (size_t i = 0; i < choice->what.count; i++)
		buf_printf(&text, "%zu. %s\n", i + 1, choice->items[i].label);
	choice->is_read = choice->what.on_read(buf_str(&text), choice->about, choice->what.self) && !text.over &&
	                  !choice->what.is_broken;
	return false;
}

static bool is_yes(const struct choice_panel *choice, int at)
{
	return choice->what.on_read && at >= 0 && (size_t)at + 1 < choice->what.count;
}

/* Text that was meant for the composer approves nothing: not a letter within a block, nor one soon after a letter that
 * is no answer. Returns true for such keys, and for others that are no answer. */
static bool is_stray(struct choice_panel *choice, const struct term_key *key, int at)
{
	uint64_t now = clock_now_ms();
	bool is_letter = key->kind == TERM_CHAR && !key->mods, is_enter = key->kind == TERM_NAMED;
	bool is_new = is_letter && (key->is_crowded || at < 0);
	if (is_new)
		choice->stray_ms = now;
	return is_new || (is_enter && key->is_crowded) || (choice->stray_ms && now - choice->stray_ms < ASK_REST_MS);
}

static bool answer(struct choice_panel *choice, int at)
{
	if (is_yes(choice, at) && !choice->is_read && !(choice->visible >> at & 1))
		return read_all(choice);
	choice->answer = at;
	return true;
}

static bool is_reading(const struct term_key *key)
{
	return key->kind == TERM_NAMED ? key->name == KEY_page_up || key->name == KEY_page_down
	                               : key->kind == TERM_CHAR && key->mods == TERM_CTRL && key->text.ptr[0] == 'a';
}

static bool is_escape(const struct choice_panel *choice, const struct term_key *key)
{
	if (key->kind == TERM_NAMED)
		return key->name == KEY_escape;
	if (key->kind != TERM_CHAR)
		return false;
	if (key->mods == TERM_CTRL)
		return key->text.ptr[0] == 'c';
	return choice->what.on_read && !key->mods && str_is(key->text, "n");
}

/* Returns the entry that a digit or its letter names, or CHOICE_ESCAPED. */
static int named(const struct choice_panel *choice, const struct term_key *key)
{
	char c = key->kind == TERM_CHAR && !key->mods && key->text.len == 1 ? key->text.ptr[0] : 0;
	if (!c || choice->what.is_searched)
		return CHOICE_ESCAPED;
	if (c >= '1' && c <= '9' && (size_t)(c - '1') < choice->what.count)
		return c - '1';
	for (size_t i = 0; i < choice->what.count; i++) {
		if (choice->items[i].key == c)
			return (int)i;
	}
	return CHOICE_ESCAPED;
}

/* Returns the entry that the key chooses, CHOICE_ESCAPED for the answer of Esc, or NO_CHOICE. */
static int chosen_by(const struct choice_panel *choice, const struct term_key *key)
{
	int at = named(choice, key);
	if (at >= 0)
		return at;
	if (is_escape(choice, key))
		return CHOICE_ESCAPED;
	bool is_enter = key->kind == TERM_NAMED && key->name == KEY_enter && choice->found.count;
	return is_enter ? (int)choice->found.items[choice->at] : NO_CHOICE;
}

static bool key(struct tui_panel *panel, const struct term_key *key)
{
	struct choice_panel *choice = of(panel);
	int at = chosen_by(choice, key);
	bool is_letter = key->kind == TERM_CHAR && !key->mods;
	bool denies = at != NO_CHOICE && !is_yes(choice, at) && !(is_letter && key->is_crowded);
	if (choice->what.on_read && is_reading(key))
		return read_all(choice);
	if (choice->what.on_read && !denies && (at != NO_CHOICE || is_letter) && is_stray(choice, key, at))
		return false;
	if (at != NO_CHOICE)
		return answer(choice, at);
	if (!sheet_move(&choice->at, choice->found.count, choice->room, key) && choice->what.is_searched)
		search_key(choice, key);
	return false;
}

/* ---- rows ---- */

static size_t label_columns(const struct choice_panel *choice)
{
	size_t widest = 0;
	for (size_t i = 0; i < choice->what.count; i++) {
		size_t width = 4 + term_width(str_of(choice->items[i].label));
		widest = width > widest && width <= LABEL_COLUMNS_MAX ? width : widest;
	}
	return widest;
}

static void draw_search(struct choice_panel *choice, struct tui_sheet *sheet)
{
	char text[SEARCH_MAX + 32];
	snprintf(text, sizeof(text), "  Search: %.*s", STR_ARG(buf_str(&choice->search)));
	if (choice->what.is_searched)
		sheet_line(sheet, TERM_dim, text);
}

static struct sheet_item item_at(const struct choice_panel *choice, size_t i)
{
	size_t at = choice->found.items[i];
	return (struct sheet_item){.label = choice->items[at].label,
	                           .about = choice->items[at].about,
	                           .number = choice->what.is_searched ? 0 : (int)at + 1,
	                           .is_chosen = i == choice->at,
	                           .is_wrapped = choice->what.on_read};
}

static void draw_approval(struct choice_panel *choice, struct tui_sheet *sheet)
{
	struct sheet_item items[CHAR_BIT * sizeof(choice->visible)];
	struct sheet_question question = {.text = str_of(choice->title),
	                                  .has_head = choice->what.has_question,
	                                  .keeps_last = true,
	                                  .items = items,
	                                  .count = choice->what.count < countof(items) ? choice->what.count
	                                                                               : countof(items),
	                                  .at = choice->at,
	                                  .label_columns = label_columns(choice)};
	size_t below = choice->what.hint ? sheet_hint_rows(sheet, choice->what.hint) : 0;
	below = below < sheet->most / 2 ? below : 0;
	sheet->most -= below;
	for (size_t i = 0; i < question.count; i++)
		items[i] = item_at(choice, i);
	bool is_whole = sheet_question(sheet, &question) && !choice->what.is_cut && !choice->what.is_broken;
	choice->visible = 0;
	for (size_t i = 0; i < question.count; i++)
		choice->visible |= (unsigned long)(items[i].is_visible && is_whole) << i;
	sheet->most += below;
	if (choice->what.hint)
		sheet_hint(sheet, choice->what.hint);
}

static void draw(struct tui_panel *panel, struct tui_sheet *sheet)
{
	struct choice_panel *choice = of(panel);
	if (choice->what.on_read) {
		draw_approval(choice, sheet);
		return;
	}
	size_t count = choice->found.count, room = count < ROWS_MAX ? count : ROWS_MAX;
	size_t head = choice->what.is_searched ? 1 : 2; /* rows that the title keeps */
	size_t below = choice->what.hint || count > room || room + head > sheet->most;
	size_t around = below + choice->what.is_searched;
	if (room + around + head > sheet->most)
		room = sheet->most > around + head + 1 ? sheet->most - around - head : 1;
	sheet_text(sheet, str_of(choice->title), SHEET_LARGER,
	           sheet->most > room + around ? sheet->most - room - around : 1);
	draw_search(choice, sheet);
	size_t from = sheet_window(count, choice->at, room), width = label_columns(choice);
	for (size_t i = from; i < count && i < from + room; i++) {
		struct sheet_item item = item_at(choice, i);
		sheet_item(sheet, &item, width);
	}
	if (!count)
		sheet_line(sheet, TERM_dim, "  nothing matches");
	sheet_foot(sheet, sheet_rest_of(count, from, room), choice->what.hint);
	choice->room = room;
}

/* ---- life ---- */

static const struct tui_panel_class class = {.draw = draw, .key = key, .report = report, .destroy = destroy};

struct tui_panel *tui_choice_create(const struct tui_choices *what, struct str id, struct event *about)
{
	struct choice_panel *choice = xnew(struct choice_panel);
	choice->panel = (struct tui_panel){.class = &class,
	                                   .id = id.ptr ? str_dup(id) : NULL,
	                                   .task = about ? str_dup(about->id) : NULL,
	                                   .is_request = id.ptr};
	choice->panel.letters = what->on_read ? LETTERS_approval : what->is_searched ? LETTERS_text : LETTERS_list;
	choice->what = *what;
	choice->what.count = what->count < CHOICES_MAX ? what->count : CHOICES_MAX;
	choice->title = str_dup(what->title);
	choice->about = about;
	choice->items = xcalloc(choice->what.count ? choice->what.count : 1, sizeof(struct tui_choice));
	for (size_t i = 0; i < choice->what.count; i++) {
		const struct tui_choice *item = &what->items[i];
		choice->items[i] =
			(struct tui_choice){xstrdup(item->label), item->about ? xstrdup(item->about) : NULL, item->key};
	}
	buf_init(&choice->search, SEARCH_MAX);
	search(choice);
	choice->at = what->current < choice->found.count ? what->current : 0;
	return &choice->panel;
}
