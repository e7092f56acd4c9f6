/* Lines are the same however the bytes were cut, they are what a plain search for newlines finds, and nothing longer
 * than the limit is kept. A reader of the beginning of a long line stays inside it. The first bytes choose limit and
 * cuts. */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "base/json_peek.h"
#include "base/limits.h"
#include "net/http_head.h"
#include "transport/frame_lines.h"

static void put_frame(struct buf *out, enum frame frame, struct str line)
{
	buf_printf(out, "%d %zu ", (int)frame, line.len);
	buf_append_str(out, line);
}

static void check_head(struct str head)
{
	struct str id;
	fuzz_check(head.len <= LIMIT_LINE_HEAD);
	if (json_peek_member(head, "id", &id)) {
		fuzz_check(id.len && id.ptr >= head.ptr && id.ptr + id.len <= head.ptr + head.len);
		fuzz_check(json_peek_has(head, "id") && json_peek_is_object(head));
	}
	fuzz_check(!http_line_is(head) || !json_peek_is_object(head));
}

static void take(struct frame_lines *lines, struct buf *out)
{
	struct str line;
	enum frame frame;
	while ((frame = frame_lines_next(lines, &line)) != FRAME_NONE) {
		check_head(str_n(line.ptr, line.len < LIMIT_LINE_HEAD ? line.len : LIMIT_LINE_HEAD));
		put_frame(out, frame, line);
	}
	fuzz_check(lines->bytes.len - lines->taken <= lines->max);
}

static void run(struct str bytes, size_t max, size_t longest, uint32_t seed, struct buf *out)
{
	struct frame_lines lines;
	frame_lines_init(&lines, max);
	while (bytes.len) {
		seed = seed * 1664525 + 1013904223;
		size_t len = 1 + (seed >> 8) % longest;
		if (len > bytes.len)
			len = bytes.len;
		frame_lines_add(&lines, str_n(bytes.ptr, len));
		take(&lines, out);
		bytes = str_skip(bytes, len);
	}
	frame_lines_end(&lines);
	take(&lines, out);
	frame_lines_finish(&lines);
}

/* The same by a search in the whole. */
static void model(struct str bytes, size_t max, struct buf *out)
{
	struct str line;
	while (bytes.len) {
		ptrdiff_t end = str_find_char(bytes, '\n');
		line = str_n(bytes.ptr, end < 0 ? bytes.len : (size_t)end);
		bytes = str_skip(bytes, end < 0 ? bytes.len : (size_t)end + 1);
		if (line.len > max)
			put_frame(out, FRAME_LONG,
			          str_n(line.ptr, line.len < LIMIT_LINE_HEAD ? line.len : LIMIT_LINE_HEAD));
		else if (str_trim(line).len)
			put_frame(out, FRAME_LINE, str_trim(line));
	}
}

static struct str next_frame(struct str *rest, uint64_t *ret_kind)
{
	struct str kind, text;
	uint64_t count = 0;
	str_next_part(rest, ' ', &kind);
	str_next_part(rest, ' ', &text);
	fuzz_check(str_to_u64(kind, ret_kind) && str_to_u64(text, &count) && count <= rest->len);
	struct str line = str_n(rest->ptr, (size_t)count);
	*rest = str_skip(*rest, (size_t)count);
	return line;
}

/* How much of a long line is kept depends on when it was found to be too long; that it is its beginning does not. */
static void expect_same(struct str want, struct str got)
{
	while (want.len && got.len) {
		uint64_t want_kind, got_kind;
		struct str a = next_frame(&want, &want_kind), b = next_frame(&got, &got_kind);
		fuzz_check(want_kind == got_kind && b.len <= a.len);
		fuzz_check(str_eq(str_n(a.ptr, b.len), b) && (got_kind == FRAME_LONG || a.len == b.len));
	}
	fuzz_check(!want.len && !got.len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t seed;
	if (size < sizeof(seed) + 1)
		return 0;
	memcpy(&seed, data, sizeof(seed));
	size_t max = 1 + data[sizeof(seed)];
	struct str bytes = {(const char *)data + sizeof(seed) + 1, size - sizeof(seed) - 1};
	auto_buf struct buf want, whole, pieces;
	buf_init(&want, 64 * MIB);
	buf_init(&whole, 64 * MIB);
	buf_init(&pieces, 64 * MIB);
	model(bytes, max, &want);
	run(bytes, max, bytes.len + 1, 0, &whole);
	run(bytes, max, 1 + seed % 13, seed, &pieces);
	expect_same(buf_str(&want), buf_str(&whole));
	expect_same(buf_str(&want), buf_str(&pieces));
	return 0;
}
