/* rollout_listing.h — the newest file of each thread, ordered by age.
 *
 * A listing is a snapshot of the folders. It is reused as long as the times of the folders are unchanged; a folder
 * that changed within the last seconds is read again in any case, because its time may not show a further change.
 *
 * Ownership: rollout_listings owns the newest listing of each kind; a listing owns its texts. Both are
 * reference-counted. Thread: any, concurrently. Blocking: on a worker. Errors: a folder that cannot be read. */
#ifndef ROLLOUT_ROLLOUT_LISTING_H
#define ROLLOUT_ROLLOUT_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct rollout_listings;

struct rollout_listed {
	const char *path;
	struct str thread_id;
	int64_t created_ms; /* Unix time from the file's name */
};

struct rollout_listing {
	const struct rollout_listed *files; /* oldest first; by id if the ages are equal */
	size_t count;
	/* Identifies the state of the folders: their times and inodes. 0: a folder changed within the last seconds. */
	uint64_t folders;
};

struct rollout_listings *rollout_listings_create(const char *home);
struct rollout_listings *rollout_listings_ref(struct rollout_listings *listings);
void rollout_listings_unref(struct rollout_listings *listings); /* NULL is a no-op */

/* Lists the sessions or the archive. The caller must unref the result; NULL and err on failure. */
must_check const struct rollout_listing *rollout_listings_get(struct rollout_listings *listings, bool is_archive,
                                                              struct error *err);
void rollout_listing_unref(const struct rollout_listing *listing); /* NULL is a no-op */

#endif
