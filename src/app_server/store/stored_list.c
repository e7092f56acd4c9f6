/* File names are cached (rollout_listing.h). Sorting by age needs the names only; sorting by the last change needs a
 * stat of each file. Only as many files are opened as the page needs and the index does not know. A thread with
 * several files is listed once, by its newest. Threads without a user message are not listed, as in codex 0.169.
 *
 * A cursor is the time of the last thread on the page, followed by the id of the next one if that has the same time,
 * so that no thread is skipped between pages. */
#include "app_server/store/stored_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app_server/store/stored_thread.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_listing.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_summary.h"

enum { DEFAULT_PART = 25, LARGEST_PART = 100 };

struct lister {
	const struct stored_list_query *query;
	const struct app_thread_list_params *params;
	struct arena *arena;  /* holds the results */
	struct arena scratch; /* holds data of the filters */
	struct stored_list *list;
	struct rollout_names names;
	const struct rollout_listing *listing;
	struct rollout_listed *changed; /* sorted by last change instead of age; NULL: by age */
	VEC(struct app_thread) found;
	bool is_by_age, is_descending;
	size_t limit;
};

/* ---- candidates ---- */

static int by_key(const void *a, const void *b)
{
	const struct rollout_listed *left = a, *right = b;
	if (left->created_ms != right->created_ms)
		return left->created_ms < right->created_ms ? -1 : 1;
	return str_compare(left->thread_id, right->thread_id);
}

