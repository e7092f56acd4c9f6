/* rollout_listing.h — the newest file of each thread, ordered by age.
 *
 * A listing is a snapshot of the folders. It is reused as long as the times of the folders are unchanged; a folder
 * that changed within the last seconds is read again in any case, because its time may not show a further change. A
 * listing that is reused watches its folders from then on, if the kernel can (rollout_watch.h), and keeps what lists
 * need to know of the files (rollout_facts.h).
 *
 * Ownership: rollout_listings owns the newest listing of each kind; a listing owns its texts. Both are
 * reference-counted. Thread: any, concurrently. Blocking: on a worker. Errors: a folder that cannot be read. */
#ifndef ROLLOUT_ROLLOUT_LISTING_H
#define ROLLOUT_ROLLOUT_LISTING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct rollout_facts_table;
struct rollout_listings;

struct rollout_listed {
	const char *path;
	struct str thread_id;
	int64_t created_ms; /* Unix time from the file's name */
	size_t at;          /* its index in the listing */
};

struct rollout_listing {
	const struct rollout_listed *files; /* oldest first; by id if the ages are equal */
	size_t count;
	/* Identifies the state of the folders: their times and inodes. 0: a folder changed within the last seconds. */
	uint64_t folders;
	/* Sessions that are older than this (Unix time in ms) may be missing: those of folders that were not read.
	 * INT64_MIN: the listing is complete. */
	int64_t complete_since_ms;
};

struct rollout_listings *rollout_listings_create(const char *home);
struct rollout_listings *rollout_listings_ref(struct rollout_listings *listings);
void rollout_listings_unref(struct rollout_listings *listings); /* NULL is a no-op */

/* Lists the sessions or the archive. The caller must unref the result; NULL and err on failure. */
must_check const struct rollout_listing *rollout_listings_get(struct rollout_listings *listings, bool is_archive,
                                                              struct error *err);
/* As rollout_listings_get, but reads only the newest folders unless a current listing is cached: at least the `least`
 * newest sessions if there are as many, and the whole of their folders. Never cached. */
must_check const struct rollout_listing *rollout_listings_newest(struct rollout_listings *listings, size_t least,
                                                                 struct error *err);
/* The state of the folders, as in struct rollout_listing, without reading names of files; 0 if it cannot be read. */
uint64_t rollout_listings_folders(struct rollout_listings *listings, bool is_archive);
/* The facts of the files, owned by the listing; NULL if changes of the files go unnoticed. */
struct rollout_facts_table *rollout_listing_facts(const struct rollout_listing *listing);
/* Fills ret, which has room for all files of the listing, with them in the order of their last change: created_ms is
 * replaced by its time. False if *stop was set. */
bool rollout_listing_by_change(const struct rollout_listing *listing, struct rollout_listed *ret,
                               const atomic_bool *stop);
void rollout_listing_unref(const struct rollout_listing *listing); /* NULL is a no-op */

#endif
