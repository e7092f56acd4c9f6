/* The lines of programs are shown as a terminal would show them, apart from their escape sequences. */
#include "ui/tui/tui_page.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "term/term_width.h"
#include "ui/cli/terminal.h"
#include "ui/tui/tui_limits.h"

enum { TAB_STOP = 8, LINE_MAX_FULL = 64 * KIB, RAW_PIECE = 16 * KIB };

void tui_page_init(struct tui_page *page, bool has_color, term_row_fn on_row, void *self)
{
	*page = (struct tui_page){0};
	term_row_init(&page->row, SIZE_MAX, has_color);
	page->sink = (struct term_sink){&page->row, on_row, self};
}

void tui_page_finish(struct tui_page *page)
{
	term_row_finish(&page->row);
}

void tui_page_resize(struct tui_page *page, size_t columns)
{
	page->row.width = columns;
}

void tui_page_begin(struct tui_page *page)
{
	term_row_clear(&page->row);
	if (page->has_rows)
		page->sink.on_row(&page->row, page->sink.self);
	page->has_rows = true;
}

static void margin_init(struct term_margin *margin, const struct tui_look *look)
{
	term_margin_init(margin);
	term_text_add_c(&margin->first, look->mark_style, look->mark);
	for (size_t width = term_width(str_of(look->mark)); width; width--)
		term_text_add_c(&margin->rest, TERM_plain, " ");
}

void tui_page_write_text(struct tui_page *page, const struct tui_look *look, const struct term_text *text)
{
	struct term_margin margin;
	margin_init(&margin, look);
	term_text_write(text, false, &margin, &page->sink);
	term_margin_finish(&margin);
}

/* Appends a part of a line, which begins at `column`, with its tabs expanded. Returns the column of its end. */
static size_t expand(struct buf *out, struct str line, size_t column)
{
	for (size_t i = 0; i < line.len; i++) {
		do
			buf_append_char(out, line.ptr[i] == '\t' ? ' ' : line.ptr[i]);
		while (++column % TAB_STOP && line.ptr[i] == '\t');
	}
	return column;
}

void tui_page_write_raw(struct tui_page *page, struct str line)
{
	size_t width = page->row.width;
	page->row.width = SIZE_MAX;
	do {
		size_t len = text_floor_boundary(line, RAW_PIECE);
		struct str piece = str_n(line.ptr, len || !line.len ? len : RAW_PIECE);
		auto_buf struct buf flat;
		buf_init(&flat, RAW_PIECE * TAB_STOP);
		expand(&flat, terminal_text_line(piece), 0);
		term_row_clear(&page->row);
		term_row_add(&page->row, TERM_plain, buf_str(&flat));
		page->sink.on_row(&page->row, page->sink.self);
		line = str_skip(line, piece.len);
	} while (line.len);
	page->row.width = width;
}

static size_t add_part(struct term_text *text, enum term_style style, struct str part, size_t column)
{
	auto_buf struct buf flat;
	buf_init(&flat, (size_t)LIMIT_TUI_TEXT * TAB_STOP);
	column = expand(&flat, part, column);
	term_text_add(text, style, buf_str(&flat));
	return column;
}

/* Appends the first bytes of a line, with what a program has set in it. Returns true if it has more. */
static bool add_output(struct tui_page *page, struct term_text *text, enum term_style usual, struct str line,
                       size_t limit, struct term_sgr *sgr)
{
	size_t column = 0;
	struct str shown = terminal_text_line(line), before = str_n(line.ptr, (size_t)(shown.ptr - line.ptr)), part;
	bool is_cut = false;
	while (term_sgr_next(sgr, &before, &part)) /* what is overwritten may set something */
		continue;
	while (term_sgr_next(sgr, &shown, &part)) {
		is_cut |= part.len > limit;
		part.len = is_cut ? text_floor_boundary(part, limit) : part.len;
		limit -= is_cut ? limit : part.len;
		column = add_part(text, term_sgr_style(sgr, usual, page->row.has_color), part, column);
	}
	return is_cut;
}

void tui_page_write(struct tui_page *page, const struct tui_look *look, struct str text)
{
	struct term_text lines;
	struct str line;
	bool is_begun = false;
	while (page->is_raw && str_next_line(&text, &line))
		tui_page_write_raw(page, line);
	term_text_init(&lines);
	for (; str_next_line(&text, &line); is_begun = true) {
		add_part(&lines, look->style, terminal_text_line(line), 0);
		term_text_add_c(&lines, look->style, "\n");
	}
	if (is_begun)
		tui_page_write_text(page, look, &lines);
	term_text_finish(&lines);
}

void tui_page_write_line(struct tui_page *page, const struct tui_look *look, struct str line, size_t most,
                         struct term_sgr *sgr)
{
	size_t used = term_width(str_of(look->mark)), width = page->row.width;
	size_t room = width > used ? (width - used) * most : most, limit = page->is_full ? LINE_MAX_FULL : room * 4;
	struct term_text text;
	bool is_cut = false;
	term_text_init(&text);
	if (sgr) {
		is_cut = add_output(page, &text, look->style, line, limit, sgr);
	} else {
		line = terminal_text_line(line);
		is_cut = line.len > limit;
		add_part(&text, look->style, is_cut ? str_n(line.ptr, text_floor_boundary(line, limit)) : line, 0);
	}
	struct str shown = buf_str(&text.bytes), first;
	if (!page->is_full && room > 2 && term_cut_next(&shown, room - 2, &first) && shown.len) {
		term_text_cut(&text, first.len);
		is_cut = true;
	}
	term_text_add_c(&text, TERM_dim, is_cut ? "…" : "");
	tui_page_write_text(page, look, &text);
	term_text_finish(&text);
}

void tui_page_cell(struct tui_page *page, const struct tui_look *look, struct str text)
{
	tui_page_begin(page);
	tui_page_write(page, look, str_trim_end(text));
}
