/* Labels and texts come from the model, from files and from servers: term_row shows what could drive the terminal. */
#include "ui/tui/tui_sheet.h"

#include <stdio.h>

#include "term/term_paint.h"
#include "term/term_width.h"

enum { HINT_INDENT = 2 };

static size_t put(struct tui_sheet *sheet)
{
	sheet->most--;
	return sheet->paint ? term_paint_live(sheet->paint, sheet->row) : 0;
}

void sheet_line(struct tui_sheet *sheet, enum term_style style, const char *text)
{
	if (!sheet->most)
		return;
	term_row_clear(sheet->row);
	term_row_add_c(sheet->row, style, text);
	put(sheet);
}

void sheet_hint(struct tui_sheet *sheet, const char *text)
{
	struct str rest = str_trim(str_of(text)), row;
	while (sheet->most && term_wrap_next(&rest, sheet->columns - HINT_INDENT, &row)) {
		term_row_clear(sheet->row);
		term_row_add_c(sheet->row, TERM_dim, "  ");
		term_row_add(sheet->row, TERM_dim, row);
		put(sheet);
	}
}

size_t sheet_hint_rows(const struct tui_sheet *sheet, const char *text)
{
	struct tui_sheet counter = {NULL, sheet->row, sheet->columns, SIZE_MAX};
	sheet_hint(&counter, text);
	return SIZE_MAX - counter.most;
}

size_t sheet_rows(struct str text, size_t columns)
{
	struct str line, row;
	size_t count = 0;
	while (str_next_line(&text, &line)) {
		count += !line.len;
		while (term_wrap_next(&line, columns, &row))
			count++;
	}
	return count;
}

/* The rows of a text that are left out: from `from` on, `count` of them, and a row in their place. */
struct gap {
	size_t from, count;
	const char *more;
};

static void text_row(struct tui_sheet *sheet, enum term_style style, struct str row, size_t at, struct gap gap)
{
	bool is_hidden = at >= gap.from && at < gap.from + gap.count;
	if ((is_hidden && at != gap.from) || !sheet->most)
		return;
	term_row_clear(sheet->row);
	if (is_hidden)
		term_row_add_c(sheet->row, TERM_yellow, gap.more);
	else
		term_row_add(sheet->row, style, row);
	put(sheet);
}

bool sheet_text(struct tui_sheet *sheet, struct str text, const char *more, size_t most)
{
	most = most < sheet->most ? most : sheet->most;
	size_t total = sheet_rows(text, sheet->columns), at = 0;
	struct str line, row;
	enum term_style style = TERM_bold;
	struct gap gap = {.from = most / 2, .count = total > most ? total - most + 1 : 0, .more = more};
	while (str_next_line(&text, &line)) {
		if (!line.len)
			text_row(sheet, TERM_plain, line, at++, gap);
		while (term_wrap_next(&line, sheet->columns, &row))
			text_row(sheet, style, row, at++, gap);
		style = TERM_plain;
	}
	return !gap.count;
}

static void pad(struct tui_sheet *sheet, size_t columns)
{
	while (sheet->row->columns < columns && sheet->row->columns < sheet->columns)
		term_row_add_c(sheet->row, TERM_plain, " ");
}

/* Puts the row and begins another one, after `lead` columns. False: it is the last one. */
static bool next_row(struct tui_sheet *sheet, size_t lead)
{
	if (sheet->most == 1)
		return false;
	put(sheet);
	term_row_clear(sheet->row);
	pad(sheet, lead);
	return true;
}

/* Adds a text, in as many rows as it takes; the last one is not put yet. False: there is no row for the rest. */
static bool add_wrapped(struct tui_sheet *sheet, enum term_style style, struct str text)
{
	struct str row;
	size_t lead = sheet->row->columns, room = sheet->columns > lead + 2 ? sheet->columns - lead : 2;
	for (bool is_first = true; term_wrap_next(&text, room, &row); is_first = false) {
		if (!is_first && !next_row(sheet, lead))
			return false;
		term_row_add(sheet->row, style, row);
	}
	return true;
}

