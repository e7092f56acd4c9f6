/* Myers' O(ND) algorithm in linear space, on integers: lines are interned first, and lines that occur on one side
 * only are set aside, since they cannot match. Little is left to compare even when two texts have little in common.
 * If that is still too much, the rest becomes one change: a coarse diff is correct too. */
#include "patch/diff_lines.h"

#include <stdint.h>

#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"

struct side {
	struct str *lines;
	uint32_t *ids; /* equal lines of both sides have equal ids */
	size_t count;
	uint32_t *kept; /* numbers of the lines that also occur on the other side */
	size_t kept_count;
	bool *is_changed;
};

/* Ranges of kept lines to compare. */
struct box {
	size_t old_at, old_end, new_at, new_end;
};

struct compare;
/* Follows equal lines from point (x, x - k) and returns the new x. */
typedef int32_t (*diff_slide_fn)(const struct compare *compare, const struct box *box, int32_t x, int32_t k);

/* The search from one end of a box. */
struct search {
	diff_slide_fn slide;
	int32_t *reach;   /* the furthest x on each diagonal, counted from that end; -1: unreachable */
	int32_t distance; /* steps so far */
};

struct compare {
	struct side old, new;
	struct search forward, backward;
	size_t *steps;
};

/* A point on one diagonal that both searches have reached. */
struct meeting {
	int32_t k, x;
};

static bool is_equal(const struct compare *compare, size_t old_kept, size_t new_kept)
{
	return compare->old.ids[compare->old.kept[old_kept]] == compare->new.ids[compare->new.kept[new_kept]];
}

static bool spend(struct compare *compare, size_t steps)
{
	*compare->steps = *compare->steps > steps ? *compare->steps - steps : 0;
	return *compare->steps != 0;
}

/* Returns the furthest x at which diagonal k can be entered from its neighbours, or -1. */
static int32_t step_to(const int32_t *reach, int32_t k, int32_t width, int32_t height)
{
	int32_t right = reach[k - 1] >= 0 && reach[k - 1] < width ? reach[k - 1] + 1 : -1;
	int32_t down = reach[k + 1] >= 0 && reach[k + 1] - k <= height ? reach[k + 1] : -1;
	return right > down ? right : down;
}

static int32_t slide_forward(const struct compare *compare, const struct box *box, int32_t x, int32_t k)
{
	size_t i = box->old_at + (size_t)x, j = box->new_at + (size_t)(x - k);
	while (i < box->old_end && j < box->new_end && is_equal(compare, i, j)) {
		i++;
		j++;
	}
	return (int32_t)(i - box->old_at);
}

static int32_t slide_backward(const struct compare *compare, const struct box *box, int32_t x, int32_t k)
{
	size_t i = box->old_end - (size_t)x, j = box->new_end - (size_t)(x - k);
	while (i > box->old_at && j > box->new_at && is_equal(compare, i - 1, j - 1)) {
		i--;
		j--;
	}
	return (int32_t)(box->old_end - i);
}

/* True if the other search, which numbers diagonals from its own end, has reached x or further on diagonal k. */
static bool is_met(const struct search *other, int32_t k, int32_t x, int32_t width)
{
	bool is_known = k >= -other->distance && k <= other->distance && ((k ^ other->distance) & 1) == 0;
	return is_known && other->reach[k] >= 0 && x + other->reach[k] >= width;
}

/* Advances one search by one step; true if it met the other. */
static bool search_step(struct compare *compare, const struct box *box, struct search *search,
                        const struct search *other, struct meeting *ret)
{
	int32_t width = (int32_t)(box->old_end - box->old_at), height = (int32_t)(box->new_end - box->new_at);
	int32_t distance = ++search->distance, *reach = search->reach;
	reach[-distance - 1] = reach[distance + 1] = -1;
	for (int32_t k = -distance; k <= distance; k += 2) {
		int32_t from = distance == 0 ? 0 : step_to(reach, k, width, height);
		int32_t x = from < 0 ? -1 : search->slide(compare, box, from, k);
		reach[k] = x;
		if (x >= 0 && !spend(compare, (size_t)(x - from) + 1))
			return false;
		*ret = (struct meeting){k, x};
		if (x >= 0 && is_met(other, width - height - k, x, width))
			return true;
	}
	return false;
}

/* Finds a point on a shortest path through the box; false if the step budget is exhausted. */
static bool find_middle(struct compare *compare, const struct box *box, size_t *ret_old, size_t *ret_new)
{
	struct search *forward = &compare->forward, *backward = &compare->backward;
	struct meeting meeting;
	forward->distance = backward->distance = -1;
	while (*compare->steps) {
		if (search_step(compare, box, forward, backward, &meeting)) {
			*ret_old = box->old_at + (size_t)meeting.x;
			*ret_new = box->new_at + (size_t)(meeting.x - meeting.k);
			return true;
		}
		if (search_step(compare, box, backward, forward, &meeting)) {
			*ret_old = box->old_end - (size_t)meeting.x;
			*ret_new = box->new_end - (size_t)(meeting.x - meeting.k);
			return true;
		}
	}
	return false;
}

