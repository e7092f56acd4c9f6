/* store_index.h — cached names and summaries of stored threads, for fast lists.
 *
 * Created with the first request about stored threads, so that it costs nothing at start. Requests read it on their
 * workers; summaries that they had to read from files are added afterwards, on a worker, in small slices.
 *
 * Owns: references to the index and the listings; jobs have their own. Loop thread, except store_index_rebuild. */
#ifndef APP_SERVER_STORE_INDEX_H
#define APP_SERVER_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/list.h"

struct app_server;
struct loop;
struct rollout_index;
struct rollout_listings;

/* Leads from a job back to the server. It is in the store's list until the job removes it. */
struct store_backlink {
	struct list link;
	struct app_server *server; /* NULL: the server was destroyed */
};

struct store_index {
	/* read-only */
	struct rollout_listings *listings;
	struct rollout_index *index;
	/* private */
	struct loop *loop;
	struct list backlinks;      /* struct store_backlink of running jobs */
	struct index_fill *running; /* the fill that runs or waits for its start, or NULL */
	struct loop_timer *delay;
	bool is_delayed;       /* the fill waits */
	bool has_filled;       /* this process has examined all files */
	bool has_filled_words; /* this process has indexed the words of all files */
	bool wants_words;      /* words are requested for the time after the running fill */
};

struct store_index *store_index_create(struct loop *loop, const char *home);
void store_index_destroy(struct store_index *store); /* frees the store; a running fill ends by itself */

/* Adds files that a request had to read. With with_words, their words are indexed, too. */
void store_index_fill(struct store_index *store, const char *const *paths, size_t count, bool with_words);

/* Rebuilds the index from all files. Blocks; for the command line. *ret_files is the number of indexed files. */
must_check int store_index_rebuild(const char *home, size_t *ret_files, struct error *err);

#endif
