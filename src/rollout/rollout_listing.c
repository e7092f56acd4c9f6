/* Reading the names of 10,000 files takes 15 ms, comparing the times of a few hundred folders less than 1 ms: every
 * change of a name changes the time of its folder. The names are therefore kept, in memory only. A single new file
 * causes all names to be read again, which is rare enough.
 *
 * Times are coarse: a change directly after a folder was read may leave its time unchanged. A listing that saw a folder
 * change within SETTLED_MS is therefore not reused. */
#include "rollout/rollout_listing.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rollout/rollout_facts.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_summary.h"
#include "rollout/rollout_watch.h"

enum {
	SETTLED_MS = 2500, /* the coarsest file systems store times in steps of 2 s */
	MINUTE_MS = 60 * 1000,
	HOUR_MS = 60 * MINUTE_MS,
};

struct stamp {
	const char *path;
	dev_t device;
	ino_t inode; /* 0: the folder did not exist */
	struct timespec changed, moved;
};

struct listing {
	struct rollout_listing seen; /* must be the first member */
	atomic_int refs;
	bool is_settled;
	size_t least;             /* files after which older folders are not read; 0: all are read */
	int64_t newest_unread_ms; /* with least: upper bound of the times in the folders that are not needed */
	bool has_tried_watch;
	struct rollout_watch *watch;                 /* its folders are those of stamps; or NULL */
	_Atomic(struct rollout_facts_table *) facts; /* set with the watch, while other threads read the listing */
	pthread_mutex_t lock;                        /* of what follows */
	uint64_t changes;                            /* counts the changes of files */
	struct rollout_listed *by_change;            /* NULL: not sorted yet, or a file has changed */
	struct arena arena;
	VEC(struct stamp) stamps;
	VEC(struct rollout_listed) files;
};

struct rollout_listings {
	atomic_int refs;
	char *home;
	pthread_mutex_t lock;
	struct listing *kept[2]; /* cached listings of the sessions and of the archive; may be NULL */
};

/* ---- one listing ---- */

static struct stamp stamp_of(const char *path)
{
	struct stat st;
	struct stamp stamp = {.path = path};
	if (stat(path, &st) != 0)
		return stamp;
	stamp.device = st.st_dev;
	stamp.inode = st.st_ino;
	stamp.changed = st.st_mtim;
	stamp.moved = st.st_ctim;
	return stamp;
}

