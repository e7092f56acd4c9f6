/* The list is filled again with each key; its choice goes back to the first item then. */
#include "ui/tui/tui_popup.h"

#include "base/mem.h"
#include "term/term_keys.h"
#include "term/term_width.h"

enum { ITEMS_MAX = 500, ROWS_SHOWN = 8, ROWS_LEAST = 3, LABEL_COLUMNS_MAX = 32 };

static void empty(struct tui_popup *popup)
{
	vec_for_each(item, &popup->items) {
		free(item->label);
		free(item->about);
	}
	popup->items.count = 0;
	popup->at = 0;
}

void tui_popup_finish(struct tui_popup *popup)
{
	empty(popup);
	vec_finish(&popup->items);
}

bool tui_popup_open(struct tui_popup *popup, enum popup_kind kind, size_t from)
{
	empty(popup);
	if (popup->refused == kind && popup->refused_from == from) {
		popup->kind = POPUP_none;
		return false;
	}
	popup->refused = POPUP_none;
	popup->kind = kind;
	popup->from = from;
	return true;
}

void tui_popup_close(struct tui_popup *popup)
{
	empty(popup);
	popup->kind = popup->refused = POPUP_none;
}

void tui_popup_refuse(struct tui_popup *popup)
{
	popup->refused = popup->kind;
	popup->refused_from = popup->from;
	popup->kind = POPUP_none;
	empty(popup);
}

void tui_popup_add(struct tui_popup *popup, struct str label, struct str about)
{
	if (popup->items.count < ITEMS_MAX)
		vec_push(&popup->items, (struct popup_item){str_dup(label), about.ptr ? str_dup(about) : NULL});
}

const struct popup_item *tui_popup_chosen(const struct tui_popup *popup)
{
	return popup->at < popup->items.count ? &popup->items.items[popup->at] : NULL;
}

bool tui_popup_move(struct tui_popup *popup, const struct term_key *key)
{
	return popup->items.count && sheet_move(&popup->at, popup->items.count, popup->room, key);
}

void tui_popup_draw(struct tui_popup *popup, struct tui_sheet *sheet)
{
	size_t room = sheet->most < ROWS_SHOWN ? sheet->most : ROWS_SHOWN, widest = 0;
	room -= popup->items.count > room && room > ROWS_LEAST; /* for the number of the others */
	size_t from = sheet_window(popup->items.count, popup->at, room);
	vec_for_each(item, &popup->items) {
		size_t width = term_width(str_of(item->label));
		widest = width > widest && width <= LABEL_COLUMNS_MAX ? width : widest;
	}
	for (size_t i = from; i < popup->items.count && i < from + room; i++) {
		const struct popup_item *item = &popup->items.items[i];
		sheet_item(
			sheet,
			&(struct sheet_item){.label = item->label, .about = item->about, .is_chosen = i == popup->at},
			widest);
	}
	popup->room = room;
	popup->rest = sheet_rest_of(popup->items.count, from, room);
	if (room >= ROWS_LEAST) {
		sheet_foot(sheet, popup->rest, NULL);
		popup->rest = (struct sheet_rest){0};
	}
	if (popup->kind == POPUP_file && !popup->items.count)
		sheet_line(sheet, TERM_dim, popup->has_letters ? "  no file matches yet" : "  type a part of the name");
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

int tui_popup_match(struct str name, struct str typed)
{
	size_t at = 0;
	if (name.len >= typed.len && str_equal_fold(str_n(name.ptr, typed.len), typed))
		return 2;
	for (size_t i = 0; i < name.len && at < typed.len; i++)
		at += lower(name.ptr[i]) == lower(typed.ptr[at]);
	return at == typed.len;
}
