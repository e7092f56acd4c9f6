/* Frames of the host of scripts, and the place where they break, are the same in one piece, byte by byte and cut at any
 * places; none is longer than the limit, and none is returned before it is complete. */
#include "fuzz.h"

#include "base/limits.h"
#include "base/mem.h"
#include "tool/code/code_frame.h"
#include "tool/code/code_limits.h"

static void run(struct str stream, size_t longest, struct buf *log)
{
	struct code_frames frames;
	struct str frame;
	code_frames_init(&frames);
	buf_init(log, 64 * MIB);
	while (stream.len) {
		size_t len = stream.len < longest ? stream.len : longest;
		auto_free char *copy = xmalloc(len);
		memcpy(copy, stream.ptr, len);
		code_frames_add(&frames, str_n(copy, len));
		stream = str_skip(stream, len);
		while (code_frames_next(&frames, &frame)) {
			fuzz_check(frame.len <= LIMIT_CODE_FRAME);
			buf_printf(log, "%zu\n", frame.len);
			buf_append_str(log, frame);
			code_frames_drop(&frames);
		}
	}
	if (code_frames_are_broken(&frames))
		buf_append_c(log, "broken");
	code_frames_finish(&frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str stream = str_n((const char *)data, size);
	auto_buf struct buf whole = {0}, bytes = {0}, pieces = {0};
	run(stream, size ? size : 1, &whole);
	run(stream, 1, &bytes);
	run(stream, 7, &pieces);
	fuzz_check(str_eq(buf_str(&whole), buf_str(&bytes)) && str_eq(buf_str(&whole), buf_str(&pieces)));
	return 0;
}
