/* A path is a folder and a name, and most of a path's score is that of its name. So each distinct name is scored once
 * per query, however many folders have it, and folders whose entries cannot be among the best are not looked at. Paths
 * that match only together with their folders come last, if there are not enough others.
 *
 * A query that extends the last one can only match names that the last one matched. The results of earlier queries are
 * kept, for one that is shortened. */
#include "workspace/file_search.h"

#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "workspace/file_list.h"
#include "workspace/file_lists.h"
#include "workspace/fuzzy.h"
#include "workspace/workspace_limits.h"

enum { NAME_MAX_LEN = 255 };

struct hit {
	uint32_t score, folder, entry, place;
};

struct hits {
	struct hit items[LIMIT_SEARCH_RESULTS];
	size_t count;
};

/* The search in one root. */
struct place {
	struct str name;
	struct file_list *list;
	uint64_t epoch, generation;
	VEC(uint32_t) scores;    /* of each name; 0: does not match */
	size_t scored;           /* names that have been scored for the query */
	size_t narrowed;         /* names whose score is 0 if they do not match what the query begins with */
	uint32_t best;           /* the best of the scores */
	VEC(uint8_t) tails;      /* of each name: see fuzzy_tail */
	size_t by_name, by_path; /* folders whose entries were matched by their names, by their paths */
};

struct answer {
	char *query;
	struct hits hits;
};

struct file_search {
	struct arena arena; /* holds the names of the roots */
	struct file_lists *lists;
	struct place *places;
	size_t place_count;
	struct fuzzy *fuzzy;
	char *query, *scored_query; /* scored_query: the one that scores are of; NULL: none */
	bool is_new;                /* no step has been made for the query */
	struct hits hits;
	bool is_changed;
	size_t scored; /* paths of this step that were scored */
	struct answer answers[LIMIT_SEARCH_QUERIES];
	size_t answer_count; /* of all that were kept; the last ones are there */
	struct buf path;
	struct arena shown; /* holds the results */
	struct file_search_result *results;
	size_t result_count;
};

struct file_search *file_search_create(struct file_lists *lists, const struct file_search_root *roots, size_t count)
{
	struct file_search *search = xnew(struct file_search);
	search->lists = lists;
	search->place_count = count < LIMIT_SEARCH_ROOTS ? count : LIMIT_SEARCH_ROOTS;
	search->places = arena_array(&search->arena, struct place, search->place_count + 1);
	for (size_t i = 0; i < search->place_count; i++) {
		search->places[i].name = arena_str(&search->arena, roots[i].name);
		search->places[i].list = file_lists_take(lists, roots[i].path);
	}
	buf_init(&search->path, LIMIT_WALK_PATH);
	file_search_set_query(search, STR(""));
	return search;
}

static void forget_answers(struct file_search *search)
{
	for (size_t i = 0; i < countof(search->answers); i++)
		free(steal(search->answers[i].query));
}

void file_search_destroy(struct file_search *search)
{
	if (!search)
		return;
	for (size_t i = 0; i < search->place_count; i++) {
		vec_finish(&search->places[i].scores);
		vec_finish(&search->places[i].tails);
		file_lists_drop(search->lists, search->places[i].list);
	}
	fuzzy_destroy(search->fuzzy);
	forget_answers(search);
	free(search->query);
	free(search->scored_query);
	buf_finish(&search->path);
	arena_finish(&search->arena);
	arena_finish(&search->shown);
	free(search);
}

void file_search_set_query(struct file_search *search, struct str query)
{
	free(search->query);
	search->query = str_dup(query);
	fuzzy_destroy(search->fuzzy);
	search->fuzzy = fuzzy_create(query);
	search->hits.count = 0;
	search->is_changed = search->is_new = true;
}

/* ---- hits ---- */

/* Compares the paths that the parts make together. */
static int compare_paths(struct str folder_a, struct str a, struct str folder_b, struct str b)
{
	size_t common = folder_a.len < folder_b.len ? folder_a.len : folder_b.len;
	int order = memcmp(folder_a.ptr, folder_b.ptr, common);
	if (order || folder_a.len == folder_b.len)
		return order ? order : str_compare(a, b);
	if (folder_a.len < folder_b.len)
		return -compare_paths(folder_b, b, folder_a, a);
	struct str rest = str_skip(folder_a, common);
	if (b.len <= rest.len)
		return str_compare(rest, b) < 0 ? -1 : 1;
	order = memcmp(rest.ptr, b.ptr, rest.len);
	return order ? order : str_compare(a, str_skip(b, rest.len));
}

