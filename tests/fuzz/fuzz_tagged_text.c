/* A text has the same blocks in one piece, byte by byte, and cut at any places; nothing but tags is lost. The first
 * four bytes of an input choose the places. */
#include "fuzz.h"

#include "base/limits.h"
#include "base/mem.h"
#include "model/tagged_text.h"

static const struct tagged_block blocks[] = {{{"<plan>", 6}, {"</plan>", 7}}, {{"<p>", 3}, {"</p>", 4}}};

struct log {
	struct buf all;
	enum tagged_segment last;
};

/* Texts that follow each other are one; a mark that no text can have stands between the others. */
static void on_segment(enum tagged_segment segment, const struct tagged_block *block, struct str text, void *self)
{
	struct log *log = self;
	bool has_text = segment == TAGGED_TEXT || segment == TAGGED_INNER;
	fuzz_check(has_text == (text.len > 0));
	fuzz_check((segment == TAGGED_TEXT) == !block);
	if (!has_text || segment != log->last)
		buf_printf(&log->all, "%c%d%td%c", 0, (int)segment, block ? block - blocks : -1, 0);
	buf_append_str(&log->all, text);
	log->last = segment;
}

/* Pieces of 1 to `longest` bytes, each gone after its feed. */
static void run(struct str text, size_t longest, uint32_t seed, struct log *ret)
{
	struct tagged_text tagged;
	*ret = (struct log){.last = TAGGED_END};
	buf_init(&ret->all, 64 * MIB);
	tagged_text_init(&tagged, blocks, countof(blocks), on_segment, ret);
	while (text.len) {
		seed = seed * 1664525 + 1013904223;
		size_t len = 1 + (seed >> 8) % longest;
		if (len > text.len)
			len = text.len;
		auto_free char *copy = xmalloc(len);
		memcpy(copy, text.ptr, len);
		tagged_text_feed(&tagged, str_n(copy, len));
		fuzz_check(tagged.held.len <= LIMIT_TAG_LINE);
		text = str_skip(text, len);
	}
	tagged_text_end(&tagged);
	tagged_text_finish(&tagged);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t seed;
	if (size <= sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	struct str text = {(const char *)data + sizeof(seed), size - sizeof(seed)};
	struct log whole, bytes, pieces;
	run(text, text.len * 2, 0, &whole);
	run(text, 1, seed, &bytes);
	run(text, 2 + seed % 61, seed, &pieces);
	fuzz_check(str_eq(buf_str(&whole.all), buf_str(&bytes.all)));
	fuzz_check(str_eq(buf_str(&whole.all), buf_str(&pieces.all)));
	buf_finish(&whole.all);
	buf_finish(&bytes.all);
	buf_finish(&pieces.all);
	return 0;
}
