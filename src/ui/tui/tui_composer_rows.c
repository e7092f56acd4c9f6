/* The rows of the composer. A text of many rows is shown around the caret. */
#include "term/term_paint.h"
#include "term/term_row.h"
#include "term/term_width.h"
#include "ui/tui/tui_composer.h"

enum { INDENT = 2 };

/* Cuts the next row off *rest, after its last blank if there is one; *ret_ends: a line end follows it, which is cut off
 * too. */
static struct str cut_row(struct str *rest, size_t columns, bool *ret_ends)
{
	size_t at = 0, width = 0, word = 0;
	while (at < rest->len && rest->ptr[at] != '\n') {
		struct term_cluster cluster = term_cluster_next(str_skip(*rest, at));
		if (width + cluster.width > columns && at) {
			if (rest->ptr[at] == ' ')
				at++; /* stands in the last column of the window */
			else if (word)
				at = word;
			break;
		}
		width += cluster.width;
		at += cluster.bytes.len;
		word = cluster.bytes.ptr[0] == ' ' ? at : word;
	}
	struct str row = str_n(rest->ptr, at);
	*ret_ends = at < rest->len && rest->ptr[at] == '\n';
	*rest = str_skip(*rest, at + *ret_ends);
	return row;
}

/* Calls draw for each row, or only counts; returns the row of the caret. */
static size_t walk(const struct composer *composer, size_t columns, size_t *ret_rows,
                   void (*draw)(struct str row, size_t index, size_t caret, void *self), void *self)
{
	struct str rest = composer_text(composer);
	size_t index = 0, at = 0, caret_row = 0;
	bool ends;
	do {
		size_t from = at;
		struct str row = cut_row(&rest, columns, &ends);
		bool is_last = !rest.len && !ends;
		at += row.len + ends;
		bool has_caret = composer->caret >= from && (composer->caret < at || is_last);
		caret_row = has_caret ? index : caret_row;
		if (draw)
			draw(row, index, has_caret ? composer->caret - from : SIZE_MAX, self);
		index++;
		if (is_last)
			break;
	} while (true);
	*ret_rows = index;
	return caret_row;
}

struct drawing {
	struct term_paint *paint;
	struct term_row *row;
	size_t top, most, rows;
	bool is_shell;
};

/* The sign before a row: arrows where more rows are hidden. */
static const char *sign(const struct drawing *drawing, size_t index)
{
	if (index && index == drawing->top)
		return "↑ ";
	if (index + 1 == drawing->top + drawing->most && index + 1 < drawing->rows)
		return "↓ ";
	return index ? "  " : drawing->is_shell ? "! " : "› ";
}

static void draw_row(struct str text, size_t index, size_t caret, void *self)
{
	struct drawing *drawing = self;
	if (index < drawing->top || index >= drawing->top + drawing->most)
		return;
	term_row_clear(drawing->row);
	term_row_add_c(drawing->row, drawing->is_shell ? TERM_cyan : TERM_bold, sign(drawing, index));
	term_row_add(drawing->row, TERM_plain, text);
	size_t at = term_paint_live(drawing->paint, drawing->row);
	if (caret != SIZE_MAX)
		term_paint_caret(drawing->paint, at, INDENT + term_width(str_n(text.ptr, caret)));
}

size_t composer_rows(const struct composer *composer, size_t columns)
{
	size_t rows;
	walk(composer, columns > INDENT + 2 ? columns - INDENT : 2, &rows, NULL, NULL);
	return rows;
}

size_t composer_draw(const struct composer *composer, struct term_paint *paint, struct term_row *row, size_t columns,
                     size_t most)
{
	size_t rows, width = columns > INDENT + 2 ? columns - INDENT : 2;
	size_t caret_row = walk(composer, width, &rows, NULL, NULL);
	struct drawing drawing = {paint, row, 0, most, rows, composer->is_shell};
	if (rows > most)
		drawing.top = caret_row < most / 2 ? 0 : caret_row - most / 2;
	if (rows > most && drawing.top + most > rows)
		drawing.top = rows - most;
	walk(composer, width, &rows, draw_row, &drawing);
	return rows < most ? rows : most;
}
