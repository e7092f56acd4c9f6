/* Searches the messages of the user and the model in the files. The index excludes files that cannot contain the
 * words; files that it does not know are read. Pages continue as in thread/list, and no file is read after a page is
 * full. */
#include "app_server/rpc/server.h"
#include "app_server/history/history_page.h"
#include "app_server/history/item_view.h"
#include "app_server/store/stored_list.h"
#include "app_server/store/stored_thread.h"
#include "app_server/store/stored_turns.h"
#include "app_server/threads/thread_items.h"
#include "app_server/history/thread_history.h"
#include "app_server/store/store_index.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_reader.h"

enum { MOST_THREADS = 100, BEFORE = 60, BEHIND = 120 };

/* ---- places ---- */

/* Finds words, ignoring the case of ASCII letters. Returns -1 if they do not occur from `from` on. */
static ptrdiff_t find_words(struct str text, struct str words, size_t from)
{
	for (size_t i = from; text.len >= words.len && i <= text.len - words.len; i++) {
		if (str_equal_fold(str_n(text.ptr + i, words.len), words))
			return (ptrdiff_t)i;
	}
	return -1;
}

/* Returns the match with its context, cut between characters; *ret_at is its offset in the snippet. */
static struct str snippet_of(struct str text, size_t at, size_t len, size_t *ret_at)
{
	size_t start = text_floor_boundary(text, at > BEFORE ? at - BEFORE : 0);
	size_t end = text.len - at - len > BEHIND ? text_floor_boundary(text, at + len + BEHIND) : text.len;
	*ret_at = at - start;
	return str_n(text.ptr + start, end - start);
}

/* ---- thread/search ---- */

struct search {
	struct store_job *job;
	struct stored_list list;
	struct str snippets[MOST_THREADS + 1];
};

static struct str find_snippet(const struct thread_history *history, struct str words)
{
	size_t at_snippet;
	for (size_t i = 0; i < history->count; i++) {
		for (size_t k = 0; k < history->turns[i].items_count; k++) {
			struct str text;
			for (size_t n = 0; (text = thread_history_text(&history->turns[i].items[k], n)).ptr; n++) {
				ptrdiff_t at = find_words(text, words, 0);
				if (at >= 0)
					return snippet_of(text, (size_t)at, words.len, &at_snippet);
			}
		}
	}
	return STR_NONE;
}

static bool on_candidate(const char *path, size_t index, void *self)
{
	struct search *search = self;
	const struct app_thread_search_params *params = search->job->params;
	auto_arena struct arena arena = {0};
	struct thread_history history;
	stored_list_miss(&search->list, path, &search->job->arena);
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_EVENTS, NULL);
	if (!reader)
		return false;
	thread_history_read(reader, &arena, &history);
	rollout_reader_destroy(reader);
	struct str snippet = find_snippet(&history, params->search_term);
	if (snippet.ptr && index <= MOST_THREADS)
		search->snippets[index] = arena_str(&search->job->arena, snippet);
	return snippet.ptr;
}

static int run_search(struct store_job *job, struct error *err)
{
	const struct app_thread_search_params *params = job->params;
	struct search *search = job->out;
	struct str no_provider;
	struct app_thread_list_params list = {
		.cursor = params->cursor,
		.has_limit = params->has_limit,
		.limit = params->limit,
		.has_sort_key = params->has_sort_key,
		.sort_key = (enum app_thread_sort_key)params->sort_key,
		.has_sort_direction = params->has_sort_direction,
		.sort_direction = params->sort_direction,
		.source_kinds = params->source_kinds,
		.source_kinds_count = params->source_kinds_count,
		.has_archived = params->has_archived,
		.archived = params->archived,
		.model_providers = &no_provider, /* empty: threads of all providers */
	};
	struct rollout_index_search *words = rollout_index_search_create(job->index, params->search_term);
	struct stored_list_query query = {
		.home = job->home,
		.provider = job->provider,
		.listings = job->listings,
		.index = job->index,
		.params = &list,
		.stop = &job->stop,
		.words = words,
		.accepts = on_candidate,
		.self = search,
	};
	search->job = job;
	int status = stored_list_read(&query, &job->arena, &search->list, err);
	rollout_index_search_destroy(words);
	return status;
}

static void reply_search(struct store_job *job)
{
	struct search *search = job->out;
	struct app_thread_search_response response = {
		.data = arena_array(&job->arena, struct app_thread_search_result, search->list.count),
		.data_count = search->list.count,
		.next_cursor = search->list.next_cursor,
		.backwards_cursor = search->list.backwards_cursor,
	};
	for (size_t i = 0; i < response.data_count; i++) {
		stored_thread_join(job->request->server, &job->arena, &search->list.threads[i]);
		response.data[i] = (struct app_thread_search_result){&search->list.threads[i], search->snippets[i]};
	}
	struct store_index *store = job->request->server->store;
	rpc_reply(job->request, &response);
	store_index_fill(store, search->list.missed, search->list.missed_count, true);
}

