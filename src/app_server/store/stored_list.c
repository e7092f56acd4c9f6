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
#include "rollout/rollout_facts.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_listing.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_summary.h"

enum {
	DEFAULT_PART = 25,
	LARGEST_PART = 100,
	NEWEST_EACH = 4, /* names to read for each thread of a first page; some are filtered out */
};

struct lister {
	const struct stored_list_query *query;
	const struct app_thread_list_params *params;
	struct arena *arena;  /* holds the results */
	struct arena scratch; /* holds data of the filters */
	struct arena row;     /* holds the summary of a session that the filters are applied to */
	struct stored_list *list;
	struct rollout_names names;
	const struct rollout_listing *listing;
	struct rollout_facts_table *facts; /* of the listing; or NULL */
	struct rollout_listed *changed;    /* sorted by last change instead of age; NULL: by age */
	VEC(struct app_thread) found;
	bool is_by_age, is_descending, has_folders;
	struct str *folders; /* with has_folders: the folders whose threads are listed */
	size_t folders_count;
	size_t limit;
};

/* ---- candidates ---- */

static int by_key(const struct rollout_listed *left, const struct rollout_listed *right)
{
	if (left->created_ms != right->created_ms)
		return left->created_ms < right->created_ms ? -1 : 1;
	return str_compare(left->thread_id, right->thread_id);
}

static void sort_by_change(struct lister *lister)
{
	/* If the request was stopped, the order is of no interest: no candidate is read then. */
	lister->changed = xcalloc(lister->listing->count + 1, sizeof(*lister->changed));
	(void)rollout_listing_by_change(lister->listing, lister->changed, lister->query->stop);
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

static bool is_kind(enum app_thread_source_kind kind, const struct rollout_facts *facts)
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
	if (wants_agents != facts->is_subagent)
		return false;
	if (wants_agents)
		return !words[kind] || str_has_prefix(facts->subagent, words[kind]);
	return facts->source == sources[kind];
}

