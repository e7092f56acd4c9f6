/* tui_stream.h — Markdown that arrives in pieces, as rows of the conversation.
 *
 * Owns: the text of the open block. Memory and work do not depend on the length of the text before. Loop thread only.
 */
#ifndef UI_TUI_STREAM_H
#define UI_TUI_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/vec.h"
#include "term/term_flow.h"
#include "ui/tui/tui_page.h"

struct term_paint;

struct tui_stream {
	/* private */
	struct term_flow flow;
	struct buf added;          /* since the last flush */
	uint64_t sum;              /* of the bytes that have arrived, without blanks */
	size_t count;              /* of these */
	size_t blanks;             /* after the last of them */
	VEC(struct term_row) open; /* the last rows of the open block */
	unsigned long drawn;       /* the change of the flow that they show */
	size_t columns;            /* their width */
};

/* The ids of the items whose text arrives, and which are not complete: at most LIMIT_COMMANDS. */
struct tui_open_items {
	VEC(char *) ids; /* to be cleared before it is finished */
};

/* False: there are too many, and this one is not among them. */
bool tui_open_items_add(struct tui_open_items *items, struct str id);
/* False: it is not among them. */
bool tui_open_items_remove(struct tui_open_items *items, struct str id);
void tui_open_items_clear(struct tui_open_items *items);

void tui_stream_init(struct tui_stream *stream, const struct tui_look *look);
void tui_stream_finish(struct tui_stream *stream);
/* Has an empty row come before the first one, unless the page has none. */
void tui_stream_begin(struct tui_stream *stream, struct tui_page *page);
/* Writes the rows that are final, and has an empty row come before the others: a cell follows. */
void tui_stream_pause(struct tui_stream *stream, struct tui_page *page);
void tui_stream_add(struct tui_stream *stream, struct str text);
/* Compares what has arrived with the whole text, and adds a lost end. False: something before the end was lost. */
bool tui_stream_complete(struct tui_stream *stream, struct str whole);
/* Writes the blocks that are complete as finished lines, and the last rows of the open one, at most `most`, as live
 * rows. */
void tui_stream_draw(struct tui_stream *stream, struct tui_page *page, struct term_paint *paint, size_t most);
/* Writes all as finished lines. */
void tui_stream_end(struct tui_stream *stream, struct tui_page *page);

/* Writes complete Markdown. */
void tui_stream_write(struct tui_page *page, const struct tui_look *look, struct str text);

#endif
