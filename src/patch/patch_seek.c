/* Nearly all chunks match exactly and are found without splitting the file into lines: the old lines joined by
 * newlines, with one more at each end, can only match whole lines, so a byte search from the previous chunk's place is
 * the first pass. A thousand chunks then read the file once. Only chunks not found that way need the index of
 * patch_lines. */
#include "patch/patch_seek.h"

#include <string.h>

#include "base/mem.h"
#include "patch/patch_limits.h"

void patch_seek_init(struct patch_seek *seek, struct str text, bool is_crlf)
{
	*seek = (struct patch_seek){.is_crlf = is_crlf};
	patch_lines_init(&seek->lines, text);
	buf_init(&seek->needle, 2 * (size_t)LIMIT_PATCH_TEXT);
}

void patch_seek_finish(struct patch_seek *seek)
{
	patch_lines_finish(&seek->lines);
	buf_finish(&seek->needle);
}

/* True if all lines have the same line end, so that a byte search finds the same places as a line search. */
static bool is_uniform(struct str text, bool is_crlf)
{
	if (!is_crlf)
		return str_find_char(text, '\r') < 0;
	struct str line;
	while (str_next_line(&text, &line)) {
		if (line.len == 0 || line.ptr[line.len - 1] != '\r')
			return false;
	}
	return true;
}

/* Compares the beginning of each line, which excludes most of them. After many matches of the first line alone it
 * switches to memmem, which is linear for any text. */
static ptrdiff_t find_lines(struct str text, struct str needle)
{
	enum { MISSES = 64 };
	if (text.len < needle.len)
		return -1;
	size_t first = 2 + (size_t)str_find_char(str_skip(needle, 1), '\n');
	const char *at = text.ptr, *last = text.ptr + (text.len - needle.len);
	for (int misses = 0; at && misses < MISSES; at = at < last ? memchr(at + 1, '\n', (size_t)(last - at)) : NULL) {
		if (memcmp(at, needle.ptr, first) != 0)
			continue;
		if (memcmp(at, needle.ptr, needle.len) == 0)
			return at - text.ptr;
		misses++;
	}
	if (!at)
		return -1;
	ptrdiff_t hit = str_find(str_skip(text, (size_t)(at - text.ptr)), needle);
	return hit < 0 ? hit : hit + (at - text.ptr);
}

static bool seek_exact(struct patch_seek *seek, const struct str *wanted, size_t count, size_t from, size_t *ret_at)
{
	struct str text = seek->lines.text, end = seek->is_crlf ? STR("\r\n") : STR("\n");
	buf_clear(&seek->needle);
	buf_append_char(&seek->needle, '\n');
	for (size_t i = 0; i < count; i++) {
		buf_append_str(&seek->needle, wanted[i]);
		buf_append_str(&seek->needle, end);
	}
	/* Start at the preceding newline, which exists even before offset 0. */
	struct str rest = str_n(text.ptr + from - 1, text.len - from + 1);
	ptrdiff_t hit = find_lines(rest, buf_str(&seek->needle));
	if (hit < 0)
		return false;
	*ret_at = from + (size_t)hit;
	return true;
}

/* Returns the length of the longest proper border of each prefix of ids (Knuth, Morris, Pratt). */
static uint32_t *borders_of(const uint32_t *ids, size_t count)
{
	uint32_t *borders = xcalloc(count, sizeof(*borders));
	for (size_t i = 1, border = 0; i < count; i++) {
		while (border && ids[i] != ids[border])
			border = borders[border - 1];
		border += ids[i] == ids[border];
		borders[i] = (uint32_t)border;
	}
	return borders;
}