static bool is_same_time(struct timespec a, struct timespec b)
{
	return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static bool is_same(const struct stamp *a, const struct stamp *b)
{
	return a->device == b->device && a->inode == b->inode && is_same_time(a->changed, b->changed) &&
	       is_same_time(a->moved, b->moved);
}

static bool is_old(struct timespec time)
{
	return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000 + SETTLED_MS < clock_unix_ms();
}

static void on_folder(const char *path, void *self)
{
	struct listing *listing = self;
	struct stamp stamp = stamp_of(arena_cstr(&listing->arena, str_of(path)));
	listing->is_settled &= !stamp.inode || is_old(stamp.changed);
	vec_push(&listing->stamps, stamp);
}

/* Returns an upper bound of the times of a folder's files: the end of its day, which began up to 12 hours after that
 * of UTC. Folders that are not named YYYY/MM/DD have none: INT64_MAX. */
static int64_t end_of_day(const char *path)
{
	struct str folder = str_n(path, (size_t)(path_name(path).ptr - path));
	int64_t begin_ms;
	char day[] = "YYYY-MM-DDT00:00:00Z";
	if (folder.len < 12)
		return INT64_MAX;
	memcpy(day, folder.ptr + folder.len - 11, 10);
	day[4] = day[7] = '-';
	return clock_parse_rfc3339(str_of(day), &begin_ms) ? begin_ms + (24 + 12) * HOUR_MS + MINUTE_MS : INT64_MAX;
}

/* True if enough files were found, and all files of this folder and of those that follow are older. */
static bool is_enough(struct listing *listing, const char *path)
{
	if (!listing->least || listing->files.count < listing->least)
		return false;
	int64_t end = end_of_day(path);
	if (end > listing->files.items[listing->least - 1].created_ms)
		return false;
	listing->newest_unread_ms = end;
	return true;
}

static bool on_visit(const char *path, const struct rollout_file_name *name, void *self)
{
	struct listing *listing = self;
	if (is_enough(listing, path))
		return true;
	struct str copy = arena_str(&listing->arena, str_of(path));
	struct rollout_listed it = {
		.path = copy.ptr,
		.thread_id = str_n(copy.ptr + (name->thread_id.ptr - path), name->thread_id.len),
		.created_ms = rollout_summary_created(name),
	};
	vec_push(&listing->files, it);
	return false;
}

/* Sorts the newest file of a thread first: a walk visits it last. */
static int by_id(const void *a, const void *b)
{
	const struct rollout_listed *left = a, *right = b;
	int order = str_compare(left->thread_id, right->thread_id);
	return order ? order : strcmp(right->path, left->path);
}

/* Also orders by the time of the last change, which by_change has in the same place. */
static int by_age(const void *a, const void *b)
{
	const struct rollout_listed *left = a, *right = b;
	if (left->created_ms != right->created_ms)
		return left->created_ms < right->created_ms ? -1 : 1;
	return str_compare(left->thread_id, right->thread_id);
}

/* Sorts, unless the files are in order already: ids contain the time, so that both orders are usually that of the
 * folders. */
static void sort(struct listing *listing, size_t count, int (*compare)(const void *, const void *))
{
	struct rollout_listed *files = listing->files.items;
	for (size_t i = 1; i < count; i++) {
		if (compare(&files[i - 1], &files[i]) > 0) {
			qsort(files, count, sizeof(*files), compare);
			return;
		}
	}
}

/* The walk has found the newest files first. */
static void reverse(struct listing *listing)
{
	for (size_t i = 0, k = listing->files.count; i + 1 < k; i++) {
		struct rollout_listed it = listing->files.items[i];
		listing->files.items[i] = listing->files.items[--k];
		listing->files.items[k] = it;
	}
}

static void keep_newest(struct listing *listing)
{
	size_t kept = 0;
	if (!listing->files.count)
		return;
	reverse(listing);
	sort(listing, listing->files.count, by_id);
	for (size_t i = 0; i < listing->files.count; i++) {
		if (!kept || !str_eq(listing->files.items[kept - 1].thread_id, listing->files.items[i].thread_id))
			listing->files.items[kept++] = listing->files.items[i];
	}
	listing->files.count = kept;
	sort(listing, kept, by_age);
	for (size_t i = 0; i < kept; i++)
		listing->files.items[i].at = i;
	listing->seen = (struct rollout_listing){.files = listing->files.items, .count = kept};
}

/* Mixes a number into a hash (FNV-1a over 64 bits, with a shift because the low bits alone would not reach the high
 * ones). */
static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x100000001b3u;
	return hash ^ hash >> 29;
}

static uint64_t identify(const struct listing *listing)
{
	uint64_t hash = 0xcbf29ce484222325u;
	vec_for_each(it, &listing->stamps) {
		hash = mix(mix(hash, it->device), it->inode);
		hash = mix(mix(hash, (uint64_t)it->changed.tv_sec), (uint64_t)it->changed.tv_nsec);
		hash = mix(mix(hash, (uint64_t)it->moved.tv_sec), (uint64_t)it->moved.tv_nsec);
	}
	return listing->is_settled ? hash | 1 : 0;
}

static struct listing *listing_create(void)
{
	struct listing *listing = xnew(struct listing);
	atomic_init(&listing->refs, 1);
	listing->is_settled = true;
	listing->newest_unread_ms = INT64_MIN;
	pthread_mutex_init(&listing->lock, NULL);
	return listing;
}

static struct listing *read_listing(const char *home, bool is_archive, size_t least, struct error *err)
{
	struct listing *listing = listing_create();
	listing->least = least;
	int status = rollout_list_walk_folders(home, is_archive, on_folder, on_visit, listing, err);
	if (status == 0) {
		keep_newest(listing);
		listing->seen.complete_since_ms = listing->newest_unread_ms;
		listing->seen.folders = least ? 0 : identify(listing);
		return listing;
	}
	rollout_listing_unref(&listing->seen);
	return NULL;
}

