/* Finished lines are written from the first live row on, with CR LF, so that the terminal scrolls as for any program:
 * rows that leave through a scrolling region or CSI S are lost in several terminals. A frame is one write inside
 * synchronized output, with the cursor hidden. */
#include "term/term_paint.h"

#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "term/term_limits.h"
#include "term/term_row.h"

struct live_row {
	char *text;
	size_t len, columns;
};

struct frame {
	VEC(struct live_row) rows;
	size_t row, column; /* the caret */
};

struct term_paint {
	struct buf pending;       /* finished lines, each with its CR LF */
	struct frame shown, next; /* on the screen, and being made */
	size_t up;                /* rows from the first live row to the cursor */
	bool is_stale;            /* the rows on the screen are not those of `shown` */
};

static void frame_clear(struct frame *frame)
{
	vec_for_each(row, &frame->rows)
		free(row->text);
	frame->rows.count = 0;
	frame->row = frame->column = 0;
}

struct term_paint *term_paint_create(void)
{
	struct term_paint *paint = xnew(struct term_paint);
	buf_init(&paint->pending, LIMIT_TERM_PENDING);
	return paint;
}

void term_paint_destroy(struct term_paint *paint)
{
	if (!paint)
		return;
	frame_clear(&paint->shown);
	frame_clear(&paint->next);
	vec_finish(&paint->shown.rows);
	vec_finish(&paint->next.rows);
	buf_finish(&paint->pending);
	free(paint);
}

void term_paint_commit(struct term_paint *paint, const struct term_row *row)
{
	buf_append_str(&paint->pending, buf_str(&row->text));
	buf_append_c(&paint->pending, "\r\n");
}

size_t term_paint_live(struct term_paint *paint, const struct term_row *row)
{
	struct live_row copy = {.text = str_dup(buf_str(&row->text)), .len = row->text.len, .columns = row->columns};
	if (paint->next.rows.count == LIMIT_TERM_ROWS)
		free(copy.text);
	else
		vec_push(&paint->next.rows, copy);
	return paint->next.rows.count - 1;
}

void term_paint_caret(struct term_paint *paint, size_t row, size_t column)
{
	paint->next.row = row;
	paint->next.column = column;
}

static bool row_equal(const struct live_row *a, const struct live_row *b)
{
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static bool is_same(const struct frame *a, const struct frame *b)
{
	if (a->rows.count != b->rows.count || a->row != b->row || a->column != b->column)
		return false;
	for (size_t i = 0; i < a->rows.count; i++) {
		if (!row_equal(&a->rows.items[i], &b->rows.items[i]))
			return false;
	}
	return true;
}

/* Moves the cursor from its row to another, both counted from the first live row, and to the first column. */
static void go_to(struct term_paint *paint, struct buf *out, size_t row)
{
	if (row < paint->up)
		buf_printf(out, "\x1b[%zuA", paint->up - row);
	else if (row > paint->up)
		buf_printf(out, "\x1b[%zuB", row - paint->up);
	buf_append_char(out, '\r');
	paint->up = row;
}

/* Draws all rows from the cursor on, below which the screen is empty. */
static void draw_all(struct term_paint *paint, struct buf *out)
{
	vec_for_each(row, &paint->next.rows) {
		if (row != paint->next.rows.items)
			buf_append_c(out, "\r\n");
		buf_append(out, row->text, row->len);
	}
	paint->up = paint->next.rows.count ? paint->next.rows.count - 1 : 0;
}

static void draw_changes(struct term_paint *paint, struct buf *out)
{
	size_t old = paint->shown.rows.count, count = paint->next.rows.count;
	for (size_t i = 0; i < count; i++) {
		const struct live_row *row = &paint->next.rows.items[i];
		if (i < old && row_equal(&paint->shown.rows.items[i], row))
			continue;
		go_to(paint, out, i < old || i == 0 ? i : i - 1);
		if (i >= old && i > 0) { /* the terminal scrolls where there is no row below */
			buf_append_c(out, "\n");
			paint->up = i;
		}
		buf_append(out, row->text, row->len);
		buf_append_c(out, "\x1b[K");
	}
	if (count < old) {
		go_to(paint, out, count);
		buf_append_c(out, "\x1b[J");
	}
}

/* With the cursor at the first column of the screen's first row, tmux takes CSI J for a clear screen, and keeps what it
 * erases in its history. */
#define ERASE_BELOW "\x1b[K\x1b[2G\x1b[J\r"

static void erase(struct term_paint *paint, struct buf *out)
{
	go_to(paint, out, 0);
	buf_append_c(out, ERASE_BELOW);
	buf_append_str(out, buf_str(&paint->pending));
	buf_reuse(&paint->pending);
}

void term_paint_frame(struct term_paint *paint, struct buf *out)
{
	bool is_redrawn = paint->pending.len || paint->is_stale;
	if (is_redrawn || !is_same(&paint->shown, &paint->next)) {
		buf_append_c(out, "\x1b[?2026h\x1b[?25l");
		if (is_redrawn) {
			erase(paint, out);
			draw_all(paint, out);
		} else {
			draw_changes(paint, out);
		}
		go_to(paint, out, paint->next.row);
		buf_printf(out, "\x1b[%zuG\x1b[?25h\x1b[?2026l", paint->next.column + 1);
	}
	struct frame old = paint->shown;
	paint->shown = paint->next;
	paint->next = old;
	frame_clear(&paint->next);
	paint->is_stale = false;
}

/* The caret stands in its row, so the rows above it decide where the first live row is now. */
void term_paint_resize(struct term_paint *paint, size_t columns)
{
	size_t up = 0;
	if (!columns)
		return;
	for (size_t i = 0; i < paint->shown.row && i < paint->shown.rows.count; i++) {
		size_t width = paint->shown.rows.items[i].columns;
		up += width > columns ? (width + columns - 1) / columns : 1;
	}
	paint->up = up + paint->shown.column / columns;
	paint->is_stale = true;
}

void term_paint_forget(struct term_paint *paint)
{
	frame_clear(&paint->shown);
	paint->up = 0;
	paint->is_stale = true;
}

void term_paint_leave(struct term_paint *paint, struct buf *out)
{
	erase(paint, out);
	term_paint_forget(paint);
}