enum rpc_verdict on_rpc_thread_search(struct rpc_request *request, const struct app_thread_search_params *params)
{
	if (!params->search_term.len)
		return rpc_fail(request, APP_INVALID_REQUEST, "searchTerm must not be empty");
	return store_job_start(request, sizeof(struct search), run_search, reply_search);
}

/* ---- thread/searchOccurrences ---- */

struct occurrence {
	const struct app_turn *turn;
	const struct app_thread_item *item;
	struct str text;
	size_t at, turn_index;
};

struct occurrences {
	struct occurrence *items; /* allocated in the job's arena */
	size_t count;
};

struct finder {
	VEC(struct occurrence) all;
};

static void find_in_item(struct finder *finder, struct occurrence it, struct str words)
{
	for (size_t n = 0; (it.text = thread_history_text(it.item, n)).ptr; n++) {
		ptrdiff_t at = find_words(it.text, words, 0);
		while (at >= 0 && finder->all.count < LIMIT_SEARCH_OCCURRENCES) {
			it.at = (size_t)at;
			vec_push(&finder->all, it);
			at = find_words(it.text, words, (size_t)at + words.len);
		}
	}
}

/* Returns the length in UTF-16 units, in which clients count. */
static int64_t units_of(struct str text)
{
	int64_t units = 0;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		units += (c & 0xc0) == 0x80 ? 0 : c >= 0xf0 ? 2 : 1;
	}
	return units;
}

static struct app_thread_search_occurrence view_of(const struct occurrence *it, struct str thread_id, size_t len,
                                                   struct arena *arena)
{
	size_t at;
	struct app_thread_search_text_range *range = arena_new(arena, struct app_thread_search_text_range);
	struct str snippet = snippet_of(it->text, it->at, len, &at);
	range->start = units_of(str_n(snippet.ptr, at));
	range->end = range->start + units_of(str_n(snippet.ptr + at, len));
	return (struct app_thread_search_occurrence){
		.turn_id = it->turn->id,
		.item_id = item_view_id(it->item),
		.turn_cursor = history_page_cursor(thread_id, "turns", it->turn_index, true, arena),
		.snippet = snippet,
		.snippet_match_range = range,
	};
}

static struct occurrences *find_all(const struct thread_history *history, struct str words, struct arena *arena)
{
	struct finder finder = {0};
	struct occurrences *ret = arena_new(arena, struct occurrences);
	for (size_t i = 0; i < history->count; i++) {
		const struct app_turn *turn = &history->turns[i];
		for (size_t k = 0; k < turn->items_count; k++) {
			struct occurrence it = {.turn = turn, .item = &turn->items[k], .turn_index = i};
			find_in_item(&finder, it, words);
		}
	}
	ret->count = finder.all.count;
	ret->items = arena_array(arena, struct occurrence, ret->count);
	for (size_t i = 0; i < ret->count; i++)
		ret->items[i] = finder.all.items[i];
	vec_finish(&finder.all);
	return ret;
}

static int run_occurrences(struct store_job *job, struct error *err)
{
	const struct app_thread_search_occurrences_params *params = job->params;
	struct stored_turns *stored = job->out;
	int status = stored_turns_read(job, params->thread_id, true, err);
	if (status == 0)
		stored->more = find_all(&stored->history, params->search_term, &job->arena);
	return status;
}

static void reply_occurrences(struct store_job *job)
{
	const struct app_thread_search_occurrences_params *params = job->params;
	const struct stored_turns *stored = job->out;
	const struct occurrences *found = stored->more;
	struct history_page page;
	struct history_page_query query = {
		.thread_id = params->thread_id,
		.cursor = params->cursor,
		.kind = "searchOccurrences",
		.count = found->count,
		.has_limit = params->has_limit,
		.limit = params->limit,
	};
	const struct rpc_error *error = stored_turns_page(job, &query, &page);
	if (error) {
		rpc_refuse(job->request, error);
		return;
	}
	struct app_thread_search_occurrences_response response = {
		.data = arena_array(&job->arena, struct app_thread_search_occurrence, page.count),
		.data_count = page.count,
		.next_cursor = page.next_cursor,
	};
	for (size_t i = 0; i < page.count; i++)
		response.data[i] = view_of(&found->items[history_page_at(&page, i)], params->thread_id,
		                           params->search_term.len, &job->arena);
	rpc_reply(job->request, &response);
}

enum rpc_verdict on_rpc_thread_search_occurrences(struct rpc_request *request,
                                                  const struct app_thread_search_occurrences_params *params)
{
	if (!params->search_term.len)
		return rpc_fail(request, APP_INVALID_REQUEST, "searchTerm must not be empty");
	return stored_turns_start(request, params->thread_id, run_occurrences, reply_occurrences);
}
