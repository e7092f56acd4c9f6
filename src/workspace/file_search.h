/* file_search.h — finds the files below some folders that match a query best, in slices of work.
 *
 * Searches share the lists of files (file_lists.h), so of all searches with the same lists only one may run a step at a
 * time. A worker runs the steps, and between two steps of a search the loop may set its query and read its results. No
 * function fails. */
#ifndef WORKSPACE_FILE_SEARCH_H
#define WORKSPACE_FILE_SEARCH_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct file_lists;
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
struct file_search *file_search_create(struct file_lists *lists, const struct file_search_root *roots, size_t count);
void file_search_destroy(struct file_search *search); /* NULL is fine */

/* An empty query matches nothing. */
void file_search_set_query(struct file_search *search, struct str query);
/* The first step after a new query notices what has changed in the folders. Reads LIMIT_SEARCH_SLICE further names and
 * scores as many paths, so that other jobs can use the worker in between. Setting stop from any thread ends it at the
 * next name. True when everything has been walked and matched. */
bool file_search_step(struct file_search *search, const atomic_bool *stop);
/* Returns the best matches, best first; true if they have changed since the last call. Borrowed until the next step
 * or query. */
bool file_search_results(struct file_search *search, const struct file_search_result **ret, size_t *ret_count);

#endif