static void mark(struct side *side, size_t at, size_t end)
{
	for (; at < end; at++)
		side->is_changed[side->kept[at]] = true;
}

static struct box cut_equal_ends(const struct compare *compare, struct box box)
{
	while (box.old_at < box.old_end && box.new_at < box.new_end && is_equal(compare, box.old_at, box.new_at)) {
		box.old_at++;
		box.new_at++;
	}
	while (box.old_at < box.old_end && box.new_at < box.new_end &&
	       is_equal(compare, box.old_end - 1, box.new_end - 1)) {
		box.old_end--;
		box.new_end--;
	}
	return box;
}

/* Compares a box by halves. Each half has half the distance, so the recursion depth is logarithmic. */
static void compare_box(struct compare *compare, struct box box)
{
	size_t old, new;
	box = cut_equal_ends(compare, box);
	if (!spend(compare, 1) || box.old_at == box.old_end || box.new_at == box.new_end ||
	    !find_middle(compare, &box, &old, &new)) {
		mark(&compare->old, box.old_at, box.old_end);
		mark(&compare->new, box.new_at, box.new_end);
		return;
	}
	compare_box(compare, (struct box){box.old_at, old, box.new_at, new});
	compare_box(compare, (struct box){old, box.old_end, new, box.new_end});
}

static void side_init(struct side *side, struct str text)
{
	VEC(struct str) lines = {0};
	struct str line;
	const char *from = text.ptr;
	while (str_next_line(&text, &line)) {
		vec_push(&lines, str_n(from, (size_t)(text.ptr - from)));
		from = text.ptr;
	}
	side->lines = lines.items;
	side->count = lines.count;
	side->ids = xmalloc(lines.count * sizeof(*side->ids));
	side->kept = xmalloc(lines.count * sizeof(*side->kept));
	side->is_changed = xcalloc(lines.count, sizeof(*side->is_changed));
}

static void side_finish(struct side *side)
{
	free(side->lines);
	free(side->ids);
	free(side->kept);
	free(side->is_changed);
}

/* Returns a line by its id, the number of the first equal line, counted through both sides. */
static struct str line_of(const struct compare *compare, uint32_t number)
{
	size_t old_count = compare->old.count;
	return number < old_count ? compare->old.lines[number] : compare->new.lines[number - old_count];
}

static void intern(struct compare *compare, struct side *side, size_t first, uint32_t *slots, size_t mask, uint64_t key)
{
	for (size_t i = 0; i < side->count; i++) {
		size_t at = str_hash_keyed(side->lines[i], key);
		while (slots[at & mask] && !str_eq(line_of(compare, slots[at & mask] - 1), side->lines[i]))
			at++;
		if (slots[at & mask] == 0)
			slots[at & mask] = (uint32_t)(first + i + 1);
		side->ids[i] = slots[at & mask] - 1;
	}
}

static void intern_both(struct compare *compare)
{
	size_t size = 16;
	while (size < 2 * (compare->old.count + compare->new.count))
		size *= 2;
	auto_free uint32_t *slots = xcalloc(size, sizeof(*slots));
	uint64_t key;
	host_random(&key, sizeof(key));
	intern(compare, &compare->old, 0, slots, size - 1, key);
	intern(compare, &compare->new, compare->old.count, slots, size - 1, key);
}

/* Keeps only the lines that also occur on the other side. */
static void keep_common(struct side *side, const bool *is_elsewhere)
{
	for (size_t i = 0; i < side->count; i++) {
		if (is_elsewhere[side->ids[i]])
			side->kept[side->kept_count++] = (uint32_t)i;
		else
			side->is_changed[i] = true;
	}
}

static void keep_both(struct compare *compare)
{
	size_t count = compare->old.count + compare->new.count;
	auto_free bool *in_old = xcalloc(count, sizeof(*in_old)), *in_new = xcalloc(count, sizeof(*in_new));
	for (size_t i = 0; i < compare->old.count; i++)
		in_old[compare->old.ids[i]] = true;
	for (size_t i = 0; i < compare->new.count; i++)
		in_new[compare->new.ids[i]] = true;
	keep_common(&compare->old, in_new);
	keep_common(&compare->new, in_old);
}

static void compare_sides(struct compare *compare)
{
	intern_both(compare);
	keep_both(compare);
	size_t room = compare->old.kept_count + compare->new.kept_count + 3;
	auto_free int32_t *forward = xmalloc(2 * room * sizeof(*forward));
	auto_free int32_t *backward = xmalloc(2 * room * sizeof(*backward));
	compare->forward = (struct search){slide_forward, forward + room, 0};
	compare->backward = (struct search){slide_backward, backward + room, 0};
	compare_box(compare, (struct box){0, compare->old.kept_count, 0, compare->new.kept_count});
}

static size_t changed_run(const struct side *side, size_t at)
{
	size_t end = at;
	while (end < side->count && side->is_changed[end])
		end++;
	return end - at;
}

/* Returns the bytes of count lines from line `at` on; for no lines, an empty slice at the right position of text. */
static struct str run_text(const struct side *side, struct str text, size_t at, size_t count)
{
	const char *from = at < side->count ? side->lines[at].ptr : text.ptr + text.len;
	const char *end = at + count < side->count ? side->lines[at + count].ptr : text.ptr + text.len;
	return str_n(from, (size_t)(end - from));
}