static struct str folder_of(const struct file_search *search, const struct hit *hit)
{
	return file_list_folder(search->places[hit->place].list, hit->folder);
}

static struct str name_of(const struct file_search *search, const struct hit *hit)
{
	return file_list_name(search->places[hit->place].list, hit->entry >> FILE_ENTRY_BITS);
}

static bool is_better(const struct file_search *search, const struct hit *a, const struct hit *b)
{
	if (a->score != b->score)
		return a->score > b->score;
	int order = compare_paths(folder_of(search, a), name_of(search, a), folder_of(search, b), name_of(search, b));
	return order ? order < 0 : a->place < b->place;
}

/* NULL while there is room for more. */
static const struct hit *worst_hit(const struct file_search *search)
{
	return search->hits.count == LIMIT_SEARCH_RESULTS ? &search->hits.items[LIMIT_SEARCH_RESULTS - 1] : NULL;
}

static uint32_t least_score(const struct file_search *search)
{
	const struct hit *worst = worst_hit(search);
	return worst ? worst->score : 1;
}

static void keep_hit(struct file_search *search, struct hit hit)
{
	struct hits *hits = &search->hits;
	const struct hit *worst = worst_hit(search);
	size_t low = 0, high = hits->count;
	if (worst && !is_better(search, &hit, worst))
		return;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (is_better(search, &hit, &hits->items[middle]))
			high = middle;
		else
			low = middle + 1;
	}
	if (!worst)
		hits->count++;
	memmove(hits->items + low + 1, hits->items + low, (hits->count - 1 - low) * sizeof(hit));
	hits->items[low] = hit;
	search->is_changed = true;
}

/* ---- names ---- */

/* Scores all names that have not been scored; false if it was stopped. */
static bool score_names(struct file_search *search, struct place *place, const atomic_bool *stop)
{
	size_t count = file_list_names(place->list);
	while (place->scores.count < count)
		vec_push(&place->scores, 0);
	for (; place->scored < count; place->scored++) {
		size_t i = place->scored;
		uint32_t *score = &place->scores.items[i];
		if (i < place->narrowed && !*score)
			continue;
		*score = 0;
		if (!fuzzy_may_match(search->fuzzy, file_list_letters(place->list, i)))
			continue;
		if (atomic_load_explicit(stop, memory_order_relaxed))
			return false;
		*score = fuzzy_score(search->fuzzy, file_list_name(place->list, i), false, 0);
		place->best = *score > place->best ? *score : place->best;
	}
	return true;
}

/* Paths of such a folder may have more characters than are matched, so that a name's score is not the path's. */
static bool is_long(struct str folder)
{
	return folder.len + NAME_MAX_LEN > LIMIT_FUZZY_PATH;
}

static void match_path(struct file_search *search, struct hit hit)
{
	uint32_t least = least_score(search);
	buf_truncate(&search->path, 0);
	buf_append_str(&search->path, folder_of(search, &hit));
	buf_append_str(&search->path, name_of(search, &hit));
	hit.score = fuzzy_score(search->fuzzy, buf_str(&search->path), hit.entry & FILE_ENTRY_folder, least);
	search->scored++;
	if (hit.score)
		keep_hit(search, hit);
}

/* Matches all entries of a folder. */
static void match_long(struct file_search *search, uint32_t number, uint32_t folder)
{
	size_t count;
	const uint32_t *entries = file_list_entries(search->places[number].list, folder, &count);
	for (size_t i = 0; i < count; i++)
		match_path(search, (struct hit){0, folder, entries[i], number});
}

/* False if the names of the folder's entries cannot make one of them better than the worst hit. */
static bool can_help(const struct file_search *search, const struct place *place, struct str folder)
{
	const struct hit *worst = worst_hit(search);
	if (!worst || place->best > worst->score)
		return place->best > 0;
	struct str other = folder_of(search, worst);
	size_t common = folder.len < other.len ? folder.len : other.len;
	return place->best == worst->score && memcmp(folder.ptr, other.ptr, common) <= 0;
}