/* Returns the index of the first occurrence of ids in hay, or hay_count. */
static size_t find_ids(const uint32_t *hay, size_t hay_count, const uint32_t *ids, size_t count)
{
	auto_free uint32_t *borders = borders_of(ids, count);
	size_t matched = 0;
	for (size_t i = 0; i < hay_count; i++) {
		while (matched && hay[i] != ids[matched])
			matched = borders[matched - 1];
		matched += hay[i] == ids[matched];
		if (matched == count)
			return i + 1 - count;
	}
	return hay_count;
}

/* Returns the ids of the wanted lines at a level; NULL if one of them does not occur in the text. */
static uint32_t *ids_of(struct patch_lines *lines, int level, const struct str *wanted, size_t count)
{
	auto_free uint32_t *ids = xmalloc(count * sizeof(*ids));
	for (size_t i = 0; i < count; i++) {
		if (!patch_lines_find(lines, level, wanted[i], &ids[i]))
			return NULL;
	}
	return steal(ids);
}

static enum patch_sought seek_level(struct patch_seek *seek, int level, const struct str *wanted, size_t count,
                                    size_t from, size_t *ret_at)
{
	struct patch_lines *lines = &seek->lines;
	if (!patch_lines_build(lines, level))
		return PATCH_TOO_LARGE;
	size_t first = patch_lines_at(lines, from), hay_count = lines->count - first;
	if (count > hay_count)
		return PATCH_MISSING;
	auto_free uint32_t *ids = ids_of(lines, level, wanted, count);
	if (!ids)
		return PATCH_MISSING;
	size_t at = find_ids(lines->levels[level].ids + first, hay_count, ids, count);
	seek->steps += at + count;
	if (seek->steps > LIMIT_PATCH_STEPS)
		return PATCH_TOO_LARGE;
	if (at == hay_count)
		return PATCH_MISSING;
	*ret_at = lines->starts[first + at];
	return PATCH_FOUND;
}

enum patch_sought patch_seek_lines(struct patch_seek *seek, const struct str *wanted, size_t count, size_t from,
                                   size_t *ret_at)
{
	if (count > seek->lines.text.len - from)
		return PATCH_MISSING;
	if (!seek->is_begun)
		seek->is_indexed = !is_uniform(seek->lines.text, seek->is_crlf);
	seek->is_begun = true;
	if (!seek->is_indexed && seek_exact(seek, wanted, count, from, ret_at))
		return PATCH_FOUND;
	seek->is_indexed = true;
	enum patch_sought sought = PATCH_MISSING;
	for (int level = 0; level < PATCH_LEVELS && sought == PATCH_MISSING; level++)
		sought = seek_level(seek, level, wanted, count, from, ret_at);
	return sought;
}

/* Finds the start of the last `count` lines; false if there are fewer after `from`. */
static bool last_lines(struct str text, size_t count, size_t from, size_t *ret_at)
{
	size_t at = text.len;
	while (count-- > 0) {
		if (at <= from)
			return false;
		ptrdiff_t before = str_rfind_char(str_n(text.ptr, at - 1), '\n');
		at = (size_t)(before + 1);
	}
	*ret_at = at;
	return at >= from;
}

static bool all_equal(struct patch_lines *lines, int level, const struct str *wanted, size_t count, size_t at)
{
	struct str rest = str_skip(lines->text, at), line;
	for (size_t i = 0; i < count && str_next_line(&rest, &line); i++) {
		if (line.len && line.ptr[line.len - 1] == '\r')
			line.len--;
		if (!patch_lines_equal(lines, level, wanted[i], line))
			return false;
	}
	return true;
}

enum patch_sought patch_seek_last(struct patch_seek *seek, const struct str *wanted, size_t count, size_t from,
                                  size_t *ret_at)
{
	size_t at;
	if (!last_lines(seek->lines.text, count, from, &at))
		return PATCH_MISSING;
	for (int level = 0; level < PATCH_LEVELS; level++) {
		if (all_equal(&seek->lines, level, wanted, count, at)) {
			*ret_at = at;
			return PATCH_FOUND;
		}
	}
	return PATCH_MISSING;
}
