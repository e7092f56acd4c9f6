/* frame_lines.h — splits bytes into lines, the frames of transports without framing of their own.
 *
 * Lines end with LF or CRLF; blanks around them are trimmed and empty lines are skipped. A line longer than `max` is
 * skipped and reported once, at its end, with its first LIMIT_LINE_HEAD bytes; the rest of it is not kept.
 * Owns: the bytes not taken yet. Any thread. */
#ifndef TRANSPORT_FRAME_LINES_H
#define TRANSPORT_FRAME_LINES_H

#include <stdbool.h>

#include "base/buf.h"

struct frame_lines {
	/* private */
	struct buf bytes;
	size_t taken;   /* bytes at the start that were taken as frames */
	size_t scanned; /* bytes that are known to contain no further newline */
	size_t max;     /* longest line */
	bool is_skipping;
	struct buf head; /* the first bytes of the line being skipped */
};

enum frame {
	FRAME_NONE, /* no complete line: add more bytes */
	FRAME_LINE,
	FRAME_LONG, /* the end of a line that was too long; the frame is its first bytes */
};

void frame_lines_init(struct frame_lines *lines, size_t max);
void frame_lines_finish(struct frame_lines *lines);

/* Invalidates the result of frame_lines_next. Take all complete frames before adding more bytes than a few reads
 * return. */
void frame_lines_add(struct frame_lines *lines, struct str bytes);
/* The input has ended: the remaining bytes count as a line. */
void frame_lines_end(struct frame_lines *lines);
enum frame frame_lines_next(struct frame_lines *lines, struct str *ret_line);

#endif
