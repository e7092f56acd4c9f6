/* Space turns an item on or off, Enter saves, Esc changes nothing. */
#include "ui/tui/tui_checklist.h"

#include "base/mem.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_sheet.h"

enum { AROUND = 2, ABOUT_ROWS = 3, ABOUT_COLUMNS_LEAST = 60, MARK_LEN = sizeof("[x] ") - 1 };

struct checklist_panel {
	struct tui_panel panel; /* first */
	struct tui_checklist list;
	size_t at, room, label_columns; /* room: items on the last screen */
	bool is_saved;
};

static struct checklist_panel *of(struct tui_panel *panel)
{
	return (struct checklist_panel *)panel;
}

static void draw(struct tui_panel *panel, struct tui_sheet *sheet)
{
	struct checklist_panel *checklist = of(panel);
	const struct tui_checklist *list = &checklist->list;
	size_t room = sheet->most > AROUND ? sheet->most - AROUND : 1;
	bool has_room = sheet->most >= list->count + AROUND + ABOUT_ROWS; /* for a whole description */
	size_t from = sheet_window(list->count, checklist->at, room);
	sheet_line(sheet, TERM_bold, list->title);
	for (size_t i = from; i < list->count && i < from + room; i++)
		sheet_item(sheet,
		           &(struct sheet_item){.label = list->items[i].label,
		                                .about = list->items[i].about,
		                                .mark = list->items[i].is_on ? "[x] " : "[ ] ",
		                                .is_chosen = i == checklist->at,
		                                .is_wrapped = i == checklist->at && has_room},
		           sheet->columns < ABOUT_COLUMNS_LEAST ? 0 : checklist->label_columns);
	sheet_foot(sheet, sheet_rest_of(list->count, from, room), list->hint);
	checklist->room = room;
}

/* Exchanges the item with its neighbour. */
static void shift(struct checklist_panel *checklist, size_t to)
{
	struct tui_check *items = checklist->list.items, item = items[checklist->at];
	if (!checklist->list.is_ordered || to >= checklist->list.count)
		return;
	items[checklist->at] = items[to];
	items[to] = item;
	checklist->at = to;
}

static bool named_key(struct checklist_panel *checklist, enum term_key_name name)
{
	size_t at = checklist->at;
	if (name == KEY_left || name == KEY_right)
		shift(checklist, name == KEY_left ? at - 1 : at + 1);
	checklist->is_saved = name == KEY_enter;
	return name == KEY_enter || name == KEY_escape;
}

static bool key(struct tui_panel *panel, const struct term_key *key)
{
	struct checklist_panel *checklist = of(panel);
	struct tui_check *item = &checklist->list.items[checklist->at];
	if (sheet_move(&checklist->at, checklist->list.count, checklist->room, key))
		return false;
	if (key->kind == TERM_NAMED)
		return named_key(checklist, key->name);
	if (key->kind == TERM_CHAR && !key->mods && str_is(key->text, " "))
		item->is_on = !item->is_on;
	return key->kind == TERM_CHAR && key->mods == TERM_CTRL && str_is(key->text, "c");
}

static void report(struct tui_panel *panel)
{
	struct checklist_panel *checklist = of(panel);
	if (checklist->is_saved)
		checklist->list.on_saved(&checklist->list, checklist->list.self);
}

static void destroy(struct tui_panel *panel)
{
	free(of(panel));
}

void tui_checklist_open(struct tui_ask *ask, const struct tui_checklist *list)
{
	static const struct tui_panel_class class = {.draw = draw, .key = key, .report = report, .destroy = destroy};
	struct checklist_panel *checklist = xnew(struct checklist_panel);
	checklist->panel = (struct tui_panel){.class = &class, .letters = LETTERS_list};
	checklist->list = *list;
	for (size_t i = 0; i < list->count; i++) {
		size_t columns = strlen(list->items[i].label) + MARK_LEN;
		checklist->label_columns = columns > checklist->label_columns ? columns : checklist->label_columns;
	}
	tui_ask_add(ask, &checklist->panel);
}