static bool passes_source(const struct lister *lister, const struct rollout_facts *facts)
{
	static const enum app_thread_source_kind usual[] = {app_thread_source_kind_cli, app_thread_source_kind_vscode};
	const struct app_thread_list_params *params = lister->params;
	bool is_filtered = params->source_kinds_count > 0;
	const enum app_thread_source_kind *kinds = is_filtered ? params->source_kinds : usual;
	for (size_t i = 0; i < (is_filtered ? params->source_kinds_count : countof(usual)); i++) {
		if (is_kind(kinds[i], facts))
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

static void keep_folder(struct lister *lister, struct str folder)
{
	auto_free char *path = str_dup(folder);
	auto_free char *plain = path[0] == '/' ? path_normalize(path) : NULL;
	lister->folders[lister->folders_count++] = arena_str(&lister->scratch, str_of(plain ? plain : path));
}

/* Reads the filter by folder: a path or a list of them. */
static void read_folders(struct lister *lister)
{
	struct str folder, text = lister->params->cwd;
	const struct json *wanted = text.ptr ? json_parse(&lister->scratch, text, NULL) : NULL;
	lister->has_folders = wanted && wanted->type != JSON_null;
	size_t count = 1;
	json_for_each(it, wanted)
		count++;
	lister->folders = arena_array(&lister->scratch, struct str, count);
	if (json_to_str(wanted, &folder))
		keep_folder(lister, folder);
	json_for_each(it, wanted) {
		if (json_to_str(it, &folder))
			keep_folder(lister, folder);
	}
}

/* True if text contains words, ignoring the case of ASCII letters. */
static bool contains(struct str text, struct str words)
{
	for (size_t i = 0; text.len >= words.len && i <= text.len - words.len; i++) {
		if ((text.ptr[i] | ' ') ==
		            (words.ptr[0] | ' ') && /* letters differ in one bit; this excludes most places */
		    str_equal_fold(str_n(text.ptr + i, words.len), words))
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

static bool passes(const struct lister *lister, const struct rollout_facts *facts, struct str name)
{
	const struct app_thread_list_params *params = lister->params;
	struct str term = params->search_term;
	if (!facts->preview.ptr || !passes_source(lister, facts) || !passes_provider(lister, facts->model_provider))
		return false;
	if (params->originators && params->originators_count &&
	    !has_text(params->originators, params->originators_count, facts->originator))
		return false;
	if (term.len && !contains(facts->preview, term) && !contains(name, term))
		return false;
	return !lister->has_folders || has_text(lister->folders, lister->folders_count, facts->cwd);
}

/* ---- the part ---- */

/* Reads the summary; false if the file is damaged. */
static bool read_summary(struct lister *lister, const struct rollout_listed *candidate, struct arena *arena,
                         struct rollout_summary *ret)
{
	bool is_known = false;
	struct rollout_facts_table *table = lister->facts;
	uint32_t version = table ? rollout_facts_version(table, candidate->at, candidate->path) : 0;
	int status = rollout_index_summary(lister->query->index, candidate->path, arena, ret, &is_known, NULL);
	if (!is_known)
		stored_list_miss(lister->list, candidate->path, lister->arena);
	if (status == 0 && table) {
		struct rollout_facts facts = rollout_facts_of(ret);
		rollout_facts_learn(table, candidate->at, version, &facts);
	}
	return status == 0;
}

/* Reads the summary if the session passes the filters; false if it does not, or its file is damaged. Known facts can
 * exclude it without a look at its file. */
static bool read_wanted(struct lister *lister, const struct rollout_listed *candidate, struct rollout_summary *ret)
{
	struct rollout_facts facts;
	const struct stored_list_query *query = lister->query;
	const struct rollout_facts *known = lister->facts ? rollout_facts_find(lister->facts, candidate->at) : NULL;
	bool is_known = known;
	if (!is_known) {
		arena_reset(&lister->row);
		if (!read_summary(lister, candidate, &lister->row, ret))
			return false;
		facts = rollout_facts_of(ret);
		known = &facts;
	}
	if (!passes(lister, known, rollout_names_find(&lister->names, candidate->thread_id)) ||
	    (query->accepts && !query->accepts(candidate->path, lister->found.count, query->self)))
		return false;
	if (is_known)
		return read_summary(lister, candidate, lister->arena, ret);
	arena_adopt(lister->arena, &lister->row);
	return true;
}

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
	if (!read_wanted(lister, candidate, &summary))
		return false;
	struct str name = arena_str(lister->arena, rollout_names_find(&lister->names, summary.meta.thread_id));
	stored_thread_view(&summary, name, lister->arena, ret);
	if (!ret->model_provider.len) /* old files do not name the provider */
		ret->model_provider = str_of(query->provider);
	return true;
}

/* False if the listing ends before the part does, because it has the newest sessions only. */
static bool take_part(struct lister *lister, size_t start, struct stored_list *ret)
{
	const struct rollout_listed *first = NULL, *last = NULL;
	int64_t back = lister->is_descending ? -1 : 1, since = lister->listing->complete_since_ms;
	for (size_t i = start; i < lister->listing->count && !atomic_load(lister->query->stop); i++) {
		const struct rollout_listed *it = candidate(lister, i);
		struct app_thread thread;
		if (it->created_ms <= since)
			return false;
		if (!find_thread(lister, it, &thread))
			continue;
		if (lister->found.count == lister->limit) { /* so there is a next page */
			ret->next_cursor =
				write_cursor(lister, last->created_ms,
			                     it->created_ms == last->created_ms ? last->thread_id : STR_NONE);
			since = INT64_MIN;
			break;
		}
		vec_push(&lister->found, thread);
		first = first ? first : it;
		last = it;
	}
	if (first) /* points before the first entry, so that the other direction includes it */
		ret->backwards_cursor = write_cursor(lister, first->created_ms + back, STR_NONE);
	return since == INT64_MIN;
}

/* Takes the first part from the newest folders alone; false if it has to be taken from all. */
static bool take_newest(struct lister *lister, struct stored_list *ret)
{
	const struct app_thread_list_params *params = lister->params;
	bool is_archive = params->has_archived && params->archived;
	if (!lister->is_by_age || !lister->is_descending || is_archive || params->cursor.ptr || lister->query->accepts)
		return false;
	lister->listing = rollout_listings_newest(lister->query->listings, lister->limit * NEWEST_EACH, NULL);
	lister->facts = lister->listing ? rollout_listing_facts(lister->listing) : NULL;
	if (lister->listing && take_part(lister, 0, ret))
		return true;
	rollout_listing_unref(lister->listing);
	lister->listing = NULL;
	lister->found.count = 0;
	return false;
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
	read_folders(lister);
}

static void finish(struct lister *lister)
{
	arena_finish(&lister->scratch);
	arena_finish(&lister->row);
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

/* Takes the part from all files. */
static int take_from_all(struct lister *lister, struct stored_list *ret, struct error *err)
{
	const struct app_thread_list_params *params = lister->params;
	size_t start = 0;
	lister->listing = rollout_listings_get(lister->query->listings, params->has_archived && params->archived, err);
	if (!lister->listing)
		return -(int)err->code;
	lister->facts = rollout_listing_facts(lister->listing);
	if (!lister->is_by_age)
		sort_by_change(lister);
	int status = find_start(lister, &start, err);
	if (status == 0)
		take_part(lister, start, ret);
	return status;
}

static int read_part(struct lister *lister, struct stored_list *ret, struct error *err)
{
	rollout_names_read(lister->query->home, &lister->names);
	int status = take_newest(lister, ret) ? 0 : take_from_all(lister, ret, err);
	if (status == 0)
		view_found(lister, ret);
	return status;
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
