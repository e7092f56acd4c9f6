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
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_summary.h"

enum { SETTLED_MS = 2500 }; /* the coarsest file systems store times in steps of 2 s */

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

static bool on_visit(const char *path, const struct rollout_file_name *name, void *self)
{
	struct listing *listing = self;
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

static struct listing *read_listing(const char *home, bool is_archive, struct error *err)
{
	struct listing *listing = xnew(struct listing);
	atomic_init(&listing->refs, 1);
	listing->is_settled = true;
	int status = rollout_list_walk_folders(home, is_archive, on_folder, on_visit, listing, err);
	if (status == 0) {
		keep_newest(listing);
		listing->seen.folders = identify(listing);
		return listing;
	}
	rollout_listing_unref(&listing->seen);
	return NULL;
}

static bool is_current(const struct listing *listing)
{
	vec_for_each(it, &listing->stamps) {
		struct stamp now = stamp_of(it->path);
		if (!is_same(it, &now))
			return false;
	}
	return listing->is_settled;
}

void rollout_listing_unref(const struct rollout_listing *seen)
{
	struct listing *listing = (struct listing *)(uintptr_t)seen;
	if (!listing || atomic_fetch_sub(&listing->refs, 1) > 1)
		return;
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
	*kept = read_listing(listings->home, is_archive, err);
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
