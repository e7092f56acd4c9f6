/* frame_lines.h — bytes in, lines out: how frames are told apart where the transport has none of its own.
 *
 * Lines end with LF or CRLF; blanks around them are cut off and empty ones are no frames. A line longer than `max`
 * is passed over and reported once, at its end, with the first LIMIT_LINE_HEAD bytes of it; no more of it is kept.
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
	size_t max;     /* of a line */
	bool is_skipping;
	struct buf head; /* of the line that is skipped */
};

enum frame {
	FRAME_NONE, /* give more bytes */
	FRAME_LINE,
	FRAME_LONG, /* a line that was too long is over: how it began */
};

void frame_lines_init(struct frame_lines *lines, size_t max);
void frame_lines_finish(struct frame_lines *lines);

/* What frame_lines_next gave is stale afterwards. Take all frames before giving more than a few reads' worth. */
void frame_lines_add(struct frame_lines *lines, struct str bytes);
/* No more will come: what is left counts as a line. */
void frame_lines_end(struct frame_lines *lines);
enum frame frame_lines_next(struct frame_lines *lines, struct str *ret_line);

#endif
