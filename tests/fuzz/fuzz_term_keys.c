/* A terminal's bytes are the same keys however they are cut; every text is UTF-8, and no paste has a control character
 * besides line ends and tabs. */
#include "fuzz.h"

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "term/term_keys.h"

static void note(const struct term_key *key, void *self)
{
	struct buf *log = self;
	fuzz_check(text_is_utf8(key->text));
	for (size_t i = 0; i < key->text.len; i++) {
		unsigned char c = (unsigned char)key->text.ptr[i];
		fuzz_check(c >= 0x20 || (key->kind == TERM_PASTE && (c == '\n' || c == '\t')));
		fuzz_check(c != 0x7f || key->mods);
	}
	buf_printf(log, "%d %d %u ", (int)key->kind, (int)key->name, key->mods);
	buf_append_str(log, key->text);
}

static void run(struct str bytes, size_t step, struct buf *log)
{
	struct term_keys keys;
	buf_init(log, 64 * MIB);
	term_keys_init(&keys, note, log);
	while (bytes.len) {
		size_t len = bytes.len < step ? bytes.len : step;
		term_keys_feed(&keys, str_n(bytes.ptr, len));
		bytes = str_skip(bytes, len);
	}
	term_keys_flush(&keys);
	fuzz_check(!term_keys_is_pending(&keys));
	term_keys_finish(&keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = str_n((const char *)data, size);
	struct buf whole, cut;
	run(bytes, size ? size : 1, &whole);
	run(bytes, size ? 1 + data[0] % 7 : 1, &cut);
	fuzz_check(str_eq(buf_str(&whole), buf_str(&cut)));
	buf_finish(&whole);
	buf_finish(&cut);
	return 0;
}
