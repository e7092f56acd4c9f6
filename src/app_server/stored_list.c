/* All names of files are looked at, and only so many files opened as a part of the list needs: sorting by age needs the
 * names alone. A thread that has several files is shown once, by its newest. What nobody has said anything in is not
 * shown, as in the reference.
 *
 * A cursor is the time of the last thread shown. Where the next one has the same time, its id follows, so that none is
 * lost between two parts. */
#include "app_server/stored_list.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "app_server/stored_thread.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_summary.h"

enum { DEFAULT_PART = 25, LARGEST_PART = 100 };

struct candidate {
	const char *path;
	struct str id;
	size_t order; /* in which it was found: the newest file of a thread first */
	int64_t key_ms;
};

struct lister {
	const struct stored_list_query *query;
	const struct app_thread_list_params *params;
	struct arena *arena;  /* of what is returned */
	struct arena scratch; /* of candidates */
	struct rollout_names names;
	VEC(struct candidate) all;
	VEC(struct app_thread) found;
	bool is_by_age, is_descending;
	size_t limit;
};

/* ---- candidates ---- */

static bool on_visit(const char *path, const struct rollout_name *name, void *self)
{
	struct lister *lister = self;
	struct stat st;
	struct candidate it = {
		.path = arena_cstr(&lister->scratch, str_of(path)),
		.id = arena_str(&lister->scratch, name->thread_id),
		.order = lister->all.count,
	};
	if (lister->is_by_age)
		it.key_ms = rollout_summary_created(name);
	else if (stat(path, &st) == 0)
		it.key_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
	vec_push(&lister->all, it);
	return atomic_load(lister->query->stop);
}

static int by_id(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	int order = str_compare(left->id, right->id);
	return order ? order : (left->order > right->order) - (left->order < right->order);
}

static int by_key(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;
	if (left->key_ms != right->key_ms)
		return left->key_ms < right->key_ms ? -1 : 1;
	return str_compare(left->id, right->id);
}

static int by_key_descending(const void *a, const void *b)
{
	return by_key(b, a);
}

static void keep_newest(struct lister *lister)
{
	size_t kept = 0;
	if (!lister->all.count)
		return;
	qsort(lister->all.items, lister->all.count, sizeof(*lister->all.items), by_id);
	for (size_t i = 0; i < lister->all.count; i++) {
		if (!kept || !str_eq(lister->all.items[kept - 1].id, lister->all.items[i].id))
			lister->all.items[kept++] = lister->all.items[i];
	}
	lister->all.count = kept;
	qsort(lister->all.items, kept, sizeof(*lister->all.items),
	      lister->is_descending ? by_key_descending : by_key);
}

/* ---- cursors: "<time>" or "<time>|<id>" ---- */

static struct str write_cursor(struct lister *lister, int64_t key_ms, struct str id)
{
	char time[CLOCK_RFC3339_SIZE];
	clock_rfc3339(key_ms, time);
	return str_of(id.ptr ? arena_printf(lister->arena, "%s|%.*s", time, STR_ARG(id))
	                     : arena_printf(lister->arena, "%s", time));
}

/* A candidate that stands where the cursor does; an absent id is behind all of its time. */
static int read_cursor(struct lister *lister, struct candidate *ret, struct error *err)
{
	struct str rest = lister->params->cursor, time = STR_NONE;
	*ret = (struct candidate){0};
	if (!str_next_part(&rest, '|', &time) || !clock_parse_rfc3339(time, &ret->key_ms) ||
	    (rest.len && !uuid_is_valid(rest)))
		return error_set(err, ERR_invalid, "invalid cursor: %.*s", STR_ARG(lister->params->cursor));
	ret->id = rest.len ? rest : lister->is_descending ? STR("") : STR("~");
	return 0;
}

