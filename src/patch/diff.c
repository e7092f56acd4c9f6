/* A diff is printed from a list of changes that point into both texts. The list comes either from comparing two whole
 * texts or from the edits that a patch has already computed; printing is the same for both. */
#include "patch/diff.h"

#include <string.h>

#include "base/limits.h"
#include "patch/diff_lines.h"

/* One hunk (@@): the changes [first, end) and the context around them. */
struct hunk {
	const struct diff_change *first, *end;
	struct str before, after; /* the lines of context */
};

static struct str lines_before(struct str text, const char *at, size_t count)
{
	const char *from = at;
	while (count-- && from > text.ptr) {
		struct str above = str_n(text.ptr, (size_t)(from - text.ptr) - 1);
		from = text.ptr + str_rfind_char(above, '\n') + 1;
	}
	return str_n(from, (size_t)(at - from));
}

static struct str lines_after(struct str text, const char *at, size_t count)
{
	struct str rest = str_n(at, (size_t)(text.ptr + text.len - at)), line;
	while (count-- && str_next_line(&rest, &line))
		;
	return str_n(at, (size_t)(rest.ptr - at));
}

static void append_lines(struct buf *out, char mark, struct str text)
{
	struct str line;
	while (text.len) {
		const char *from = text.ptr;
		str_next_line(&text, &line);
		buf_append_char(out, mark);
		buf_append(out, from, (size_t)(text.ptr - from));
		if (text.ptr[-1] != '\n')
			buf_append_c(out, "\n\\ No newline at end of file\n");
	}
}

static void append_range(struct buf *out, char mark, size_t line, size_t count)
{
	/* The line of an empty range is the one above it; of any other its first line, counted from 1. */
	buf_printf(out, "%c%zu", mark, count ? line + 1 : line);
	if (count != 1)
		buf_printf(out, ",%zu", count);
}

static void append_header(struct buf *out, const struct hunk *hunk)
{
	const struct diff_change *first = hunk->first, *last = hunk->end - 1;
	size_t before = diff_count_lines(hunk->before), after = diff_count_lines(hunk->after);
	size_t old_line = first->old_line - before, new_line = first->new_line - before;
	buf_append_c(out, "@@ ");
	append_range(out, '-', old_line, last->old_line + last->old_count + after - old_line);
	buf_append_char(out, ' ');
	append_range(out, '+', new_line, last->new_line + last->new_count + after - new_line);
	buf_append_c(out, " @@\n");
}

static const char *old_end(const struct diff_change *change)
{
	return change->old_text.ptr + change->old_text.len;
}

/* Prints adjacent changes as one: all removed lines, then all added lines. */
static const struct diff_change *append_run(struct buf *out, const struct diff_change *first,
                                            const struct diff_change *end)
{
	const struct diff_change *it = first;
	do {
		append_lines(out, '-', it->old_text);
		it++;
	} while (it < end && it->old_text.ptr == old_end(it - 1));
	for (const struct diff_change *one = first; one < it; one++)
		append_lines(out, '+', one->new_text);
	return it;
}

static void append_hunk(struct buf *out, const struct hunk *hunk)
{
	append_header(out, hunk);
	append_lines(out, ' ', hunk->before);
	for (const struct diff_change *it = hunk->first; it < hunk->end;) {
		if (it > hunk->first)
			append_lines(out, ' ', str_n(old_end(it - 1), (size_t)(it->old_text.ptr - old_end(it - 1))));
		it = append_run(out, it, hunk->end);
	}
	append_lines(out, ' ', hunk->after);
}

static void append_changes(struct buf *out, struct str old_text, const struct diff_changes *changes, size_t context)
{
	const struct diff_change *list = changes->list.items;
	for (size_t at = 0, count = changes->list.count; at < count;) {
		struct hunk hunk = {.first = &list[at]};
		const struct diff_change *last = &list[at++];
		while (at < count && list[at].old_line - (last->old_line + last->old_count) <= 2 * context)
			last = &list[at++];
		hunk.end = last + 1;
		hunk.before = lines_before(old_text, hunk.first->old_text.ptr, context);
		hunk.after = lines_after(old_text, old_end(last), context);
		append_hunk(out, &hunk);
	}
}

void diff_edits(struct str old_text, const struct edits *edits, size_t context, struct buf *out)
{
	struct diff_changes changes = {.steps = LIMIT_DIFF_STEPS};
	size_t at = 0, old_line = 0, new_line = 0;
	vec_for_each(it, &edits->list) {
		struct str between = str_n(old_text.ptr + at, it->at - at);
		struct str gone = str_n(old_text.ptr + it->at, it->len);
		size_t kept = diff_count_lines(between);
		old_line += kept;
		new_line += kept;
		diff_lines(gone, old_line, it->text, new_line, &changes);
		old_line += diff_count_lines(gone);
		new_line += diff_count_lines(it->text);
		at = it->at + it->len;
	}
	append_changes(out, old_text, &changes, context);
	vec_finish(&changes.list);
}

void diff_unified(struct str old_text, struct str new_text, size_t context, struct buf *out)
{
	struct diff_changes changes = {.steps = LIMIT_DIFF_STEPS};
	diff_lines(old_text, 0, new_text, 0, &changes);
	append_changes(out, old_text, &changes, context);
	vec_finish(&changes.list);
}

/* ---- edits ---- */

/* Edits are applied as slices: a thousand small changes to a 10 MB file need two thousand slices for writev instead
 * of a second buffer of 10 MB. */

size_t edits_new_len(const struct edits *edits, struct str old)
{
	size_t len = old.len;
	vec_for_each(it, &edits->list)
		len = len - it->len + it->text.len;
	return len;
}

static size_t add_part(struct iovec *parts, size_t count, const char *ptr, size_t len)
{
	if (len == 0)
		return count;
	parts[count] = (struct iovec){.iov_base = (void *)(uintptr_t)ptr, .iov_len = len};
	return count + 1;
}

size_t edits_parts(const struct edits *edits, struct str old, struct iovec *parts)
{
	size_t count = 0, at = 0;
	vec_for_each(it, &edits->list) {
		count = add_part(parts, count, old.ptr + at, it->at - at);
		count = add_part(parts, count, it->text.ptr, it->text.len);
		at = it->at + it->len;
	}
	return add_part(parts, count, old.ptr + at, old.len - at);
}

void edits_apply(const struct edits *edits, struct str old, char *out)
{
	size_t at = 0;
	vec_for_each(it, &edits->list) {
		memcpy(out, old.ptr + at, it->at - at);
		out += it->at - at;
		if (it->text.len)
			memcpy(out, it->text.ptr, it->text.len);
		out += it->text.len;
		at = it->at + it->len;
	}
	memcpy(out, old.ptr + at, old.len - at);
}
