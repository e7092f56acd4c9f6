/* A fill is a series of short jobs on the pool, each a transaction of SLICE_MS, so that neither the pool's threads
 * nor other processes wait long. It begins a moment after the request that wants it: the answer, and a client that
 * exits with it or asks for more at once, do not share the processor with it. A request that found all its files in the
 * index wants none. The first fill of a process looks at all files, unless an earlier one did and the folders have not
 * changed since; later ones look at files that a request has read. A file that was just written will change again: it
 * is left for a later fill and read meanwhile. Words are indexed after the first search only, because that requires
 * reading whole files. */
#include "app_server/store/store_index.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "app_server/history/thread_history.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "rollout/rollout_index.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_listing.h"

enum { SLICE_MS = 40, RESTED_MS = 10 * 1000, DELAY_MS = 250 };

struct index_fill {
	struct store_index *owner; /* NULL after the owner was destroyed */
	struct loop *loop;
	struct rollout_listings *listings;
	struct rollout_index *index;
	atomic_bool stop;
	bool is_full, has_listed, with_words, is_over;
	bool takes_all; /* include files that were just written */
	VEC(char *) paths;
	size_t at;
	uint64_t folders; /* the state of the folders that paths came from; 0: they are changing */
};

/* ---- on a worker ---- */

static void add_kind(struct index_fill *fill, bool is_archive)
{
	const struct rollout_listing *listing = rollout_listings_get(fill->listings, is_archive, NULL);
	for (size_t i = listing ? listing->count : 0; i > 0; i--)
		vec_push(&fill->paths, xstrdup(listing->files[i - 1].path));
	rollout_listing_unref(listing);
}

/* Returns the state of the folders of both listings; 0 if one of them is changing or cannot be read. */
static uint64_t state_of_folders(struct index_fill *fill)
{
	uint64_t folders[2];
	for (int is_archive = 0; is_archive < 2; is_archive++)
		folders[is_archive] = rollout_listings_folders(fill->listings, is_archive);
	return folders[0] && folders[1] ? folders[0] ^ folders[1] << 1 : 0;
}

/* Lists all files, unless the index has them; false if it has. */
static bool list_all(struct index_fill *fill)
{
	fill->folders = state_of_folders(fill);
	if (rollout_index_is_complete(fill->index, fill->with_words, fill->folders))
		return false;
	add_kind(fill, false);
	add_kind(fill, true);
	return true;
}

static bool is_rested(const char *path)
{
	struct stat st;
	return stat(path, &st) == 0 && (int64_t)st.st_mtim.tv_sec * 1000 + RESTED_MS < clock_unix_ms();
}

static void learn_words(struct rollout_index *index, const char *path)
{
	struct buf text;
	struct stat st;
	buf_init(&text, LIMIT_ROLLOUT_INDEX_TEXT);
	if (stat(path, &st) == 0 && thread_history_read_text(path, &text) && !text.over)
		rollout_index_learn_text(index, path, &st, buf_str(&text));
	buf_finish(&text);
}

static void learn(struct index_fill *fill, const char *path)
{
	if ((!fill->takes_all && !is_rested(path)) || rollout_index_knows(fill->index, path, fill->with_words))
		return;
	if (fill->with_words)
		learn_words(fill->index, path);
	if (!fill->with_words || !rollout_index_knows(fill->index, path, false))
		rollout_index_learn(fill->index, path);
}

/* The state of the folders is recorded only if it did not change during the fill. */
static void end_full(struct index_fill *fill)
{
	rollout_index_sweep(fill->index);
	if (fill->folders && state_of_folders(fill) == fill->folders)
		rollout_index_set_complete(fill->index, fill->with_words, fill->folders);
}

static void run_slice(struct index_fill *fill)
{
	uint64_t end = clock_now_ms() + SLICE_MS;
	if (!rollout_index_begin(fill->index)) {
		fill->is_over = true; /* the database is locked or read-only: the next fill tries again */
		return;
	}
	while (fill->at < fill->paths.count && clock_now_ms() < end && !atomic_load(&fill->stop))
		learn(fill, fill->paths.items[fill->at++]);
	if (fill->at == fill->paths.count && fill->is_full)
		end_full(fill);
	fill->is_over = !rollout_index_end(fill->index) || fill->at == fill->paths.count;
}

