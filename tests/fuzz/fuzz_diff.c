/* The changes between any two texts are in order, number their lines rightly and make the new text of the old one,
 * however few steps may be spent on finding them. An input is a byte for the steps, a text, a NUL, a text. */
#include "fuzz.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "patch/diff_lines.h"

static size_t lines_above(struct str part, struct str text)
{
	return diff_count_lines(str_n(text.ptr, (size_t)(part.ptr - text.ptr)));
}

static void check_change(const struct diff_change *change, struct str old_text, struct str new_text)
{
	fuzz_check(change->old_count == diff_count_lines(change->old_text));
	fuzz_check(change->new_count == diff_count_lines(change->new_text));
	fuzz_check(change->old_count + change->new_count > 0);
	fuzz_check(change->old_line == lines_above(change->old_text, old_text));
	fuzz_check(change->new_line == lines_above(change->new_text, new_text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct str old_text = {(const char *)data + 1, size - 1};
	ptrdiff_t split = str_find_char(old_text, '\0');
	struct str new_text = str_skip(old_text, (size_t)(split + 1));
	old_text.len = split < 0 ? 0 : (size_t)split;
	struct diff_changes changes = {.steps = data[0] < 128 ? data[0] : LIMIT_DIFF_STEPS};
	diff_lines(old_text, 0, new_text, 0, &changes);
	auto_buf struct buf made;
	buf_init(&made, MIB);
	const char *at = old_text.ptr;
	vec_for_each(it, &changes.list) {
		check_change(it, old_text, new_text);
		fuzz_check(it->old_text.ptr >= at);
		buf_append(&made, at, (size_t)(it->old_text.ptr - at));
		buf_append_str(&made, it->new_text);
		at = it->old_text.ptr + it->old_text.len;
	}
	buf_append(&made, at, (size_t)(old_text.ptr + old_text.len - at));
	fuzz_check(str_eq(buf_str(&made), new_text));
	vec_finish(&changes.list);
	return 0;
}
