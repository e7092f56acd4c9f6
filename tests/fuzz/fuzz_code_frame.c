/* Frames of the host of scripts are the same in one piece, byte by byte and cut at any places; none is longer than the
 * limit, and none is returned before it is complete. */
#include "fuzz.h"

#include "base/limits.h"
#include "base/mem.h"
#include "tool/code/code_frame.h"
#include "tool/code/code_limits.h"

/* Returns false if the reader has refused the stream. */
static bool run(struct str stream, size_t longest, struct buf *log)
{
	struct code_frames frames;
	struct str frame;
	bool is_valid = true;
	code_frames_init(&frames);
	buf_init(log, 64 * MIB);
	while (stream.len && is_valid) {
		size_t len = stream.len < longest ? stream.len : longest;
		auto_free char *copy = xmalloc(len);
		memcpy(copy, stream.ptr, len);
		is_valid = code_frames_add(&frames, str_n(copy, len));
		stream = str_skip(stream, len);
		while (code_frames_next(&frames, &frame)) {
			fuzz_check(frame.len <= LIMIT_CODE_FRAME);
			buf_printf(log, "%zu\n", frame.len);
			buf_append_str(log, frame);
			code_frames_drop(&frames);
		}
	}
	code_frames_finish(&frames);
	return is_valid;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str stream = str_n((const char *)data, size);
	auto_buf struct buf whole = {0}, bytes = {0}, pieces = {0};
	bool is_valid = run(stream, size ? size : 1, &whole);
	fuzz_check(run(stream, 1, &bytes) == is_valid || !is_valid);
	fuzz_check(run(stream, 7, &pieces) == is_valid || !is_valid);
	if (is_valid)
		fuzz_check(str_eq(buf_str(&whole), buf_str(&bytes)) && str_eq(buf_str(&whole), buf_str(&pieces)));
	return 0;
}
