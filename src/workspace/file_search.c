/* All paths are in one buffer, so a million of them are one allocation and a scan reads memory sequentially. Scores
 * are computed for the paths that have the query's letters in any order, alignments only for the few that are shown. A
 * query that extends the previous one can only match paths that the previous one matched, so only those are matched
 * again. */
#include "workspace/file_search.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "workspace/file_walk.h"
#include "workspace/fuzzy.h"

struct entry {
	uint32_t at; /* offset in texts */
	uint16_t len;
	uint8_t root;
	bool is_folder;
};

struct hit {
	uint32_t score;
	uint32_t entry;
};

struct file_search {
	struct arena arena; /* holds the roots */
	struct file_search_root *roots;
	size_t root_count, root; /* root: the index of the one being walked */
	struct file_walk *walk;  /* NULL between two roots */
	struct buf texts;
	VEC(struct entry) entries;
	VEC(uint64_t) letters; /* of each entry: see fuzzy_letters */
	struct fuzzy *fuzzy;
	char *query;
	size_t matched; /* number of entries that were matched */
	/* Indices of paths: those before fit_count match the query; those from retry_at on matched its prefix and
	 * must be matched again. */
	VEC(uint32_t) fitting;
	size_t fit_count, retry_at;
	struct hit hits[LIMIT_SEARCH_RESULTS];
	size_t hit_count;
	size_t scored; /* entries of this slice that were scored */
	bool is_changed;
	struct arena shown; /* holds the results */
};

struct file_search *file_search_create(const struct file_search_root *roots, size_t count)
{
	struct file_search *search = xnew(struct file_search);
	search->root_count = count < LIMIT_SEARCH_ROOTS ? count : LIMIT_SEARCH_ROOTS;
	search->roots = arena_array(&search->arena, struct file_search_root, search->root_count + 1);
	for (size_t i = 0; i < search->root_count; i++) {
		search->roots[i].name = arena_str(&search->arena, roots[i].name);
		search->roots[i].path = arena_cstr(&search->arena, str_of(roots[i].path));
	}
	buf_init(&search->texts, LIMIT_SEARCH_BYTES);
	file_search_set_query(search, STR(""));
	return search;
}

void file_search_destroy(struct file_search *search)
{
	if (!search)
		return;
	file_walk_destroy(search->walk);
	fuzzy_destroy(search->fuzzy);
	free(search->query);
	vec_finish(&search->fitting);
	buf_finish(&search->texts);
	vec_finish(&search->entries);
	vec_finish(&search->letters);
	arena_finish(&search->arena);
	arena_finish(&search->shown);
	free(search);
}

/* Compacts `fitting` to the paths that match or may match. */
static void close_gap(struct file_search *search)
{
	uint32_t *items = search->fitting.items;
	size_t rest = search->fitting.count - search->retry_at;
	if (search->retry_at != search->fit_count && rest)
		memmove(items + search->fit_count, items + search->retry_at, rest * sizeof(*items));
	search->fitting.count = search->fit_count + rest;
	search->retry_at = search->fit_count;
}

void file_search_set_query(struct file_search *search, struct str query)
{
	bool is_extension = search->query && search->query[0] && str_has_prefix(query, search->query);
	if (is_extension)
		close_gap(search);
	else
		search->fitting.count = search->matched = 0;
	search->fit_count = search->retry_at = 0;
	free(search->query);
	search->query = str_dup(query);
	fuzzy_destroy(search->fuzzy);
	search->fuzzy = fuzzy_create(query);
	search->hit_count = 0;
	search->is_changed = true;
}

/* ---- walking ---- */

static bool is_full(const struct file_search *search)
{
	return search->texts.over || search->entries.count >= LIMIT_SEARCH_FILES;
}

static void add_entry(struct file_search *search, const struct file_walk_entry *found)
{
	struct entry entry = {
		.at = (uint32_t)search->texts.len,
		.len = (uint16_t)found->path.len,
		.root = (uint8_t)search->root,
		.is_folder = found->is_folder,
	};
	buf_append_str(&search->texts, found->path);
	if (search->texts.over)
		return;
	vec_push(&search->entries, entry);
	vec_push(&search->letters, fuzzy_letters(found->path));
}