/* Adds the description, at `column`, or below the label if it is wrapped and has no room there. */
static bool add_about(struct tui_sheet *sheet, const struct sheet_item *item, size_t lead, size_t column)
{
	struct str text = str_of(item->about);
	pad(sheet, column);
	size_t used = sheet->row->columns + 2;
	bool fits = used < sheet->columns && sheet_rows(text, sheet->columns - used) <= 1;
	if (item->is_wrapped && !fits)
		return next_row(sheet, lead) && add_wrapped(sheet, TERM_dim, text);
	term_row_add_c(sheet->row, TERM_plain, "  ");
	term_row_add(sheet->row, TERM_dim, text);
	return true;
}

bool sheet_item(struct tui_sheet *sheet, const struct sheet_item *item, size_t label_columns)
{
	enum term_style style = item->is_chosen ? TERM_cyan : TERM_plain;
	char number[32] = "";
	bool is_whole = true;
	if (!sheet->most)
		return false;
	if (item->number)
		snprintf(number, sizeof(number), "%d. ", item->number);
	term_row_clear(sheet->row);
	term_row_add_c(sheet->row, style, item->is_chosen ? "› " : "  ");
	term_row_add_c(sheet->row, style, number);
	term_row_add_c(sheet->row, style, item->mark ? item->mark : "");
	size_t lead = sheet->row->columns;
	if (item->is_wrapped)
		is_whole = add_wrapped(sheet, style, str_of(item->label));
	else
		term_row_add_c(sheet->row, style, item->label);
	if (item->about && *item->about)
		is_whole = is_whole && add_about(sheet, item, lead, 2 + label_columns);
	size_t at = put(sheet);
	if (item->is_chosen && sheet->paint)
		term_paint_caret(sheet->paint, at, 0);
	return is_whole;
}

static size_t item_rows(const struct tui_sheet *sheet, const struct sheet_item *item, size_t label_columns)
{
	struct tui_sheet counter = {NULL, sheet->row, sheet->columns, SIZE_MAX};
	sheet_item(&counter, item, label_columns);
	return SIZE_MAX - counter.most;
}

bool sheet_question(struct tui_sheet *sheet, const struct sheet_question *question)
{
	size_t wanted = 0, upto = 0, from = 0;
	for (size_t i = 0; i < question->count; i++) {
		struct sheet_item *item = &question->items[i];
		item->rows = item_rows(sheet, item, question->label_columns);
		wanted += item->rows;
		upto += i <= question->at ? item->rows : 0;
	}
	size_t half = (sheet->most + 1) / 2, most = sheet->most > wanted + half ? sheet->most - wanted : half;
	struct str text = question->text, head;
	if (question->has_head && sheet_rows(text, sheet->columns) > most && str_next_line(&text, &head))
		text = str_trim(text);
	bool is_whole = sheet_text(sheet, text, SHEET_READ, most);
	while (from < question->at && upto > sheet->most)
		upto -= question->items[from++].rows;
	for (size_t i = 0; i < question->count; i++) {
		struct sheet_item *item = &question->items[i];
		item->is_visible = i >= from && sheet->most && sheet_item(sheet, item, question->label_columns);
	}
	return is_whole;
}

size_t sheet_window(size_t count, size_t chosen, size_t room)
{
	size_t from = chosen < room / 2 ? 0 : chosen - room / 2;
	if (!room || count <= room)
		return 0;
	return from + room > count ? count - room : from;
}

void sheet_add_rest(struct buf *out, size_t count, size_t from, size_t room)
{
	size_t below = from + room < count ? count - from - room : 0;
	if (from)
		buf_printf(out, "↑ %zu ", from);
	if (below)
		buf_printf(out, "↓ %zu ", below);
	buf_append_c(out, from || below ? "more" : "");
}

void sheet_foot(struct tui_sheet *sheet, struct str rest, const char *hint)
{
	if (!sheet->most || (!rest.len && !hint))
		return;
	term_row_clear(sheet->row);
	term_row_add_c(sheet->row, TERM_dim, hint ? hint : "  ");
	if (rest.len && (!hint || sheet->row->columns + term_width(rest) + 3 <= sheet->columns)) {
		term_row_add_c(sheet->row, TERM_dim, hint ? " · " : "");
		term_row_add(sheet->row, TERM_yellow, rest);
	}
	put(sheet);
}
