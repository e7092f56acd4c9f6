/* For any packed session file, the bytes read from it do not depend on the size of the reads (up to the
 * a damage is noticed, which may), the history is that of the unpacked file, and unpacking is done whole or not at all.
 */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_reader.h"
#include "rollout/rollout_source.h"

enum { LARGE = 4 * MIB }; /* unpacked: takes too long to be read a few bytes at a time */

static char folder[] = "/tmp/codex-fuzz-zstd-XXXXXX";
static char packed[sizeof(folder) + 16], plain[sizeof(folder) + 16], other[sizeof(folder) + 16];

static void remove_all(void)
{
	unlink(packed);
	unlink(plain);
	unlink(other);
	rmdir(folder);
}

static void make_folder(void)
{
	if (packed[0])
		return;
	fuzz_check(mkdtemp(folder));
	snprintf(packed, sizeof(packed), "%s/a.jsonl.zst", folder);
	snprintf(plain, sizeof(plain), "%s/a.jsonl", folder);
	snprintf(other, sizeof(other), "%s/b.jsonl", folder);
	atexit(remove_all);
}

/* Negative: the archive is damaged; out has what comes before that. */
static ssize_t read_all(size_t chunk, struct buf *out)
{
	struct rollout_source *source = rollout_source_create(packed, NULL);
	ssize_t got = 1;
	fuzz_check(source && rollout_source_is_packed(source));
	while (got > 0) {
		char *room = buf_reserve(out, chunk);
		got = room ? rollout_source_read(source, room, chunk, NULL) : 0;
		fuzz_check(got <= (ssize_t)chunk);
		out->len += got > 0 ? (size_t)got : 0;
		out->over |= !room;
	}
	rollout_source_destroy(source);
	return got;
}

static void check_history(struct str text)
{
	fuzz_check(file_write_atomic(other, text, 0600, false, NULL) == 0);
	struct rollout_reader *a = rollout_reader_create(packed, NULL), *b = rollout_reader_create(other, NULL);
	fuzz_check(!a == !b);
	if (a) {
		fuzz_check(a->records.count == b->records.count && a->history.count == b->history.count);
		for (size_t i = 0; i < a->history.count; i++)
			fuzz_check(str_eq(a->history.items[i], b->history.items[i]));
	}
	rollout_reader_destroy(a);
	rollout_reader_destroy(b);
}

static void check_unpack(bool is_whole, struct str text)
{
	auto_buf struct buf bytes;
	auto_free char *path = rollout_source_unpack(packed, NULL);
	buf_init(&bytes, LARGE);
	fuzz_check(is_whole == (path != NULL));
	fuzz_check(file_exists(plain) == is_whole && file_exists(packed) != is_whole);
	if (!is_whole)
		return;
	fuzz_check(file_read(plain, &bytes, NULL) == 0 && str_eq(buf_str(&bytes), text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_buf struct buf at_once, in_parts;
	buf_init(&at_once, LARGE);
	buf_init(&in_parts, LARGE);
	make_folder();
	unlink(plain);
	fuzz_check(file_write_atomic(packed, str_n((const char *)data, size), 0600, false, NULL) == 0);
	ssize_t end = read_all(256 * KIB, &at_once);
	if (at_once.over)
		return 0;
	fuzz_check((read_all(1009, &in_parts) < 0) == (end < 0));
	size_t common = at_once.len < in_parts.len ? at_once.len : in_parts.len;
	fuzz_check(common == 0 || memcmp(at_once.data, in_parts.data, common) == 0);
	fuzz_check(end < 0 || at_once.len == in_parts.len);
	if (end == 0)
		check_history(buf_str(&at_once));
	check_unpack(end == 0, buf_str(&at_once));
	return 0;
}
