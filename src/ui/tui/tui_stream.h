/* tui_stream.h — text that arrives in pieces: complete rows are finished lines, the last one stays live.
 *
 * Owns: the text of the last row. Memory and work do not depend on the length of the text before. Loop thread only. */
#ifndef UI_TUI_STREAM_H
#define UI_TUI_STREAM_H

#include <stdbool.h>

#include "base/buf.h"
#include "term/term_row.h"

struct term_paint;

/* The look of a paragraph: its first row begins with the mark, the others with as many blanks. */
struct tui_look {
	const char *mark; /* ASCII, or one character and a blank */
	enum term_style mark_style;
	enum term_style style;
};

struct tui_stream {
	/* private */
	struct buf tail;
	bool is_begun; /* the row with the mark was written */
	const struct tui_look *look;
};

/* The folder of rows: where text goes, and how wide it may be. */
struct tui_page {
	struct term_paint *paint;
	struct term_row row;
	size_t columns;
};

/* Writes complete text as finished lines. */
void tui_page_write(struct tui_page *page, const struct tui_look *look, struct str text);
/* Writes one empty line. */
void tui_page_gap(struct tui_page *page);

void tui_stream_init(struct tui_stream *stream, const struct tui_look *look);
void tui_stream_finish(struct tui_stream *stream);
void tui_stream_add(struct tui_stream *stream, struct str text);
/* Writes the complete rows as finished lines and, if is_live, the last one as a live row; otherwise also that. */
void tui_stream_flush(struct tui_stream *stream, struct tui_page *page, bool is_live);

#endif
