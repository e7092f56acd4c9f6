/* A row is complete when the next one has begun: wrapping goes from left to right, so more text cannot change it. */
#include "ui/tui/tui_stream.h"

#include "base/limits.h"
#include "term/term_paint.h"
#include "term/term_width.h"
#include "ui/cli/terminal.h"

enum { TAIL_MAX = 64 * MIB, TAB_STOP = 8 };

/* Starts a row: the mark or blanks. */
static void start_row(struct tui_page *page, const struct tui_look *look, bool is_first)
{
	term_row_clear(&page->row);
	if (is_first)
		term_row_add_c(&page->row, look->mark_style, look->mark);
	for (size_t width = term_width(str_of(look->mark)); page->row.columns < width;)
		term_row_add_c(&page->row, TERM_plain, " ");
}

static size_t room(const struct tui_page *page, const struct tui_look *look)
{
	size_t used = term_width(str_of(look->mark));
	return page->columns > used + 2 ? page->columns - used : 2;
}

static void commit_row(struct tui_page *page, const struct tui_look *look, bool is_first, struct str text)
{
	start_row(page, look, is_first);
	term_row_add(&page->row, look->style, text);
	term_paint_commit(page->paint, &page->row);
}

/* Appends a line with its tabs expanded, as a terminal shows it. */
static void expand(struct buf *out, struct str line)
{
	size_t column = 0;
	line = terminal_text_line(line);
	for (size_t i = 0; i < line.len; i++) {
		do
			buf_append_char(out, line.ptr[i] == '\t' ? ' ' : line.ptr[i]);
		while (++column % TAB_STOP && line.ptr[i] == '\t');
	}
}

static void commit_line(struct tui_page *page, const struct tui_look *look, bool *is_begun, struct str line)
{
	auto_buf struct buf flat;
	struct str row, rest;
	buf_init(&flat, (size_t)TAIL_MAX * TAB_STOP);
	expand(&flat, line);
	rest = buf_str(&flat);
	if (!rest.len)
		commit_row(page, look, !*is_begun, rest);
	while (term_wrap_next(&rest, room(page, look), &row)) {
		commit_row(page, look, !*is_begun, row);
		*is_begun = true;
	}
	*is_begun = true;
}

void tui_page_write(struct tui_page *page, const struct tui_look *look, struct str text)
{
	struct str line;
	bool is_begun = false;
	while (str_next_line(&text, &line))
		commit_line(page, look, &is_begun, line);
}

void tui_page_gap(struct tui_page *page)
{
	term_row_clear(&page->row);
	term_paint_commit(page->paint, &page->row);
}

void tui_stream_init(struct tui_stream *stream, const struct tui_look *look)
{
	*stream = (struct tui_stream){.look = look};
	buf_init(&stream->tail, TAIL_MAX);
}

void tui_stream_finish(struct tui_stream *stream)
{
	buf_finish(&stream->tail);
}

void tui_stream_add(struct tui_stream *stream, struct str text)
{
	buf_append_str(&stream->tail, text);
}

/* Writes the lines that have ended. */
static void flush_lines(struct tui_stream *stream, struct tui_page *page)
{
	struct str rest = buf_str(&stream->tail);
	ptrdiff_t end;
	while ((end = str_find_char(rest, '\n')) >= 0) {
		commit_line(page, stream->look, &stream->is_begun, str_n(rest.ptr, (size_t)end));
		rest = str_skip(rest, (size_t)end + 1);
	}
	buf_consume(&stream->tail, stream->tail.len - rest.len);
}

/* Writes the rows of the open line that are complete, and shows the last one. */
static void flush_open(struct tui_stream *stream, struct tui_page *page)
{
	struct str rest = buf_str(&stream->tail), row, last = STR("");
	size_t taken = 0;
	while (term_wrap_next(&rest, room(page, stream->look), &row)) {
		if (rest.len) {
			commit_row(page, stream->look, !stream->is_begun, row);
			stream->is_begun = true;
			taken = stream->tail.len - rest.len;
		} else {
			last = row;
		}
	}
	start_row(page, stream->look, !stream->is_begun);
	term_row_add(&page->row, stream->look->style, last);
	term_paint_live(page->paint, &page->row);
	buf_consume(&stream->tail, taken);
}

void tui_stream_flush(struct tui_stream *stream, struct tui_page *page, bool is_live)
{
	flush_lines(stream, page);
	if (is_live && stream->tail.len) {
		flush_open(stream, page);
	} else if (stream->tail.len) {
		commit_line(page, stream->look, &stream->is_begun, buf_str(&stream->tail));
		buf_clear(&stream->tail);
	}
}