static void on_work(void *self)
{
	struct index_fill *fill = self;
	if (fill->is_full && !fill->has_listed && !list_all(fill)) {
		fill->is_over = true;
		return;
	}
	fill->has_listed = true;
	run_slice(fill);
}

/* ---- on the loop ---- */

static void fill_destroy(struct index_fill *fill)
{
	vec_for_each(it, &fill->paths)
		free(*it);
	vec_finish(&fill->paths);
	rollout_listings_unref(fill->listings);
	rollout_index_unref(fill->index);
	free(fill);
}

static void on_done(void *self)
{
	struct index_fill *fill = self;
	struct store_index *owner = fill->owner;
	if (owner && !fill->is_over) {
		worker_run(fill->loop, on_work, on_done, fill);
		return;
	}
	if (owner)
		owner->running = NULL;
	fill_destroy(fill);
	if (owner && owner->wants_words)
		store_index_fill(owner, NULL, 0, true);
}

static void on_delay_over(void *self)
{
	struct store_index *store = self;
	store->is_delayed = false;
	worker_run(store->loop, on_work, on_done, store->running);
}

static struct index_fill *fill_create(struct rollout_listings *listings, struct rollout_index *index)
{
	struct index_fill *fill = xnew(struct index_fill);
	fill->listings = rollout_listings_ref(listings);
	fill->index = rollout_index_ref(index);
	atomic_init(&fill->stop, false);
	return fill;
}

void store_index_fill(struct store_index *store, const char *const *paths, size_t count, bool with_words)
{
	bool is_full = with_words ? !store->has_filled_words : !store->has_filled;
	if (store->running) {
		store->wants_words |= is_full && with_words;
		return;
	}
	store->wants_words = false;
	if (!count && !(is_full && with_words))
		return;
	struct index_fill *fill = fill_create(store->listings, store->index);
	fill->owner = store;
	fill->loop = store->loop;
	fill->is_full = is_full;
	fill->with_words = with_words;
	for (size_t i = 0; i < count && !is_full; i++)
		vec_push(&fill->paths, xstrdup(paths[i]));
	store->has_filled = true;
	store->has_filled_words |= with_words;
	store->running = fill;
	store->is_delayed = true;
	loop_timer_start(store->delay, DELAY_MS);
}

struct store_index *store_index_create(struct loop *loop, const char *home)
{
	struct store_index *store = xnew(struct store_index);
	store->loop = loop;
	store->delay = loop_timer_create(loop, on_delay_over, store);
	store->listings = rollout_listings_create(home);
	store->index = rollout_index_create(home);
	list_init(&store->backlinks);
	return store;
}

void store_index_destroy(struct store_index *store)
{
	if (!store)
		return;
	loop_timer_destroy(store->delay);
	if (store->is_delayed) {
		fill_destroy(store->running);
	} else if (store->running) {
		atomic_store(&store->running->stop, true);
		store->running->owner = NULL;
	}
	struct store_backlink *it;
	list_for_each(it, &store->backlinks, link) {
		list_remove(&it->link);
		it->server = NULL;
	}
	rollout_listings_unref(store->listings);
	rollout_index_unref(store->index);
	free(store);
}

/* ---- for the command line ---- */

static int fill_all(struct index_fill *fill, struct error *err)
{
	struct rollout_index_state state;
	fill->folders = state_of_folders(fill);
	add_kind(fill, false);
	add_kind(fill, true);
	while (!fill->is_over)
		run_slice(fill);
	rollout_index_examine(fill->index, &state);
	if (fill->at == fill->paths.count && state.exists && !state.problem)
		return 0;
	return error_set(err, ERR_io, "the index of sessions cannot be written: %s",
	                 state.problem ? state.problem : "another process has locked it, or the disk is not writable");
}

int store_index_rebuild(const char *home, size_t *ret_files, struct error *err)
{
	struct rollout_listings *listings = rollout_listings_create(home);
	struct rollout_index *index = rollout_index_create(home);
	struct index_fill *fill = fill_create(listings, index);
	fill->is_full = fill->with_words = fill->takes_all = true;
	int status = rollout_index_remove(index, err);
	if (status == 0)
		status = fill_all(fill, err);
	*ret_files = fill->at;
	fill_destroy(fill);
	rollout_listings_unref(listings);
	rollout_index_unref(index);
	return status;
}
