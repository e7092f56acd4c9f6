/* The whole screen is drawn for each key: it has few rows, and nothing is drawn without a key. */
#include "ui/tui/tui_pager.h"

#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "term/term_keys.h"
#include "term/term_width.h"

enum { FRAME_ROWS = 3, BYTES_MAX = 256 * MIB, FIND_MAX = 200, NOT_FOUND = -1 }; /* FRAME_ROWS: title, rule, footer */

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
	struct buf find;      /* the text that is looked for */
	bool is_asking;       /* the user is typing it */
	ptrdiff_t found;      /* the row that contains it, or NOT_FOUND */
	char closing;         /* a character that closes, besides q; or 0 */
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

struct tui_pager *tui_pager_create(const char *title, bool has_color, bool is_at_end, tui_pager_fill_fn fill,
                                   void *self)
{
	struct tui_pager *pager = xnew(struct tui_pager);
	pager->title = title;
	pager->fill = fill;
	pager->self = self;
	buf_init(&pager->bytes, BYTES_MAX);
	tui_page_init(&pager->page, has_color, on_row, pager);
	pager->page.is_full = true;
	pager->top = is_at_end ? SIZE_MAX : 0; /* the end, once the size is known */
	pager->found = NOT_FOUND;
	buf_init(&pager->find, FIND_MAX);
	return pager;
}

void tui_pager_close_on(struct tui_pager *pager, char c)
{
	pager->closing = c;
}

void tui_pager_destroy(struct tui_pager *pager)
{
	if (!pager)
		return;
	tui_page_finish(&pager->page);
	vec_finish(&pager->rows);
	buf_finish(&pager->bytes);
	buf_finish(&pager->find);
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
	bool is_at_end = pager->top && pager->top >= last_top(pager);
	double place = pager->rows.count ? (double)pager->top / (double)pager->rows.count : 0;
	pager->height = rows;
	if (columns != pager->width) {
		pager->width = columns;
		pager->rows.count = pager->dropped = 0;
		pager->found = NOT_FOUND;
		pager->page.has_rows = false;
		buf_clear(&pager->bytes);
		tui_page_resize(&pager->page, columns);
		pager->fill(&pager->page, pager->self);
		pager->top = (size_t)(place * (double)pager->rows.count);
	}
	if (is_at_end || pager->top > last_top(pager))
		pager->top = last_top(pager);
}

static struct str row_bytes(const struct tui_pager *pager, size_t at)
{
	const struct span *span = &pager->rows.items[at];
	return str_n(pager->bytes.data + span->from, span->len);
}

/* ---- finding ---- */

/* Appends the text of a row, without its escape sequences. */
static void append_plain(struct buf *out, struct str bytes)
{
	for (size_t i = 0; i < bytes.len; i++) {
		if (bytes.ptr[i] != '\x1b') {
			buf_append_char(out, bytes.ptr[i]);
			continue;
		}
		for (i += 2; i < bytes.len && bytes.ptr[i] < '@'; i++)
			continue;
	}
}

/* Goes to the next row with the text, from `from` on; by: 1 or -1. */
static void find(struct tui_pager *pager, ptrdiff_t from, ptrdiff_t by)
{
	ptrdiff_t count = (ptrdiff_t)pager->rows.count;
	auto_buf struct buf plain;
	buf_init(&plain, BYTES_MAX);
	pager->found = NOT_FOUND;
	for (ptrdiff_t i = 0; i < count && pager->find.len && pager->found < 0; i++) {
		ptrdiff_t at = (from + by * i % count + count) % count;
		buf_clear(&plain);
		append_plain(&plain, row_bytes(pager, (size_t)at));
		if (str_contains_fold(buf_str(&plain), buf_str(&pager->find)))
			pager->found = at;
	}
	if (pager->found >= 0)
		pager->top = (size_t)pager->found < last_top(pager) ? (size_t)pager->found : last_top(pager);
}

void tui_pager_ask(struct tui_pager *pager)
{
	buf_clear(&pager->find);
	pager->found = NOT_FOUND;
	pager->is_asking = true;
}

bool tui_pager_is_asking(const struct tui_pager *pager)
{
	return pager->is_asking;
}

