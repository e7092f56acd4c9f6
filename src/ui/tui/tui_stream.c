/* Added text waits for the next frame, and goes to the flow in pieces, so that its work stays linear. */
#include "ui/tui/tui_stream.h"

#include <string.h>

#include "base/limits.h"
#include "term/term_paint.h"
#include "ui/tui/tui_limits.h"

enum { PIECE = 16 * KIB };

void tui_stream_init(struct tui_stream *stream, const struct tui_look *look)
{
	*stream = (struct tui_stream){0};
	term_flow_init(&stream->flow, look->mark, look->mark_style);
	buf_init(&stream->added, LIMIT_TUI_TEXT);
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

/* Blanks do not count: the engine may trim them. */
static void tally(char c, uint64_t *sum, size_t *count)
{
	if (str_is_blank(str_n(&c, 1)))
		return;
	*sum = *sum * 31 + (unsigned char)c;
	(*count)++;
}

void tui_stream_add(struct tui_stream *stream, struct str text)
{
	buf_append_str(&stream->added, text);
	for (size_t i = 0; i < text.len; i++) {
		size_t before = stream->count;
		tally(text.ptr[i], &stream->sum, &stream->count);
		stream->blanks = stream->count == before ? stream->blanks + 1 : 0;
	}
}

bool tui_stream_complete(struct tui_stream *stream, struct str whole)
{
	uint64_t sum = 0;
	size_t count = 0, at = 0;
	while (at < whole.len && count < stream->count)
		tally(whole.ptr[at++], &sum, &count);
	struct str rest = str_skip(whole, at);
	if (str_is_blank(rest))
		return true; /* as long as it, or longer */
	if (sum != stream->sum)
		return false;
	for (size_t i = 0; i < stream->blanks && str_is_blank(str_n(rest.ptr, 1)); i++)
		rest = str_skip(rest, 1);
	tui_stream_add(stream, rest);
	return true;
}

/* Writes the complete lines as they came. */
static void commit_raw(struct tui_stream *stream, struct tui_page *page, bool is_end)
{
	struct str rest = buf_str(&stream->added), line;
	ptrdiff_t end;
	while ((end = str_find_char(rest, '\n')) >= 0) {
		line = str_n(rest.ptr, (size_t)end);
		tui_page_write_raw(page, line);
		rest = str_skip(rest, line.len + 1);
	}
	if (is_end && rest.len)
		tui_page_write_raw(page, rest);
	buf_consume(&stream->added, is_end ? stream->added.len : stream->added.len - rest.len);
}

static void draw_raw(struct tui_stream *stream, struct tui_page *page, struct term_paint *paint)
{
	commit_raw(stream, page, false);
	term_row_clear(&page->row);
	term_row_add(&page->row, TERM_plain, buf_str(&stream->added));
	if (stream->added.len)
		term_paint_live(paint, &page->row);
}

static void commit(struct tui_stream *stream, struct tui_page *page, bool is_end)
{
	struct str rest = buf_str(&stream->added);
	while (rest.len) {
		size_t len = rest.len < PIECE ? rest.len : PIECE;
		term_flow_add(&stream->flow, str_n(rest.ptr, len));
		term_flow_commit(&stream->flow, &page->sink, false);
		rest = str_skip(rest, len);
	}
	buf_reuse(&stream->added);
	if (is_end)
		term_flow_commit(&stream->flow, &page->sink, true);
}

void tui_stream_begin(struct tui_stream *stream, struct tui_page *page)
{
	if (page->is_raw) {
		tui_page_begin(page);
		return;
	}
	stream->flow.has_gap = stream->flow.has_rows = page->has_rows;
	page->has_rows = true;
}

void tui_stream_pause(struct tui_stream *stream, struct tui_page *page)
{
	if (page->is_raw)
		commit_raw(stream, page, false);
	else
		commit(stream, page, false);
	stream->flow.has_gap = true;
	stream->flow.changes++;
}

/* Keeps the last rows only: of a long block, no more is ever shown. */
static void on_open_row(const struct term_row *row, void *self)
{
	struct tui_stream *stream = self;
	struct term_row copy;
	if (stream->open.count == LIMIT_TUI_OPEN) {
		term_row_finish(&stream->open.items[0]);
		memmove(stream->open.items, stream->open.items + 1, (LIMIT_TUI_OPEN - 1) * sizeof(copy));
		stream->open.count--;
	}
	term_row_init(&copy, row->width, row->has_color);
	buf_append_str(&copy.text, buf_str(&row->text));
	copy.columns = row->columns;
	vec_push(&stream->open, copy);
}

void tui_stream_draw(struct tui_stream *stream, struct tui_page *page, struct term_paint *paint, size_t most)
{
	if (page->is_raw) {
		draw_raw(stream, page, paint);
		return;
	}
	commit(stream, page, false);
	if (stream->drawn != stream->flow.changes || stream->columns != page->row.width) {
		struct term_sink sink = {.row = &page->row, .on_row = on_open_row, .self = stream};
		drop_open(stream);
		term_flow_peek(&stream->flow, &sink);
		stream->drawn = stream->flow.changes;
		stream->columns = page->row.width;
	}
	for (size_t i = stream->open.count > most ? stream->open.count - most : 0; i < stream->open.count; i++)
		term_paint_live(paint, &stream->open.items[i]);
}

void tui_stream_end(struct tui_stream *stream, struct tui_page *page)
{
	if (page->is_raw)
		commit_raw(stream, page, true);
	else
		commit(stream, page, true);
}

void tui_stream_write(struct tui_page *page, const struct tui_look *look, struct str text)
{
	struct tui_stream stream;
	tui_stream_init(&stream, look);
	tui_stream_add(&stream, text);
	tui_stream_end(&stream, page);
	tui_stream_finish(&stream);
}

/* ---- open items ---- */

/* Returns its place, or the number of them. */
static size_t find_item(const struct tui_open_items *items, struct str id)
{
	size_t at = 0;
	while (at < items->ids.count && !str_is(id, items->ids.items[at]))
		at++;
	return at;
}

bool tui_open_items_add(struct tui_open_items *items, struct str id)
{
	if (find_item(items, id) < items->ids.count)
		return true;
	if (items->ids.count == LIMIT_COMMANDS)
		return false;
	vec_push(&items->ids, str_dup(id));
	return true;
}

bool tui_open_items_remove(struct tui_open_items *items, struct str id)
{
	size_t at = find_item(items, id);
	if (at == items->ids.count)
		return false;
	free(items->ids.items[at]);
	items->ids.items[at] = items->ids.items[--items->ids.count];
	return true;
}

void tui_open_items_clear(struct tui_open_items *items)
{
	vec_for_each(id, &items->ids)
		free(*id);
	items->ids.count = 0;
}
