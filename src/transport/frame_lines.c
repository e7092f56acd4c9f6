/* Pulled, not pushed: whoever cannot take another frame right now just does not ask for it. */
#include "transport/frame_lines.h"

#include "base/limits.h"

void frame_lines_init(struct frame_lines *lines)
{
	*lines = (struct frame_lines){0};
	buf_init(&lines->bytes, (size_t)LIMIT_LINE * 2);
}

void frame_lines_finish(struct frame_lines *lines)
{
	buf_finish(&lines->bytes);
}

/* A line that is already too long is not kept: only its end matters. */
static void drop_long(struct frame_lines *lines)
{
	if (lines->bytes.len - lines->taken <= LIMIT_LINE)
		return;
	lines->is_skipping = true;
	buf_finish(&lines->bytes);
	buf_init(&lines->bytes, (size_t)LIMIT_LINE * 2);
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

/* The next line as it stands; false if it has no end yet. */
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
		if (was_skipping || line.len > LIMIT_LINE)
			return FRAME_LONG;
		*ret_line = str_trim(line);
		if (ret_line->len)
			return FRAME_LINE;
	}
	if (lines->bytes.len > lines->scanned) { /* the rest was behind a line when it came */
		lines->scanned = lines->bytes.len;
		drop_long(lines);
	}
	return FRAME_NONE;
}
