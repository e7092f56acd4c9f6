/* Frames are pulled, so that a caller under backpressure does not have to buffer them. */
#include "transport/frame_lines.h"

#include "base/limits.h"

/* Returns the most bytes that may be kept: a line and the rest of a read. */
static size_t room(const struct frame_lines *lines)
{
	return lines->max * 2 + LIMIT_STREAM_READ;
}

void frame_lines_init(struct frame_lines *lines, size_t max)
{
	*lines = (struct frame_lines){.max = max};
	buf_init(&lines->bytes, room(lines));
	buf_init(&lines->head, LIMIT_LINE_HEAD);
}

void frame_lines_finish(struct frame_lines *lines)
{
	buf_finish(&lines->bytes);
	buf_finish(&lines->head);
}

static void keep_head(struct frame_lines *lines, struct str line)
{
	buf_clear(&lines->head);
	buf_append(&lines->head, line.ptr, line.len < LIMIT_LINE_HEAD ? line.len : LIMIT_LINE_HEAD);
}

/* A line that is already too long is not kept, except for its first bytes. */
static void drop_long(struct frame_lines *lines)
{
	struct str line = str_skip(buf_str(&lines->bytes), lines->taken);
	if (line.len <= lines->max)
		return;
	if (!lines->is_skipping)
		keep_head(lines, line);
	lines->is_skipping = true;
	buf_finish(&lines->bytes);
	buf_init(&lines->bytes, room(lines));
	lines->taken = lines->scanned = 0;
}

static bool has_line(const struct frame_lines *lines)
{
	size_t left = lines->bytes.len - lines->scanned;
	return left && memchr(lines->bytes.data + lines->scanned, '\n', left);
}

void frame_lines_add(struct frame_lines *lines, struct str bytes)
{
	if (lines->taken) {
		buf_consume(&lines->bytes, lines->taken);
		lines->scanned -= lines->taken;
		lines->taken = 0;
	}
	if (lines->is_skipping && !lines->bytes.len) {
		ptrdiff_t end = str_find_char(bytes, '\n');
		if (end < 0)
			return;
		bytes = str_skip(bytes, (size_t)end);
	}
	buf_append_str(&lines->bytes, bytes);
	if (!has_line(lines)) {
		lines->scanned = lines->bytes.len;
		drop_long(lines);
	}
}

void frame_lines_end(struct frame_lines *lines)
{
	if (lines->is_skipping || lines->bytes.len > lines->taken)
		frame_lines_add(lines, STR("\n"));
}

/* Cuts the next raw line; false if its end has not arrived yet. */
static bool take_line(struct frame_lines *lines, struct str *ret)
{
	if (!has_line(lines))
		return false;
	const char *start = lines->bytes.data + lines->taken;
	const char *end = memchr(lines->bytes.data + lines->scanned, '\n', lines->bytes.len - lines->scanned);
	*ret = str_n(start, (size_t)(end - start));
	lines->taken = lines->scanned = (size_t)(end - lines->bytes.data) + 1;
	return true;
}

enum frame frame_lines_next(struct frame_lines *lines, struct str *ret_line)
{
	struct str line;
	while (take_line(lines, &line)) {
		bool was_skipping = lines->is_skipping;
		lines->is_skipping = false;
		if (!was_skipping && line.len > lines->max)
			keep_head(lines, line);
		if (was_skipping || line.len > lines->max) {
			*ret_line = buf_str(&lines->head);
			return FRAME_LONG;
		}
		*ret_line = str_trim(line);
		if (ret_line->len)
			return FRAME_LINE;
	}
	if (lines->bytes.len > lines->scanned) { /* the rest has not been scanned yet */
		lines->scanned = lines->bytes.len;
		drop_long(lines);
	}
	return FRAME_NONE;
}