/* Goes to the next match after the last one, or before it. */
static void find_again(struct tui_pager *pager, ptrdiff_t by)
{
	ptrdiff_t from = pager->found >= 0 ? pager->found + by : (ptrdiff_t)pager->top;
	if (pager->rows.count)
		find(pager, from, by);
}

static void ask_key(struct tui_pager *pager, const struct term_key *key)
{
	if (key->kind == TERM_CHAR && !key->mods)
		buf_append_str(&pager->find, key->text);
	else if (key->kind == TERM_NAMED && key->name == KEY_backspace)
		buf_truncate(&pager->find, pager->find.len - term_cluster_last(buf_str(&pager->find)));
	else if (key->kind != TERM_PASTE)
		pager->is_asking = false;
	if (key->kind == TERM_NAMED && key->name == KEY_enter)
		find_again(pager, 1);
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
	else if (c == 'q' || (c && c == pager->closing))
		return false;
	else if (c == 'j' || c == 'k')
		move(pager, c == 'j' ? 1 : -1);
	else if (c == ' ' || c == 'b')
		move(pager, c == ' ' ? page : -page);
	else if (c == 'g' || c == 'G')
		pager->top = c == 'g' ? 0 : last_top(pager);
	else if (c == 'n' || c == 'N')
		find_again(pager, c == 'n' ? 1 : -1);
	else if (c == '/')
		tui_pager_ask(pager);
	return true;
}

bool tui_pager_key(struct tui_pager *pager, const struct term_key *key)
{
	ptrdiff_t page = (ptrdiff_t)room(pager);
	if (pager->is_asking) {
		ask_key(pager, key);
		return true;
	}
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
	case KEY_f3:
		tui_pager_ask(pager);
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

static void draw_footer(const struct tui_pager *pager, struct term_row *row)
{
	char text[160];
	size_t last = last_top(pager), percent = last ? pager->top * 100 / last : 100;
	if (pager->find.len || pager->is_asking) {
		term_row_add_c(row, TERM_plain, "  / ");
		term_row_add(row, TERM_plain, buf_str(&pager->find));
		term_row_add_c(row, TERM_dim,
		               pager->is_asking    ? "  enter to find"
		               : pager->found >= 0 ? "  q to close   n N next and previous"
		                                   : "  not found   q to close");
		return;
	}
	snprintf(text, sizeof(text), "  q to close   / to find   ↑↓ PgUp PgDn Home End to scroll   %zu%%", percent);
	term_row_add_c(row, TERM_dim, text);
}

static void draw_frame(const struct tui_pager *pager, struct term_row *row, struct buf *out)
{
	char text[160];
	term_row_clear(row);
	snprintf(text, sizeof(text), "/ %s ", pager->title);
	term_row_add_c(row, TERM_dim, text);
	if (pager->dropped)
		term_row_add_c(row, TERM_dim, "(the end of a longer text) ");
	while (row->columns < row->width)
		term_row_add_c(row, TERM_dim, "/");
	draw_row(out, 1, buf_str(&row->text));
	term_row_clear(row);
	draw_footer(pager, row);
	draw_row(out, pager->height, buf_str(&row->text));
}

/* The row that was found is drawn in reverse, as plain text. */
static void draw_text(const struct tui_pager *pager, size_t at, struct term_row *row, struct buf *out, size_t place)
{
	auto_buf struct buf plain;
	bool is_found = (ptrdiff_t)at == pager->found;
	buf_init(&plain, BYTES_MAX);
	if (at >= pager->rows.count || !is_found) {
		draw_row(out, place, at < pager->rows.count ? row_bytes(pager, at) : STR(""));
		return;
	}
	append_plain(&plain, row_bytes(pager, at));
	term_row_clear(row);
	term_row_add(row, TERM_reverse, buf_str(&plain));
	draw_row(out, place, buf_str(&row->text));
}

void tui_pager_draw(const struct tui_pager *pager, struct buf *out)
{
	struct term_row row;
	term_row_init(&row, pager->width, pager->page.row.has_color);
	buf_append_c(out, "\x1b[?2026h\x1b[?25l");
	draw_frame(pager, &row, out);
	draw_row(out, pager->height - 1, STR(""));
	for (size_t i = 0; i < room(pager); i++)
		draw_text(pager, pager->top + i, &row, out, i + 2);
	buf_append_c(out, "\x1b[?2026l");
	term_row_finish(&row);
}
