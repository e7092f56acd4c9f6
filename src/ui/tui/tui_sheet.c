/* Labels and texts come from the model, from files and from servers: term_row shows what could drive the terminal. */
#include "ui/tui/tui_sheet.h"

#include <stdio.h>

#include "term/term_keys.h"
#include "term/term_paint.h"
#include "term/term_width.h"
#include "ui/tui/tui_limits.h"

#define HINT_PART " · " /* between the parts of a hint */

enum { HINT_INDENT = 2 };

size_t sheet_put(struct tui_sheet *sheet)
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
	sheet_put(sheet);
}

void sheet_hint(struct tui_sheet *sheet, const char *text)
{
	struct str rest = str_trim(str_of(text)), row;
	while (sheet->most && term_wrap_next(&rest, sheet->columns - HINT_INDENT, &row)) {
		term_row_clear(sheet->row);
		term_row_add_c(sheet->row, TERM_dim, "  ");
		term_row_add(sheet->row, TERM_dim, row);
		sheet_put(sheet);
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
	sheet_put(sheet);
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
	sheet_put(sheet);
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
		if (!is_first && !next_row(sheet, lead)) {
			term_row_add_c(sheet->row, style, " "); /* what does not fit becomes an ellipsis */
			term_row_add(sheet->row, style, row);
			return false;
		}
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
	size_t at = sheet_put(sheet);
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

/* Draws the entries from `from` on. Those that do not fit are left out, with `more` in their place, unless it is NULL;
 * the chosen one is drawn in any case. */
static void draw_items(struct tui_sheet *sheet, struct sheet_question *question, size_t from, size_t end,
                       const char *more)
{
	bool is_full = false;
	question->rest = (struct sheet_rest){.above = from};
	for (size_t i = 0; i < end; i++) {
		struct sheet_item *item = &question->items[i];
		bool is_hidden = i < from || is_full || !sheet->most;
		if (!is_hidden && more && !item->is_chosen && item->rows > sheet->most) {
			sheet_line(sheet, TERM_yellow, more);
			is_hidden = is_full = true;
		}
		question->rest.below += is_hidden && i >= from;
		item->is_visible = !is_hidden && sheet_item(sheet, item, question->label_columns);
	}
}

/* Returns the first entry to draw, so that the chosen one is among those that fit. */
static size_t first_item(const struct tui_sheet *sheet, const struct sheet_question *question)
{
	size_t upto = 0, from = 0;
	for (size_t i = 0; i <= question->at && i < question->count; i++)
		upto += question->items[i].rows;
	while (from < question->at && upto > sheet->most)
		upto -= question->items[from++].rows;
	return from;
}

/* Draws the entries, of which the last one has a row of its own in any case. */
static void draw_answers(struct tui_sheet *sheet, struct sheet_question *question, bool has_mark)
{
	struct sheet_item *last = &question->items[question->count - 1];
	struct sheet_question others = *question;
	others.count--;
	others.at = question->at < others.count ? question->at : others.count - 1;
	sheet->most--;
	draw_items(sheet, &others, first_item(sheet, &others), others.count, has_mark ? NULL : SHEET_READ);
	sheet->most++;
	last->is_visible = sheet_item(sheet, last, question->label_columns);
}

bool sheet_question(struct tui_sheet *sheet, struct sheet_question *question)
{
	size_t wanted = 0;
	for (size_t i = 0; i < question->count; i++) {
		struct sheet_item *item = &question->items[i];
		item->rows = item_rows(sheet, item, question->label_columns);
		wanted += item->rows;
	}
	size_t half = (sheet->most + !question->keeps_last) / 2;
	size_t most = sheet->most > wanted + half ? sheet->most - wanted : half ? half : 1;
	struct str text = question->text, head;
	if (question->has_head && sheet_rows(text, sheet->columns) > most && str_next_line(&text, &head))
		text = str_trim(text);
	bool is_whole = sheet_text(sheet, text, SHEET_READ, most);
	if (question->keeps_last && question->count > 1 && wanted > sheet->most && sheet->most > 1)
		draw_answers(sheet, question, !is_whole);
	else
		draw_items(sheet, question, first_item(sheet, question), question->count, NULL);
	return is_whole;
}

size_t sheet_window(size_t count, size_t chosen, size_t room)
{
	size_t from = chosen < room / 2 ? 0 : chosen - room / 2;
	if (!room || count <= room)
		return 0;
	return from + room > count ? count - room : from;
}

bool sheet_move(size_t *at, size_t count, size_t page, const struct term_key *key)
{
	bool is_ctrl = key->kind == TERM_CHAR && key->mods == TERM_CTRL,
	     is_named = key->kind == TERM_NAMED && !key->mods;
	bool is_back = is_ctrl && key->text.ptr[0] == 'p', is_on = is_ctrl && key->text.ptr[0] == 'n';
	size_t last = count ? count - 1 : 0;
	if (is_back || (is_named && key->name == KEY_up))
		*at = *at ? *at - 1 : last;
	else if (is_on || (is_named && key->name == KEY_down))
		*at = *at < last ? *at + 1 : 0;
	else if (is_named && key->name == KEY_page_up)
		*at = *at > page ? *at - page : 0;
	else if (is_named && key->name == KEY_page_down)
		*at = *at + page < last ? *at + page : last;
	else if (is_named && (key->name == KEY_home || key->name == KEY_end))
		*at = key->name == KEY_home ? 0 : last;
	else
		return false;
	return true;
}

struct sheet_rest sheet_rest_of(size_t count, size_t from, size_t room)
{
	return (struct sheet_rest){from, from + room < count ? count - from - room : 0};
}

void sheet_add_rest(struct buf *out, struct sheet_rest rest, bool is_short)
{
	const char *blank = is_short ? "" : " ";
	if (rest.above)
		buf_printf(out, "↑%s%zu", blank, rest.above);
	if (rest.below)
		buf_printf(out, "%s↓%s%zu", rest.above ? " " : "", blank, rest.below);
	buf_append_c(out, !is_short && (rest.above || rest.below) ? " more" : "");
}

void sheet_add_title(struct term_row *row, enum term_style style, struct str title, struct sheet_rest rest)
{
	auto_buf struct buf counts;
	struct str part = title;
	buf_init(&counts, LIMIT_LIST_REST);
	sheet_add_rest(&counts, rest, false);
	if (term_width(title) + 2 + term_width(buf_str(&counts)) > row->width) {
		buf_clear(&counts);
		sheet_add_rest(&counts, rest, true);
	}
	size_t used = term_width(buf_str(&counts)) + 2;
	if (counts.len)
		term_cut_next(&title, row->width > used + 2 ? row->width - used : 2, &part);
	term_row_add(row, style, part);
	term_row_add_c(row, TERM_plain, counts.len ? "  " : "");
	term_row_add(row, TERM_yellow, buf_str(&counts));
}

/* Drops parts from the beginning of a hint that needs more columns: the last one says how the list is closed. */
static struct str shorten(struct str hint, size_t columns)
{
	ptrdiff_t at;
	while (term_width(hint) > columns && (at = str_find(hint, STR(HINT_PART))) >= 0)
		hint = str_skip(hint, (size_t)at + sizeof(HINT_PART) - 1);
	return hint;
}

void sheet_foot(struct tui_sheet *sheet, struct sheet_rest rest, const char *hint)
{
	auto_buf struct buf counts;
	const char *lead = "  ", *between = hint && (rest.above || rest.below) ? HINT_PART : "";
	buf_init(&counts, LIMIT_LIST_REST);
	sheet_add_rest(&counts, rest, false);
	if (!sheet->most || (!hint && !counts.len))
		return;
	size_t used = HINT_INDENT + term_width(str_of(between)) + term_width(buf_str(&counts));
	size_t columns = sheet->columns > used ? sheet->columns - used : 0;
	struct str shown = shorten(str_trim(str_of(hint ? hint : "")), columns);
	if (*between && term_width(shown) > columns) {
		buf_clear(&counts);
		sheet_add_rest(&counts, rest, true);
		lead = "";
		between = " ";
	}
	term_row_clear(sheet->row);
	term_row_add_c(sheet->row, TERM_dim, lead);
	term_row_add(sheet->row, TERM_dim, shown);
	term_row_add_c(sheet->row, TERM_dim, between);
	term_row_add(sheet->row, TERM_yellow, buf_str(&counts));
	sheet_put(sheet);
}
