/* Finds the best alignment row by row, one row per letter: best[j] is the score of all letters so far with the last
 * one at j, and run[j] the bonus of a run that ends at j. The positions are recorded only for the few paths that are
 * shown.
 *
 * Most paths do not match, and most that do are not among the best. Both are recognised without an alignment: the
 * letters of an ASCII query are first looked for in the bytes of the path, and a path whose name does not match cannot
 * score BONUS_NAME. */
#include "workspace/fuzzy.h"

#include <stdlib.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "workspace/workspace_limits.h"

enum {
	SCORE_LETTER = 16,
	GAP_START = 3,
	GAP_GOES_ON = 1,
	BONUS_PART = 9,  /* for a letter after a slash or at the beginning */
	BONUS_WORD = 8,  /* for a letter after a character that is not a letter */
	BONUS_HUMP = 5,  /* for an upper-case letter in camelCase, or a digit after letters */
	BONUS_RUN = 4,   /* for a letter that continues a run */
	BONUS_FIRST = 2, /* factor of the bonus for the first letter */
	BONUS_NAME = FUZZY_NAME,
	BONUS_EXACT = 2 << 16,
	NOWHERE = -1000000,
	PATH = LIMIT_FUZZY_PATH,
	QUERY = LIMIT_FUZZY_QUERY,
};

struct word {
	size_t at, len; /* position and length in query */
};

struct fuzzy {
	uint32_t query[QUERY]; /* case-folded, without blanks */
	struct word words[QUERY];
	size_t query_len, word_count;
	uint64_t letters; /* of the ASCII characters of the query */
	bool is_ascii;
	uint32_t text[PATH]; /* case-folded */
	uint8_t bonus[PATH];
	size_t len, name_at; /* name_at: where the last component begins */
	int best[2][PATH], run[2][PATH];
	bool is_traced;
	int16_t from[QUERY][PATH]; /* position of the previous letter in the best alignment */
	uint32_t indices[QUERY];
	size_t index_count;
};

/* ---- characters ---- */

/* Returns the character at the start of s and its length; an ill-formed byte counts as a character. */
static uint32_t next_point(struct str s, size_t *ret_len)
{
	const unsigned char *p = (const unsigned char *)s.ptr;
	if (p[0] < 0x80) {
		*ret_len = 1;
		return p[0];
	}
	size_t len = text_utf8_len(s);
	*ret_len = len ? len : 1;
	if (len < 2)
		return 0xdc00u + p[0];
	uint32_t point = p[0] & (0xffu >> (len + 1));
	for (size_t i = 1; i < len; i++)
		point = point << 6 | (p[i] & 0x3f);
	return point;
}

static uint32_t fold(uint32_t point)
{
	return point >= 'A' && point <= 'Z' ? point + ('a' - 'A') : point;
}

/* Returns the bit of an ASCII character in a set of letters: the same for both cases. */
static uint64_t letter_bit(uint32_t c)
{
	return (uint64_t)1 << ((c & 0x1f) | (c & 0x40) >> 1);
}

