/* Words are compared by the optimal string alignment distance, in which a swap of neighbours counts as one error; up to
 * a third of a word may be wrong. A prefix of a word has distance one. */
#include "base/suggest.h"

#include <string.h>

enum { WORD_MAX = 48, PREFIX_MIN = 2, SLIPS_PER_WORD = 3 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static bool is_swap(struct str a, struct str b, size_t i, size_t j)
{
	return i > 1 && j > 1 && a.ptr[i - 1] == b.ptr[j - 2] && a.ptr[i - 2] == b.ptr[j - 1];
}

/* Row i holds the distances of a's first i bytes to all prefixes of b; three rows are kept. */
static size_t distance(struct str a, struct str b)
{
	size_t rows[3][WORD_MAX + 1];
	for (size_t i = 0; i <= a.len; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *top = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= b.len; j++) {
			if (i == 0) {
				row[j] = j;
				continue;
			}
			size_t change = above[j - 1] + (a.ptr[i - 1] != b.ptr[j - 1]);
			row[j] = least(change, least(above[j], row[j - 1]) + 1);
			if (is_swap(a, b, i, j))
				row[j] = least(row[j], top[j - 2] + 1);
		}
	}
	return rows[a.len % 3][b.len];
}

static bool is_start(struct str start, struct str word)
{
	return start.len >= PREFIX_MIN && start.len < word.len && memcmp(start.ptr, word.ptr, start.len) == 0;
}

void suggest_offer(struct suggest *suggest, struct str word)
{
	struct str wrong = suggest->wrong;
	if (!wrong.len || wrong.len > WORD_MAX || word.len > WORD_MAX)
		return;
	size_t cost = is_start(wrong, word) ? 1 : distance(wrong, word);
	size_t longer = wrong.len > word.len ? wrong.len : word.len;
	bool is_near = is_start(wrong, word) || cost * SLIPS_PER_WORD <= longer;
	if (!is_near || (suggest->best.ptr && cost >= suggest->cost))
		return;
	suggest->best = word;
	suggest->cost = cost;
}