static bool has_same_stamps(const struct listing *listing)
{
	vec_for_each(it, &listing->stamps) {
		struct stamp now = stamp_of(it->path);
		if (!is_same(it, &now))
			return false;
	}
	return listing->is_settled;
}

/* ---- watching ---- */

static void on_change(size_t folder, const char *file_name, void *self)
{
	struct listing *listing = self;
	struct rollout_file_name name;
	auto_free char *path = path_join(listing->stamps.items[folder].path, file_name);
	if (!rollout_path_parse(str_of(file_name), &name))
		return;
	struct rollout_listed key = {.thread_id = name.thread_id, .created_ms = rollout_summary_created(&name)};
	const struct rollout_listed *it =
		bsearch(&key, listing->files.items, listing->files.count, sizeof(key), by_age);
	if (!it || strcmp(it->path, path) != 0)
		return; /* an older file of the thread */
	rollout_facts_forget(listing->facts, it->at);
	pthread_mutex_lock(&listing->lock);
	listing->changes++;
	free(steal(listing->by_change));
	pthread_mutex_unlock(&listing->lock);
}

/* Begins to watch the folders, unless that is impossible. The names are those of the folders only if the stamps still
 * are. */
static void try_watch(struct listing *listing)
{
	listing->has_tried_watch = true;
	struct rollout_watch *watch = rollout_watch_create();
	bool is_good = watch;
	for (size_t i = 0; i < listing->stamps.count && is_good; i++)
		is_good = rollout_watch_add(watch, listing->stamps.items[i].path);
	if (is_good && has_same_stamps(listing)) {
		listing->watch = watch;
		listing->facts = rollout_facts_create(listing->files.count);
		return;
	}
	rollout_watch_destroy(watch);
}

/* The caller holds the lock of the listings. */
static bool is_current(struct listing *listing)
{
	if (listing->watch)
		return rollout_watch_read(listing->watch, on_change, listing) && !rollout_facts_is_worn(listing->facts);
	if (!has_same_stamps(listing))
		return false;
	if (!listing->has_tried_watch)
		try_watch(listing);
	return true;
}

/* ---- order of changes ---- */

struct rollout_facts_table *rollout_listing_facts(const struct rollout_listing *seen)
{
	return ((struct listing *)(uintptr_t)seen)->facts;
}

