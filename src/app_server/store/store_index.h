/* store_index.h — cached names and summaries of stored threads, for fast lists.
 *
 * Created with the first request about stored threads, so that it costs nothing at start. Requests read it on their
 * workers; summaries that they had to read from files are added afterwards, on a worker, in small slices.
 *
 * Owns: its references to both; jobs have their own. Loop thread, except store_index_rebuild. */
#ifndef APP_SERVER_STORE_INDEX_H
#define APP_SERVER_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

#include "base/list.h"

struct app_server;
struct error;
struct loop;
struct rollout_index;
struct rollout_listings;

/* The way from a job back to the server. In the store's list until the job removes it. */
struct store_backlink {
	struct list link;
	struct app_server *server; /* NULL: it has been destroyed */
};

struct store_index {
	/* read-only */
	struct rollout_listings *listings;
	struct rollout_index *index;
	/* private */
	struct loop *loop;
	struct list backlinks;      /* struct store_backlink, of the jobs that run */
	struct index_fill *running; /* NULL: none */
	bool has_filled;            /* all files have been looked at in this process … */
	bool has_filled_words;      /* … and their words */
	bool wants_words;           /* after the running fill */
};

struct store_index *store_index_create(struct loop *loop, const char *home);
void store_index_destroy(struct store_index *store); /* a running fill ends by itself */

/* Adds the files that a request had to read. with_words: for a search. */
void store_index_fill(struct store_index *store, const char *const *paths, size_t count, bool with_words);

/* Rebuilds the index from all files; blocking, for the command line. *ret_files: number of indexed files. */
int store_index_rebuild(const char *home, size_t *ret_files, struct error *err);

#endif