/* Matches the entries of a folder whose names match. */
static void match_names(struct file_search *search, uint32_t number, uint32_t folder)
{
	const struct place *place = &search->places[number];
	size_t count;
	const uint32_t *entries = file_list_entries(place->list, folder, &count), *scores = place->scores.items;
	struct str path = file_list_folder(place->list, folder);
	if (is_long(path))
		match_long(search, number, folder);
	if (is_long(path) || !can_help(search, place, path))
		return;
	uint32_t least = least_score(search);
	for (size_t i = 0; i < count; i++) {
		uint32_t score = scores[entries[i] >> FILE_ENTRY_BITS];
		if (score < least)
			continue;
		score -= entries[i] & FILE_ENTRY_folder ? FUZZY_NAME : 0;
		if (score < least)
			continue;
		keep_hit(search, (struct hit){score, folder, entries[i], number});
		least = least_score(search);
	}
}

static bool by_names(struct file_search *search, uint32_t number, const atomic_bool *stop)
{
	struct place *place = &search->places[number];
	if (!score_names(search, place, stop))
		return false;
	for (; place->by_name < file_list_folders(place->list); place->by_name++) {
		if (atomic_load_explicit(stop, memory_order_relaxed))
			return false;
		match_names(search, number, (uint32_t)place->by_name);
	}
	return true;
}

/* ---- paths ---- */

static void find_tails(struct file_search *search, struct place *place)
{
	for (size_t i = place->tails.count; i < file_list_names(place->list); i++)
		vec_push(&place->tails, (uint8_t)fuzzy_tail(search->fuzzy, file_list_name(place->list, i)));
}

/* Matches the other entries of a folder. */
static void match_paths(struct file_search *search, uint32_t number, uint32_t folder)
{
	const struct place *place = &search->places[number];
	size_t count;
	const uint32_t *entries = file_list_entries(place->list, folder, &count);
	struct str path = file_list_folder(place->list, folder);
	size_t len = fuzzy_first_word(search->fuzzy), head = fuzzy_head(search->fuzzy, path);
	for (size_t i = 0; i < count && !is_long(path); i++) {
		uint32_t name = entries[i] >> FILE_ENTRY_BITS;
		if (head + place->tails.items[name] >= len && !place->scores.items[name])
			match_path(search, (struct hit){0, folder, entries[i], number});
	}
}

static bool by_paths(struct file_search *search, uint32_t number, const atomic_bool *stop)
{
	struct place *place = &search->places[number];
	find_tails(search, place);
	for (; place->by_path < file_list_folders(place->list); place->by_path++) {
		if (atomic_load_explicit(stop, memory_order_relaxed) || search->scored >= LIMIT_SEARCH_SLICE)
			return false;
		match_paths(search, number, (uint32_t)place->by_path);
	}
	return true;
}

/* True if a path whose name does not match can be among the best. */
static bool needs_paths(const struct file_search *search)
{
	return fuzzy_first_word(search->fuzzy) > 0 && least_score(search) < FUZZY_NAME;
}

static bool match_all(struct file_search *search, const atomic_bool *stop)
{
	search->scored = 0;
	for (uint32_t i = 0; i < search->place_count; i++) {
		if (!by_names(search, i, stop))
			return false;
	}
	for (uint32_t i = 0; i < search->place_count && needs_paths(search); i++) {
		if (!by_paths(search, i, stop))
			return false;
	}
	return true;
}

/* ---- queries ---- */

/* Starts the query's matching from the first folder. The scores of names stay. */
static void match_again(struct file_search *search)
{
	search->hits.count = 0;
	search->is_changed = true;
	for (size_t i = 0; i < search->place_count; i++)
		search->places[i].by_name = search->places[i].by_path = 0;
}

