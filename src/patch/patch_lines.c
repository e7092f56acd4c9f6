/* Inexact context is rare, but a thousand inexact chunks (a patch whose white space differs from the file's) must
 * not read the file a thousand times. Each level interns the lines once, so that finding a chunk means finding a few
 * integers. An id is the number of the first equal line, so no line is copied. */
#include "patch/patch_lines.h"

#include "base/host.h"
#include "base/mem.h"
#include "base/text.h"
#include "patch/patch_limits.h"

void patch_lines_init(struct patch_lines *lines, struct str text)
{
	*lines = (struct patch_lines){.text = text};
	host_random(&lines->key, sizeof(lines->key));
	for (size_t i = 0; i < countof(lines->folded); i++)
		buf_init(&lines->folded[i], LIMIT_PATCH_FILE);
}

void patch_lines_finish(struct patch_lines *lines)
{
	for (int i = 0; i < PATCH_LEVELS; i++) {
		free(lines->levels[i].ids);
		free(lines->levels[i].slots);
	}
	for (size_t i = 0; i < countof(lines->folded); i++)
		buf_finish(&lines->folded[i]);
	free(lines->starts);
	*lines = (struct patch_lines){0};
}

/* Returns the ASCII form of a character of len bytes, or 0 if it has none. */
static char plain_form(const char *p, size_t len)
{
	const unsigned char *u = (const unsigned char *)p;
	if (len == 2)
		return u[0] == 0xc2 && u[1] == 0xa0 ? ' ' : 0;
	if (len != 3)
		return 0;
	unsigned code = (u[0] & 0x0fu) << 12 | (u[1] & 0x3fu) << 6 | (u[2] & 0x3fu);
	if ((code >= 0x2010 && code <= 0x2015) || code == 0x2212)
		return '-';
	if (code >= 0x2018 && code <= 0x201b)
		return '\'';
	if (code >= 0x201c && code <= 0x201f)
		return '"';
	if ((code >= 0x2002 && code <= 0x200a) || code == 0x202f || code == 0x205f || code == 0x3000)
		return ' ';
	return 0;
}

static bool is_ascii(struct str s)
{
	unsigned char all = 0;
	for (size_t i = 0; i < s.len; i++)
		all |= (unsigned char)s.ptr[i];
	return all < 0x80;
}

static struct str fold_typography(struct str line, struct buf *room)
{
	if (is_ascii(line))
		return line;
	buf_clear(room);
	while (line.len) {
		size_t len = text_utf8_len(line);
		char plain = plain_form(line.ptr, len);
		if (plain)
			buf_append_char(room, plain);
		else
			buf_append(room, line.ptr, len ? len : 1);
		line = str_skip(line, len ? len : 1);
	}
	return buf_str(room);
}

/* Returns the form of a line that a level compares: a slice of the line or of room. */
static struct str fold(int level, struct str line, struct buf *room)
{
	if (level == 0)
		return line;
	if (level == 1)
		return text_trim_end(line);
	line = text_trim(line);
	return level == 2 ? line : fold_typography(line, room);
}

bool patch_lines_equal(struct patch_lines *lines, int level, struct str a, struct str b)
{
	return str_eq(fold(level, a, &lines->folded[0]), fold(level, b, &lines->folded[1]));
}

static struct str line_of(const struct patch_lines *lines, size_t number)
{
	struct str line =
		str_n(lines->text.ptr + lines->starts[number], lines->starts[number + 1] - lines->starts[number] - 1);
	if (line.len && line.ptr[line.len - 1] == '\r')
		line.len--;
	return line;
}

static bool split(struct patch_lines *lines)
{
	size_t cap = 1024;
	uint32_t *starts = xmalloc(cap * sizeof(*starts));
	struct str rest = lines->text, line;
	size_t count = 0;
	while (count < LIMIT_PATCH_LINES && str_next_line(&rest, &line)) {
		if (count + 2 > cap) {
			cap *= 2;
			starts = xrealloc(starts, cap * sizeof(*starts));
		}
		starts[count++] = (uint32_t)(line.ptr - lines->text.ptr);
	}
	if (rest.len) {
		free(starts);
		return false;
	}
	starts[count] = (uint32_t)lines->text.len;
	lines->starts = starts;
	lines->count = count;
	return true;
}

/* Returns the slot of a folded line, or the free slot where it would be inserted. */
static uint32_t *slot_of(struct patch_lines *lines, int level, struct str folded)
{
	struct patch_level *table = &lines->levels[level];
	for (size_t at = str_hash_keyed(folded, lines->key);; at++) {
		uint32_t *slot = &table->slots[at & table->mask];
		if (*slot == 0)
			return slot;
		if (str_eq(fold(level, line_of(lines, *slot - 1), &lines->folded[1]), folded))
			return slot;
	}
}

bool patch_lines_build(struct patch_lines *lines, int level)
{
	struct patch_level *table = &lines->levels[level];
	if (table->ids)
		return true;
	if (!lines->starts && !split(lines))
		return false;
	size_t size = 16;
	while (size < lines->count * 2)
		size *= 2;
	table->mask = size - 1;
	table->slots = xcalloc(size, sizeof(*table->slots));
	table->ids = xmalloc((lines->count + 1) * sizeof(*table->ids));
	for (size_t i = 0; i < lines->count; i++) {
		uint32_t *slot = slot_of(lines, level, fold(level, line_of(lines, i), &lines->folded[0]));
		if (*slot == 0)
			*slot = (uint32_t)i + 1;
		table->ids[i] = *slot - 1;
	}
	return true;
}

size_t patch_lines_at(const struct patch_lines *lines, size_t offset)
{
	size_t low = 0, high = lines->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (lines->starts[middle] < offset)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool patch_lines_find(struct patch_lines *lines, int level, struct str line, uint32_t *ret_id)
{
	uint32_t *slot = slot_of(lines, level, fold(level, line, &lines->folded[0]));
	if (*slot == 0)
		return false;
	*ret_id = *slot - 1;
	return true;
}