static void collect(const struct compare *compare, struct diff_change whole, struct diff_changes *changes)
{
	const struct side *old = &compare->old, *new = &compare->new;
	for (size_t i = 0, j = 0; i < old->count || j < new->count; i++, j++) {
		size_t old_count = changed_run(old, i), new_count = changed_run(new, j);
		if (old_count || new_count)
			vec_push(&changes->list, (struct diff_change){
							 whole.old_line + i,
							 old_count,
							 whole.new_line + j,
							 new_count,
							 run_text(old, whole.old_text, i, old_count),
							 run_text(new, whole.new_text, j, new_count),
						 });
		i += old_count;
		j += new_count;
	}
}

enum { WORD = sizeof(uint64_t), WORDS_AT_ONCE = 255 /* the largest count that fits into one byte */ };

/* Counts the newlines in count words; each byte of the words is compared and counted separately. */
static size_t count_in_words(const char *at, size_t count)
{
	const uint64_t low = 0x7f7f7f7f7f7f7f7fu, ones = 0x0101010101010101u;
	uint64_t lanes = 0;
	size_t total = 0;
	for (size_t i = 0; i < count; i++) {
		uint64_t word;
		memcpy(&word, at + i * WORD, WORD);
		word ^= ones * '\n';
		lanes += ~(((word & low) + low) | word | low) >> 7;
	}
	for (int lane = 0; lane < WORD; lane++)
		total += lanes >> (8 * lane) & 0xff;
	return total;
}

size_t diff_count_lines(struct str text)
{
	if (text.len == 0)
		return 0;
	size_t count = text.ptr[text.len - 1] != '\n';
	while (text.len >= WORD) {
		size_t words = text.len / WORD < WORDS_AT_ONCE ? text.len / WORD : WORDS_AT_ONCE;
		count += count_in_words(text.ptr, words);
		text = str_skip(text, words * WORD);
	}
	for (; text.len; text = str_skip(text, 1))
		count += text.ptr[0] == '\n';
	return count;
}

enum { BLOCK = 4096 };

static size_t equal_prefix(struct str a, struct str b)
{
	size_t at = 0, shorter = a.len < b.len ? a.len : b.len;
	while (at + BLOCK <= shorter && memcmp(a.ptr + at, b.ptr + at, BLOCK) == 0)
		at += BLOCK;
	while (at < shorter && a.ptr[at] == b.ptr[at])
		at++;
	return at;
}

static size_t equal_suffix(struct str a, struct str b)
{
	size_t len = 0, shorter = a.len < b.len ? a.len : b.len;
	const char *a_end = a.ptr + a.len, *b_end = b.ptr + b.len;
	while (len + BLOCK <= shorter && memcmp(a_end - len - BLOCK, b_end - len - BLOCK, BLOCK) == 0)
		len += BLOCK;
	while (len < shorter && a_end[-(ptrdiff_t)len - 1] == b_end[-(ptrdiff_t)len - 1])
		len++;
	return len;
}

static bool starts_line(struct str text, size_t at)
{
	return at == 0 || text.ptr[at - 1] == '\n';
}

/* Removes common leading and trailing lines from the change. */
static void cut_equal_lines(struct diff_change *change)
{
	struct str *old = &change->old_text, *new = &change->new_text;
	struct str head = str_n(old->ptr, equal_prefix(*old, *new));
	head.len = (size_t)(str_rfind_char(head, '\n') + 1);
	size_t lines = diff_count_lines(head);
	change->old_line += lines;
	change->new_line += lines;
	*old = str_skip(*old, head.len);
	*new = str_skip(*new, head.len);
	size_t tail = equal_suffix(*old, *new);
	if (!starts_line(*old, old->len - tail) || !starts_line(*new, new->len - tail)) {
		ptrdiff_t end = str_find_char(str_skip(*old, old->len - tail), '\n');
		tail = end < 0 ? 0 : tail - (size_t)end - 1;
	}
	old->len -= tail;
	new->len -= tail;
}

void diff_lines(struct str old_text, size_t old_line, struct str new_text, size_t new_line,
                struct diff_changes *changes)
{
	struct diff_change whole = {old_line, 0, new_line, 0, old_text, new_text};
	cut_equal_lines(&whole);
	whole.old_count = diff_count_lines(whole.old_text);
	whole.new_count = diff_count_lines(whole.new_text);
	if (whole.old_count == 0 && whole.new_count == 0)
		return;
	if (whole.old_count == 0 || whole.new_count == 0 || changes->steps == 0 ||
	    whole.old_count + whole.new_count > LIMIT_DIFF_LINES) {
		vec_push(&changes->list, whole);
		return;
	}
	struct compare compare = {.steps = &changes->steps};
	side_init(&compare.old, whole.old_text);
	side_init(&compare.new, whole.new_text);
	compare_sides(&compare);
	collect(&compare, whole, changes);
	side_finish(&compare.old);
	side_finish(&compare.new);
}