/* Reads one entry; true when everything has been walked. */
static bool walk_one(struct file_search *search)
{
	struct file_walk_entry found;
	if (search->root == search->root_count || is_full(search))
		return true;
	if (!search->walk)
		search->walk = file_walk_create(search->roots[search->root].path);
	enum file_walk_step step = file_walk_next(search->walk, &found);
	if (step == FILE_WALK_entry)
		add_entry(search, &found);
	if (step != FILE_WALK_end)
		return false;
	file_walk_destroy(steal(search->walk));
	search->root++;
	return false;
}

/* ---- matching ---- */

static struct str path_of(const struct file_search *search, size_t entry)
{
	return str_n(search->texts.data + search->entries.items[entry].at, search->entries.items[entry].len);
}

static bool is_better(const struct file_search *search, const struct hit *a, const struct hit *b)
{
	if (a->score != b->score)
		return a->score > b->score;
	int order = str_compare(path_of(search, a->entry), path_of(search, b->entry));
	return order ? order < 0 : a->entry < b->entry;
}

static void keep_hit(struct file_search *search, struct hit hit)
{
	size_t at = search->hit_count;
	if (at == LIMIT_SEARCH_RESULTS && !is_better(search, &hit, &search->hits[at - 1]))
		return;
	if (at < LIMIT_SEARCH_RESULTS)
		search->hit_count++;
	else
		at--;
	for (; at && is_better(search, &hit, &search->hits[at - 1]); at--)
		search->hits[at] = search->hits[at - 1];
	search->hits[at] = hit;
	search->is_changed = true;
}

static bool match_entry(struct file_search *search, uint32_t number)
{
	if (!fuzzy_may_match(search->fuzzy, search->letters.items[number]))
		return false;
	bool is_folder = search->entries.items[number].is_folder;
	uint32_t least = search->hit_count == LIMIT_SEARCH_RESULTS ? search->hits[LIMIT_SEARCH_RESULTS - 1].score : 0;
	uint32_t score = fuzzy_score(search->fuzzy, path_of(search, number), is_folder, least);
	search->scored++;
	if (score)
		keep_hit(search, (struct hit){score, number});
	return score > 0;
}

/* Matches one path; false when everything has been matched. */
static bool match_one(struct file_search *search)
{
	if (search->retry_at < search->fitting.count) {
		uint32_t number = search->fitting.items[search->retry_at++];
		if (match_entry(search, number))
			search->fitting.items[search->fit_count++] = number;
		return true;
	}
	close_gap(search);
	if (search->matched == search->entries.count)
		return false;
	if (match_entry(search, (uint32_t)search->matched)) {
		vec_push(&search->fitting, (uint32_t)search->matched);
		search->fit_count = search->retry_at = search->fitting.count;
	}
	search->matched++;
	return true;
}

bool file_search_step(struct file_search *search, const atomic_bool *stop)
{
	bool is_walked = false, may_be_more = true;
	for (size_t i = 0; i < LIMIT_SEARCH_SLICE && !is_walked; i++) {
		if (atomic_load(stop))
			return false;
		is_walked = walk_one(search);
	}
	search->scored = 0;
	while (search->scored < LIMIT_SEARCH_SLICE && may_be_more) {
		if (atomic_load(stop))
			return false;
		may_be_more = match_one(search);
	}
	return is_walked && !may_be_more;
}

/* ---- results ---- */

static void show(struct file_search *search, const struct hit *hit, struct file_search_result *ret)
{
	const struct entry *entry = &search->entries.items[hit->entry];
	const uint32_t *indices;
	ret->root = search->roots[entry->root].name;
	ret->path = path_of(search, hit->entry);
	ret->is_folder = entry->is_folder;
	ret->score = fuzzy_match(search->fuzzy, ret->path, entry->is_folder, &indices, &ret->index_count);
	uint32_t *copy = arena_array(&search->shown, uint32_t, ret->index_count + 1);
	for (size_t i = 0; i < ret->index_count; i++)
		copy[i] = indices[i];
	ret->indices = copy;
}

bool file_search_results(struct file_search *search, const struct file_search_result **ret, size_t *ret_count)
{
	bool is_changed = search->is_changed;
	search->is_changed = false;
	arena_reset(&search->shown);
	struct file_search_result *results =
		arena_array(&search->shown, struct file_search_result, search->hit_count + 1);
	for (size_t i = 0; i < search->hit_count; i++)
		show(search, &search->hits[i], &results[i]);
	*ret = results;
	*ret_count = search->hit_count;
	return is_changed;
}
