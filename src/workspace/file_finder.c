/* A slice's worker owns the search and all lists; until it reports, the loop touches only the stop flag. The queries
 * that wait for their next slice are in a ring, so that each gets its turn. */
#include "workspace/file_finder.h"

#include "base/list.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "workspace/file_lists.h"
#include "workspace/workspace_limits.h"

struct file_finder {
	struct loop *loop;
	struct file_lists *lists;
	struct list waiting;        /* struct file_query */
	struct file_query *running; /* NULL: no slice runs */
	struct loop_timer *timer;   /* NULL once the owner has destroyed the finder */
};

struct file_query {
	struct list link;
	struct file_finder *finder;
	struct file_search *search;
	atomic_bool stop;
	bool is_complete, is_cut, is_gone; /* is_gone: destroyed while its slice runs */
	char *text;                        /* to be asked for with the next slice; NULL: the last one */
	file_query_progress_fn on_progress;
	void *self;
};

static void on_kept(void *self)
{
	struct file_finder *finder = self;
	file_lists_clear(finder->lists); /* those that a slice uses are held by its search */
}

struct file_finder *file_finder_create(struct loop *loop)
{
	struct file_finder *finder = xnew(struct file_finder);
	finder->loop = loop;
	finder->lists = file_lists_create();
	finder->timer = loop_timer_create(loop, on_kept, finder);
	list_init(&finder->waiting);
	return finder;
}

static void free_finder(struct file_finder *finder)
{
	file_lists_destroy(finder->lists);
	free(finder);
}

void file_finder_destroy(struct file_finder *finder)
{
	if (!finder)
		return;
	loop_timer_destroy(steal(finder->timer));
	if (!finder->running)
		free_finder(finder);
}

/* ---- slices ---- */

static void on_work(void *self)
{
	struct file_query *query = self;
	query->is_complete = file_search_step(query->search, &query->stop);
}

static void run_next(struct file_finder *finder);

static void free_query(struct file_query *query)
{
	struct file_finder *finder = query->finder;
	file_search_destroy(query->search);
	free(query->text);
	free(query);
	if (finder->timer && file_lists_kept(finder->lists))
		loop_timer_start(finder->timer, LIMIT_SEARCH_KEPT_MS);
}

static void wait_turn(struct file_query *query)
{
	list_remove(&query->link);
	list_append(&query->finder->waiting, &query->link);
}

static void on_slice(void *self)
{
	struct file_query *query = self;
	struct file_finder *finder = query->finder;
	finder->running = NULL;
	bool is_complete = query->is_complete || query->is_cut;
	if (query->is_gone) {
		free_query(query);
	} else if (query->text && !query->is_cut) {
		wait_turn(query);
	} else {
		if (!is_complete)
			wait_turn(query);
		query->on_progress(is_complete, query->self);
	}
	if (!finder->timer)
		free_finder(finder);
	else
		run_next(finder);
}

static void run_next(struct file_finder *finder)
{
	struct file_query *query = list_first(&finder->waiting, struct file_query, link);
	if (finder->running || !query)
		return;
	list_remove(&query->link);
	if (query->text)
		file_search_set_query(query->search, str_of(query->text));
	free(steal(query->text));
	atomic_store(&query->stop, query->is_cut);
	finder->running = query;
	worker_run(finder->loop, on_work, on_slice, query);
}

/* ---- queries ---- */

struct file_query *file_query_create(struct file_finder *finder, const struct file_search_root *roots, size_t count,
                                     file_query_progress_fn on_progress, void *self)
{
	struct file_query *query = xnew(struct file_query);
	query->finder = finder;
	query->search = file_search_create(finder->lists, roots, count);
	query->on_progress = on_progress;
	query->self = self;
	list_init(&query->link);
	return query;
}

void file_query_destroy(struct file_query *query)
{
	if (!query)
		return;
	list_remove(&query->link);
	if (query->finder->running != query) {
		free_query(query);
		return;
	}
	query->is_gone = true;
	atomic_store(&query->stop, true);
}

void file_query_ask(struct file_query *query, struct str text)
{
	free(query->text);
	query->text = str_dup(text);
	if (query->finder->running == query)
		atomic_store(&query->stop, true);
	else
		wait_turn(query);
	run_next(query->finder);
}

void file_query_cut(struct file_query *query)
{
	query->is_cut = true;
	atomic_store(&query->stop, true);
}

bool file_query_results(struct file_query *query, const struct file_search_result **ret, size_t *ret_count)
{
	return file_search_results(query->search, ret, ret_count);
}
