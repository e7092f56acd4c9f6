/* file_search.h — the files below some folders that fit a query best, found a slice at a time.
 *
 * The folders are walked once; what was found stays known while the query changes. One thread at a time: a worker
 * steps, and between two steps the loop may set the query and look at the results.
 * Owns: what it found, at most LIMIT_SEARCH_FILES paths in LIMIT_SEARCH_BYTES. Nothing here fails. */
#ifndef WORKSPACE_FILE_SEARCH_H
#define WORKSPACE_FILE_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct file_search;

struct file_search_root {
	struct str name;  /* as the client says it */
	const char *path; /* absolute */
};

struct file_search_result {
	struct str root, path; /* root: a root's name */
	bool is_folder;
	uint32_t score;
	const uint32_t *indices; /* characters of path */
	size_t index_count;
};

/* Copies the roots. */
struct file_search *file_search_create(const struct file_search_root *roots, size_t count);
void file_search_destroy(struct file_search *search); /* NULL is fine */

/* An empty one fits nothing. */
void file_search_set_query(struct file_search *search, struct str query);
/* Looks at LIMIT_SEARCH_SLICE names more and matches as many paths, so that others get the worker in between; stop, set
 * from any thread, ends it at the next name. True when all was walked and matched. */
bool file_search_step(struct file_search *search, const atomic_bool *stop);
/* The best of what was matched, the best first; true if they are others than when last asked. Borrowed until the next
 * step or query. */
bool file_search_results(struct file_search *search, const struct file_search_result **ret, size_t *ret_count);

#endif
