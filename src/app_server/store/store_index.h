/* store_index.h — what makes lists of stored threads fast: the names of their files and what was read of them before.
 *
 * Made with the first request about stored threads, so that a start costs nothing for it. Requests read it on their
 * workers; what they had to read from files is put into the index afterwards, on a worker too, in small pieces.
 *
 * Owns: its share of both; jobs have their own. Loop thread, but for store_index_rebuild. */
#ifndef APP_SERVER_STORE_INDEX_H
#define APP_SERVER_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>

struct error;
struct loop;
struct rollout_index;
struct rollout_listings;

struct store_index {
	/* read-only */
	struct rollout_listings *listings;
	struct rollout_index *index;
	/* private */
	struct loop *loop;
	struct index_fill *running; /* NULL: none */
	bool has_filled;            /* all files have been looked at in this process … */
	bool has_filled_words;      /* … and their words */
	bool wants_words;           /* when the running one is over */
};

struct store_index *store_index_create(struct loop *loop, const char *home);
void store_index_destroy(struct store_index *store); /* NULL is fine; what runs ends by itself */

/* Somebody had to read files. with_words: to search them. */
void store_index_fill(struct store_index *store, const char *const *paths, size_t count, bool with_words);

/* Makes the index anew, from all files; blocking, for the command line. *ret_files: how many it knows then. */
int store_index_rebuild(const char *home, size_t *ret_files, struct error *err);

#endif
