/* term_flow.h — Markdown that arrives in pieces: its blocks become rows once, as soon as later text cannot change them.
 *
 * Blocks are those of the top level: paragraphs, headings, items of a list, quotes, tables; the lines of a code block
 * and simple lines of a paragraph become rows one by one. Owns: the text of the open block, at most LIMIT_TERM_BLOCK; a
 * longer block is divided, and a longer line is plain text. Work does not depend on the length of the text before.
 * Loop thread only. */
#ifndef TERM_TERM_FLOW_H
#define TERM_TERM_FLOW_H

#include <stdbool.h>

#include "base/buf.h"
#include "term/term_code.h"
#include "term/term_text.h"

enum term_flow_kind { FLOW_none, FLOW_text, FLOW_item, FLOW_quote, FLOW_table, FLOW_code, FLOW_long };

struct term_flow {
	/* private */
	struct buf tail; /* from the first byte of the open block on */
	size_t seen;     /* bytes of complete lines of the open block */
	size_t lines;    /* so many */
	size_t head;     /* of a table: bytes of its first two lines */
	struct term_margin margin;
	struct term_code code;
	enum term_flow_kind kind, before; /* of the open block; of the one before */
	char fence;
	size_t fence_len, fence_indent;
	bool has_blank; /* an empty line was read in or before the open block */
	bool has_gap;   /* an empty row is due before the next row */
	bool has_rows;
	unsigned long changes; /* counts changes of the open block */
};

/* mark, style: of the first row; the others are indented as far. */
void term_flow_init(struct term_flow *flow, const char *mark, enum term_style style);
void term_flow_finish(struct term_flow *flow);
void term_flow_add(struct term_flow *flow, struct str bytes);
/* Writes the rows that are final; with is_end all, and the flow may only be finished then. */
void term_flow_commit(struct term_flow *flow, const struct term_sink *sink, bool is_end);
/* Writes the rows of the open block as they are now, and changes nothing. */
void term_flow_peek(const struct term_flow *flow, const struct term_sink *sink);

#endif
