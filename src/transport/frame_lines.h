/* frame_lines.h — bytes in, lines out: how frames are told apart where the transport has none of its own.
 *
 * Lines end with LF or CRLF; blanks around them are cut off and empty ones are no frames. A line longer than
 * LIMIT_LINE is passed over, its bytes are never kept, and it is reported once, at its end.
 * Owns: the bytes not taken yet. Any thread. Source: protocol-v1 1. */
#ifndef TRANSPORT_FRAME_LINES_H
#define TRANSPORT_FRAME_LINES_H

#include <stdbool.h>

#include "base/buf.h"

struct frame_lines {
	/* private */
	struct buf bytes;
	size_t taken;   /* of them */
	size_t scanned; /* of them: no newline before */
	bool is_skipping;
};

enum frame {
	FRAME_NONE, /* give more bytes */
	FRAME_LINE,
	FRAME_LONG, /* a line that was too long is over */
};

void frame_lines_init(struct frame_lines *lines);
void frame_lines_finish(struct frame_lines *lines);

/* What frame_lines_next gave is stale afterwards. Take all frames before giving more than a few reads' worth. */
void frame_lines_add(struct frame_lines *lines, struct str bytes);
/* No more will come: what is left counts as a line. */
void frame_lines_end(struct frame_lines *lines);
enum frame frame_lines_next(struct frame_lines *lines, struct str *ret_line);

#endif
