/* rollout_listing.h — which sessions there are: the newest file of each thread, by age.
 *
 * A listing is what the folders say at the time. It is kept, and given again as long as no folder has changed, which
 * their times tell; a folder that changed within the last seconds is read again in any case, for its time may not tell.
 *
 * Owns: rollout_listings the newest listing of each kind; a listing its texts. Both are counted. Thread: any, many.
 * Blocking: on a worker. Errors: a folder that cannot be read. */
#ifndef ROLLOUT_ROLLOUT_LISTING_H
#define ROLLOUT_ROLLOUT_LISTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

struct error;
struct rollout_listings;

struct rollout_listed {
	const char *path;
	struct str thread_id;
	int64_t created_ms; /* Unix, by the name */
};

struct rollout_listing {
	const struct rollout_listed *files; /* the oldest first; of the same age by id */
	size_t count;
};

struct rollout_listings *rollout_listings_create(const char *home);
struct rollout_listings *rollout_listings_ref(struct rollout_listings *listings);
void rollout_listings_unref(struct rollout_listings *listings); /* NULL is fine */

/* Of the sessions, or of the archive. To be given back; NULL and err. */
const struct rollout_listing *rollout_listings_get(struct rollout_listings *listings, bool is_archive,
                                                   struct error *err);
void rollout_listing_unref(const struct rollout_listing *listing); /* NULL is fine */

#endif
