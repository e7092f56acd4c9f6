/* file_search.h — finds the files below some folders that match a query best, in slices of work.
 *
 * The folders are walked once; the paths found are kept while the query changes. One thread at a time: a worker runs
 * the steps, and between two steps the loop may set the query and read the results. Owns: the paths, at most
 * LIMIT_SEARCH_FILES in LIMIT_SEARCH_BYTES. No function fails. */
#ifndef WORKSPACE_FILE_SEARCH_H
#define WORKSPACE_FILE_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct file_search;

struct file_search_root {
	struct str name;  /* the root's name as the client gave it */
	const char *path; /* absolute */
};

struct file_search_result {
	struct str root, path; /* root is the name of the root */
	bool is_folder;
	uint32_t score;
	const uint32_t *indices; /* characters of path */
	size_t index_count;
};

/* Copies the roots. */
struct file_search *file_search_create(const struct file_search_root *roots, size_t count);
void file_search_destroy(struct file_search *search); /* NULL is fine */

/* An empty query matches nothing. */
void file_search_set_query(struct file_search *search, struct str query);
/* Reads LIMIT_SEARCH_SLICE further names and scores as many paths, so that other jobs can use the worker in
 * between. Paths without a letter of the query are not scored. Setting stop from any thread ends it at the next name.
 * True when everything has been walked and matched. */
bool file_search_step(struct file_search *search, const atomic_bool *stop);
/* Returns the best matches, best first; true if they have changed since the last call. Borrowed until the next step
 * or query. */
bool file_search_results(struct file_search *search, const struct file_search_result **ret, size_t *ret_count);

#endif
