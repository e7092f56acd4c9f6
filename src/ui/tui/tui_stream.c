/* Added text waits for the next frame, and goes to the flow in pieces, so that its work stays linear. */
#include "ui/tui/tui_stream.h"

#include <string.h>

#include "base/limits.h"
#include "term/term_paint.h"
#include "term/term_width.h"
#include "ui/cli/terminal.h"

enum { TEXT_MAX = 64 * MIB, TAB_STOP = 8, PIECE = 16 * KIB, OPEN_MAX = 200 };

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
	buf_init(&flat, (size_t)TEXT_MAX * TAB_STOP);
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

static void on_finished_row(const struct term_row *row, void *self)
{
	struct tui_page *page = self;
	term_paint_commit(page->paint, row);
}

static struct term_sink make_sink(struct tui_page *page)
{
	return (struct term_sink){.row = &page->row, .on_row = on_finished_row, .self = page};
}

void tui_page_markdown(struct tui_page *page, const struct tui_look *look, struct str text)
{
	struct tui_stream stream;
	tui_stream_init(&stream, look);
	tui_stream_add(&stream, text);
	tui_stream_end(&stream, page);
	tui_stream_finish(&stream);
}

/* ---- streams ---- */

void tui_stream_init(struct tui_stream *stream, const struct tui_look *look)
{
	*stream = (struct tui_stream){0};
	term_flow_init(&stream->flow, look->mark, look->mark_style);
	buf_init(&stream->added, TEXT_MAX);
}

static void drop_open(struct tui_stream *stream)
{
	vec_for_each(row, &stream->open)
		term_row_finish(row);
	stream->open.count = 0;
}

void tui_stream_finish(struct tui_stream *stream)
{
	drop_open(stream);
	vec_finish(&stream->open);
	term_flow_finish(&stream->flow);
	buf_finish(&stream->added);
}

void tui_stream_add(struct tui_stream *stream, struct str text)
{
	buf_append_str(&stream->added, text);
}

static void commit(struct tui_stream *stream, struct tui_page *page, bool is_end)
{
	struct term_sink sink = make_sink(page);
	struct str rest = buf_str(&stream->added);
	while (rest.len) {
		size_t len = rest.len < PIECE ? rest.len : PIECE;
		term_flow_add(&stream->flow, str_n(rest.ptr, len));
		term_flow_commit(&stream->flow, &sink, false);
		rest = str_skip(rest, len);
	}
	buf_reuse(&stream->added);
	if (is_end)
		term_flow_commit(&stream->flow, &sink, true);
}

/* Keeps the last rows only: of a long block, no more is ever shown. */
static void on_open_row(const struct term_row *row, void *self)
{
	struct tui_stream *stream = self;
	struct term_row copy;
	if (stream->open.count == OPEN_MAX) {
		term_row_finish(&stream->open.items[0]);
		memmove(stream->open.items, stream->open.items + 1, (OPEN_MAX - 1) * sizeof(copy));
		stream->open.count--;
	}
	term_row_init(&copy, row->width, row->has_color);
	buf_append_str(&copy.text, buf_str(&row->text));
	copy.columns = row->columns;
	vec_push(&stream->open, copy);
}

void tui_stream_draw(struct tui_stream *stream, struct tui_page *page, size_t most)
{
	commit(stream, page, false);
	if (stream->drawn != stream->flow.changes || stream->columns != page->columns) {
		struct term_sink sink = {.row = &page->row, .on_row = on_open_row, .self = stream};
		drop_open(stream);
		term_flow_peek(&stream->flow, &sink);
		stream->drawn = stream->flow.changes;
		stream->columns = page->columns;
	}
	for (size_t i = stream->open.count > most ? stream->open.count - most : 0; i < stream->open.count; i++)
		term_paint_live(page->paint, &stream->open.items[i]);
}

void tui_stream_end(struct tui_stream *stream, struct tui_page *page)
{
	commit(stream, page, true);
}