static void sort_by_change(struct lister *lister)
{
	size_t count = lister->listing->count;
	struct stat st;
	lister->changed = xcalloc(count + 1, sizeof(*lister->changed));
	for (size_t i = 0; i < count && !atomic_load(lister->query->stop); i++) {
		struct rollout_listed it = lister->listing->files[i];
		bool exists = stat(it.path, &st) == 0;
		it.created_ms = exists ? (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 : 0;
		lister->changed[i] = it;
	}
	if (count && !atomic_load(lister->query->stop))
		qsort(lister->changed, count, sizeof(*lister->changed), by_key);
}

/* Returns the candidate at an index of the list's order. */
static const struct rollout_listed *candidate(const struct lister *lister, size_t index)
{
	const struct rollout_listed *all = lister->changed ? lister->changed : lister->listing->files;
	return &all[lister->is_descending ? lister->listing->count - 1 - index : index];
}

/* ---- cursors: "<time>" or "<time>|<id>" ---- */

static struct str write_cursor(struct lister *lister, int64_t key_ms, struct str id)
{
	char time[CLOCK_RFC3339_SIZE];
	clock_rfc3339(key_ms, time);
	return str_of(id.ptr ? arena_printf(lister->arena, "%s|%.*s", time, STR_ARG(id))
	                     : arena_printf(lister->arena, "%s", time));
}

/* Reads the cursor as a candidate's position; without an id, all candidates of its time precede it. */
static int read_cursor(struct lister *lister, struct rollout_listed *ret, struct error *err)
{
	struct str rest = lister->params->cursor, time = STR_NONE;
	*ret = (struct rollout_listed){0};
	if (!str_next_part(&rest, '|', &time) || !clock_parse_rfc3339(time, &ret->created_ms) ||
	    (rest.len && !uuid_is_valid(rest)))
		return error_set(err, ERR_invalid, "invalid cursor: %.*s", STR_ARG(lister->params->cursor));
	ret->thread_id = rest.len ? rest : lister->is_descending ? STR("") : STR("~");
	return 0;
}

/* Finds the first candidate after the cursor. */
static int find_start(struct lister *lister, size_t *ret, struct error *err)
{
	struct rollout_listed at;
	size_t low = 0, high = lister->listing->count;
	*ret = 0;
	if (!lister->params->cursor.ptr)
		return 0;
	int status = read_cursor(lister, &at, err);
	while (status == 0 && low < high) {
		size_t middle = low + (high - low) / 2;
		int order = by_key(candidate(lister, middle), &at);
		if (lister->is_descending ? order < 0 : order > 0)
			high = middle;
		else
			low = middle + 1;
	}
	*ret = low;
	return status;
}

/* ---- filters ---- */

static bool has_text(const struct str *list, size_t count, struct str text)
{
	for (size_t i = 0; i < count; i++) {
		if (str_eq(list[i], text))
			return true;
	}
	return false;
}

static bool is_kind(enum app_thread_source_kind kind, const struct rollout_meta *meta)
{
	static const char *const words[app_thread_source_kind_count] = {
		[app_thread_source_kind_sub_agent_review] = "\"review\"",
		[app_thread_source_kind_sub_agent_compact] = "\"compact\"",
		[app_thread_source_kind_sub_agent_thread_spawn] = "{\"thread_spawn\"",
		[app_thread_source_kind_sub_agent_other] = "{\"other\"",
	};
	static const enum session_source sources[app_thread_source_kind_count] = {
		[app_thread_source_kind_cli] = session_source_cli,
		[app_thread_source_kind_vscode] = session_source_vscode,
		[app_thread_source_kind_exec] = session_source_exec,
		[app_thread_source_kind_app_server] = session_source_mcp,
		[app_thread_source_kind_unknown] = session_source_unknown,
	};
	bool wants_agents = kind == app_thread_source_kind_sub_agent || words[kind];
	if (wants_agents != meta->is_subagent)
		return false;
	if (wants_agents)
		return !words[kind] || str_has_prefix(meta->subagent, words[kind]);
	return meta->source == sources[kind];
}

static bool passes_source(const struct lister *lister, const struct rollout_meta *meta)
{
	static const enum app_thread_source_kind usual[] = {app_thread_source_kind_cli, app_thread_source_kind_vscode};
	const struct app_thread_list_params *params = lister->params;
	bool is_filtered = params->source_kinds_count > 0;
	const enum app_thread_source_kind *kinds = is_filtered ? params->source_kinds : usual;
	for (size_t i = 0; i < (is_filtered ? params->source_kinds_count : countof(usual)); i++) {
		if (is_kind(kinds[i], meta))
			return true;
	}
	return false;
}

static bool passes_provider(const struct lister *lister, struct str provider)
{
	const struct app_thread_list_params *params = lister->params;
	if (!params->model_providers)
		return str_is(provider, lister->query->provider) || !provider.len;
	return !params->model_providers_count ||
	       has_text(params->model_providers, params->model_providers_count, provider);
}

static bool is_folder(struct str wanted, struct str cwd)
{
	auto_free char *path = str_dup(wanted);
	auto_free char *plain = path[0] == '/' ? path_normalize(path) : NULL;
	return str_is(cwd, plain ? plain : path);
}

static bool passes_cwd(struct lister *lister, struct str cwd)
{
	struct str folder, text = lister->params->cwd;
	const struct json *wanted = text.ptr ? json_parse(&lister->scratch, text, NULL) : NULL;
	if (!wanted || wanted->type == JSON_null)
		return true;
	if (json_to_str(wanted, &folder))
		return is_folder(folder, cwd);
	json_for_each(it, wanted) {
		if (json_to_str(it, &folder) && is_folder(folder, cwd))
			return true;
	}
	return false;
}

/* True if text contains words, ignoring the case of ASCII letters. */
static bool contains(struct str text, struct str words)
{
	for (size_t i = 0; text.len >= words.len && i <= text.len - words.len; i++) {
		if (str_equal_fold(str_n(text.ptr + i, words.len), words))
			return true;
	}
	return false;
}

/* True for a list that is restricted to a section, a project or threads of subagents: these are not stored here, so
 * it is empty. */
static bool asks_for_none(const struct app_thread_list_params *params)
{
	return params->project_id.ptr || params->section_id.ptr || params->parent_thread_id.ptr ||
	       params->ancestor_thread_id.ptr || params->attached_to_thread_id.ptr;
}

static bool passes(struct lister *lister, const struct rollout_summary *summary, struct str name)
{
	const struct app_thread_list_params *params = lister->params;
	const struct rollout_meta *meta = &summary->meta;
	struct str term = params->search_term;
	if (!summary->preview.ptr || !passes_source(lister, meta) || !passes_provider(lister, meta->model_provider))
		return false;
	if (params->originators && params->originators_count &&
	    !has_text(params->originators, params->originators_count, meta->originator))
		return false;
	if (term.len && !contains(summary->preview, term) && !contains(name, term))
		return false;
	return passes_cwd(lister, meta->cwd);
}

/* ---- the part ---- */

/* False if the thread is filtered out or its file is damaged. */
static bool find_thread(struct lister *lister, const struct rollout_listed *candidate, struct app_thread *ret)
{
	struct rollout_summary summary;
	const struct stored_list_query *query = lister->query;
	if (has_text(lister->params->excluded_thread_ids, lister->params->excluded_thread_ids_count,
	             candidate->thread_id))
		return false;
	if (query->words && rollout_index_search_excludes(query->words, candidate->path))
		return false;
	bool is_known = false;
	int status = rollout_index_summary(query->index, candidate->path, lister->arena, &summary, &is_known, NULL);
	if (!is_known)
		stored_list_miss(lister->list, candidate->path, lister->arena);
	if (status != 0)
		return false;
	struct str name = arena_str(lister->arena, rollout_names_find(&lister->names, summary.meta.thread_id));
	if (!passes(lister, &summary, name) ||
	    (query->accepts && !query->accepts(candidate->path, lister->found.count, query->self)))
		return false;
	stored_thread_view(&summary, name, lister->arena, ret);
	if (!ret->model_provider.len) /* old files do not name the provider */
		ret->model_provider = str_of(query->provider);
	return true;
}

static void take_part(struct lister *lister, size_t start, struct stored_list *ret)
{
	const struct rollout_listed *first = NULL, *last = NULL;
	int64_t back = lister->is_descending ? -1 : 1;
	for (size_t i = start; i < lister->listing->count && !atomic_load(lister->query->stop); i++) {
		const struct rollout_listed *it = candidate(lister, i);
		struct app_thread thread;
		if (!find_thread(lister, it, &thread))
			continue;
		if (lister->found.count == lister->limit) { /* so there is a next page */
			ret->next_cursor =
				write_cursor(lister, last->created_ms,
			                     it->created_ms == last->created_ms ? last->thread_id : STR_NONE);
			break;
		}
		vec_push(&lister->found, thread);
		first = first ? first : it;
		last = it;
	}
	if (first) /* points before the first entry, so that the other direction includes it */
		ret->backwards_cursor = write_cursor(lister, first->created_ms + back, STR_NONE);
}

static void init(struct lister *lister)
{
	const struct app_thread_list_params *params = lister->params;
	bool is_limited = params->has_limit;
	lister->is_by_age = !params->has_sort_key || params->sort_key == app_thread_sort_key_created_at;
	lister->is_descending = !params->has_sort_direction || params->sort_direction == app_sort_direction_desc;
	lister->limit = is_limited && params->limit > 0 ? (size_t)params->limit : is_limited ? 1 : DEFAULT_PART;
	if (lister->limit > LARGEST_PART)
		lister->limit = LARGEST_PART;
}

static void finish(struct lister *lister)
{
	arena_finish(&lister->scratch);
	rollout_names_finish(&lister->names);
	rollout_listing_unref(lister->listing);
	free(lister->changed);
	vec_finish(&lister->found);
}

static void view_found(struct lister *lister, struct stored_list *ret)
{
	ret->count = lister->found.count;
	ret->threads = arena_array(lister->arena, struct app_thread, ret->count);
	ret->notes = arena_array(lister->arena, struct thread_note, ret->count);
	for (size_t i = 0; i < ret->count; i++) {
		ret->threads[i] = lister->found.items[i];
		thread_note_read(lister->query->home, ret->threads[i].id, lister->arena, &ret->notes[i]);
		thread_note_apply(&ret->notes[i], &ret->threads[i]);
	}
}

static int read_part(struct lister *lister, struct stored_list *ret, struct error *err)
{
	const struct app_thread_list_params *params = lister->params;
	size_t start = 0;
	lister->listing = rollout_listings_get(lister->query->listings, params->has_archived && params->archived, err);
	if (!lister->listing)
		return -(int)err->code;
	if (!lister->is_by_age)
		sort_by_change(lister);
	int status = find_start(lister, &start, err);
	if (status != 0)
		return status;
	rollout_names_read(lister->query->home, &lister->names);
	take_part(lister, start, ret);
	view_found(lister, ret);
	return 0;
}

void stored_list_miss(struct stored_list *list, const char *path, struct arena *arena)
{
	if (!list->missed)
		list->missed = arena_array(arena, const char *, STORED_LIST_MISSES);
	if (list->missed_count < STORED_LIST_MISSES)
		list->missed[list->missed_count++] = arena_cstr(arena, str_of(path));
}

int stored_list_read(const struct stored_list_query *query, struct arena *arena, struct stored_list *ret,
                     struct error *err)
{
	struct lister lister = {.query = query, .params = query->params, .arena = arena, .list = ret};
	struct rollout_listed at;
	*ret = (struct stored_list){0};
	init(&lister);
	int status;
	if (!asks_for_none(query->params))
		status = read_part(&lister, ret, err);
	else
		status = query->params->cursor.ptr ? read_cursor(&lister, &at, err) : 0;
	finish(&lister);
	return status;
}