/* *ret_is_kept: the time stays known until on_change. */
static int64_t changed_ms(struct listing *listing, const struct rollout_listed *file, bool *ret_is_kept)
{
	struct stat st;
	if (listing->facts)
		return rollout_facts_changed(listing->facts, file->at, file->path, ret_is_kept);
	*ret_is_kept = false;
	return stat(file->path, &st) == 0 ? (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000 : 0;
}

/* False if *stop was set. */
static bool sort_by_change(struct listing *listing, struct rollout_listed *ret, const atomic_bool *stop,
                           bool *ret_is_kept)
{
	size_t count = listing->seen.count;
	*ret_is_kept = true;
	for (size_t i = 0; i < count && !atomic_load(stop); i++) {
		bool is_kept;
		ret[i] = listing->seen.files[i];
		ret[i].created_ms = changed_ms(listing, &ret[i], &is_kept);
		*ret_is_kept &= is_kept;
	}
	if (count && !atomic_load(stop))
		qsort(ret, count, sizeof(*ret), by_age);
	return !atomic_load(stop);
}

/* Keeps a copy of the order for later requests, unless a file has changed meanwhile. */
static void keep_order(struct listing *listing, const struct rollout_listed *order, uint64_t changes)
{
	size_t size = listing->seen.count * sizeof(*order);
	pthread_mutex_lock(&listing->lock);
	if (!listing->by_change && changes == listing->changes) {
		listing->by_change = xmalloc(size + 1);
		memcpy(listing->by_change, order, size);
	}
	pthread_mutex_unlock(&listing->lock);
}

bool rollout_listing_by_change(const struct rollout_listing *seen, struct rollout_listed *ret, const atomic_bool *stop)
{
	struct listing *listing = (struct listing *)(uintptr_t)seen;
	bool is_kept;
	pthread_mutex_lock(&listing->lock);
	bool is_sorted = listing->by_change;
	uint64_t changes = listing->changes;
	if (is_sorted)
		memcpy(ret, listing->by_change, seen->count * sizeof(*ret));
	pthread_mutex_unlock(&listing->lock);
	if (is_sorted)
		return true;
	if (!sort_by_change(listing, ret, stop, &is_kept))
		return false;
	if (is_kept)
		keep_order(listing, ret, changes);
	return true;
}

void rollout_listing_unref(const struct rollout_listing *seen)
{
	struct listing *listing = (struct listing *)(uintptr_t)seen;
	if (!listing || atomic_fetch_sub(&listing->refs, 1) > 1)
		return;
	rollout_watch_destroy(listing->watch);
	rollout_facts_destroy(listing->facts);
	pthread_mutex_destroy(&listing->lock);
	free(listing->by_change);
	arena_finish(&listing->arena);
	vec_finish(&listing->stamps);
	vec_finish(&listing->files);
	free(listing);
}

/* ---- kept listings ---- */

struct rollout_listings *rollout_listings_create(const char *home)
{
	struct rollout_listings *listings = xnew(struct rollout_listings);
	atomic_init(&listings->refs, 1);
	listings->home = xstrdup(home);
	pthread_mutex_init(&listings->lock, NULL);
	return listings;
}

struct rollout_listings *rollout_listings_ref(struct rollout_listings *listings)
{
	atomic_fetch_add(&listings->refs, 1);
	return listings;
}

void rollout_listings_unref(struct rollout_listings *listings)
{
	if (!listings || atomic_fetch_sub(&listings->refs, 1) > 1)
		return;
	for (size_t i = 0; i < countof(listings->kept); i++)
		rollout_listing_unref((struct rollout_listing *)listings->kept[i]);
	pthread_mutex_destroy(&listings->lock);
	free(listings->home);
	free(listings);
}

/* Reads a listing again. The caller holds the lock. */
static struct listing *renew(struct rollout_listings *listings, bool is_archive, struct error *err)
{
	struct listing **kept = &listings->kept[is_archive];
	if (*kept && is_current(*kept))
		return *kept;
	rollout_listing_unref((struct rollout_listing *)*kept);
	*kept = read_listing(listings->home, is_archive, 0, err);
	return *kept;
}

const struct rollout_listing *rollout_listings_get(struct rollout_listings *listings, bool is_archive,
                                                   struct error *err)
{
	pthread_mutex_lock(&listings->lock);
	struct listing *listing = renew(listings, is_archive, err);
	if (listing)
		atomic_fetch_add(&listing->refs, 1);
	if (listing && (!listing->is_settled || listing->files.count > LIMIT_ROLLOUT_LISTED)) {
		rollout_listing_unref(&listing->seen);
		listings->kept[is_archive] = NULL;
	}
	pthread_mutex_unlock(&listings->lock);
	return listing ? &listing->seen : NULL;
}

const struct rollout_listing *rollout_listings_newest(struct rollout_listings *listings, size_t least,
                                                      struct error *err)
{
	pthread_mutex_lock(&listings->lock);
	struct listing *kept = listings->kept[false];
	bool has_kept = kept && is_current(kept);
	if (has_kept)
		atomic_fetch_add(&kept->refs, 1);
	pthread_mutex_unlock(&listings->lock);
	struct listing *listing = has_kept ? kept : read_listing(listings->home, false, least, err);
	return listing ? &listing->seen : NULL;
}

uint64_t rollout_listings_folders(struct rollout_listings *listings, bool is_archive)
{
	struct listing *listing = listing_create();
	int status = rollout_list_walk_folders(listings->home, is_archive, on_folder, NULL, listing, NULL);
	uint64_t folders = status == 0 ? identify(listing) : 0;
	rollout_listing_unref(&listing->seen);
	return folders;
}
