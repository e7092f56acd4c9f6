/* The live rows, from top to bottom: what streams or runs, the working line, waiting input, and the composer with its
 * footer, or a question in their place. */
#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "term/term_paint.h"
#include "term/term_tty.h"
#include "term/term_width.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_child.h"
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_sheet.h"

enum {
	ROWS_LEAST = 4,
	ROWS_AROUND = 8,
	WAITING_SHOWN = 3,
	COLUMNS_LEAST = 10,
	LIVE_LEAST = 2,
	ROWS_REQUEST = 18,
	LIVE_GAP = 3
};

void tui_view_measure(struct tui *tui)
{
	term_tty_size(tui->tty, &tui->rows, &tui->columns);
	tui->rows = tui->rows < ROWS_LEAST ? ROWS_LEAST : tui->rows;
	tui->columns = tui->columns < COLUMNS_LEAST ? COLUMNS_LEAST : tui->columns - 1;
	term_row_finish(&tui->row);
	term_row_init(&tui->row, tui->columns, tui->has_color);
	tui_cells_resize(tui->cells, tui->columns);
}

static void draw_text(struct tui *tui, struct term_paint *paint, enum term_style style, const char *text)
{
	term_row_clear(&tui->row);
	term_row_add_c(&tui->row, style, text);
	term_paint_live(paint, &tui->row);
}

static void draw_working(struct tui *tui, struct term_paint *paint)
{
	struct str thought = tui_cells_thought(tui->cells);
	char time[96];
	if (tui->is_calm) /* the time would have to change */
		snprintf(time, sizeof(time), " (esc to interrupt)");
	else
		snprintf(time, sizeof(time), " (%llus • esc to interrupt)",
		         (unsigned long long)(clock_now_ms() - tui_shows_since(tui)) / 1000);
	term_row_clear(&tui->row);
	term_row_add_c(&tui->row, TERM_dim, "• ");
	term_row_add(&tui->row, TERM_bold, thought.len ? thought : STR("Working"));
	term_row_add_c(&tui->row, TERM_dim, time);
	if (tui_terminals_write(tui, time, sizeof(time)))
		term_row_add_c(&tui->row, TERM_dim, time);
	term_paint_live(paint, &tui->row);
}

static void draw_child(struct tui *tui, struct term_paint *paint)
{
	term_row_clear(&tui->row);
	term_row_add_c(&tui->row, TERM_dim, "• Running (esc cancels): ");
	term_row_add_c(&tui->row, TERM_bold, tui_child_name(tui->child));
	term_paint_live(paint, &tui->row);
}

/* Returns the rows of waiting input, with their titles. */
static size_t waiting_rows(const struct tui *tui)
{
	size_t rows = 0;
	for (size_t i = 0; i < tui->waiting.count && i < WAITING_SHOWN; i++)
		rows += 1 + (!i || tui->waiting.items[i].is_queued != tui->waiting.items[i - 1].is_queued);
	return rows;
}

/* Without room for the titles the last messages are shown. */
static void draw_waiting(struct tui *tui, struct term_paint *paint, size_t most)
{
	static const char *const titles[] = {"Read with the next request (esc sends it now)",
	                                     "Queued follow-up inputs"};
	const char *title = NULL;
	size_t count = tui->waiting.count;
	bool has_titles = most >= waiting_rows(tui);
	most = has_titles ? WAITING_SHOWN : most;
	for (size_t i = has_titles || count < most ? 0 : count - most; i < count && most; i++, most--) {
		struct str text = str_of(tui->waiting.items[i].text), line = STR("");
		if (has_titles && title != titles[tui->waiting.items[i].is_queued])
			draw_text(tui, paint, TERM_dim, title = titles[tui->waiting.items[i].is_queued]);
		str_next_line(&text, &line);
		term_row_clear(&tui->row);
		term_row_add_c(&tui->row, TERM_dim, "  ↳ ");
		term_row_add(&tui->row, TERM_dim, line);
		term_paint_live(paint, &tui->row);
	}
}

static void draw_popup(struct tui *tui, struct term_paint *paint, size_t most)
{
	struct tui_sheet sheet = {paint, &tui->row, tui->columns, most};
	tui->popup.rest = (struct sheet_rest){0};
	if (most)
		tui_popup_draw(&tui->popup, &sheet);
}

/* The state of the composer, if it is not the usual one; and what a list has no row for. */
static bool draw_mode(struct tui *tui, struct term_paint *paint)
{
	const struct composer *composer = &tui->composer;
	auto_buf struct buf counts;
	size_t column = 0; /* of the caret */
	buf_init(&counts, LIMIT_LIST_REST);
	sheet_add_rest(&counts, tui->popup.rest, composer->is_shell);
	term_row_clear(&tui->row);
	if (composer->is_searching) {
		term_row_add_c(&tui->row, TERM_plain, "  reverse-i-search: ");
		term_row_add(&tui->row, TERM_bold, buf_str(&composer->search));
		column = tui->row.columns;
		if (composer->search.len && composer->found == composer->history.count)
			term_row_add_c(&tui->row, TERM_dim, " (no match)");
	} else if (composer->is_shell) {
		term_row_add_c(&tui->row, TERM_cyan, "  Shell mode");
		if (counts.len)
			term_row_add_c(&tui->row, TERM_plain, " ");
		else
			buf_append_c(&counts, " · runs without the model and without a sandbox");
		term_row_add(&tui->row, tui->popup.rest.above || tui->popup.rest.below ? TERM_yellow : TERM_dim,
		             buf_str(&counts));
	} else if (counts.len) {
		term_row_add_c(&tui->row, TERM_plain, "  ");
		term_row_add(&tui->row, TERM_yellow, buf_str(&counts));
	} else if (tui->is_armed) {
		term_row_add_c(&tui->row, TERM_dim, "  esc again to edit previous message");
	} else {
		return false;
	}
	size_t at = term_paint_live(paint, &tui->row);
	if (column)
		term_paint_caret(paint, at, column);
	return true;
}

