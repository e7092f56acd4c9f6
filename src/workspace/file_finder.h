/* file_finder.h — file searches on the loop: each runs in slices on a worker, one slice of all searches at a time.
 *
 * Lists of files are shared by the searches of a finder and kept for the next one; see file_lists.h. A list without a
 * search ends after LIMIT_SEARCH_KEPT_MS. Loop thread only. */
#ifndef WORKSPACE_FILE_FINDER_H
#define WORKSPACE_FILE_FINDER_H

#include "workspace/file_search.h"

struct file_finder;
struct file_query;
struct loop;

struct file_finder *file_finder_create(struct loop *loop);
/* After all queries, not in on_progress; a slice that still runs ends on its own. NULL is fine. */
void file_finder_destroy(struct file_finder *finder);

/* Runs from the loop after a slice with the last query; is_complete: the last one for it. It may destroy the query if
 * it is complete. */
typedef void (*file_query_progress_fn)(bool is_complete, void *self);

struct file_query *file_query_create(struct file_finder *finder, const struct file_search_root *roots, size_t count,
                                     file_query_progress_fn on_progress, void *self);
/* No callback runs after this; a worker stops at its next check. NULL is fine. */
void file_query_destroy(struct file_query *query);
/* Asks for other letters. An empty text matches nothing: the folders are only walked. */
void file_query_ask(struct file_query *query, struct str text);
/* Stops the search: on_progress is called once more, as complete, with the results so far. */
void file_query_cut(struct file_query *query);
/* To be called in on_progress: see file_search_results. */
bool file_query_results(struct file_query *query, const struct file_search_result **ret, size_t *ret_count);

#endif
