/* A stream gives the same events in one piece, byte by byte, and cut at any places. The first four
 * bytes of an input choose the places; the rest is the stream. */
#include "fuzz.h"

#include "base/limits.h"
#include "base/mem.h"
#include "model/sse.h"

/* Lengths go first, so that no two different series of events write the same bytes. */
static bool on_event(const struct sse_event *event, void *self)
{
	struct buf *log = self;
	fuzz_check(event->event.len && event->data.ptr && event->id.ptr);
	buf_printf(log, "%zu %zu %zu\n", event->event.len, event->data.len, event->id.len);
	buf_append_str(log, event->event);
	buf_append_str(log, event->data);
	buf_append_str(log, event->id);
	return true;
}

/* Every piece is a copy that is gone after its feed: an event must not be made of what was. */
static void feed(struct sse *sse, struct str piece)
{
	auto_free char *copy = xmalloc(piece.len);
	memcpy(copy, piece.ptr, piece.len);
	fuzz_check(sse_feed(sse, str_n(copy, piece.len), NULL) == 0);
}

/* Pieces of 1 to `longest` bytes. */
static void run(struct str stream, size_t longest, uint32_t seed, struct buf *ret_log)
{
	struct sse sse;
	buf_init(ret_log, 64 * MIB);
	sse_init(&sse, on_event, ret_log);
	while (stream.len) {
		seed = seed * 1664525 + 1013904223;
		size_t len = 1 + (seed >> 8) % longest;
		if (len > stream.len)
			len = stream.len;
		feed(&sse, str_n(stream.ptr, len));
		stream = str_skip(stream, len);
	}
	fuzz_check(sse_end(&sse, NULL) == 0);
	sse_finish(&sse);
}

static void run_whole(struct str stream, struct buf *ret_log)
{
	struct sse sse;
	buf_init(ret_log, 64 * MIB);
	sse_init(&sse, on_event, ret_log);
	fuzz_check(sse_feed(&sse, stream, NULL) == 0 && sse_end(&sse, NULL) == 0);
	sse_finish(&sse);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t seed;
	if (size < sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	struct str stream = {(const char *)data + sizeof(seed), size - sizeof(seed)};
	auto_buf struct buf whole, bytes, pieces;
	run_whole(stream, &whole);
	run(stream, 1, seed, &bytes);
	run(stream, 2 + seed % 61, seed, &pieces);
	fuzz_check(str_eq(buf_str(&whole), buf_str(&bytes)));
	fuzz_check(str_eq(buf_str(&whole), buf_str(&pieces)));
	return 0;
}