/* A small window has no other row for the number of background terminals, so the text makes room for it. */
static void draw_status(struct tui *tui, struct str text)
{
	char count[96] = "";
	size_t terminals = tui->rows <= ROWS_AROUND ? tui_terminals_write(tui, count, sizeof(count)) : 0;
	if (terminals)
		snprintf(count, sizeof(count), " · /ps: %zu", terminals);
	size_t used = 3 + term_width(str_of(count)), room = tui->columns > used + 2 ? tui->columns - used : 2;
	struct str part = text;
	bool is_cut = terminals && term_width(text) > room + 1 && term_cut_next(&text, room, &part);
	term_row_clear(&tui->row);
	term_row_add_c(&tui->row, TERM_dim, "  ");
	term_row_add(&tui->row, TERM_dim, part);
	term_row_add_c(&tui->row, TERM_dim, is_cut ? "…" : "");
	term_row_add_c(&tui->row, TERM_dim, terminals ? count : "");
}

static void draw_footer(struct tui *tui, struct term_paint *paint)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	if (draw_mode(tui, paint))
		return;
	tui_status_append(tui, "tui.status_line", "model-with-reasoning current-dir", &text);
	tui_agents_append(tui, &text);
	draw_status(tui, buf_str(&text));
	if (tui->is_plan_mode)
		term_row_add_c(&tui->row, TERM_cyan, " · Plan mode (shift+tab to cycle)");
	if (tui->composer.vim.is_normal)
		term_row_add_c(&tui->row, TERM_bold, " · NORMAL");
	term_paint_live(paint, &tui->row);
}

/* A request takes the place of the composer, and in a small window also that of open text. */
static void draw_request(struct tui *tui, struct term_paint *paint)
{
	bool is_small = tui->rows < ROWS_REQUEST;
	size_t around = is_small ? 1 : 4 + LIVE_LEAST, rows, columns;
	term_tty_size(tui->tty, &rows, &columns);
	bool is_tiny = rows < ROWS_LEAST || columns <= COLUMNS_LEAST; /* one row: nothing counts as visible */
	struct tui_sheet sheet = {paint, &tui->row, tui->columns, is_tiny ? 1 : tui->rows - around};
	if (!is_small) {
		tui_cells_draw(tui->cells, tui->ask, LIVE_LEAST + 1, true);
		draw_text(tui, paint, TERM_plain, "");
	}
	tui_ask_draw(tui->ask, &sheet);
}

static size_t take(size_t *left, size_t wanted)
{
	size_t taken = wanted < *left ? wanted : *left;
	*left -= taken;
	return taken;
}

/* The rows of the parts that can do with fewer. */
struct parts {
	size_t composer, popup, child, waiting, cells;
};

/* Divides the window, in the order of the parts: rows beyond it would go to the scrollback, as a copy. fixed: of the
 * working line, the footer and the empty rows. */
static struct parts divide(const struct tui *tui, size_t fixed)
{
	bool is_small = tui->rows <= ROWS_AROUND;
	size_t around = tui->rows > ROWS_AROUND + 2 ? ROWS_AROUND : 2, left = tui->rows;
	size_t most = is_small ? 2 : tui->rows - around, rows = composer_rows(&tui->composer, tui->columns);
	struct parts parts = {0};
	take(&left, fixed);
	parts.composer = take(&left, rows < most ? rows : most);
	if (tui->popup.kind != POPUP_none)
		parts.popup = take(&left, tui->rows / 3);
	parts.child = take(&left, tui->child ? 1 : 0);
	parts.cells = take(&left, 1);
	parts.waiting = take(&left, waiting_rows(tui));
	parts.cells += take(&left, (tui->rows > 3 * LIVE_LEAST ? tui->rows / 3 : LIVE_LEAST) - 1);
	return parts;
}

void tui_view_draw(struct term_paint *paint, void *self)
{
	struct tui *tui = self;
	bool is_small = tui->rows <= ROWS_AROUND, is_running = tui_shows_running(tui);
	if (tui_ask_is_shown(tui->ask)) {
		draw_request(tui, paint);
		return;
	}
	char terminals[96]; /* while no turn runs, background terminals have a row of their own */
	bool has_terminals = !is_small && !is_running && tui_terminals_write(tui, terminals, sizeof(terminals));
	struct parts parts = divide(tui, 1 + is_running + (is_small ? 0 : 2 + is_running) + 2 * has_terminals);
	tui_cells_draw(tui->cells, tui->ask, parts.cells, parts.cells > LIVE_GAP);
	if (!is_small)
		draw_text(tui, paint, TERM_plain, "");
	if (is_running) {
		draw_working(tui, paint);
		if (!is_small)
			draw_text(tui, paint, TERM_plain, "");
	} else if (has_terminals) {
		draw_text(tui, paint, TERM_dim, terminals);
		draw_text(tui, paint, TERM_plain, "");
	}
	if (parts.child)
		draw_child(tui, paint);
	draw_waiting(tui, paint, parts.waiting);
	draw_popup(tui, paint, parts.popup);
	composer_draw(&tui->composer, paint, &tui->row, tui->columns, parts.composer ? parts.composer : 1);
	if (!is_small)
		draw_text(tui, paint, TERM_plain, "");
	draw_footer(tui, paint);
}
