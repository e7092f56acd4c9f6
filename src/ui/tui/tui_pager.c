/* The whole screen is drawn for each key: it has few rows, and nothing is drawn without a key. */
#include "ui/tui/tui_pager.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "term/term_keys.h"

enum { FRAME_ROWS = 3, BYTES_MAX = 256 * MIB }; /* FRAME_ROWS: title, rule, footer */

struct span {
	size_t from, len; /* in bytes */
};

struct tui_pager {
	const char *title;
	tui_pager_fill_fn fill;
	void *self;
	struct tui_page page;
	struct buf bytes; /* of all rows */
	VEC(struct span) rows;
	size_t top;           /* the first row on the screen */
	size_t dropped;       /* rows that are not kept */
	size_t height, width; /* of the window */
};

static void on_row(const struct term_row *row, void *self)
{
	struct tui_pager *pager = self;
	if (pager->rows.count == PAGER_ROWS_MAX) { /* forget the first half */
		size_t half = PAGER_ROWS_MAX / 2;
		memmove(pager->rows.items, pager->rows.items + half, half * sizeof(struct span));
		pager->rows.count = half;
		pager->dropped += half;
	}
	vec_push(&pager->rows, (struct span){pager->bytes.len, row->text.len});
	buf_append_str(&pager->bytes, buf_str(&row->text));
}

struct tui_pager *tui_pager_create(const char *title, bool has_color, tui_pager_fill_fn fill, void *self)
{
	struct tui_pager *pager = xnew(struct tui_pager);
	pager->title = title;
	pager->fill = fill;
	pager->self = self;
	buf_init(&pager->bytes, BYTES_MAX);
	tui_page_init(&pager->page, has_color, on_row, pager);
	pager->page.is_full = true;
	pager->top = SIZE_MAX; /* the end, once the size is known */
	return pager;
}

void tui_pager_destroy(struct tui_pager *pager)
{
	if (!pager)
		return;
	tui_page_finish(&pager->page);
	vec_finish(&pager->rows);
	buf_finish(&pager->bytes);
	free(pager);
}

static size_t room(const struct tui_pager *pager)
{
	return pager->height > FRAME_ROWS ? pager->height - FRAME_ROWS : 1;
}

static size_t last_top(const struct tui_pager *pager)
{
	return pager->rows.count > room(pager) ? pager->rows.count - room(pager) : 0;
}

void tui_pager_resize(struct tui_pager *pager, size_t rows, size_t columns)
{
	bool is_at_end = pager->top >= last_top(pager);
	double place = pager->rows.count ? (double)pager->top / (double)pager->rows.count : 0;
	pager->height = rows;
	if (columns != pager->width) {
		pager->width = columns;
		pager->rows.count = pager->dropped = 0;
		pager->page.has_rows = false;
		buf_clear(&pager->bytes);
		tui_page_resize(&pager->page, columns);
		pager->fill(&pager->page, pager->self);
		pager->top = (size_t)(place * (double)pager->rows.count);
	}
	if (is_at_end || pager->top > last_top(pager))
		pager->top = last_top(pager);
}

/* ---- keys ---- */

static void move(struct tui_pager *pager, ptrdiff_t by)
{
	ptrdiff_t top = (ptrdiff_t)pager->top + by, last = (ptrdiff_t)last_top(pager);
	pager->top = (size_t)(top < 0 ? 0 : top > last ? last : top);
}

static bool on_character(struct tui_pager *pager, const struct term_key *key)
{
	ptrdiff_t page = (ptrdiff_t)room(pager);
	char c = key->text.len ? key->text.ptr[0] : 0;
	if (key->mods == TERM_CTRL && (c == 'c' || c == 't'))
		return false;
	if (key->mods == TERM_CTRL && (c == 'd' || c == 'u'))
		move(pager, c == 'd' ? page / 2 : -page / 2);
	else if (key->mods == TERM_CTRL && (c == 'f' || c == 'b'))
		move(pager, c == 'f' ? page : -page);
	else if (key->mods)
		return true;
	else if (c == 'q')
		return false;
	else if (c == 'j' || c == 'k')
		move(pager, c == 'j' ? 1 : -1);
	else if (c == ' ' || c == 'b')
		move(pager, c == ' ' ? page : -page);
	else if (c == 'g' || c == 'G')
		pager->top = c == 'g' ? 0 : last_top(pager);
	return true;
}

bool tui_pager_key(struct tui_pager *pager, const struct term_key *key)
{
	ptrdiff_t page = (ptrdiff_t)room(pager);
	if (key->kind == TERM_CHAR)
		return on_character(pager, key);
	if (key->kind != TERM_NAMED)
		return true;
	switch (key->name) {
	case KEY_escape:
		return false;
	case KEY_up:
	case KEY_down:
		move(pager, key->name == KEY_up ? -1 : 1);
		break;
	case KEY_page_up:
	case KEY_page_down:
		move(pager, key->name == KEY_page_up ? -page : page);
		break;
	case KEY_home:
		pager->top = 0;
		break;
	case KEY_end:
		pager->top = last_top(pager);
		break;
	default:
		break;
	}
	return true;
}

/* ---- drawing ---- */

static void draw_row(struct buf *out, size_t at, struct str bytes)
{
	buf_printf(out, "\x1b[%zu;1H", at);
	buf_append_str(out, bytes);
	buf_append_c(out, "\x1b[K");
}

static void draw_frame(const struct tui_pager *pager, struct term_row *row, struct buf *out)
{
	char text[160];
	size_t last = last_top(pager), percent = last ? pager->top * 100 / last : 100;
	term_row_clear(row);
	snprintf(text, sizeof(text), "/ %s ", pager->title);
	term_row_add_c(row, TERM_dim, text);
	if (pager->dropped)
		term_row_add_c(row, TERM_dim, "(the end of a longer text) ");
	while (row->columns < row->width)
		term_row_add_c(row, TERM_dim, "/");
	draw_row(out, 1, buf_str(&row->text));
	term_row_clear(row);
	snprintf(text, sizeof(text), "  ↑↓ PgUp PgDn Home End to scroll   q to close   %zu%%", percent);
	term_row_add_c(row, TERM_dim, text);
	draw_row(out, pager->height, buf_str(&row->text));
}

void tui_pager_draw(const struct tui_pager *pager, struct buf *out)
{
	struct term_row row;
	term_row_init(&row, pager->width, pager->page.row.has_color);
	buf_append_c(out, "\x1b[?2026h\x1b[?25l");
	draw_frame(pager, &row, out);
	draw_row(out, pager->height - 1, STR(""));
	for (size_t i = 0; i < room(pager); i++) {
		const struct span *span = &pager->rows.items[pager->top + i];
		bool is_there = pager->top + i < pager->rows.count;
		draw_row(out, i + 2, is_there ? str_n(pager->bytes.data + span->from, span->len) : STR(""));
	}
	buf_append_c(out, "\x1b[?2026l");
	term_row_finish(&row);
}