/* The index of the first that is behind the cursor. */
static int find_start(struct lister *lister, size_t *ret, struct error *err)
{
	struct candidate at;
	*ret = 0;
	if (!lister->params->cursor.ptr)
		return 0;
	int status = read_cursor(lister, &at, err);
	while (status == 0 && *ret < lister->all.count) {
		int order = by_key(&lister->all.items[*ret], &at);
		if (lister->is_descending ? order < 0 : order > 0)
			break;
		(*ret)++;
	}
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
	bool is_told = params->source_kinds_count > 0;
	const enum app_thread_source_kind *kinds = is_told ? params->source_kinds : usual;
	for (size_t i = 0; i < (is_told ? params->source_kinds_count : countof(usual)); i++) {
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

/* ASCII letters are the same in both cases. */
static bool contains(struct str text, struct str words)
{
	for (size_t i = 0; text.len >= words.len && i <= text.len - words.len; i++) {
		if (str_equal_fold(str_n(text.ptr + i, words.len), words))
			return true;
	}
	return false;
}

/* Sections, projects and threads of agents are not kept here: whoever asks for those of one gets none. */
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

/* False if the thread is not shown, also because its file is damaged. */
static bool find_thread(struct lister *lister, const struct candidate *candidate, struct app_thread *ret)
{
	struct rollout_summary summary;
	const struct stored_list_query *query = lister->query;
	if (has_text(lister->params->excluded_thread_ids, lister->params->excluded_thread_ids_count, candidate->id))
		return false;
	if (rollout_summary_read(candidate->path, lister->arena, &summary, NULL) != 0)
		return false;
	struct str name = arena_str(lister->arena, rollout_names_find(&lister->names, summary.meta.thread_id));
	if (!passes(lister, &summary, name) ||
	    (query->accepts && !query->accepts(candidate->path, lister->found.count, query->self)))
		return false;
	stored_thread_view(&summary, name, lister->arena, ret);
	if (!ret->model_provider.len) /* of a file of before there were others */
		ret->model_provider = str_of(query->provider);
	return true;
}

static void take_part(struct lister *lister, size_t start, struct stored_list *ret)
{
	const struct candidate *first = NULL, *last = NULL;
	int64_t back = lister->is_descending ? -1 : 1;
	for (size_t i = start; i < lister->all.count && !atomic_load(lister->query->stop); i++) {
		const struct candidate *it = &lister->all.items[i];
		struct app_thread thread;
		if (!find_thread(lister, it, &thread))
			continue;
		if (lister->found.count == lister->limit) { /* there is one more */
			ret->next_cursor = write_cursor(lister, last->key_ms,
			                                it->key_ms == last->key_ms ? last->id : STR_NONE);
			break;
		}
		vec_push(&lister->found, thread);
		first = first ? first : it;
		last = it;
	}
	if (first) /* just before it, so that it comes again */
		ret->backwards_cursor = write_cursor(lister, first->key_ms + back, STR_NONE);
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
	vec_finish(&lister->all);
	vec_finish(&lister->found);
}

int stored_list_read(const struct stored_list_query *query, struct arena *arena, struct stored_list *ret,
                     struct error *err)
{
	struct lister lister = {.query = query, .params = query->params, .arena = arena};
	bool is_archive = query->params->has_archived && query->params->archived;
	size_t start = 0;
	*ret = (struct stored_list){0};
	init(&lister);
	int status = asks_for_none(lister.params)
	                     ? 0
	                     : rollout_list_walk(query->home, is_archive, on_visit, &lister, err);
	keep_newest(&lister);
	if (status == 0)
		status = find_start(&lister, &start, err);
	if (status == 0) {
		rollout_names_read(query->home, &lister.names);
		take_part(&lister, start, ret);
		ret->count = lister.found.count;
		ret->threads = arena_array(arena, struct app_thread, ret->count);
		ret->notes = arena_array(arena, struct thread_note, ret->count);
		for (size_t i = 0; i < ret->count; i++) {
			ret->threads[i] = lister.found.items[i];
			thread_note_read(query->home, ret->threads[i].id, arena, &ret->notes[i]);
			thread_note_apply(&ret->notes[i], &ret->threads[i]);
		}
	}
	finish(&lister);
	return status;
}