/* Adopts the changes of the lists: new numbers end all that was kept, other changes the results. */
static void adopt_changes(struct file_search *search)
{
	bool is_changed = false;
	for (size_t i = 0; i < search->place_count; i++) {
		struct place *place = &search->places[i];
		uint64_t generation = file_list_generation(place->list);
		is_changed |= generation != place->generation;
		if (place->epoch != file_list_epoch(place->list))
			place->scores.count = place->scored = place->narrowed = place->tails.count = place->best = 0;
		place->epoch = file_list_epoch(place->list);
		place->generation = generation;
	}
	if (!is_changed)
		return;
	forget_answers(search);
	match_again(search);
}

/* Discards the scores, but for what a longer query can use of them. */
static void start_scores(struct file_search *search)
{
	const char *last = search->scored_query;
	bool is_longer = last && last[0] && str_has_prefix(str_of(search->query), last);
	for (size_t i = 0; i < search->place_count; i++) {
		struct place *place = &search->places[i];
		if (!is_longer)
			place->narrowed = 0;
		else if (place->narrowed < place->scored)
			place->narrowed = place->scored;
		place->scored = place->tails.count = place->best = 0;
	}
	free(search->scored_query);
	search->scored_query = xstrdup(search->query);
}

/* Returns whether the query was answered before, and takes that answer. */
static bool recall(struct file_search *search)
{
	for (size_t i = 0; i < countof(search->answers); i++) {
		const struct answer *answer = &search->answers[i];
		if (!answer->query || strcmp(answer->query, search->query) != 0)
			continue;
		search->hits = answer->hits;
		return true;
	}
	return false;
}

static void keep_answer(struct file_search *search)
{
	struct answer *answer = &search->answers[search->answer_count++ % LIMIT_SEARCH_QUERIES];
	free(answer->query);
	answer->query = xstrdup(search->query);
	answer->hits = search->hits;
}

/* ---- steps ---- */

static bool walk(struct file_search *search, const atomic_bool *stop)
{
	for (size_t i = 0; i < search->place_count; i++) {
		if (!file_list_walk(search->places[i].list, stop))
			return false;
	}
	return true;
}

static void show(struct file_search *search, const struct hit *hit, struct file_search_result *ret)
{
	const uint32_t *indices;
	struct str folder = folder_of(search, hit), name = name_of(search, hit);
	ret->root = search->places[hit->place].name;
	ret->path = str_of(arena_printf(&search->shown, "%.*s%.*s", STR_ARG(folder), STR_ARG(name)));
	ret->is_folder = hit->entry & FILE_ENTRY_folder;
	ret->score = fuzzy_match(search->fuzzy, ret->path, ret->is_folder, &indices, &ret->index_count);
	uint32_t *copy = arena_array(&search->shown, uint32_t, ret->index_count + 1);
	for (size_t i = 0; i < ret->index_count; i++)
		copy[i] = indices[i];
	ret->indices = copy;
}

/* Copies the results, because another search can change the lists before they are read. */
static void show_all(struct file_search *search)
{
	if (!search->is_changed)
		return;
	arena_reset(&search->shown);
	search->result_count = search->hits.count;
	search->results = arena_array(&search->shown, struct file_search_result, search->hits.count + 1);
	for (size_t i = 0; i < search->hits.count; i++)
		show(search, &search->hits.items[i], &search->results[i]);
}

/* Notices what has changed since the last query. */
static void begin(struct file_search *search)
{
	for (size_t i = 0; i < search->place_count; i++)
		file_list_refresh(search->places[i].list);
	match_again(search);
}

bool file_search_step(struct file_search *search, const atomic_bool *stop)
{
	bool is_first = search->is_new, is_done = false;
	if (is_first)
		begin(search);
	search->is_new = false;
	bool is_walked = walk(search, stop);
	adopt_changes(search);
	if (is_first && is_walked && recall(search))
		is_done = true;
	else if (is_first)
		start_scores(search);
	if (!is_done && !atomic_load(stop) && match_all(search, stop)) {
		is_done = is_walked;
		if (is_done)
			keep_answer(search);
	}
	show_all(search);
	return is_done;
}

bool file_search_results(struct file_search *search, const struct file_search_result **ret, size_t *ret_count)
{
	bool is_changed = search->is_changed;
	search->is_changed = false;
	*ret = search->results;
	*ret_count = search->result_count;
	return is_changed;
}