static bool is_upper(uint32_t c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(uint32_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(uint32_t c)
{
	return is_upper(c) || (c >= 'a' && c <= 'z') || c >= 0x80;
}

static uint8_t bonus_of(uint32_t before, uint32_t c)
{
	if (before == '/')
		return BONUS_PART;
	if (!is_letter(c) && !is_digit(c))
		return BONUS_WORD;
	if (!is_letter(before) && !is_digit(before))
		return BONUS_WORD;
	if ((!is_upper(before) && is_letter(before) && is_upper(c)) || (!is_digit(before) && is_digit(c)))
		return BONUS_HUMP;
	return 0;
}

static void read_path(struct fuzzy *fuzzy, struct str path)
{
	uint32_t before = '/';
	size_t len;
	fuzzy->len = fuzzy->name_at = 0;
	while (path.len && fuzzy->len < PATH) {
		uint32_t c = next_point(path, &len);
		fuzzy->text[fuzzy->len] = fold(c);
		fuzzy->bonus[fuzzy->len++] = bonus_of(before, c);
		if (c == '/')
			fuzzy->name_at = fuzzy->len;
		before = c;
		path = str_skip(path, len);
	}
}

/* ---- a word ---- */

static void first_row(struct fuzzy *fuzzy, uint32_t letter, size_t begin)
{
	for (size_t j = begin; j < fuzzy->len; j++) {
		bool fits = fuzzy->text[j] == letter;
		fuzzy->run[0][j] = fuzzy->bonus[j];
		fuzzy->best[0][j] = fits ? SCORE_LETTER + fuzzy->bonus[j] * BONUS_FIRST : NOWHERE;
	}
}

static int run_bonus(const struct fuzzy *fuzzy, const int *run, size_t j)
{
	int bonus = run[j - 1] > BONUS_RUN ? run[j - 1] : BONUS_RUN;
	return fuzzy->bonus[j] > bonus ? fuzzy->bonus[j] : bonus;
}

/* Computes the row of letter i of the query; `at` selects which of the two rows is overwritten. */
static void next_row(struct fuzzy *fuzzy, size_t i, size_t begin, size_t at)
{
	const int *best = fuzzy->best[!at], *run = fuzzy->run[!at];
	/* the best predecessor that is not adjacent, with the gap's cost subtracted */
	int gap = NOWHERE, gap_from = -1;
	fuzzy->best[at][begin] = NOWHERE;
	fuzzy->run[at][begin] = 0;
	for (size_t j = begin + 1; j < fuzzy->len; j++) {
		gap -= GAP_GOES_ON;
		if (j >= begin + 2 && best[j - 2] - GAP_START > gap) {
			gap = best[j - 2] - GAP_START;
			gap_from = (int)j - 2;
		}
		fuzzy->best[at][j] = NOWHERE;
		fuzzy->run[at][j] = 0; /* it is added even to NOWHERE */
		if (fuzzy->text[j] != fuzzy->query[i])
			continue;
		int together = best[j - 1] + run_bonus(fuzzy, run, j), apart = gap + fuzzy->bonus[j];
		bool follows = together >= apart;
		fuzzy->best[at][j] = SCORE_LETTER + (follows ? together : apart);
		fuzzy->run[at][j] = follows ? run_bonus(fuzzy, run, j) : fuzzy->bonus[j];
		if (fuzzy->is_traced)
			fuzzy->from[i][j] = (int16_t)(follows ? (int)j - 1 : gap_from);
	}
}

/* Checks that the letters occur in order at all; most paths fail here. */
static bool occurs(const struct fuzzy *fuzzy, const struct word *word, size_t begin)
{
	size_t i = 0;
	for (size_t j = begin; j < fuzzy->len && i < word->len; j++)
		i += fuzzy->text[j] == fuzzy->query[word->at + i];
	return i == word->len;
}

static int match_word(struct fuzzy *fuzzy, const struct word *word, size_t begin)
{
	size_t at = 0, end = begin;
	if (!occurs(fuzzy, word, begin))
		return 0;
	first_row(fuzzy, fuzzy->query[word->at], begin);
	for (size_t i = 1; i < word->len; i++)
		next_row(fuzzy, word->at + i, begin, at = !at);
	for (size_t j = begin; j < fuzzy->len; j++) {
		if (fuzzy->best[at][j] > fuzzy->best[at][end])
			end = j;
	}
	int score = fuzzy->best[at][end];
	for (size_t i = word->len; fuzzy->is_traced && i-- > 0;) {
		fuzzy->indices[fuzzy->index_count++] = (uint32_t)end;
		end = i ? (size_t)fuzzy->from[word->at + i][end] : end;
	}
	return score > 0 ? score : 1;
}

/* ---- a query ---- */

static bool all_occur(const struct fuzzy *fuzzy, size_t begin)
{
	for (size_t i = 0; i < fuzzy->word_count; i++) {
		if (!occurs(fuzzy, &fuzzy->words[i], begin))
			return false;
	}
	return true;
}

/* As all_occur for the whole path, which need not have been read. In UTF-8 no byte of another character is ASCII. */
static bool all_occur_in_bytes(const struct fuzzy *fuzzy, struct str path)
{
	for (size_t n = 0; n < fuzzy->word_count; n++) {
		const struct word *word = &fuzzy->words[n];
		size_t i = 0;
		for (size_t j = 0; j < path.len && i < word->len; j++)
			i += fold((unsigned char)path.ptr[j]) == fuzzy->query[word->at + i];
		if (i < word->len)
			return false;
	}
	return true;
}

static uint32_t match_words(struct fuzzy *fuzzy, size_t begin)
{
	uint32_t sum = 0;
	fuzzy->index_count = 0;
	for (size_t i = 0; i < fuzzy->word_count; i++) {
		int score = match_word(fuzzy, &fuzzy->words[i], begin);
		if (!score)
			return 0;
		sum += (uint32_t)score;
	}
	return sum;
}

static bool is_name(const struct fuzzy *fuzzy)
{
	return fuzzy->word_count == 1 && fuzzy->len - fuzzy->name_at == fuzzy->query_len &&
	       memcmp(fuzzy->text + fuzzy->name_at, fuzzy->query, fuzzy->query_len * sizeof(*fuzzy->query)) == 0;
}

/* True if the path's score is below BONUS_NAME. */
static bool scores_low(const struct fuzzy *fuzzy, bool is_folder)
{
	return is_folder ? !is_name(fuzzy) : !all_occur(fuzzy, fuzzy->name_at);
}

static uint32_t match_path(struct fuzzy *fuzzy, struct str path, bool is_folder, uint32_t least)
{
	if (!fuzzy->word_count || (fuzzy->is_ascii && !all_occur_in_bytes(fuzzy, path)))
		return 0;
	read_path(fuzzy, path);
	if (least >= BONUS_NAME && scores_low(fuzzy, is_folder))
		return all_occur(fuzzy, 0);
	uint32_t score = match_words(fuzzy, fuzzy->name_at);
	if (score && is_name(fuzzy))
		return score + BONUS_EXACT + (is_folder ? 0 : BONUS_NAME);
	if (score && !is_folder)
		return score + BONUS_NAME;
	return score ? score : match_words(fuzzy, 0);
}

uint64_t fuzzy_letters(struct str path)
{
	uint64_t letters = 0;
	for (size_t i = 0; i < path.len; i++)
		letters |= letter_bit((unsigned char)path.ptr[i]);
	return letters;
}

bool fuzzy_may_match(const struct fuzzy *fuzzy, uint64_t letters)
{
	return fuzzy->word_count && (fuzzy->letters & ~letters) == 0;
}

size_t fuzzy_first_word(const struct fuzzy *fuzzy)
{
	return fuzzy->word_count ? fuzzy->words[0].len : 0;
}

size_t fuzzy_head(const struct fuzzy *fuzzy, struct str folder)
{
	size_t found = 0, len = fuzzy_first_word(fuzzy);
	if (!fuzzy->is_ascii)
		return len;
	for (size_t i = 0; i < folder.len && found < len; i++)
		found += fold((unsigned char)folder.ptr[i]) == fuzzy->query[found];
	return found;
}

size_t fuzzy_tail(const struct fuzzy *fuzzy, struct str name)
{
	size_t found = 0, len = fuzzy_first_word(fuzzy);
	if (!fuzzy->is_ascii)
		return len;
	for (size_t i = name.len; i > 0 && found < len; i--)
		found += fold((unsigned char)name.ptr[i - 1]) == fuzzy->query[len - 1 - found];
	return found;
}

uint32_t fuzzy_score(struct fuzzy *fuzzy, struct str path, bool is_folder, uint32_t least)
{
	fuzzy->is_traced = false;
	return match_path(fuzzy, path, is_folder, least);
}

static int compare_indices(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

uint32_t fuzzy_match(struct fuzzy *fuzzy, struct str path, bool is_folder, const uint32_t **ret_indices,
                     size_t *ret_count)
{
	size_t kept = 0;
	fuzzy->is_traced = true;
	uint32_t score = match_path(fuzzy, path, is_folder, 0);
	if (!score)
		fuzzy->index_count = 0;
	qsort(fuzzy->indices, fuzzy->index_count, sizeof(*fuzzy->indices), compare_indices);
	for (size_t i = 0; i < fuzzy->index_count; i++) {
		if (!kept || fuzzy->indices[kept - 1] != fuzzy->indices[i])
			fuzzy->indices[kept++] = fuzzy->indices[i]; /* words may share a letter */
	}
	*ret_indices = fuzzy->indices;
	*ret_count = kept;
	return score;
}

struct fuzzy *fuzzy_create(struct str query)
{
	/* not zeroed: it is large, and every part is written before it is read */
	struct fuzzy *fuzzy = xmalloc(sizeof(*fuzzy));
	size_t len;
	bool is_inside = false;
	fuzzy->query_len = fuzzy->word_count = fuzzy->index_count = 0;
	fuzzy->letters = 0;
	fuzzy->is_ascii = true;
	for (; query.len; query = str_skip(query, len)) {
		uint32_t c = next_point(query, &len);
		if (c != ' ' && fuzzy->query_len == QUERY) {
			fuzzy->word_count = 0;
			return fuzzy;
		}
		if (c != ' ' && !is_inside)
			fuzzy->words[fuzzy->word_count++] = (struct word){fuzzy->query_len, 0};
		is_inside = c != ' ';
		if (!is_inside)
			continue;
		fuzzy->letters |= c < 0x80 ? letter_bit(c) : 0;
		fuzzy->is_ascii &= c < 0x80;
		fuzzy->query[fuzzy->query_len++] = fold(c);
		fuzzy->words[fuzzy->word_count - 1].len++;
	}
	return fuzzy;
}

void fuzzy_destroy(struct fuzzy *fuzzy)
{
	free(fuzzy);
}
